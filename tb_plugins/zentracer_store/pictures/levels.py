"""Cells of even width at any zoom: those of one level are made from those of the level below, half as wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.pictures.cells import Cells, reduced
from zentracer_store.pictures.grid import TILE, even_edges
from zentracer_store.pictures.kept import Kept, key_of
from zentracer_store.pictures.sources import Source

FINEST = 24
"""Up to so many samples a cell, samples are read; above, two narrower cells are joined."""

_CHUNK = 1 << 19
"""Values read at a time. More would leave the processor's cache, and be copied where the column's blocks meet."""


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
            return Level(places, _read(source, first, last, check))
        below = [level_of(source, width / 2, 2 * number + half, kept, check) for half in (0, 1)]
        return _joined(below[0], below[1])

    place = key_of("level", source.key(lo, lo + 1), width, number)
    return kept.get(key_of("level", source.key(lo, hi), places, first - lo), make, place)


def _read(source: Source, first: Array, last: Array, check: Callable[[], None]) -> Cells:
    """Cells of samples, from the samples."""
    made = []
    at = 0
    while at < len(first):
        check()
        lo = int(first[at])
        to = max(int(np.searchsorted(last, lo + _CHUNK // source.rows, "right")), at + 1)
        samples = source.samples(lo, int(last[to - 1]))
        made.append(reduced(samples, first[at:to] - lo, last[at:to] - lo, log=source.log))
        at = to
    return _in_a_row(made)


def _joined(left: Level, right: Level) -> Level:
    """The cells twice as wide of both tiles."""
    places, first = np.unique(np.concatenate([left.places, right.places + TILE]) // 2, return_index=True)
    return Level(places, _paired(_in_a_row([some.cells for some in (left, right) if len(some.places)]), first))


def _in_a_row(parts: Sequence[Cells]) -> Cells:
    """Cells behind each other."""
    if len(parts) == 1:
        return parts[0]

    def join(arrays: Sequence[Array]) -> Array:
        rows = max(array.shape[1] for array in arrays)
        return np.concatenate([np.broadcast_to(array, (len(array), rows)) for array in arrays])

    names = {name for cells in parts for name in cells.marks}
    return Cells(
        join([cells.mean for cells in parts]),
        join([cells.min for cells in parts]),
        join([cells.max for cells in parts]),
        join([cells.count for cells in parts]),
        join([cells.used for cells in parts]),
        join([cells.status for cells in parts]),
        {name: join([cells.marks.get(name, np.zeros_like(cells.count)) for cells in parts]) for name in names},
    )


def _paired(cells: Cells, first: Array) -> Cells:
    """Cells joined with the one behind them, where that is not the next of `first`."""
    pair = np.append(first[1:], len(cells.mean)) - first == 2
    ahead: Any = first
    behind: Any = np.where(pair, first + 1, first)
    if pair.all():
        ahead, behind = slice(0, None, 2), slice(1, None, 2)  # the same, without a copy

    def both(ufunc: np.ufunc, array: Array) -> Array:
        joined: Array = ufunc(array[ahead], array[behind])
        return joined

    def total(array: Array) -> Array:
        # One that stands alone is its own `behind`, and must not count twice.
        added: Array = array[ahead] + (array[behind] if pair.all() else np.where(pair[:, None], array[behind], 0))
        return added.astype(array.dtype, copy=False)

    weight = cells.used.astype(np.float64)
    with np.errstate(invalid="ignore"):  # without values there is neither a sum nor a mean
        mean = total(np.where(weight > 0, cells.mean * weight, 0)) / total(weight)
    return Cells(
        mean.astype(np.float32),
        both(np.fmin, cells.min),
        both(np.fmax, cells.max),
        total(cells.count),
        total(cells.used),
        both(np.bitwise_or, cells.status),
        {name: total(marks) for name, marks in cells.marks.items()},
    )
