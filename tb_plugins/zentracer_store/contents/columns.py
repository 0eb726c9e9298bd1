"""Keeps what was read as columns that grow at their end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zentracer_schema import TableSpec
from zentracer_store.contents.growing import Array, Growing
from zentracer_store.contents.marks import NAN, bad_bits

_FLUSH_BYTES = 256 << 10
"""Tables wait until they are this many bytes, then are turned into columns together, inside the processor's cache."""


class Frame:
    """A table whose columns grow together, one entry a row. Rows that were appended are seen after `flush`."""

    def __init__(self, dtypes: Mapping[str, str]) -> None:
        self._columns = {name: Growing(dtype) for name, dtype in dtypes.items()}
        self._dtypes = dict(dtypes)
        self._waiting: list[tuple[float, ...]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def expected(self) -> int:
        """Rows, those that wait for `flush` among them."""
        return self._count + len(self._waiting)

    def append(self, *row: float) -> None:
        """Add one row, its entries in the order of the columns."""
        self._waiting.append(row)

    def flush(self) -> None:
        """Let the rows that wait be seen."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._extend(*zip(*waiting, strict=True))

    def extend(self, *columns: Array) -> None:
        """Add rows, given as whole columns in their order."""
        self.flush()
        self._extend(*columns)

    def column(self, name: str, first: int = 0, last: int | None = None) -> Array:
        """The entries of a column from `first` to `last`, by default all."""
        return self._columns[name].part(first, self._count if last is None else last)

    def growing(self) -> Iterator[tuple[str, Growing]]:
        """Every column by its name."""
        yield from self._columns.items()

    def restore(self, columns: Mapping[str, Growing]) -> None:
        """Take over columns that were saved, instead of empty ones."""
        self._columns = {name: columns[name] for name in self._dtypes}
        self._count = min(len(column) for column in columns.values())

    def _extend(self, *columns: Any) -> None:
        for (name, dtype), values in zip(self._dtypes.items(), columns, strict=True):
            self._columns[name].extend(np.asarray(values, dtype))
        self._count += len(columns[0])  # last: who asks for the length finds the rest in place


class Segment:
    """The tables of one description that one session wrote into one file, steps strictly rising.

    `count` entries have been taken in, `last_step` is the step of the newest record.

    A table with named rows gives columns [samples, rows]; one whose rows vary (a pulse) columns [rows of all records].
    Columns of several entries a row are passed over.
    """

    def __init__(self, spec: TableSpec, session: int) -> None:
        self.spec = spec
        self.session = session
        self.count = 0
        self.has_nan = False
        self.has_bad = False
        self.last_step = -1
        self._steps = Growing(np.int64)
        self._walls = Growing(np.float64)
        rows = () if spec.rows is None else (len(spec.rows),)
        self._columns = {
            column.name: Growing(np.uint8 if column.name == "status" else column.dtype, rows)
            for column in spec.columns
            if column.length == 1
        }
        self._bad = Growing(np.uint8, rows)
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
        tables = [table for _, _, table in self._waiting]
        steps = np.array([step for step, _, _ in self._waiting], np.int64)
        walls = np.array([wall for _, wall, _ in self._waiting], np.float64)
        self._waiting, self._waiting_bytes = [], 0
        if self.spec.rows is None:
            counts = [_rows(table) for table in tables]
            steps, walls = np.repeat(steps, counts), np.repeat(walls, counts)
        for name, values in _blocks(self.spec, tables).items():
            self._columns[name].extend(values)
        self._steps.extend(steps)
        self._walls.extend(walls)
        self._note_bad()
        self.count = len(self._steps)  # last: who reads `count` finds the rest in place

    def _note_bad(self) -> None:
        if self.spec.rows is None:
            return
        bits = bad_bits({name: column.part(self.count, len(column)) for name, column in self._columns.items()})
        if bits is None:
            return
        self._bad.extend(bits)
        if bits.any():
            self.has_bad = True
            self.has_nan = self.has_nan or bool((bits & np.uint8(NAN)).any())

    def column(self, name: str, first: int, last: int, step: int = 1) -> Array | None:
        """Every `step`-th entry from `first` to `last` of a column; None where the table has no such column."""
        column = self._columns.get(name)
        return None if column is None else column.part(first, last, step)

    def bad(self, first: int, last: int) -> Array | None:
        """Bits of `marks.Bad` for the entries `first` to `last`; None where no entry has any so far."""
        return self._bad.part(first, last) if self.has_bad else None

    def growing(self) -> Iterator[tuple[str, Growing]]:
        """Every column: those of the table as `.name`, our own as `/name`."""
        yield from (("/steps", self._steps), ("/walls", self._walls), ("/bad", self._bad))
        for name, column in self._columns.items():
            yield f".{name}", column

    def head(self) -> dict[str, Any]:
        """What `restore` needs beside the columns and the description."""
        return {
            "session": self.session,
            "count": self.count,
            "has_nan": self.has_nan,
            "has_bad": self.has_bad,
            "last_step": self.last_step,
        }

    @classmethod
    def restore(cls, spec: TableSpec, head: Mapping[str, Any], column: Callable[[str], Growing]) -> Segment:
        """The segment whose `head` and columns were saved."""
        segment = cls(spec, head["session"])
        segment._steps, segment._walls, segment._bad = column("/steps"), column("/walls"), column("/bad")
        segment._columns = {name: column(f".{name}") for name in segment._columns}
        segment.count, segment.last_step = head["count"], head["last_step"]
        segment.has_nan, segment.has_bad = head["has_nan"], head["has_bad"]
        return segment

    @property
    def first_step(self) -> int:
        """The event step of the first entry."""
        return int(self._steps.part(0, 1)[0])

    @property
    def first_wall(self) -> float:
        """The wall time of the first entry."""
        return float(self._walls.part(0, 1)[0])

    @property
    def last_wall(self) -> float:
        """The wall time of the newest entry."""
        return float(self._walls.part(self.count - 1, self.count)[0])

    def steps(self, count: int) -> Array:
        """Event steps of the first `count` entries."""
        return self._steps.part(0, count)

    def walls(self, count: int) -> Array:
        """Wall times of the first `count` entries."""
        return self._walls.part(0, count)


def _rows(table: Array | Mapping[str, Array]) -> int:
    return len(table) if isinstance(table, np.ndarray) else len(next(iter(table.values())))


def _blocks(spec: TableSpec, tables: Sequence[Array | Mapping[str, Array]]) -> dict[str, Array]:
    """Several tables as one array a column: [records, rows] of named rows, [rows of all] of others."""
    join: Callable[[list[Array]], Array] = np.stack if spec.rows is not None else np.concatenate
    arrays = [table for table in tables if isinstance(table, np.ndarray)]
    if arrays:
        whole = join(arrays)
        places = np.cumsum([0, *(column.length for column in spec.columns)])
        joined = {c.name: whole[..., at] for c, at in zip(spec.columns, places, strict=False) if c.length == 1}
    else:
        mixed = [table for table in tables if not isinstance(table, np.ndarray)]
        joined = {c.name: join([table[c.name] for table in mixed]) for c in spec.columns if c.length == 1}
    if "status" in joined:
        with np.errstate(invalid="ignore"):
            joined["status"] = joined["status"].astype(np.uint8)
    return joined
