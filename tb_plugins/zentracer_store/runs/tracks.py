"""Rows that are sampled together: where their samples lie, and until when each holds."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from zentracer_store.contents.columns import Segment
from zentracer_store.contents.growing import Array
from zentracer_store.contents.marks import bits_that_matter, shown
from zentracer_store.pictures.kept import key_of

Indices = NDArray[np.intp]

_numbers = itertools.count()
_known: WeakKeyDictionary[Segment, int] = WeakKeyDictionary()
_lock = threading.Lock()


def _number_of(segment: Segment) -> int:
    """Tells a segment from all others of this process, those among them that are gone."""
    with _lock:
        number = _known.get(segment)
        if number is None:
            number = _known[segment] = next(_numbers)
        return number


@dataclass(frozen=True)
class Piece:
    """Samples `first` to `last` (exclusive) of one segment. `rows` picks the track's rows; None means all, in order."""

    segment: Segment
    first: int
    last: int
    rows: Indices | None

    def column(self, name: str, first: int, last: int, step: int = 1) -> Array | None:
        """Every `step`-th of the segment's samples `first` to `last` in a column, of the track's rows."""
        return self._picked(self.segment.column(name, first, last, step))

    def bad(self, first: int, last: int) -> Array | None:
        """The same of `Segment.bad`."""
        return self._picked(self.segment.bad(first, last))

    @cached_property
    def origin(self) -> tuple[int, bytes | None]:
        """Which segment's samples these are, and of which rows."""
        return _number_of(self.segment), None if self.rows is None else key_of(self.rows)

    def _picked(self, values: Array | None) -> Array | None:
        return values if values is None or self.rows is None else values[:, self.rows]


@dataclass(frozen=True)
class Gaps:
    """Stretches [start, end) of steps in which samples were to be expected and are not there."""

    start: Array
    end: Array
    expected: Array
    """Samples that the recording interval would have put there, at least 1."""


@dataclass(frozen=True)
class Track:
    """Rows whose samples stand at the same steps. Sample i holds on the steps [steps[i], ends[i])."""

    rows: Indices
    pieces: tuple[Piece, ...]
    steps: Array
    ends: Array
    gaps: Gaps

    def values(self, column: str, first: int, last: int) -> Array | None:
        """A column's samples `first` to `last` (exclusive), [samples, rows]; None where no table has that column."""
        parts = [(hi - lo, piece.column(column, lo, hi)) for piece, lo, hi in self._within(first, last)]
        if all(part is None for _, part in parts):
            return None
        # A table without the column stands among others that have it: its samples are unknown.
        return self._joined(parts, np.float32(np.nan))

    def shown(self, column: str, first: int, last: int) -> Array | None:
        """As `values`, with NaN or an infinity where the tensor held them."""
        values, bits = self.values(column, first, last), self.bad(column, first, last)
        return values if values is None or bits is None else shown(values, bits)

    def bad(self, column: str, first: int, last: int) -> Array | None:
        """Bits of `marks.Bad` that matter for a column, [samples, rows]; None where there are none."""
        matter = bits_that_matter(column)
        parts = [(hi - lo, piece.bad(lo, hi)) for piece, lo, hi in self._within(first, last)]
        if not matter or all(part is None for _, part in parts):
            return None
        return self._joined(parts, np.uint8(0)) & np.uint8(matter)

    def every(self, column: str, step: int) -> Array:
        """Every `step`-th sample of each piece, [samples, rows]; none where no table has that column."""
        parts = [piece.column(column, piece.first, piece.last, step) for piece in self.pieces]
        empty = np.zeros((0, len(self.rows)), np.float32)
        return np.concatenate([empty, *(part for part in parts if part is not None)])

    def lacking(self, column: str, first: int, last: int) -> Array | None:
        """Which of the samples [samples] stand in a table without that column; None where none does."""
        within = self._within(first, last)
        lacks = [not any(column == known.name for known in piece.segment.spec.columns) for piece, _, _ in within]
        return np.repeat(lacks, [hi - lo for _, lo, hi in within]) if any(lacks) else None

    def status(self, first: int, last: int) -> Array:
        """The status bits of samples `first` to `last`, [samples, rows]; 0 where a table has none."""
        parts = [(hi - lo, piece.column("status", lo, hi)) for piece, lo, hi in self._within(first, last)]
        return self._joined(parts, np.uint8(0))

    def origin(self, first: int, last: int) -> tuple[Any, ...]:
        """Where samples `first` to `last` are recorded. What is recorded never changes, so equal origins are equal."""
        return tuple((*piece.origin, lo, hi) for piece, lo, hi in self._within(first, last))

    def _joined(self, parts: Sequence[tuple[int, Array | None]], default: Any) -> Array:
        filled = [np.full((n, len(self.rows)), default) if part is None else part for n, part in parts]
        if not filled:
            return np.zeros((0, len(self.rows)), type(default))
        return filled[0] if len(filled) == 1 else np.concatenate(filled)

    @cached_property
    def _begins(self) -> Array:
        """Which sample is the first of each piece."""
        return np.cumsum([0, *(piece.last - piece.first for piece in self.pieces)])[:-1]

    def _within(self, first: int, last: int) -> list[tuple[Piece, int, int]]:
        """The pieces that hold samples `first` to `last`, and which samples of their segments these are."""
        if first >= last:
            return []
        begins = self._begins
        lo, hi = np.searchsorted(begins, first, "right") - 1, np.searchsorted(begins, last)
        found = []
        for piece, begin in zip(self.pieces[lo:hi], begins[lo:hi].tolist(), strict=True):
            ahead = max(first - begin, 0)
            until = min(last - begin, piece.last - piece.first)
            if ahead < until:
                found.append((piece, piece.first + ahead, piece.first + until))
        return found
