"""Computes CRC-32C: by google-crc32c where it imports, by numpy where it does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
_LANES = 1 << 10


def fastest() -> Callable[[bytes | bytearray | memoryview], int]:
    """The quickest implementation that this installation has."""
    try:
        import google_crc32c
    except ImportError:
        return by_numpy
    value: Callable[[bytes], int] = google_crc32c.value
    # The C extension takes bytes objects only; without it the package is slower than numpy.
    if getattr(google_crc32c, "implementation", "c") != "c":
        return by_numpy
    return lambda data: value(bytes(data))


@cache
def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


def by_bytes(data: bytes | bytearray | memoryview, value: int = 0) -> int:
    """The definition, one byte at a time; `value` continues an earlier checksum."""
    table = _table().tolist()
    value ^= 0xFFFFFFFF
    for byte in bytes(data):
        value = table[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


def by_numpy(data: bytes | bytearray | memoryview) -> int:
    """Checksum with 1,024 lanes side by side: each lane takes one stretch of `data`, then they are joined.

    CRC is linear over GF(2): crc(a + b) = shift(crc(a), len(b)) ^ crc(b), where `shift` feeds len(b) zero bytes and
    is a 32 x 32 bit matrix.
    """
    raw = np.frombuffer(data, np.uint8)
    stretch = len(raw) // _LANES
    if stretch < 8:
        return by_bytes(data)
    table = _table()
    lanes = raw[: stretch * _LANES].reshape(_LANES, stretch)
    state = np.zeros(_LANES, np.uint32)
    for column in np.ascontiguousarray(lanes.T):
        state = table[(state ^ column) & 255] ^ state >> 8
    shift = _zeros(stretch)
    joined = 0xFFFFFFFF
    for lane in state.tolist():
        joined = _apply(shift, joined) ^ lane
    return by_bytes(raw[stretch * _LANES :].tobytes(), joined ^ 0xFFFFFFFF)


def _apply(matrix: tuple[int, ...], value: int) -> int:
    """The product of a 32 x 32 bit matrix, given by its columns, with a 32-bit vector."""
    result = 0
    while value:
        low = value & -value
        result ^= matrix[low.bit_length() - 1]
        value ^= low
    return result


@cache
def _zeros(count: int) -> tuple[int, ...]:
    """The matrix that feeds `count` zero bytes into the register, by repeated squaring."""
    table = _table().tolist()
    step = tuple(table[1 << bit & 255] ^ (1 << bit) >> 8 for bit in range(32))
    result = tuple(1 << bit for bit in range(32))
    while count:
        if count & 1:
            result = tuple(_apply(step, column) for column in result)
        step = tuple(_apply(step, column) for column in step)
        count >>= 1
    return result
