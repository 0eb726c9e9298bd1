"""Checks the checksums of many short records at once.

CRC-32C is linear: the checksum of a message is that of as many zero bytes, changed by what each byte adds, and that
depends on the byte and on how many bytes follow it. So records of one length are summed up column by column from
tables, without a call for each.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from zentracer_schema import crc32c, masked_crc
from zentracer_store.contents.growing import Array

LONGEST = 512
"""Longer records are checked one by one: there the call costs little beside the work."""

_FEWEST = 32
_BLOCK_BYTES = 512 << 10


def footers_ok(data: bytes, starts: Array, lengths: Array) -> Array:
    """For payloads in `data`, whether the 4 bytes behind each are its masked checksum (bool)."""
    raw = np.frombuffer(data, np.uint8)
    ok = np.zeros(len(starts), np.bool_)
    short = np.flatnonzero(lengths <= LONGEST)
    order = short[np.argsort(lengths[short], kind="stable")]
    sizes, firsts, counts = np.unique(lengths[order], return_index=True, return_counts=True)
    single = [np.flatnonzero(lengths > LONGEST)]
    for size, first, count in zip(sizes.tolist(), firsts.tolist(), counts.tolist(), strict=True):
        rows = order[first : first + count]
        if count < _FEWEST:
            single.append(rows)
            continue
        # A matrix that fits the processor's cache is read by columns as fast as by rows.
        windows = np.lib.stride_tricks.sliding_window_view(raw, size + 4)
        many = max(_BLOCK_BYTES // (size + 4), 1)
        for at in range(0, len(rows), many):
            some = rows[at : at + many]
            block = windows[starts[some]]
            told = block[:, size:].copy().view("<u4")[:, 0]
            ok[some] = masked(checksums(block[:, :size])) == told
    view = memoryview(data)
    for row in np.concatenate(single).tolist():
        start, end = int(starts[row]), int(starts[row] + lengths[row])
        ok[row] = masked_crc(view[start:end]) == int.from_bytes(view[end : end + 4], "little")
    return ok


def checksums(rows: Array) -> Array:
    """CRC-32C of each row of bytes [count, length]."""
    count, length = rows.shape
    tables = _tables(length)
    sums = np.full(count, crc32c(bytes(length)), np.uint32)
    for place in range(length):
        sums ^= tables[length - 1 - place].take(rows[:, place])
    return sums


def masked(sums: Array) -> Array:
    """Checksums as they stand in a record: rotated and raised, as `zentracer_schema.masked_crc` does."""
    return (sums >> np.uint32(15) | sums << np.uint32(17)) + np.uint32(0xA282EAD8)


@cache
def _all_tables() -> Array:
    """For each number of bytes that follow, below `LONGEST`, what each value of a byte adds."""
    zero, tables = crc32c(b"\0"), np.empty((LONGEST, 256), np.uint32)
    tables[0] = [crc32c(bytes((value,))) ^ zero for value in range(256)]
    for place in range(1, LONGEST):
        before = tables[place - 1]
        tables[place] = tables[0][before & 255] ^ before >> np.uint32(8)
    return tables


def _tables(length: int) -> Array:
    if length > LONGEST:
        raise ValueError(f"Rows of at most {LONGEST} bytes are summed up by columns, got {length}.")
    return _all_tables()
