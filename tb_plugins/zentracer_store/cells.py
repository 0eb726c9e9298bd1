"""Reduces samples to cells of time: mean, extremes, and counts of everything that no mean may hide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from zentracer_store.columns import Array
from zentracer_store.timeline import Gaps, Track

_LOG10_E = np.float32(1 / np.log(10))
_SUM_ROWS = 256
"""Samples added up in float32 before the sum goes on in float64."""

_BLOCK = 1 << 21
"""Samples looked at one by one at a time."""

EVERY_NAN = 256
"""As `explained`: no NaN of the column is an accident."""


@dataclass(frozen=True)
class Cells:
    """Arrays [cells, rows]. `mean` is of log10 of the positive values on a log scale, else of the finite ones.

    `count` is 0 in a cell that only repeats the sample before it. `used` is the number of values in the mean.
    """

    mean: Array
    min: Array
    max: Array
    count: Array
    zeros: Array
    nan: Array
    pinf: Array
    ninf: Array
    missing: Array
    used: Array
    status: Array

    @classmethod
    def empty(cls, cells: int, rows: int) -> Cells:
        """Cells in which there is nothing."""
        values = [np.full((cells, rows), np.nan, np.float32) for _ in range(3)]
        counts = [np.zeros((cells, rows), np.uint32) for _ in range(7)]
        return cls(*values, *counts, np.zeros((cells, rows), np.uint8))

    def put(self, columns: NDArray[np.intp], part: Cells) -> None:
        """Write `part` into the rows `columns`."""
        for field in fields(self):
            getattr(self, field.name)[:, columns] = getattr(part, field.name)


@dataclass(frozen=True)
class Bins:
    """Which samples of a track belong to which cell: [first, last) each. `held` cells repeat an earlier sample."""

    first: Array
    last: Array
    held: Array
    missing: Array

    @property
    def window(self) -> tuple[int, int]:
        """All samples that any cell needs."""
        any_sample = self.last > self.first
        if not any_sample.any():
            return 0, 0
        return int(self.first[any_sample].min()), int(self.last[any_sample].max())


def bins_of(track: Track, edges: Array) -> Bins:
    """Assign a track's samples to cells [edges[i], edges[i + 1])."""
    at = np.searchsorted(track.steps, edges)
    first, last = at[:-1], at[1:]
    before = np.maximum(last - 1, 0)
    held = (first == last) & (last > 0) & (track.ends[before] > edges[:-1])
    return Bins(np.where(held, before, first), last, held, missing_of(track.gaps, edges))


def missing_of(gaps: Gaps, edges: Array) -> Array:
    """Samples that were to be expected in each cell and are not there; at least 1 in a cell that touches a gap."""
    if not len(gaps.start):
        return np.zeros(len(edges) - 1, np.uint32)
    number = np.searchsorted(gaps.start, edges, "right") - 1
    inside = np.maximum(number, 0)
    reach = np.clip(edges - gaps.start[inside], 0, gaps.end[inside] - gaps.start[inside])
    spacing = (gaps.end - gaps.start) / gaps.expected
    passed = np.minimum(np.ceil(reach / spacing[inside]), gaps.expected[inside])

    def up_to(whole: Array, part: Array) -> Array:
        sums = np.append(0, np.cumsum(whole))
        result: Array = np.where(number >= 0, sums[inside] + part, 0)
        return result

    expected = np.diff(up_to(gaps.expected, passed))
    touched = np.diff(up_to(gaps.end - gaps.start, reach)) > 0
    return np.where(touched, np.maximum(expected, 1), 0).astype(np.uint32)


def cells_of(values: Array, status: Array | None, bins: Bins, *, log: bool, explained: int) -> Cells:
    """Reduce samples [n, rows], of which the first is `bins.window[0]`, to cells.

    `explained`: status bits that turn a NaN into a missing value.
    """
    offset = bins.window[0]
    rows = values.shape[1]
    some = np.flatnonzero(bins.last > bins.first)
    first, last = bins.first[some] - offset, bins.last[some] - offset
    cells = Cells.empty(len(bins.first), rows)
    cells.missing[...] = bins.missing[:, None]
    if not len(some) or not rows:
        return cells
    values = np.asarray(values, np.float32)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        low, high, total = _plain(values, first, last, log)
        count = (last - first).astype(np.uint32)
        mean = total / count[:, None]
    used = np.broadcast_to(count[:, None], low.shape).copy()
    cells.count[some] = np.where(bins.held[some], 0, count)[:, None]
    if status is not None:
        cells.status[some] = _ored(status, first, last)
    counts = {name: np.zeros(low.shape, np.uint32) for name in ("zeros", "nan", "pinf", "ninf", "missing")}
    for block in _special(values, low, high, first, last, log):
        _correct(block, values, status, log, explained, low, high, mean, used, counts)
    cells.mean[some], cells.min[some], cells.max[some], cells.used[some] = mean, low, high, used
    for name, array in counts.items():
        getattr(cells, name)[some] += array
    return cells


def _plain(values: Array, first: Array, last: Array, log: bool) -> tuple[Array, Array, Array]:
    """Smallest, largest and sum of each cell, as if every value were finite (and positive on a log scale)."""
    if (last - first == 1).all():
        taken = values[first] if (np.diff(first) != 1).any() else values[first[0] : last[-1]]
        low = np.array(taken)
        return low, low.copy(), np.log(taken) * _LOG10_E if log else low.copy()
    shape = (len(first), values.shape[1])
    low, high = np.empty(shape, np.float32), np.empty(shape, np.float32)
    total = np.empty(shape, np.float32)
    scratch = np.empty((_SUM_ROWS, values.shape[1]), np.float32)
    for cell, (lo, hi) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        part = values[lo:hi]
        np.minimum.reduce(part, axis=0, out=low[cell])
        np.maximum.reduce(part, axis=0, out=high[cell])
        if hi - lo > _SUM_ROWS:
            total[cell] = sum(
                np.add.reduce(np.log(part[at : at + _SUM_ROWS]) if log else part[at : at + _SUM_ROWS], axis=0).astype(
                    np.float64
                )
                for at in range(0, hi - lo, _SUM_ROWS)
            )
            continue
        if log:
            part = np.log(part, out=scratch[: hi - lo])
        np.add.reduce(part, axis=0, out=total[cell])
    return low, high, total * _LOG10_E if log else total


def _ored(status: Array, first: Array, last: Array) -> Array:
    if (last - first == 1).all():
        taken: Array = status[first]
        return taken
    result = np.empty((len(first), status.shape[1]), np.uint8)
    for cell, (lo, hi) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        np.bitwise_or.reduce(status[lo:hi], axis=0, out=result[cell])
    return result


@dataclass(frozen=True)
class _Block:
    """Cells to look at value by value: cell and row numbers, their samples one after the other, where each begins."""

    cell: Array
    row: Array
    sample: Array
    sample_row: Array
    start: Array


def _special(values: Array, low: Array, high: Array, first: Array, last: Array, log: bool) -> Iterator[_Block]:
    """The cells whose plain result is not the answer, in blocks of bounded size."""
    if log:
        special = ~((low > 0) & (high < np.inf))
    else:
        special = ~(np.isfinite(low) & np.isfinite(high))
        around = (low <= 0) & (high >= 0)
        if around.any() and _any_zero(values):
            special |= around
    cell, row = np.nonzero(special)
    counts = (last - first)[cell]
    ends = np.cumsum(counts)
    at = 0
    while at < len(cell):
        done = ends[at - 1] if at else 0
        to = max(int(np.searchsorted(ends, done + _BLOCK)), at + 1)
        start = ends[at:to] - counts[at:to] - done
        many = counts[at:to]
        sample = np.arange(ends[to - 1] - done) + np.repeat(first[cell[at:to]] - start, many)
        yield _Block(cell[at:to], row[at:to], sample, np.repeat(row[at:to], many), start)
        at = to


def _any_zero(values: Array) -> bool:
    rows = max(_BLOCK // max(values.shape[1], 1), 1)
    return any((values[at : at + rows] == 0).any() for at in range(0, len(values), rows))


def _correct(
    block: _Block,
    values: Array,
    status: Array | None,
    log: bool,
    explained: int,
    low: Array,
    high: Array,
    mean: Array,
    used: Array,
    counts: dict[str, Array],
) -> None:
    """Put the true answer into the cells of `block`."""
    value = values[block.sample, block.sample_row]
    where = (block.cell, block.row)

    def add(mask: Array) -> Array:
        added: Array = np.add.reduceat(mask, block.start, dtype=np.uint32)
        return added

    nan, finite = np.isnan(value), np.isfinite(value)
    excused = nan
    if explained < EVERY_NAN:
        bits = np.zeros(len(value), np.uint8) if status is None else status[block.sample, block.sample_row]
        excused = nan & (bits & np.uint8(explained) != 0)
    counts["missing"][where] = add(excused)
    counts["nan"][where] = add(nan & ~excused)
    counts["pinf"][where] = add(value == np.inf)
    counts["ninf"][where] = add(value == -np.inf)
    counts["zeros"][where] = add(value == 0)
    some = add(finite) > 0
    low[where] = np.where(some, np.minimum.reduceat(np.where(finite, value, np.inf), block.start), np.nan)
    high[where] = np.where(some, np.maximum.reduceat(np.where(finite, value, -np.inf), block.start), np.nan)
    taken = value > 0 if log else finite
    taken &= finite
    safe = np.where(taken, value, 1).astype(np.float64)
    total = np.add.reduceat(np.where(taken, np.log10(safe) if log else safe, 0), block.start)
    number = add(taken)
    used[where] = number
    mean[where] = np.where(number > 0, total / np.maximum(number, 1), np.nan)
