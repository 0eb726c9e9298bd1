"""Lays a timeline along another axis: the same samples, at other places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zentracer_store.runs.axis import Axis
from zentracer_store.runs.timeline import Timeline
from zentracer_store.runs.tracks import Gaps, Track


def laid_along(timeline: Timeline, axis: Axis) -> Timeline:
    """The timeline with positions on `axis` in place of steps, as float64.

    Several samples may share a position. Within a pause nothing stands: what held up to it ends before it.
    """
    if axis.name == "step":
        return timeline
    return replace(
        timeline,
        tracks=tuple(track_along(track, axis) for track in timeline.tracks),
        steps=axis.positions(timeline.steps),
        end=float(axis.ends(np.array([timeline.end]))[0]),
    )


def track_along(track: Track, axis: Axis) -> Track:
    """The same of one track."""
    if axis.name == "step":
        return track
    start, end = axis.ends(track.gaps.start), axis.ends(track.gaps.end)
    seen = end > start  # a gap may lie within a pause
    gaps = Gaps(start[seen], end[seen], track.gaps.expected[seen])
    return replace(track, steps=axis.positions(track.steps), ends=axis.ends(track.ends), gaps=gaps)
