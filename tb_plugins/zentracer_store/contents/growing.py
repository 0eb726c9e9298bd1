"""Arrays that grow while others read them: what was appended stays where it is and never changes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_FIRST_ROWS = 16
"""Of a block that goes on where a full one ends; a first one has what is there."""

_BLOCK_BYTES = 16 << 20
"""Largest block. Memory is never moved to grow, so a run of many GB costs no more a record than a small one."""


class Lost(Exception):
    """Rows stored on disk can't be had any more; their log has to be read again. The message is a sentence."""


class Stored(Protocol):
    """Rows of a column that lie on disk."""

    def __len__(self) -> int: ...

    def values(self) -> Array:
        """All the rows, not to be written to.

        Raises:
            Lost: they are gone.
        """


class Growing:
    """A column, in blocks along its first axis. One thread appends; any may read what `len` counted before.

    A block is in memory or `Stored`; `settle` puts a stored one in the place of what is in memory.
    """

    __slots__ = ("_layout", "_length", "dtype", "shape")

    def __init__(self, dtype: Any, shape: tuple[int, ...] = (), stored: Sequence[Stored] = ()) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.shape = shape
        # Where each block begins, and the blocks. One attribute, so that a reader never sees one without the other.
        self._layout: tuple[list[int], list[Array | Stored]] = ([], [])
        self._length = 0
        for block in stored:
            self._layout[0].append(self._length)
            self._layout[1].append(block)
            self._length += len(block)

    def __len__(self) -> int:
        return self._length

    @property
    def bytes_in_memory(self) -> int:
        """What the blocks take that are not stored, with the room that is left in them."""
        return sum(block.nbytes for block in self._layout[1] if isinstance(block, np.ndarray))

    def extend(self, values: Array) -> None:
        """Append `values`, whose further axes are this column's."""
        done = 0
        while done < len(values):
            block, at = self._open_block(len(values) - done)
            room = block[at : at + len(values) - done]
            room[...] = values[done : done + len(room)]
            done += len(room)
            self._length += len(room)

    def part(self, first: int, last: int, step: int = 1) -> Array:
        """Every `step`-th entry from `first` to `last` (exclusive), to be read only; a view where one block has them.

        Raises:
            Lost: a stored block is gone.
        """
        starts, blocks = self._layout
        parts = []
        number = bisect_right(starts, first) - 1
        while first < last:
            start, block = starts[number], blocks[number]
            end = min(last, start + len(block))
            if first < end:
                values = block if isinstance(block, np.ndarray) else block.values()
                parts.append(values[first - start : end - start : step])
                first += len(parts[-1]) * step
            number += 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty((0, *self.shape), self.dtype)

    def settle(self, first: int, stored: Stored) -> None:
        """Let `stored` hold the rows from `first` on that it has; `first` is where a block begins.

        The rows behind these move to memory that is no larger than they are. For the thread that appends.
        """
        starts, blocks = self._layout
        last = first + len(stored)
        number = bisect_left(starts, first)
        if last > self._length or starts[number : number + 1] != [first]:
            raise ValueError(f"A stored block of rows {first} to {last} does not fit a column of {self._length} rows.")
        rest = self.part(last, self._length).copy()
        starts, blocks = [*starts[:number], first], [*blocks[:number], stored]
        if len(rest):
            starts.append(last)
            blocks.append(rest)
        self._layout = starts, blocks

    def _open_block(self, wanted: int) -> tuple[Array, int]:
        """The block to append to, and the place in it. A new one is made with up to `wanted` rows or more."""
        starts, blocks = self._layout
        newest = blocks[-1] if blocks else None
        if newest is not None and self._length < starts[-1] + len(newest) and isinstance(newest, np.ndarray):
            return newest, self._length - starts[-1]
        row_bytes = max(self.dtype.itemsize * int(np.prod(self.shape)), 1)
        # Of thousands of columns that end after a row, none takes more.
        rows = max(2 * len(newest), _FIRST_ROWS) if isinstance(newest, np.ndarray) else wanted
        block = np.empty((max(min(rows, _BLOCK_BYTES // row_bytes), 1), *self.shape), self.dtype)
        # The block first: who finds its start must find the block.
        blocks.append(block)
        starts.append(self._length)
        return block, 0
