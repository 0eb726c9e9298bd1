"""Says which samples of a track belong to which cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.runs.tracks import Gaps, Track


@dataclass(frozen=True)
class Bins:
    """Samples of each cell: [first, last). `held` cells repeat an earlier sample; `missing` counts expected ones."""

    first: Array
    last: Array
    held: Array
    missing: Array

    @property
    def window(self) -> tuple[int, int]:
        """All samples that any cell needs."""
        some = self.last > self.first
        if not some.any():
            return 0, 0
        return int(self.first[some].min()), int(self.last[some].max())

    def part(self, first: int, last: int) -> Bins:
        """The cells `first` to `last` (exclusive)."""
        some = slice(first, last)
        return Bins(self.first[some], self.last[some], self.held[some], self.missing[some])


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
    length = gaps.end - gaps.start
    reach = np.clip(edges - gaps.start[inside], 0, length[inside])
    passed = np.minimum(np.ceil(reach / (length / gaps.expected)[inside]), gaps.expected[inside])

    def up_to(whole: Array, part: Array) -> Array:
        before = np.concatenate([[0], np.cumsum(whole)])
        result: Array = np.where(number >= 0, before[inside] + part, 0)
        return result

    expected = np.diff(up_to(gaps.expected, passed))
    touched = np.diff(up_to(length, reach)) > 0
    return np.where(touched, np.maximum(expected, 1), 0).astype(np.uint32)
