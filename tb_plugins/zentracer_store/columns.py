"""Keeps what was read as columns that grow at their end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zentracer_schema import Status, TableSpec

Array = NDArray[Any]

_FLUSH_BYTES = 256 << 10
"""Tables wait until they are this many bytes, then are turned into columns together, inside the processor's cache."""


class Growing:
    """An array that grows along its first axis. What was appended never changes, so a prefix taken earlier stays
    valid while another thread appends."""

    def __init__(self, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self._data: Array = np.empty((0, *shape), dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def room(self, more: int) -> Array:
        """The place for `more` entries after the last one; they count once `keep` is called."""
        needed = self._length + more
        if needed > len(self._data):
            larger = np.empty((max(needed, len(self._data) * 3 // 2, 16), *self._data.shape[1:]), self._data.dtype)
            larger[: self._length] = self._data[: self._length]
            self._data = larger
        return self._data[self._length : needed]

    def keep(self, more: int) -> None:
        """Count `more` entries that were written into `room`."""
        self._length += more

    def extend(self, values: Any) -> None:
        """Append `values`, whose first axis is this one's."""
        self.room(len(values))[...] = values
        self.keep(len(values))

    def first(self, count: int) -> Array:
        """The first `count` entries, without a copy."""
        return self._data[:count]


class Scalars:
    """One tag's points, in the order in which they stand in the file."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.walls: list[float] = []
        self.values: list[float] = []

    def arrays(self) -> tuple[Array, Array, Array]:
        """Steps (int64), wall times and values (float64)."""
        count = len(self.values)  # appended last, so the other two are at least as long
        return (
            np.array(self.steps[:count], np.int64),
            np.array(self.walls[:count], np.float64),
            np.array(self.values[:count], np.float64),
        )


class Segment:
    """The tables of one description that one session wrote into one file, steps strictly rising.

    A table with named rows gives columns [samples, rows]; one whose rows vary (a pulse) columns [rows of all records].
    """

    def __init__(self, spec: TableSpec, session: int) -> None:
        self.spec = spec
        self.session = session
        self.count = 0
        self.has_nan = False
        self.last_step: int | None = None
        self._steps = Growing(np.int64)
        self._walls = Growing(np.float64)
        rows = () if spec.rows is None else (len(spec.rows),)
        self._columns = {
            column.name: Growing(
                np.uint8 if column.name == "status" else column.dtype,
                rows if column.length == 1 else (*rows, column.length),
            )
            for column in spec.columns
        }
        self._waiting: list[tuple[int, float, Array | Mapping[str, Array]]] = []
        self._waiting_bytes = 0

    def append(self, step: int, wall: float, table: Array | Mapping[str, Array]) -> None:
        """Add one record. It is seen after `flush`."""
        self._waiting.append((step, wall, table))
        self.last_step = step
        size = table.nbytes if isinstance(table, np.ndarray) else sum(part.nbytes for part in table.values())
        self._waiting_bytes += size
        if self._waiting_bytes >= _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Turn what waits into columns."""
        if not self._waiting:
            return
        steps, walls, tables = zip(*self._waiting, strict=True)
        self._waiting, self._waiting_bytes = [], 0
        if self.spec.rows is None:
            counts = [_rows(table) for table in tables]
            steps, walls = np.repeat(steps, counts), np.repeat(walls, counts)
        block = _blocks(self.spec, tables)
        for name, values in block.items():
            self._columns[name].extend(values)
        self._steps.extend(steps)
        self._walls.extend(walls)
        self.has_nan = self.has_nan or _holds_nan(block)
        self.count = len(self._steps)  # last: who reads `count` finds the rest in place

    def column(self, name: str, count: int) -> Array | None:
        """The first `count` entries of a column; None where the table has no such column."""
        growing = self._columns.get(name)
        return None if growing is None else growing.first(count)

    def steps(self, count: int) -> Array:
        """Event steps of the first `count` entries."""
        return self._steps.first(count)

    def walls(self, count: int) -> Array:
        """Wall times of the first `count` entries."""
        return self._walls.first(count)


def _rows(table: Array | Mapping[str, Array]) -> int:
    return len(table) if isinstance(table, np.ndarray) else len(next(iter(table.values())))


def _blocks(spec: TableSpec, tables: Sequence[Array | Mapping[str, Array]]) -> dict[str, Array]:
    """Several tables as one array a column: [records, rows] of named rows, [rows of all] of others."""
    join = np.stack if spec.rows is not None else np.concatenate
    if not isinstance(tables[0], np.ndarray):
        joined = {column.name: join([table[column.name] for table in tables]) for column in spec.columns}  # type: ignore[index,call-overload]  # all are mappings, as the first is
    else:
        whole = join(tables)  # type: ignore[call-overload]  # all are arrays, as the first is
        joined, at = {}, 0
        for column in spec.columns:
            part = whole[..., at] if column.length == 1 else whole[..., at : at + column.length]
            joined[column.name] = part
            at += column.length
    if "status" in joined:
        joined["status"] = np.nan_to_num(joined["status"], nan=0.0).clip(0, 255).astype(np.uint8)
    return joined


def _holds_nan(block: Mapping[str, Array]) -> bool:
    """Whether weights, or gradients that were applied, have NaN entries."""
    weights, gradients = block.get("weight_nan_fraction"), block.get("gradient_nan_fraction")
    if weights is not None and bool((weights > 0).any()):
        return True
    if gradients is None:
        return False
    bad = gradients > 0
    if "status" in block:
        # A gradient scaler overflows on purpose and skips the step; that is no accident.
        bad &= (block["status"] & Status.UPDATE_SKIPPED) == 0
    return bool(bad.any())
