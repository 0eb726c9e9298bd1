"""The lines of a picture, tile by tile: what each node of the tree shows in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zentracer_schema import ColumnSpec
from zentracer_store.contents.growing import Array
from zentracer_store.pictures.bins import Bins
from zentracer_store.pictures.cells import MARKS, Cells, cells_of, empty_cells, laid_out, reduced
from zentracer_store.pictures.distribution import Spread, spread_of
from zentracer_store.pictures.grid import Tile
from zentracer_store.pictures.groups import Groups, index_of
from zentracer_store.pictures.kept import Kept, key_of
from zentracer_store.pictures.levels import level_of
from zentracer_store.pictures.sources import FoldSource, Source, TrackSource, fold_sources
from zentracer_store.pictures.strata import STRATA, strata_of
from zentracer_store.runs.along import track_along
from zentracer_store.runs.axis import Axis
from zentracer_store.runs.timeline import Timeline
from zentracer_store.runs.tree import Node

ARRAYS = ("mean", "min", "max", "count", *MARKS, "status")
"""The arrays of an answer, in its order."""

_NEAR = 32
"""Samples that are not wanted are read with others while they are no more than this."""


@dataclass(frozen=True)
class Lines:
    """Of a tile: `arrays` by name, [lines, cells] or, the same for all lines, [1, cells]; one not there is all zeros.

    Arrays that must be equal, as `min` and `max` where no cell has more than one value, are one array.
    """

    arrays: dict[str, Array]
    spread: Spread

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return sum({id(a): a.nbytes for a in self.arrays.values()}.values()) + self.spread.nbytes

    @cached_property
    def most(self) -> int:
        """The largest count."""
        return max(int(array.max(initial=0)) for name, array in self.arrays.items() if name in ("count", *MARKS))


class Picture:
    """One column of a timeline along an axis, its rows as the lines of some nodes.

    `check` may raise where nobody waits any more.
    """

    def __init__(
        self,
        timeline: Timeline,
        axis: Axis,
        column: ColumnSpec,
        nodes: Sequence[Node],
        *,
        kept: Kept,
        check: Callable[[], None],
    ) -> None:
        self.lines = [
            (number, kind)
            for number, node in enumerate(nodes)
            for kind in (("value",) if node.leaf else ("fold", *STRATA))
        ]
        self._timeline, self._kept, self._check = timeline, kept, check
        self._log = column.scale == "log"
        self._tracks = [TrackSource(track_along(track, axis), column) for track in timeline.tracks]
        self._folds = fold_sources(timeline, axis, column, nodes)
        folded = [number for number, node in enumerate(nodes) if not node.leaf]
        leaves = [number for number, node in enumerate(nodes) if node.leaf]
        self._modules = Groups(tuple(np.array(nodes[number].rows) for number in folded)) if folded else None
        place = {line: number for number, line in enumerate(self.lines)}
        self._places = {kind: index_of([place[number, kind] for number in folded]) for kind in ("fold", *STRATA)}
        self._fold_places = [index_of([place[number, "fold"] for number in fold.numbers]) for fold in self._folds]
        self._leaf_places = index_of([place[number, "value"] for number in leaves])
        self._leaf_rows = index_of([nodes[number].rows[0] for number in leaves])
        drawn = [(node.leaf, *node.rows) for node in nodes]
        homes = [track.rows for track in timeline.tracks]
        self._what = key_of("lines", self._log, tuple(drawn), *homes)

    def tile(self, tile: Tile) -> Lines:
        """All lines in the cells of a tile."""
        sources: list[Source] = [*self._tracks, *self._folds]
        bins = [source.bins(tile.edges) for source in sources]
        seen = [
            part
            for source, some in zip(sources, bins, strict=True)
            for part in (source.key(*some.window), some.first, some.last, some.held, some.missing)
        ]
        begun = [
            source.key(lo, min(lo + 1, hi)) for source, (lo, hi) in zip(sources, [b.window for b in bins], strict=True)
        ]
        place = key_of(self._what, tile.width, float(tile.edges[0]), *begun)
        # Cells that were joined differ by rounding from those that were not: the same samples, but not the same key.
        return self._kept.get(key_of(self._what, tile.width is None, *seen), lambda: self._made(tile, bins), place)

    def _made(self, tile: Tile, bins: Sequence[Bins]) -> Lines:
        self._check()
        cells = self._leaf_cells(tile, bins)
        leaf = cells.turned()
        folds = [
            self._cells(source, tile, some).turned()
            for source, some in zip(self._folds, bins[len(self._tracks) :], strict=True)
        ]
        same = [name for name in ("mean", "max") if all(getattr(one, name) is one.min for one in (leaf, *folds))]
        values = [name for name in ("mean", "min", "max") if name not in same]
        arrays: dict[str, Array] = {}

        def put(name: str, lines: Any, array: Array) -> None:
            if name in same:
                return
            if name == "count" and len(leaf.count) == 1:
                arrays[name] = leaf.count
                return
            if name not in arrays:
                arrays[name] = self._blank(name, len(cells.mean))
            arrays[name][lines] = array

        for name in (*values, "count", "status"):
            array = getattr(leaf, name)
            put(name, self._leaf_places, array[self._leaf_rows] if len(array) > 1 else array)
        for name, marks in leaf.marks.items():
            put(name, self._leaf_places, marks[self._leaf_rows])
        if self._modules is not None:
            for kind, found in strata_of(leaf, self._modules, log=self._log).items():
                for name, array in found.items():
                    put(name, self._places[kind], array)
            for folded, places in zip(folds, self._fold_places, strict=True):
                for name in values:
                    put(name, places, getattr(folded, name))
        return Lines(arrays | dict.fromkeys(same, arrays["min"]), spread_of(cells, log=self._log))

    def _blank(self, name: str, cells: int) -> Array:
        shape = (len(self.lines), cells)
        if name in ("mean", "min", "max"):
            return np.empty(shape, np.float32)  # every line is written
        return np.zeros(shape, np.uint8 if name == "status" else np.uint32)

    def _leaf_cells(self, tile: Tile, bins: Sequence[Bins]) -> Cells:
        parts = [
            self._cells(source, tile, some)
            for source, some in zip(self._tracks, bins[: len(self._tracks)], strict=True)
        ]
        if len(parts) == 1:
            return parts[0]  # its rows are all rows, in order
        whole = empty_cells(len(tile.edges) - 1, len(self._timeline.rows))
        for track, part in zip(self._timeline.tracks, parts, strict=True):
            for name in ("mean", "min", "max", "count", "used", "status"):
                getattr(whole, name)[:, track.rows] = getattr(part, name)
            for name, marks in part.marks.items():
                whole.marks.setdefault(name, np.zeros(whole.mean.shape, np.uint32))[:, track.rows] = marks
        return whole

    def _cells(self, source: Source, tile: Tile, bins: Bins) -> Cells:
        if isinstance(source, FoldSource):
            # What a fold has no value for is counted among the rows that it is made of.
            bins = Bins(bins.first, bins.last, bins.held, np.zeros_like(bins.missing))
        if tile.width is None:
            return cells_of(source.samples(*bins.window), bins, log=source.log)
        level = level_of(source, tile.width, tile.number, self._kept, self._check)
        return laid_out([(level.places, level.cells), *_repeated(source, bins)], bins)


def _repeated(source: Source, bins: Bins) -> Iterator[tuple[Array, Cells]]:
    """The cells that repeat a sample, and their places. What lies between two far apart is not read."""
    held = np.flatnonzero(bins.held)
    if not len(held):
        return
    first = bins.first[held]
    far = np.flatnonzero(np.diff(first) > _NEAR) + 1
    for lo, hi in zip([0, *far.tolist()], [*far.tolist(), len(held)], strict=True):
        begin, end = int(first[lo]), int(first[hi - 1]) + 1
        some, place = np.unique(first[lo:hi] - begin, return_inverse=True)
        yield held[lo:hi], reduced(source.samples(begin, end).at(some), place, place + 1, log=source.log)
