"""Looks up what was recorded at one step: a column of every row, or every column of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zentracer_store.timeline import Timeline, Track


@dataclass(frozen=True)
class Sample:
    """One row at one sample. `next_step` is where the following one stands, or where this one ceases to hold."""

    step: int
    next_step: float
    values: dict[str, float]
    status: int


def values_at(timeline: Timeline, column: str, step: float) -> tuple[int | None, list[float | None], list[int]]:
    """The sampled step at or before `step`, and each row's value and status then; None where nothing was recorded."""
    values: list[float | None] = [None] * len(timeline.rows)
    status = [0] * len(timeline.rows)
    for track in timeline.tracks:
        at = _holding(track, step)
        if at is None:
            continue
        found = track.shown(column, at, at + 1)
        bits = track.status(at, at + 1)[0].tolist()
        for place, row in enumerate(track.rows.tolist()):
            status[row] = bits[place]
            values[row] = None if found is None else float(found[0, place])
    before = int(np.searchsorted(timeline.steps, step, "right")) - 1
    return (int(timeline.steps[before]) if before >= 0 else None), values, status


def sample_of(timeline: Timeline, row: int, step: float) -> Sample | None:
    """Every column of one row at the sample that holds at `step`; None in a gap, before the first and after the end."""
    track = next(track for track in timeline.tracks if row in track.rows)
    at = _holding(track, step)
    if at is None:
        return None
    place = int(np.flatnonzero(track.rows == row)[0])
    values = {}
    for column in timeline.columns:
        found = track.shown(column.name, at, at + 1)
        if found is not None and column.name != "status":
            values[column.name] = float(found[0, place])
    return Sample(int(track.steps[at]), float(track.ends[at]), values, int(track.status(at, at + 1)[0, place]))


def _holding(track: Track, step: float) -> int | None:
    at = int(np.searchsorted(track.steps, step, "right")) - 1
    return at if at >= 0 and track.ends[at] > step else None
