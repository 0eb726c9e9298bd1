"""Answers what one picture asks: a column of a run's parameters, over steps and the module tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zentracer_schema import ColumnSpec
from zentracer_store.bins import Bins, bins_of, edges_of
from zentracer_store.cells import MARKS, Cells, Samples, cells_of, empty_cells
from zentracer_store.distribution import Distribution, quantiles_of
from zentracer_store.fold import fold_rows
from zentracer_store.groups import Groups, index_of
from zentracer_store.growing import Array
from zentracer_store.marks import explaining
from zentracer_store.strata import STRATA, strata_of
from zentracer_store.timeline import Timeline
from zentracer_store.together import Together
from zentracer_store.tracks import Track
from zentracer_store.tree import Node

MOST_CELLS = 4_000_000
LARGEST_SIDE = 8192
ARRAYS = ("mean", "min", "max", "count", *MARKS, "status")
"""The arrays of an answer, in its order."""

_TILE = 1 << 16
"""Values of one array worked on at a time: what all steps of the work need stays in the processor's cache."""


class QueryError(ValueError):
    """A question that has no answer; the message is a sentence for who asked."""


@dataclass(frozen=True)
class CellsQuery:
    """What to draw. Steps are half-open [start, end); None means from the first or to the end of what is recorded.

    `width` is the number of cells wanted in time, `height` the most nodes (None: no limit), `folded` module paths.
    """

    column: str
    start: float | None = None
    end: float | None = None
    width: int = 1000
    height: int | None = None
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellsAnswer:
    """`facts` for the header, `edges` [cells + 1], and arrays [rows, cells] in the order of `ARRAYS`."""

    facts: dict[str, Any]
    edges: Array
    arrays: dict[str, Array]


def answer_cells(timeline: Timeline, query: CellsQuery) -> CellsAnswer:
    """Reduce a timeline to the cells that `query` asks for.

    Raises:
        QueryError: there is no such column, the window is empty, or the answer would be too large.
    """
    column = timeline.column(query.column)
    if column is None:
        names = ", ".join(column.name for column in timeline.columns)
        raise QueryError(f"No column {query.column!r} is recorded. There are {names}.")
    start = float(timeline.steps[0]) if query.start is None else query.start
    end = timeline.end if query.end is None else query.end
    if not start < end:
        raise QueryError(f"The window from step {start:g} to step {end:g} is empty. Ask for 'from' below 'to'.")
    edges = edges_of(timeline, start, end, query.width)
    nodes = timeline.tree.nodes(query.folded, query.height)
    lines = [
        (number, kind) for number, node in enumerate(nodes) for kind in (("value",) if node.leaf else ("fold", *STRATA))
    ]
    cells = len(edges) - 1
    if len(lines) * cells > MOST_CELLS:
        raise QueryError(
            f"The picture would have {len(lines):,} rows of {cells:,} cells, over the limit of {MOST_CELLS:,} cells. "
            "Ask for a smaller width or height."
        )
    picture = _Picture(timeline, column, edges, nodes, lines)
    tile = max(_TILE // len(timeline.rows), 1)
    for at in range(0, cells, tile):
        picture.fill(at, min(at + tile, cells))
    facts = {
        "column": column.name,
        "scale": column.scale,
        "unit": column.unit,
        "from": start,
        "to": end,
        "last": int(timeline.steps[-1]),
        "nodes": [
            {"path": n.path, "leaf": n.leaf, "leaves": len(n.rows), "folded_to_fit": n.folded_to_fit} for n in nodes
        ],
        "rows": [{"node": number, "stratum": kind} for number, kind in lines],
        "distribution": picture.distribution.answer(),
        "quantiles": quantiles_of(timeline, column.name),
        "samples": int(np.diff(np.searchsorted(timeline.steps, [start, end]))[0]),
    }
    return CellsAnswer(facts, edges, picture.finished())


class _Picture:
    """The arrays of an answer while they are filled, some cells of all rows at a time."""

    def __init__(
        self,
        timeline: Timeline,
        column: ColumnSpec,
        edges: Array,
        nodes: Sequence[Node],
        lines: Sequence[tuple[int, str]],
    ) -> None:
        self.distribution = Distribution(log=column.scale == "log")
        self._timeline, self._column = timeline, column
        self._log = column.scale == "log"
        self._bins = [bins_of(track, edges) for track in timeline.tracks]
        self._folds = [
            _Fold(timeline, column, edges, tracks, [(number, nodes[number]) for number in numbers])
            for tracks, numbers in _by_tracks(timeline, nodes).items()
        ]
        folded = [number for number, node in enumerate(nodes) if not node.leaf]
        self._modules = Groups(tuple(np.array(nodes[number].rows) for number in folded)) if folded else None
        place = {line: number for number, line in enumerate(lines)}
        self._lines = {kind: index_of([place[number, kind] for number in folded]) for kind in ("fold", *STRATA)}
        leaves = [number for number, node in enumerate(nodes) if node.leaf]
        self._leaf_lines = index_of([place[number, "value"] for number in leaves])
        self._leaf_rows = index_of([nodes[number].rows[0] for number in leaves])
        self._fold_line = {number: place[number, "fold"] for number in folded}
        self._shape = (len(lines), len(edges) - 1)
        largest = max((len(node.rows) for node in nodes), default=1)
        most = max((int(np.max([b.last - b.first, b.missing])) for b in self._bins), default=0)
        self._counts = np.min_scalar_type(most * largest)
        self._arrays: dict[str, Array] = {}

    def fill(self, first: int, last: int) -> None:
        """Work out the cells `first` to `last` (exclusive)."""
        leaf = self._leaf_cells(first, last)
        self.distribution.add(leaf)
        some = slice(first, last)
        for name, array in (("mean", leaf.mean), ("min", leaf.min), ("max", leaf.max), ("count", leaf.count)):
            self._array(name)[self._leaf_lines, some] = array[:, self._leaf_rows].T
        self._array("status")[self._leaf_lines, some] = leaf.status[:, self._leaf_rows].T
        for name, array in leaf.marks.items():
            self._array(name)[self._leaf_lines, some] = array[:, self._leaf_rows].T
        if self._modules is None:
            return
        for kind, arrays in strata_of(leaf, self._modules, log=self._log).items():
            for name, array in arrays.items():
                self._array(name)[self._lines[kind], some] = array.T
        for fold in self._folds:
            folded = fold.cells(first, last)
            rows = index_of([self._fold_line[number] for number in fold.numbers])
            for name, array in (("mean", folded.mean), ("min", folded.min), ("max", folded.max)):
                self._array(name)[rows, some] = array.T

    def finished(self) -> dict[str, Array]:
        """All arrays; those that nothing was written into are one and the same of zeros."""
        blank = np.zeros(self._shape, np.uint8)
        return {name: self._arrays.get(name, blank) for name in ARRAYS}

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            if name in ("mean", "min", "max"):
                self._arrays[name] = np.empty(self._shape, np.float32)
            else:
                self._arrays[name] = np.zeros(self._shape, np.uint8 if name == "status" else self._counts)
        return self._arrays[name]

    def _leaf_cells(self, first: int, last: int) -> Cells:
        parts = [
            _track_cells(track, self._column, bins.part(first, last))
            for track, bins in zip(self._timeline.tracks, self._bins, strict=True)
        ]
        if len(parts) == 1:
            return parts[0]  # its rows are all rows, in order
        whole = empty_cells(last - first, len(self._timeline.rows))
        for track, part in zip(self._timeline.tracks, parts, strict=True):
            for name in ("mean", "min", "max", "count", "used", "status"):
                getattr(whole, name)[:, track.rows] = getattr(part, name)
            for name, marks in part.marks.items():
                whole.marks.setdefault(name, np.zeros(whole.mean.shape, np.uint32))[:, track.rows] = marks
        return whole


def _track_cells(track: Track, column: ColumnSpec, bins: Bins) -> Cells:
    window = bins.window
    values, status = track.shown(column.name, *window), track.status(*window)
    if values is None:
        values = np.full(status.shape, np.nan, np.float32)
    bad, lacking = track.bad(column.name, *window), track.lacking(column.name, *window)
    samples = Samples(values, status, bad, lacking, explaining(column))
    return cells_of(samples, bins, log=column.scale == "log")


def _by_tracks(timeline: Timeline, nodes: Sequence[Node]) -> dict[tuple[int, ...], list[int]]:
    """Folded nodes by the tracks that their rows are in."""
    home = np.empty(len(timeline.rows), np.intp)
    for number, track in enumerate(timeline.tracks):
        home[track.rows] = number
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, node in enumerate(nodes):
        if not node.leaf:
            groups.setdefault(tuple(np.unique(home[list(node.rows)]).tolist()), []).append(number)
    return groups


class _Fold:
    """Folds the rows of some nodes, all in the same tracks, by the column's rule."""

    def __init__(
        self,
        timeline: Timeline,
        column: ColumnSpec,
        edges: Array,
        tracks: tuple[int, ...],
        nodes: Sequence[tuple[int, Node]],
    ) -> None:
        self.numbers = [number for number, _ in nodes]
        self._column, self._columns = column, timeline.columns
        rows = np.concatenate([node.rows for _, node in nodes])
        ends = np.cumsum([len(node.rows) for _, node in nodes])
        self._modules = Groups(tuple(np.split(np.arange(len(rows)), ends[:-1])))
        self._sizes = timeline.sizes[rows]
        self._together = Together([timeline.tracks[number] for number in tracks], rows)
        self._bins = bins_of(self._together.axis, edges)

    def cells(self, first: int, last: int) -> Cells:
        """The cells `first` to `last` (exclusive) of the folded rows."""
        bins = replace(self._bins.part(first, last), missing=np.zeros(last - first, np.uint32))
        window = bins.window
        folded = fold_rows(
            self._column, self._columns, lambda name: self._together.values(name, *window), self._sizes, self._modules
        )
        return cells_of(Samples(folded), bins, log=self._column.scale == "log")
