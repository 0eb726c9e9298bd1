"""Finds the next readable record behind bytes that are none."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

import numpy as np

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, footer_ok, parse_length
from zentracer_store.contents.growing import Array
from zentracer_store.reading.checksums import checksums, masked

MOST_SEARCHED = 64 << 20
"""Bytes that are searched for the next record. Holes, which take no room on the disk, do not count."""

_PIECE = 4 << 20


@dataclass(frozen=True)
class Sought:
    """What a search found: a record at `at`, or None; all before `to` needs no second look."""

    at: int | None
    to: int


def next_record(descriptor: int, start: int, last: int, end: int) -> Sought:
    """The first record whose header lies from `start` to `last`, in a file of `end` bytes.

    A length whose checksum matches by chance is no record: its data must match too, or another record or the end of
    the file stand right behind it.
    """
    at = start
    while last - at >= HEADER_BYTES:
        data = os.pread(descriptor, min(_PIECE, last - at), at)
        if len(data) < HEADER_BYTES:
            break
        for place in _headers(data, end - at).tolist():
            found = _is_record(descriptor, at + place, end)
            if found is None:
                return Sought(None, at + place)  # not all of it is there yet
            if found:
                return Sought(at + place, at + place)
        at += len(data) - HEADER_BYTES + 1
    return Sought(None, at)


def data_after(descriptor: int, start: int, end: int) -> int | None:
    """The first byte from `start` on that is not zero, as far as `MOST_SEARCHED` and a jump over holes go; None where
    zeros reach to the end of the file; `end` where they go on for too long to tell."""
    at, searched = start, 0
    while at < end:
        at = _behind_hole(descriptor, at, end)
        if at >= end:
            return None
        data = os.pread(descriptor, min(_PIECE, end - at), at)
        if not data:
            return None
        nonzero = np.flatnonzero(np.frombuffer(data, np.uint8))
        if len(nonzero):
            return at + int(nonzero[0])
        at += len(data)
        searched += len(data)
        if searched >= MOST_SEARCHED:
            return end
    return None


def _behind_hole(descriptor: int, at: int, end: int) -> int:
    """Where the file has data again from `at` on; `at` itself where the system can't tell."""
    try:
        return os.lseek(descriptor, at, os.SEEK_DATA)
    except OSError as error:
        return end if error.errno == errno.ENXIO else at


def _headers(data: bytes, room: int) -> Array:
    """Places in `data` at which the 12 bytes of a header stand whose record has at most `room` bytes, rising."""
    count = len(data) - HEADER_BYTES + 1
    high = np.ndarray(count, "<u4", data, 4, (1,))
    # A record of 4 GiB is over every limit, so the upper half of a length is zero; few other bytes are.
    places = np.flatnonzero(high == 0)
    low = np.ndarray(count, "<u4", data, 0, (1,))[places]
    places = places[low <= max(room - HEADER_BYTES - FOOTER_BYTES, 0)]
    lengths = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), 8)[places]
    told = np.ndarray(count, "<u4", data, 8, (1,))[places]
    found: Array = places[masked(checksums(lengths)) == told]
    return found


def _is_record(descriptor: int, at: int, end: int) -> bool | None:
    """Whether a record begins here whose header is valid; None while its end is not there."""
    length = parse_length(os.pread(descriptor, HEADER_BYTES, at))
    if length is None:
        return False
    behind = at + HEADER_BYTES + length + FOOTER_BYTES
    if behind > end:
        return None
    header = os.pread(descriptor, HEADER_BYTES, behind)
    if behind == end or (len(header) == HEADER_BYTES and parse_length(header) is not None):
        return True
    if length > MOST_SEARCHED:
        return False
    data = os.pread(descriptor, length + FOOTER_BYTES, at + HEADER_BYTES)
    return len(data) == length + FOOTER_BYTES and footer_ok(data[:length], data[length:])
