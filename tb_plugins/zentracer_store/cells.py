"""Reduces samples to cells of time: mean, extremes, and counts of everything that no mean may hide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from zentracer_store.bins import Bins
from zentracer_store.growing import Array
from zentracer_store.marks import EVERY_NAN

MARKS = ("zeros", "nan", "pinf", "ninf", "missing")
_LOG10_E = np.float32(1 / np.log(10))
_PRODUCT_SAMPLES = 24
"""So many values of 1e-12 to 1e12 can be multiplied in float64: one logarithm instead of many."""

_SUM_SAMPLES = 256
"""Samples added up in float32 before the sum goes on in float64."""

_BLOCK = 1 << 20
"""Samples looked at one by one at a time."""


@dataclass(frozen=True)
class Cells:
    """Arrays [cells, rows]. `mean` is of log10 of the positive values on a log scale, else of the finite ones.

    `count` is 0 in a cell that only repeats the sample before it. `used` is the number of values in the mean. `marks`
    counts by name of `MARKS`; a name that is not there counts nothing anywhere. `alike`: `count` is the same for all
    rows.
    """

    mean: Array
    min: Array
    max: Array
    count: Array
    used: Array
    status: Array
    marks: dict[str, Array] = field(default_factory=dict)
    alike: bool = False


def empty_cells(cells: int, rows: int) -> Cells:
    """Cells in which there is nothing."""
    mean, low, high = np.full((3, cells, rows), np.nan, np.float32)
    count, used = np.zeros((2, cells, rows), np.uint32)
    return Cells(mean, low, high, count, used, np.zeros((cells, rows), np.uint8))


@dataclass(frozen=True)
class Samples:
    """Values [samples, rows], their status, and which of them are bad whatever their status says.

    `explained`: status bits that turn a NaN into a missing value. `lacking` [samples]: nothing was recorded at all.
    """

    values: Array
    status: Array | None = None
    bad: Array | None = None
    lacking: Array | None = None
    explained: int = EVERY_NAN


def cells_of(samples: Samples, bins: Bins, *, log: bool) -> Cells:
    """Reduce samples, of which the first is `bins.window[0]`, to cells."""
    status, rows = samples.status, samples.values.shape[1]
    some = np.flatnonzero(bins.last > bins.first)
    first, last = bins.first[some] - bins.window[0], bins.last[some] - bins.window[0]
    values = np.asarray(samples.values, np.float32)
    count = np.repeat((last - first).astype(np.uint32)[:, None], rows, axis=1)
    with np.errstate(all="ignore"):  # what is not finite here is put right below
        low, high, mean = _plain(values, first, last, log)
        special = _special(values, low, high, mean, log)
    ored = np.zeros(low.shape, np.uint8) if status is None else _ored(status, first, last)
    cells = Cells(mean, low, high, np.where(bins.held[some, None], 0, count), count, ored, {}, alike=True)
    for block in _blocks(special, first, last):
        _correct(cells, block, samples, log)
    if len(some) < len(bins.first):
        cells = _among(cells, some, len(bins.first))
    if bins.missing.any():
        cells.marks["missing"] = cells.marks.get("missing", 0) + np.repeat(bins.missing[:, None], rows, axis=1)
    return cells


def _among(cells: Cells, places: Array, number: int) -> Cells:
    """These cells at their `places` among `number`, of which the others are empty."""

    def put(array: Array) -> Array:
        whole = np.full((number, array.shape[1]), np.nan if array.dtype.kind == "f" else 0, array.dtype)
        whole[places] = array
        return whole

    low = put(cells.min)
    return Cells(
        put(cells.mean),
        low,
        low if cells.max is cells.min else put(cells.max),
        put(cells.count),
        put(cells.used),
        put(cells.status),
        {name: put(array) for name, array in cells.marks.items()},
        cells.alike,
    )


def _plain(values: Array, first: Array, last: Array, log: bool) -> tuple[Array, Array, Array]:
    """Smallest, largest and mean of each cell, as if every value were finite, and positive on a log scale."""
    if (last - first == 1).all():
        low = values[first]
        return low, low, np.log(low) * _LOG10_E if log else low.copy()
    low, high, mean = np.empty((3, len(first), values.shape[1]), np.float32)
    few = log and int((last - first).max()) <= _PRODUCT_SAMPLES
    product = np.empty(low.shape) if few else None
    for cell, (lo, hi) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        part = values[lo:hi]
        np.minimum.reduce(part, axis=0, out=low[cell])
        np.maximum.reduce(part, axis=0, out=high[cell])
        if product is not None:
            np.multiply.reduce(part, axis=0, dtype=np.float64, out=product[cell])
        else:
            mean[cell] = _sum(part, log) / (hi - lo)
    if product is not None:
        product[~((product > 1e-290) & (product < 1e290))] = np.nan  # seen by `_special`
        mean[...] = np.log10(product) / (last - first)[:, None]
    return low, high, mean


def _sum(part: Array, log: bool) -> Array:
    """The sum over the samples, of log10 or plain, without the error of one long sum in float32."""
    total = np.zeros(part.shape[1])
    for at in range(0, len(part), _SUM_SAMPLES):
        some = part[at : at + _SUM_SAMPLES]
        total += np.add.reduce(np.log(some) if log else some, axis=0)
    return total * _LOG10_E if log else total


def _ored(status: Array, first: Array, last: Array) -> Array:
    if (last - first == 1).all():
        taken: Array = status[first]
        return taken
    result = np.empty((len(first), status.shape[1]), np.uint8)
    for cell, (lo, hi) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        np.bitwise_or.reduce(status[lo:hi], axis=0, out=result[cell])
    return result


def _special(values: Array, low: Array, high: Array, mean: Array, log: bool) -> Array:
    """The cells whose plain result may not be the answer."""
    if log:
        return ~((low > 0) & (high < np.inf) & np.isfinite(mean))
    special = ~(np.isfinite(low) & np.isfinite(high) & np.isfinite(mean))
    around = (low <= 0) & (high >= 0)
    if around.any() and (values == 0).any():
        special |= around
    return special


@dataclass(frozen=True)
class _Block:
    """Cells to look at value by value: cell and row numbers, their samples one after the other, where each begins."""

    cell: Array
    row: Array
    sample: Array
    sample_row: Array
    start: Array


def _blocks(special: Array, first: Array, last: Array) -> Iterator[_Block]:
    """The special cells, in blocks of bounded size."""
    cell, row = np.nonzero(special)
    counts = (last - first)[cell]
    ends = np.cumsum(counts)
    at = 0
    while at < len(cell):
        done = ends[at - 1] if at else 0
        to = max(int(np.searchsorted(ends, done + _BLOCK)), at + 1)
        many = counts[at:to]
        start = ends[at:to] - many - done
        sample = np.arange(ends[to - 1] - done) + np.repeat(first[cell[at:to]] - start, many)
        yield _Block(cell[at:to], row[at:to], sample, np.repeat(row[at:to], many), start)
        at = to


def _correct(cells: Cells, block: _Block, samples: Samples, log: bool) -> None:
    """Put the true answer into the cells of `block`."""
    where = (block.cell, block.row)
    taken = (block.sample, block.sample_row)
    value = np.asarray(samples.values[taken], np.float32)

    def add(mask: Array) -> Array:
        added: Array = np.add.reduceat(mask, block.start, dtype=np.uint32)
        return added

    nan, finite = np.isnan(value), np.isfinite(value)
    excused = nan.copy()
    if samples.bad is not None:
        excused &= samples.bad[taken] == 0
    if samples.explained != EVERY_NAN:
        excused &= samples.status is not None and (samples.status[taken] & np.uint8(samples.explained)) != 0
    if samples.lacking is not None:
        excused |= samples.lacking[block.sample]
    found = {
        "zeros": add(value == 0),
        "nan": add(nan & ~excused),
        "pinf": add(value == np.inf),
        "ninf": add(value == -np.inf),
        "missing": add(excused),
    }
    for name, counts in found.items():
        if counts.any():
            cells.marks.setdefault(name, np.zeros(cells.mean.shape, np.uint32))[where] += counts
    some = add(finite) > 0
    cells.min[where] = np.where(some, np.minimum.reduceat(np.where(finite, value, np.inf), block.start), np.nan)
    cells.max[where] = np.where(some, np.maximum.reduceat(np.where(finite, value, -np.inf), block.start), np.nan)
    used = finite & (value > 0) if log else finite
    safe = np.where(used, value, 1).astype(np.float64)
    total = np.add.reduceat(np.where(used, np.log10(safe) if log else safe, 0), block.start)
    number = add(used)
    cells.used[where] = number
    cells.mean[where] = np.where(number > 0, total / np.maximum(number, 1), np.nan)
