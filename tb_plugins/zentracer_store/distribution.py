"""Says how the values of a picture, and of a whole run, are spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from zentracer_store.cells import MARKS, Cells
from zentracer_store.growing import Array
from zentracer_store.timeline import Timeline

LOW, HIGH, BINS = -12, 6, 360
"""Range of log10, whose ends collect what lies outside, and number of bins."""

_MOST_VALUES = 1 << 16


class Distribution:
    """Counts the means of cells, each as often as it has samples, and what has no mean.

    Cells that only repeat an earlier sample are left out.
    """

    def __init__(self, *, log: bool) -> None:
        self._log = log
        self._counts = np.zeros(BINS + 1)
        self._seen: list[tuple[Array, Array]] = []
        self._marks = dict.fromkeys(MARKS, 0)

    def add(self, cells: Cells) -> None:
        """Count some more cells."""
        fresh = cells.count > 0
        weight = np.where(fresh, cells.used, 0)
        if self._log:
            self._counts += _counts(cells.mean, weight, LOW, HIGH)
        else:
            # The limits are known only when all cells have been seen.
            some = weight > 0
            self._seen.append((cells.mean[some], weight[some]))
        for name, marks in cells.marks.items():
            self._marks[name] += int(marks.sum() if name == "missing" else marks.sum(where=fresh))

    def answer(self) -> dict[str, Any]:
        """Limits, counts by bin, and counts of marks."""
        low, high = float(LOW), float(HIGH)
        if not self._log:
            mean = np.concatenate([np.zeros(0), *(mean for mean, _ in self._seen)])  # float64: limits may be tiny
            weight = np.concatenate([np.zeros(0, np.uint32), *(weight for _, weight in self._seen)])
            low, high = _limits(mean)
            self._counts = _counts(mean, weight, low, high)
        counts = self._counts[:BINS].astype(np.int64).tolist()
        return {"low": low, "high": high, "bins": BINS, "counts": counts, **self._marks}


def _counts(mean: Array, weight: Array, low: float, high: float) -> Array:
    place = (mean - low) * (BINS / (high - low))
    np.clip(place, 0, BINS - 1, out=place)
    place[np.isnan(place)] = BINS
    return np.bincount(place.astype(np.int32).ravel(), weights=weight.ravel(), minlength=BINS + 1)


def quantiles_of(timeline: Timeline, column: str) -> dict[str, float | None]:
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
        return {"p1": None, "p50": None, "p99": None}
    p1, p50, p99 = np.quantile(values, (0.01, 0.5, 0.99)).tolist()
    return {"p1": p1, "p50": p50, "p99": p99}


def _limits(values: Array) -> tuple[float, float]:
    """Smallest and largest of `values`, apart enough to be divided into bins."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-6 * max(abs(low), abs(high)):
        margin = abs(low) / 2 or 0.5
        return low - margin, high + margin
    return low, high
