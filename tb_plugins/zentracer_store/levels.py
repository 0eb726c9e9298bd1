"""Cells of even width at any zoom: those of one level are made from those of the level below, half as wide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zentracer_store.cells import Cells, reduced
from zentracer_store.grid import TILE, even_edges
from zentracer_store.growing import Array
from zentracer_store.kept import Kept, key_of
from zentracer_store.sources import Source

FINEST = 12
"""Up to so many samples a cell, samples are read; above, two narrower cells are joined."""


@dataclass(frozen=True)
class Level:
    """Those cells of a tile that have samples, at their `places` in it."""

    places: Array
    cells: Cells

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.places.nbytes + self.cells.nbytes


def level_of(source: Source, width: float, number: int, kept: Kept, check: Callable[[], None]) -> Level:
    """The cells of tile `number` at this width. `check` is called before samples are read, and may raise."""
    at = np.searchsorted(source.steps, even_edges(width, number))
    places = np.flatnonzero(at[1:] > at[:-1])
    first, last = at[:-1][places], at[1:][places]
    if not len(places):
        return Level(places, reduced(source.samples(0, 0), first, last, log=source.log))
    lo, hi = int(first[0]), int(last[-1])

    def make() -> Level:
        span = float(source.steps[hi - 1] - source.steps[lo])
        if hi - lo <= FINEST * len(places) or width * (hi - lo) <= span or not span:
            check()
            return Level(places, reduced(source.samples(lo, hi), first - lo, last - lo, log=source.log))
        below = [level_of(source, width / 2, 2 * number + half, kept, check) for half in (0, 1)]
        return _joined(below[0], below[1])

    return kept.get(key_of("level", source.key(lo, hi), places, first - lo), make)


def _joined(left: Level, right: Level) -> Level:
    """The cells twice as wide of both tiles."""
    places, first = np.unique(np.concatenate([left.places, right.places + TILE]) // 2, return_index=True)
    if not len(left.places) or not len(right.places):
        some = left if len(left.places) else right
        return Level(places, _paired(some.cells, first))
    return Level(places, _paired(_both(left.cells, right.cells), first))


def _both(left: Cells, right: Cells) -> Cells:
    def join(a: Array, b: Array) -> Array:
        if a.shape[1] != b.shape[1]:
            rows = max(a.shape[1], b.shape[1])
            a, b = np.broadcast_to(a, (len(a), rows)), np.broadcast_to(b, (len(b), rows))
        return np.concatenate([a, b])

    blank_left, blank_right = (np.zeros(cells.mean.shape, np.uint32) for cells in (left, right))
    return Cells(
        join(left.mean, right.mean),
        join(left.min, right.min),
        join(left.max, right.max),
        join(left.count, right.count),
        join(left.used, right.used),
        join(left.status, right.status),
        {
            name: join(left.marks.get(name, blank_left), right.marks.get(name, blank_right))
            for name in left.marks.keys() | right.marks.keys()
        },
    )


def _paired(cells: Cells, first: Array) -> Cells:
    """Cells joined with the one behind them, where that is not the next of `first`."""
    pair = np.flatnonzero(np.append(first[1:], len(cells.mean)) - first == 2)
    second = first[pair] + 1

    def join(ufunc: np.ufunc, array: Array) -> Array:
        joined = array[first]
        joined[pair] = ufunc(joined[pair], array[second])
        return joined

    mean = cells.mean[first]
    ahead, behind = cells.used[first[pair]].astype(np.float64), cells.used[second]
    with np.errstate(invalid="ignore"):  # a cell without values has no mean, and no weight
        total = np.where(ahead > 0, mean[pair] * ahead, 0) + np.where(behind > 0, cells.mean[second] * behind, 0)
        mean[pair] = total / (ahead + behind)
    return Cells(
        mean,
        join(np.fmin, cells.min),
        join(np.fmax, cells.max),
        join(np.add, cells.count),
        join(np.add, cells.used),
        join(np.bitwise_or, cells.status),
        {name: join(np.add, marks) for name, marks in cells.marks.items()},
    )
