"""What cells are made of: samples along an axis, be they a column of a track or the rows of modules folded to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from zentracer_schema import ColumnSpec
from zentracer_store.contents.growing import Array
from zentracer_store.contents.marks import explaining
from zentracer_store.pictures.bins import Bins, bins_of
from zentracer_store.pictures.cells import Samples
from zentracer_store.pictures.fold import fold_rows
from zentracer_store.pictures.groups import Groups
from zentracer_store.pictures.kept import key_of
from zentracer_store.pictures.together import Together
from zentracer_store.runs.along import track_along
from zentracer_store.runs.axis import Axis
from zentracer_store.runs.timeline import Timeline
from zentracer_store.runs.tracks import Track
from zentracer_store.runs.tree import Node


class Source(Protocol):
    """Samples of so many `rows`, and a key of everything that they and their reduction depend on."""

    log: bool
    rows: int

    @property
    def steps(self) -> Array:
        """Where each sample stands, rising."""

    def bins(self, edges: Array) -> Bins:
        """Which samples belong to the cells between `edges`."""

    def samples(self, first: int, last: int) -> Samples:
        """The samples `first` to `last` (exclusive)."""

    def key(self, first: int, last: int) -> bytes:
        """Says where the samples `first` to `last` are from, and what is made of them."""


class TrackSource:
    """A column of a track's rows."""

    def __init__(self, track: Track, column: ColumnSpec) -> None:
        self.log = column.scale == "log"
        self.rows, self.steps = len(track.rows), track.steps
        self._track, self._column = track, column
        self._explained = explaining(column)

    def bins(self, edges: Array) -> Bins:
        """Which samples belong to the cells between `edges`, and what is missing there."""
        return bins_of(self._track, edges)

    def samples(self, first: int, last: int) -> Samples:
        """Samples with NaN and infinities as the tensors hold them."""
        track, name = self._track, self._column.name
        values, status = track.shown(name, first, last), track.status(first, last)
        if values is None:
            values = np.full(status.shape, np.nan, np.float32)
        return Samples(values, status, track.bad(name, first, last), track.lacking(name, first, last), self._explained)

    def key(self, first: int, last: int) -> bytes:
        """Of the column and its samples."""
        return key_of("track", self._column.name, self.log, self._explained, self._track.origin(first, last))


class FoldSource:
    """Some modules, whose rows are all in the same tracks, each folded to one row by the column's rule."""

    def __init__(
        self,
        timeline: Timeline,
        axis: Axis,
        column: ColumnSpec,
        tracks: Sequence[int],
        nodes: Sequence[tuple[int, Node]],
    ) -> None:
        self.numbers = [number for number, _ in nodes]
        self.log = column.scale == "log"
        self._column, self._columns = column, timeline.columns
        rows = np.concatenate([node.rows for _, node in nodes])
        ends = np.cumsum([len(node.rows) for _, node in nodes])
        self._modules = Groups(tuple(np.split(np.arange(len(rows)), ends[:-1])))
        self.rows = len(rows)
        self._sizes = timeline.sizes[rows]
        self._together = Together([timeline.tracks[number] for number in tracks], rows)
        self._track = track_along(self._together.axis, axis)
        self.steps = self._track.steps
        rules = tuple((other.name, other.fold) for other in timeline.columns)
        self._what = key_of("fold", column.name, self.log, rules, rows, ends, self._sizes)

    def bins(self, edges: Array) -> Bins:
        """Which samples belong to the cells between `edges`."""
        return bins_of(self._track, edges)

    def samples(self, first: int, last: int) -> Samples:
        """Folded samples, [samples, modules]."""
        folded = fold_rows(
            self._column,
            self._columns,
            lambda name: self._together.values(name, first, last),
            self._sizes,
            self._modules,
        )
        return Samples(folded)

    def key(self, first: int, last: int) -> bytes:
        """Of the column, its rules, the modules and the samples."""
        return key_of(self._what, self._together.origin(first, last))


def fold_sources(timeline: Timeline, axis: Axis, column: ColumnSpec, nodes: Sequence[Node]) -> list[FoldSource]:
    """The folded ones among `nodes`, those together whose rows are in the same tracks, along an axis."""
    home = np.empty(len(timeline.rows), np.intp)
    for number, track in enumerate(timeline.tracks):
        home[track.rows] = number
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, node in enumerate(nodes):
        if not node.leaf:
            groups.setdefault(tuple(np.unique(home[list(node.rows)]).tolist()), []).append(number)
    return [
        FoldSource(timeline, axis, column, tracks, [(number, nodes[number]) for number in numbers])
        for tracks, numbers in groups.items()
    ]
