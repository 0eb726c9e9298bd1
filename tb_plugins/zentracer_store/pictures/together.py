"""Joins rows of several tracks on one axis, for modules whose tensors are sampled at different steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.pictures.groups import index_of
from zentracer_store.pictures.kept import key_of
from zentracer_store.runs.tracks import Gaps, Track

_NO_GAPS = Gaps(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


class Together:
    """Rows with these numbers out of some tracks. `axis` has every step at which one of the tracks was sampled."""

    def __init__(self, tracks: Sequence[Track], rows: Array) -> None:
        self._tracks = tuple(tracks)
        self.axis = _axis_of(self._tracks)
        places = {row: (n, place) for n, track in enumerate(tracks) for place, row in enumerate(track.rows.tolist())}
        self._home, self._place = np.array([places[row] for row in rows.tolist()], np.intp).T
        self._pick = index_of(self._place)

    def values(self, column: str, first: int, last: int) -> Array:
        """A column at samples `first` to `last` (exclusive) of the axis: [samples, rows].

        NaN where a row's table lacks the column, or holds no sample at that step.
        """
        if len(self._tracks) == 1:
            values = _known(self._tracks[0], column, first, last)
            taken: Array = values[:, self._pick]
            return taken
        joined = np.full((last - first, len(self._home)), np.nan)
        for number, track in enumerate(self._tracks):
            at = _holding(track, self.axis.steps[first:last])
            mine = self._home == number
            if (at >= 0).any():
                lowest, highest = int(at[at >= 0].min()), int(at.max())
                values = _known(track, column, lowest, highest + 1)[:, self._place[mine]]
                joined[:, mine] = np.where((at >= 0)[:, None], values[np.maximum(at - lowest, 0)], np.nan)
        return joined

    def origin(self, first: int, last: int) -> tuple[Any, ...]:
        """Where the samples `first` to `last` of the axis are recorded, see `Track.origin`."""
        if len(self._tracks) == 1:
            return self._tracks[0].origin(first, last)
        found: list[Any] = []
        for track in self._tracks:
            at = _holding(track, self.axis.steps[first:last])
            held = at[at >= 0]
            found += [key_of(at), track.origin(int(held.min()), int(held.max()) + 1) if len(held) else ()]
        return tuple(found)


def _axis_of(tracks: Sequence[Track]) -> Track:
    if len(tracks) == 1:
        return tracks[0]
    steps = np.unique(np.concatenate([track.steps for track in tracks]))
    at = [_holding(track, steps) for track in tracks]
    held = np.max([np.where(a >= 0, t.ends[np.maximum(a, 0)], 0) for t, a in zip(tracks, at, strict=True)], axis=0)
    ends = np.minimum(held, np.append(steps[1:].astype(np.float64), np.inf))
    return Track(np.zeros(0, np.intp), (), steps, ends, _NO_GAPS)


def _holding(track: Track, steps: Array) -> Array:
    """The sample that holds at each step; -1 where none does."""
    at = np.searchsorted(track.steps, steps, "right") - 1
    return np.where((at >= 0) & (track.ends[np.maximum(at, 0)] > steps), at, -1)


def _known(track: Track, name: str, first: int, last: int) -> Array:
    values = track.values(name, first, last)
    return np.full((last - first, len(track.rows)), np.nan, np.float32) if values is None else values
