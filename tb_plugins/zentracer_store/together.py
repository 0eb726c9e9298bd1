"""Joins rows of several tracks on one axis, for modules whose tensors are sampled at different steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from zentracer_store.columns import Array
from zentracer_store.timeline import Gaps, Track

_NO_GAPS = Gaps(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


def axis_of(tracks: Sequence[Track]) -> Track:
    """A track without rows: every step at which one of `tracks` was sampled, held as long as one of them holds."""
    if len(tracks) == 1:
        return tracks[0]
    steps = np.unique(np.concatenate([track.steps for track in tracks]))
    held = np.max([np.where(at >= 0, track.ends[at], 0) for track in tracks for at in [_holding(track, steps)]], axis=0)
    ends = np.minimum(held, np.append(steps[1:].astype(np.float64), np.inf))
    return Track(np.zeros(0, np.intp), (), steps, ends, _NO_GAPS)


def getter(tracks: Sequence[Track], rows: Array, first: int, last: int) -> Callable[[str], Array]:
    """Gives a column of these rows at samples `first` to `last` of `axis_of(tracks)`: [samples, rows].

    NaN where a row's table lacks the column, or holds no sample at that step.
    """
    places = {row: (number, place) for number, track in enumerate(tracks) for place, row in enumerate(track.rows)}
    homes = np.array([places[row] for row in rows.tolist()], np.intp)
    axis = axis_of(tracks)

    def get(name: str) -> Array:
        if len(tracks) == 1:
            values = _known(tracks[0], name, first, last)
            whole = len(rows) == values.shape[1] and (homes[:, 1] == np.arange(len(rows))).all()
            return values if whole else values[:, homes[:, 1]]
        joined = np.full((last - first, len(rows)), np.nan)
        for number, track in enumerate(tracks):
            at = _holding(track, axis.steps[first:last])
            mine = homes[:, 0] == number
            if (at >= 0).any():
                values = _known(track, name, 0, int(at.max()) + 1)[:, homes[mine, 1]]
                joined[:, mine] = np.where((at >= 0)[:, None], values[np.maximum(at, 0)], np.nan)
        return joined

    return get


def _holding(track: Track, steps: Array) -> Array:
    """The sample that holds at each step; -1 where none does."""
    at = np.searchsorted(track.steps, steps, "right") - 1
    return np.where((at >= 0) & (track.ends[np.maximum(at, 0)] > steps), at, -1)


def _known(track: Track, name: str, first: int, last: int) -> Array:
    values = track.values(name, first, last)
    return np.full((last - first, len(track.rows)), np.nan, np.float32) if values is None else values
