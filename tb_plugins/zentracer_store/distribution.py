"""Says how the values of a picture, and of a whole run, are spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zentracer_store.cells import Cells
from zentracer_store.columns import Array
from zentracer_store.timeline import Timeline

LOW, HIGH, BINS = -12, 6, 360
"""Range of log10, whose ends collect what lies outside, and number of bins."""

_MOST_VALUES = 1 << 18


def distribution_of(parts: Sequence[Cells], *, log: bool) -> dict[str, Any]:
    """Counts of the cells' means, each weighing as many as it has samples, and of what has no mean.

    Cells that only repeat an earlier sample are left out.
    """
    fresh = [part.count > 0 for part in parts]
    mean = _chosen([part.mean for part in parts], fresh)
    used = _chosen([part.used for part in parts], fresh)
    known = np.isfinite(mean)
    mean, used = mean[known], used[known]
    low, high = (LOW, HIGH) if log else _limits(mean)
    place = np.clip((mean - low) * (BINS / (high - low)), 0, BINS - 1).astype(np.intp)
    counts = np.bincount(place, weights=used, minlength=BINS)
    answer: dict[str, Any] = {"low": low, "high": high, "bins": BINS, "counts": counts.astype(np.int64).tolist()}
    for name in ("zeros", "nan", "pinf", "ninf"):
        arrays = [np.sum(getattr(part, name), where=some) for part, some in zip(parts, fresh, strict=True)]
        answer[name] = int(sum(arrays))
    answer["missing"] = int(sum(part.missing.sum() for part in parts))
    return answer


def quantiles_of(timeline: Timeline, column: str) -> dict[str, float | None]:
    """The 1st, 50th and 99th percentile of a column's finite, non-zero values over the whole run.

    From every 2^k-th sample, so that at most 2^18 values are looked at and growing by one sample moves next to nothing.
    """
    size = sum(len(track.steps) * len(track.rows) for track in timeline.tracks)
    stride = 1
    while size / stride > _MOST_VALUES:
        stride *= 2
    taken = [_every(timeline, column, stride)]
    values = np.concatenate(taken)
    values = values[np.isfinite(values) & (values != 0)]
    if not len(values):
        return {"p1": None, "p50": None, "p99": None}
    p1, p50, p99 = np.quantile(values, (0.01, 0.5, 0.99)).tolist()
    return {"p1": p1, "p50": p50, "p99": p99}


def _every(timeline: Timeline, column: str, stride: int) -> Array:
    found = [np.zeros(0)]
    for track in timeline.tracks:
        values = track.values(column, 0, len(track.steps))
        if values is not None:
            found.append(values[::stride].ravel().astype(np.float64))
    return np.concatenate(found)


def _chosen(arrays: Sequence[Array], masks: Sequence[Array]) -> Array:
    if len(arrays) == 1 and masks[0].all():
        return arrays[0].ravel()
    return np.concatenate([array[mask] for array, mask in zip(arrays, masks, strict=True)])


def _limits(values: Array) -> tuple[float, float]:
    """Smallest and largest of `values`, apart enough to be divided into bins."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        margin = abs(low) / 2 or 0.5
        return low - margin, high + margin
    return low, high
