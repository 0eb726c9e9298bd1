"""Finds the next readable record behind bytes that are none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, footer_ok, parse_length
from zentracer_store.reading.checksums import checksums, masked

MOST_SEARCHED = 64 << 20
"""Bytes that are searched for the next record. Holes, which take no room on the disk, do not count."""

MOST_SPENT = 4 * MOST_SEARCHED
"""Bytes of would-be records whose checksums do not match, after which a search is given up."""

SPENT_AT_ONCE = 16 << 20
"""After so many of them the other files have their turn."""

_SPENT_PER_HEADER = 1 << 10  # what it costs to look behind a record, too
_SPENT_PER_BYTE = 4  # of the file that is passed
_PIECE = 4 << 20


@dataclass
class Search:
    """The search for the record that follows a damage, which may take several looks.

    No record begins before `to`, but for one at `awaited` whose end is not there yet. `spent` tells what it cost to
    find out that what looks like records is none, in bytes that were read; of that there is not more than in
    proportion to the file, whatever it holds.
    """

    to: int = 0
    awaited: int | None = None
    spent: int = 0
    paused: bool = False
    """The last look ended early, and the next one is to go on though the file does not change."""

    @property
    def given_up(self) -> bool:
        """Whether too much that is none looks like a record."""
        return self.spent >= MOST_SPENT

    def passed(self, count: int) -> None:
        """Note that reading got on by so many bytes, beyond the damage: the next search is another one."""
        self.to, self.awaited, self.paused = 0, None, False
        self.spent = max(0, self.spent - _SPENT_PER_BYTE * count)

    def find(self, descriptor: int, last: int, end: int, *, quiet: bool) -> int | None:
        """Where the first record begins whose header lies from `to` to `last`, in a file of `end` bytes.

        A length whose checksum matches by chance is no record: its data must match too, or another record or the end
        of the file stand right behind it. A record of which not all is there yet is waited for; with `quiet`, no more
        of it is expected, and records behind it are found.
        """
        most = min(self.spent + SPENT_AT_ONCE, MOST_SPENT)
        self.paused = False
        for length in self._lengths(descriptor, last):
            if self.spent >= most:
                self.paused = not self.given_up
                return None
            if self._is_record(descriptor, length, end):
                return self.to
            if self.awaited is not None and not quiet:
                break
        if self.awaited is not None:  # when the file has changed it may be whole
            self.to, self.awaited = self.awaited, None
        return None

    def _lengths(self, descriptor: int, last: int) -> Iterator[int]:
        """Move `to` from one valid header to the next, and tell the length in each."""
        while last - self.to >= HEADER_BYTES:
            begin = self.to
            data = os.pread(descriptor, min(_PIECE, last - begin), begin)
            if len(data) < HEADER_BYTES:
                return
            for place, length in _headers(data):
                self.to = begin + place
                yield length
            self.to = begin + len(data) - HEADER_BYTES + 1

    def _is_record(self, descriptor: int, length: int, end: int) -> bool:
        """Whether what begins at `to` with a valid header is a record."""
        data = self.to + HEADER_BYTES
        behind = data + length + FOOTER_BYTES
        if behind > end and self.awaited is None:
            self.awaited = self.to
            return False
        self.spent += _SPENT_PER_HEADER
        if behind > end:
            return False
        header = os.pread(descriptor, HEADER_BYTES, behind)
        if behind == end or (len(header) == HEADER_BYTES and parse_length(header) is not None):
            return True
        if length > MOST_SEARCHED:
            return False
        self.spent += length
        payload = os.pread(descriptor, length + FOOTER_BYTES, data)
        return len(payload) == length + FOOTER_BYTES and footer_ok(payload[:length], payload[length:])


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


def _headers(data: bytes) -> Iterable[tuple[int, int]]:
    """Places in `data` at which the 12 bytes of a header stand, rising, and the length that each tells."""
    count = len(data) - HEADER_BYTES + 1
    high = np.ndarray(count, "<u4", data, 4, (1,))
    # A record of 4 GiB is over every limit, so the upper half of a length is zero; few other bytes are.
    places = np.flatnonzero(high == 0)
    lengths = np.lib.stride_tricks.sliding_window_view(np.frombuffer(data, np.uint8), 8)[places]
    told = np.ndarray(count, "<u4", data, 8, (1,))[places]
    places = places[masked(checksums(lengths)) == told]
    return zip(places.tolist(), np.ndarray(count, "<u4", data, 0, (1,))[places].tolist(), strict=True)
