"""Reduces samples to cells of time: mean, extremes, and counts of everything that no mean may hide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.contents.marks import EVERY_NAN
from zentracer_store.pictures.bins import Bins
from zentracer_store.pictures.groups import index_of

MARKS = ("zeros", "nan", "pinf", "ninf", "missing")
_LOG10_E = 1 / np.log(10)
_PRODUCT_SAMPLES = 24
"""So many values of 1e-12 to 1e12 can be multiplied in float64: one logarithm instead of many."""

_SUM_SAMPLES = 256
"""Samples added up in float32 before the sum goes on in float64."""

_BLOCK = 1 << 16
"""Samples worked on at a time: all passes over them find them in the processor's cache."""


@dataclass(frozen=True)
class Cells:
    """Arrays [cells, rows]. `mean` is of log10 of the positive values on a log scale, else of the finite ones.

    `count` is 0 in a cell that only repeats the sample before it, `used` the number of values in the mean; both may be
    [cells, 1], the same for all rows. `marks` counts by name of `MARKS`; a name that is not there counts nothing
    anywhere. Where every cell has one sample, `max` is the same array as `min`, and so is `mean` on a linear scale.
    """

    mean: Array
    min: Array
    max: Array
    count: Array
    used: Array
    status: Array
    marks: dict[str, Array] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        arrays = (self.mean, self.min, self.max, self.count, self.used, self.status, *self.marks.values())
        return sum({id(array): array.nbytes for array in arrays}.values())

    def turned(self) -> Cells:
        """The same as [rows, cells], in memory too; `count` and `used` may be [1, cells]."""
        low = np.ascontiguousarray(self.min.T)

        def turn(array: Array) -> Array:
            return low if array is self.min else np.ascontiguousarray(array.T)

        return Cells(
            turn(self.mean),
            low,
            turn(self.max),
            turn(self.count),
            turn(self.used),
            turn(self.status),
            {name: turn(marks) for name, marks in self.marks.items()},
        )


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

    def at(self, places: Any) -> Samples:
        """Some of the samples."""

        def taken(array: Array | None) -> Array | None:
            return None if array is None else array[places]

        return Samples(
            self.values[places], taken(self.status), taken(self.bad), taken(self.lacking), explained=self.explained
        )


def empty_cells(cells: int, rows: int) -> Cells:
    """Cells in which there is nothing."""
    mean, low, high = np.full((3, cells, rows), np.nan, np.float32)
    count, used = np.zeros((2, cells, rows), np.uint32)
    return Cells(mean, low, high, count, used, np.zeros((cells, rows), np.uint8))


def cells_of(samples: Samples, bins: Bins, *, log: bool) -> Cells:
    """Reduce samples, of which the first is `bins.window[0]`, to the cells of `bins`."""
    some = np.flatnonzero(bins.last > bins.first)
    first, last = bins.first[some] - bins.window[0], bins.last[some] - bins.window[0]
    return laid_out([(some, reduced(samples, first, last, log=log))], bins)


def laid_out(parts: Sequence[tuple[Array, Cells]], bins: Bins) -> Cells:
    """Cells at their places among those of `bins`, of which the others are empty; repeats and gaps as `bins` say."""
    number = len(bins.first)

    def put(arrays: Sequence[Array]) -> Array:
        if len(arrays) == 1 and len(arrays[0]) == number:
            return arrays[0]
        blank = np.nan if arrays[0].dtype.kind == "f" else 0
        whole = np.full((number, max(array.shape[1] for array in arrays)), blank, arrays[0].dtype)
        for (places, _), array in zip(parts, arrays, strict=True):
            whole[places] = array
        return whole

    made = [cells for _, cells in parts]
    low = put([cells.min for cells in made])

    def put_or_low(name: str) -> Array:
        arrays = [getattr(cells, name) for cells in made]
        same = all(array is cells.min for array, cells in zip(arrays, made, strict=True))
        return low if same else put(arrays)

    names = {name for cells in made for name in cells.marks}
    marks = {name: put([cells.marks.get(name, np.zeros_like(cells.used)) for cells in made]) for name in names}
    if bins.missing.any():
        marks["missing"] = marks.get("missing", 0) + np.repeat(bins.missing[:, None], low.shape[1], axis=1)
    count = put([cells.count for cells in made])
    return Cells(
        put_or_low("mean"),
        low,
        put_or_low("max"),
        np.where(bins.held[:, None], np.uint32(0), count) if bins.held.any() else count,
        put([cells.used for cells in made]),
        put([cells.status for cells in made]),
        marks,
    )


def reduced(samples: Samples, first: Array, last: Array, *, log: bool) -> Cells:
    """One cell for the samples [first, last) each; none of these is empty."""
    values = np.asarray(samples.values, np.float32)
    count = (last - first).astype(np.uint32)[:, None]
    with np.errstate(all="ignore"):  # what is not finite here is put right below
        low, high, mean = _plain(values, first, last, log)
        special = _special(low, high, mean, log)
    if samples.status is None:
        status = np.zeros(low.shape, np.uint8)
    else:
        status = _each(np.bitwise_or, samples.status, first, last)
    cells = Cells(mean, low, high, count, count, status)
    if not log:
        around = (low <= 0) & (high >= 0)
        if around.any() and (zero := values == 0).any():
            cells.marks["zeros"] = _each(np.add, zero, first, last, np.uint32)
    return _corrected(cells, special, samples, first, last, log) if special.any() else cells


def _runs(first: Array, last: Array, most: int) -> Iterator[tuple[int, int, int]]:
    """Cells [begin, end) that follow each other and have so many samples each, at most `most` together or one cell."""
    size = last - first
    breaks = np.flatnonzero((np.diff(size) != 0) | (first[1:] != last[:-1])) + 1
    for begin, end in zip([0, *breaks.tolist()], [*breaks.tolist(), len(first)], strict=True):
        if begin == end:
            continue
        each = int(size[begin])
        stride = max(most // each, 1)
        for at in range(begin, end, stride):
            yield at, min(at + stride, end), each


def _each(ufunc: np.ufunc, values: Array, first: Array, last: Array, dtype: Any = None) -> Array:
    """`ufunc` over the samples of each cell: [samples, rows] to [cells, rows]."""
    result = np.empty((len(first), values.shape[1]), values.dtype if dtype is None else dtype)
    for begin, end, each in _runs(first, last, _BLOCK // max(values.shape[1], 1)):
        part = values[first[begin] : last[end - 1]].reshape(end - begin, each, values.shape[1])
        ufunc.reduce(part, axis=1, dtype=result.dtype, out=result[begin:end])
    return result


def _plain(values: Array, first: Array, last: Array, log: bool) -> tuple[Array, Array, Array]:
    """Smallest, largest and mean of each cell, as if every value were finite, and positive on a log scale."""
    if (last - first == 1).all():
        low = values[first]
        return low, low, np.log(low) * np.float32(_LOG10_E) if log else low
    rows = values.shape[1]
    low, high, mean = np.empty((3, len(first), rows), np.float32)
    for begin, end, each in _runs(first, last, _BLOCK // max(rows, 1)):
        part = values[first[begin] : last[end - 1]].reshape(end - begin, each, rows)
        np.minimum.reduce(part, axis=1, out=low[begin:end])
        np.maximum.reduce(part, axis=1, out=high[begin:end])
        mean[begin:end] = (_log_sum(part) if log else _sum(part)) / each
    return low, high, mean


def _sum(part: Array) -> Array:
    """The sum over axis 1, without the error of one long sum in float32."""
    total = np.zeros((len(part), part.shape[2]))
    for at in range(0, part.shape[1], _SUM_SAMPLES):
        total += np.add.reduce(part[:, at : at + _SUM_SAMPLES], axis=1)
    return total


def _log_sum(part: Array) -> Array:
    """The sum of log10 over axis 1; NaN where the values are too far from 1 to be multiplied."""
    total = np.zeros((len(part), part.shape[2]))
    for at in range(0, part.shape[1], _PRODUCT_SAMPLES):
        product = np.multiply.reduce(part[:, at : at + _PRODUCT_SAMPLES], axis=1, dtype=np.float64)
        product[~((product > 1e-290) & (product < 1e290))] = np.nan  # seen by `_special`
        total += np.log(product)
    total *= _LOG10_E
    return total


def _special(low: Array, high: Array, mean: Array, log: bool) -> Array:
    """The cells whose plain result may not be the answer."""
    above = low > 0 if log else np.isfinite(low)
    special: Array = ~(above & np.isfinite(high) & np.isfinite(mean))
    return special


def _corrected(cells: Cells, special: Array, samples: Samples, first: Array, last: Array, log: bool) -> Cells:
    """The cells with the true answer in all that are special, and in those that share a cell and a row with them."""
    some, rows = np.flatnonzero(special.any(axis=1)), np.flatnonzero(special.any(axis=0))
    whole = replace(cells, used=np.repeat(cells.used, special.shape[1], axis=1))
    ends = np.cumsum((last - first)[some])
    at = 0
    while at < len(some):
        done = ends[at - 1] if at else 0
        to = max(int(np.searchsorted(ends, done + _BLOCK // len(rows), "right")), at + 1)
        _correct(whole, some[at:to], rows, samples, first, last, log)
        at = to
    return whole


def _correct(cells: Cells, some: Array, rows: Array, samples: Samples, first: Array, last: Array, log: bool) -> None:
    """Put the true answer into some cells of some rows."""
    size = (last - first)[some]
    end = np.cumsum(size)
    begin = end - size
    sample = np.arange(end[-1]) + np.repeat(first[some] - begin, size)
    taken, where = _crossing(sample, rows), _crossing(some, rows)
    value = np.asarray(samples.values[taken], np.float32)
    nan, finite = np.isnan(value), np.isfinite(value)
    excused = _excused(nan, samples, sample, taken)

    def counted(mask: Array) -> Array:
        return _each(np.add, mask, begin, end, np.uint32)

    found = {"zeros": value == 0, "nan": nan & ~excused, "missing": excused}
    if not (nan | finite).all():
        found |= {"pinf": value == np.inf, "ninf": value == -np.inf}
    for name, mask in found.items():
        if mask.any():
            cells.marks.setdefault(name, np.zeros(cells.mean.shape, np.uint32))[where] = counted(mask)
    if not finite.any():
        for array in (cells.mean, cells.min, cells.max):
            array[where] = np.nan
        cells.used[where] = 0
        return
    some_finite = counted(finite) > 0
    low = _each(np.minimum, np.where(finite, value, np.float32(np.inf)), begin, end)
    high = _each(np.maximum, np.where(finite, value, np.float32(-np.inf)), begin, end)
    cells.min[where] = np.where(some_finite, low, np.nan)
    cells.max[where] = np.where(some_finite, high, np.nan)
    used = finite & (value > 0) if log else finite
    number = counted(used)
    cells.used[where] = number
    cells.mean[where] = np.where(number > 0, _mean_of(value, used, number, begin, end, log), np.nan)


def _crossing(first: Array, second: Array) -> Any:
    """The index of all pairs of these, by slices where they are evenly spaced."""
    index = index_of(first), index_of(second)
    return index if any(isinstance(part, slice) for part in index) else np.ix_(*index)


def _excused(nan: Array, samples: Samples, sample: Array, taken: Any) -> Array:
    """Which values are NaN only because there was nothing to measure."""
    excused = nan.copy()
    if samples.bad is not None:
        excused &= samples.bad[taken] == 0
    if samples.explained != EVERY_NAN:
        excused &= samples.status is not None and (samples.status[taken] & np.uint8(samples.explained)) != 0
    if samples.lacking is not None:
        excused |= samples.lacking[sample][:, None]
    return excused


def _mean_of(value: Array, used: Array, number: Array, begin: Array, end: Array, log: bool) -> Array:
    """The mean of the values that are `used`, of which there are `number` in each cell."""
    if not number.any():
        return np.zeros(number.shape)
    safe = np.where(used, value, 1).astype(np.float64)
    numbers = np.log(safe) * _LOG10_E if log else np.where(used, safe, 0)
    mean: Array = _each(np.add, numbers, begin, end) / np.maximum(number, 1)
    return mean
