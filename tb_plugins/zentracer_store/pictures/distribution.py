"""Says how the values of a picture, and of a whole run, are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.pictures.cells import MARKS, Cells
from zentracer_store.runs.timeline import Timeline

LOW, HIGH, BINS = -12, 6, 360
"""Range of log10, whose ends collect what lies outside, and number of bins; on a linear scale the most bins."""

_MOST_VALUES = 1 << 16
_DIGITS = 22
"""Of float32: narrower bins than 2^-22 of the largest value tell nothing apart."""


@dataclass(frozen=True)
class Spread:
    """How often the means of some cells lie in each bin, each as often as it has values: `counts` [cells, bins].

    The bins are 2^`exponent` wide and begin at multiples of that, the first at `first`; on a log scale they are always
    the same, and `exponent` is None. `marks` [cells] by name. Cells that only repeat a sample are left out.
    """

    exponent: int | None
    first: int
    counts: Array
    marks: dict[str, Array]

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.counts.nbytes + sum(marks.nbytes for marks in self.marks.values())


def spread_of(cells: Cells, *, log: bool) -> Spread:
    """How the means of cells are spread."""
    fresh = cells.count > 0
    marks = {
        name: (marks if name == "missing" else np.where(fresh, marks, 0)).sum(axis=1, dtype=np.int64)
        for name, marks in cells.marks.items()
    }
    weight = np.where(fresh, cells.used, np.uint32(0))
    if log:
        place = (cells.mean - LOW) * (BINS / (HIGH - LOW))
        np.clip(place, 0, BINS - 1, out=place)
        place[np.isnan(place)] = BINS
        return Spread(None, 0, _counts(place.astype(np.intp), weight, BINS), marks)
    mean = cells.mean.astype(np.float64)
    some = (weight > 0) & np.isfinite(mean)
    if not some.any():
        return Spread(-_DIGITS, 0, np.zeros((len(mean), 1), np.uint32), marks)
    low, high = float(mean.min(where=some, initial=np.inf)), float(mean.max(where=some, initial=-np.inf))
    exponent = _exponent(low, high)
    first = math.floor(math.ldexp(low, -exponent))
    bins = math.floor(math.ldexp(high, -exponent)) - first + 1
    place = np.where(some, np.floor(np.ldexp(mean, -exponent)) - first, bins).astype(np.intp)
    return Spread(exponent, first, _counts(place, weight, bins), marks)


def _exponent(low: float, high: float) -> int:
    """The narrowest bins, at most `BINS` of them, that tell more apart than rounding does."""
    largest = max(abs(low), abs(high))
    apart = max((high - low) / (BINS - 1), math.ldexp(largest, -_DIGITS), math.ldexp(1.0, -1000))
    return math.ceil(math.log2(apart))


def _counts(place: Array, weight: Array, bins: int) -> Array:
    """Per cell, the weights by bin; what is in the bin behind the last is dropped."""
    cells = len(place)
    place = place + (np.arange(cells) * (bins + 1))[:, None]
    if weight.shape[1] == 1:
        counts = np.bincount(place.ravel(), minlength=cells * (bins + 1)).reshape(cells, bins + 1) * weight
    else:
        counts = np.bincount(place.ravel(), weight.ravel(), cells * (bins + 1)).reshape(cells, bins + 1)
    return counts[:, :bins].astype(np.uint32)


def answer_of(parts: Sequence[tuple[Spread, slice]]) -> dict[str, Any]:
    """Limits, counts by bin, and counts of marks, over some cells of each part."""
    marks = {
        name: sum(int(spread.marks[name][some].sum()) for spread, some in parts if name in spread.marks)
        for name in MARKS
    }
    summed = [(spread, spread.counts[some].sum(axis=0, dtype=np.int64)) for spread, some in parts]
    logs = [counts for spread, counts in summed if spread.exponent is None]
    if logs:
        return {"low": float(LOW), "high": float(HIGH), "bins": BINS, "counts": sum(logs).tolist(), **marks}
    low, high, counts = _together([one for one in summed if one[1].any()])
    return {"low": low, "high": high, "bins": len(counts), "counts": counts, **marks}


def _together(summed: Sequence[tuple[Spread, Array]]) -> tuple[float, float, list[int]]:
    """Limits and counts in bins so wide that they hold those of every part, and are not too many."""
    if not summed:
        return 0.0, 1.0, [0]
    found = []
    for spread, counts in summed:
        inside = np.flatnonzero(counts)
        found.append((spread.exponent or 0, spread.first + inside, counts[inside]))
    exponent = max(one[0] for one in found)
    while True:
        places = np.concatenate([place >> (exponent - own) for own, place, _ in found])
        first, bins = int(places.min()), int(np.ptp(places)) + 1
        if bins <= BINS:
            break
        exponent += 1
    counts = np.bincount(places - first, np.concatenate([counts for _, _, counts in found]), bins)
    low, high = math.ldexp(first, exponent), math.ldexp(first + bins, exponent)
    return low, high, counts.astype(np.int64).tolist()


@dataclass(frozen=True)
class Quantiles:
    """Percentiles of a column by name; None where it has no values."""

    values: dict[str, float | None]
    nbytes: int = 256


def quantiles_of(timeline: Timeline, column: str) -> Quantiles:
    """The 1st, 50th and 99th percentile of a column's finite, non-zero values over the whole run.

    Of every 2^k-th sample, so that at most 2^16 values are looked at and one sample more moves next to nothing.
    """
    size = sum(len(track.steps) * len(track.rows) for track in timeline.tracks)
    stride = 1
    while size / stride > _MOST_VALUES and stride < len(timeline.steps):
        stride *= 2
    values = np.concatenate([track.every(column, stride).ravel() for track in timeline.tracks]).astype(np.float64)
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return Quantiles({"p1": None, "p50": None, "p99": None})
    p1, p50, p99 = np.quantile(values, (0.01, 0.5, 0.99)).tolist()
    return Quantiles({"p1": p1, "p50": p50, "p99": p99})
