"""Arrays that grow while others read them: what was appended stays where it is and never changes."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_FIRST_ROWS = 16
_BLOCK_BYTES = 16 << 20
"""Largest block. Memory is never moved to grow, so a run of many GB costs no more a record than a small one."""


class Growing:
    """A column, in blocks along its first axis. One thread appends; any may read what `len` counted before."""

    def __init__(self, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._blocks: list[Array] = []
        self._starts: list[int] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, values: Array) -> None:
        """Append `values`, whose further axes are this column's."""
        done = 0
        while done < len(values):
            if not self._blocks or self._length == self._starts[-1] + len(self._blocks[-1]):
                self._add_block()
            at = self._length - self._starts[-1]
            room = self._blocks[-1][at : at + len(values) - done]
            room[...] = values[done : done + len(room)]
            done += len(room)
            self._length += len(room)

    def part(self, first: int, last: int, step: int = 1) -> Array:
        """Every `step`-th entry from `first` to `last` (exclusive); a view where one block holds them all."""
        parts = []
        number = bisect_right(self._starts, first) - 1
        while first < last:
            start, block = self._starts[number], self._blocks[number]
            end = min(last, start + len(block))
            if first < end:
                parts.append(block[first - start : end - start : step])
                first += len(parts[-1]) * step
            number += 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty((0, *self._shape), self._dtype)

    def _add_block(self) -> None:
        row_bytes = max(self._dtype.itemsize * int(np.prod(self._shape)), 1)
        rows = max(min(2 * len(self._blocks[-1]) if self._blocks else _FIRST_ROWS, _BLOCK_BYTES // row_bytes), 1)
        self._blocks.append(np.empty((rows, *self._shape), self._dtype))
        self._starts.append(self._length)
