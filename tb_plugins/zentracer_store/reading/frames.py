"""Finds the records in a stretch of bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, parse_length
from zentracer_store.contents.growing import Array

_MOST_KNOWN = 1 << 14


@dataclass(frozen=True)
class Scan:
    """Whole records one behind the other: where their payloads begin, how long they are, and where the last one ends.

    `length` is that of the record behind them, of which not all is there; None where fewer bytes than a header are
    left or, with `damaged`, where its header does not match its own checksum.
    """

    starts: Array
    lengths: Array
    end: int
    length: int | None
    damaged: bool


def scan(data: bytes) -> Scan:
    """The records from the first byte of `data` on. Their payloads are not checked."""
    known: dict[bytes, int] = {}  # lengths repeat, and a header that was good once is good
    get, at, size = known.get, 0, len(data)
    places: list[int] = []
    add = places.append
    while True:
        header = data[at : at + HEADER_BYTES]
        length = get(header)
        if length is None:
            length = parse_length(header) if len(header) == HEADER_BYTES else None
            if length is None:
                break
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[header] = length
        end = at + HEADER_BYTES + length + FOOTER_BYTES
        if end > size:
            break
        add(at)
        at = end
    begins = np.array([*places, at], np.int64)
    starts = begins[:-1] + HEADER_BYTES
    return Scan(starts, begins[1:] - FOOTER_BYTES - starts, at, length, length is None and size - at >= HEADER_BYTES)
