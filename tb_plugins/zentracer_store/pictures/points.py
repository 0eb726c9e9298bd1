"""Looks up what was recorded at one step: a column of every row, or every column of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zentracer_schema import ColumnSpec
from zentracer_store.contents.growing import Array
from zentracer_store.contents.marks import EVERY_NAN, explaining
from zentracer_store.runs.timeline import Timeline
from zentracer_store.runs.tracks import Track


@dataclass(frozen=True)
class Sample:
    """One row at one sample. `next_step` is where the following one stands, or where this one ceases to hold."""

    step: int
    next_step: float
    values: dict[str, float | None]
    """None where the status says that there was nothing to measure."""
    status: int


def values_at(timeline: Timeline, column: str, step: float) -> tuple[int | None, list[float | None], list[int]]:
    """The sampled step at or before `step`, and each row's value and status then; None where nothing was recorded."""
    spec = timeline.column(column)
    values: list[float | None] = [None] * len(timeline.rows)
    status = [0] * len(timeline.rows)
    for track in timeline.tracks:
        at = _holding(track, step)
        if at is None:
            continue
        found = None if spec is None else _told(track, spec, at)
        bits = track.status(at, at + 1)[0].tolist()
        for place, row in enumerate(track.rows.tolist()):
            status[row] = bits[place]
            values[row] = None if found is None else _number(*found, place)
    before = int(np.searchsorted(timeline.steps, step, "right")) - 1
    return (int(timeline.steps[before]) if before >= 0 else None), values, status


def sample_of(timeline: Timeline, row: int, step: float) -> Sample | None:
    """Every column of one row at the sample that holds at `step`; None in a gap, before the first and after the end."""
    track = next(track for track in timeline.tracks if row in track.rows)
    at = _holding(track, step)
    if at is None:
        return None
    place = int(np.flatnonzero(track.rows == row)[0])
    values: dict[str, float | None] = {}
    for column in timeline.columns:
        found = _told(track, column, at)
        if found is not None and column.name != "status":
            values[column.name] = _number(*found, place)
    return Sample(int(track.steps[at]), float(track.ends[at]), values, int(track.status(at, at + 1)[0, place]))


def _told(track: Track, column: ColumnSpec, at: int) -> tuple[Array, Array] | None:
    """A column at one sample, [rows], and where its NaN only says that there was nothing to measure."""
    values, bad = track.shown(column.name, at, at + 1), track.bad(column.name, at, at + 1)
    if values is None:
        return None
    excused = np.isnan(values[0])
    if bad is not None:
        excused &= bad[0] == 0
    bits = explaining(column)
    if bits != EVERY_NAN:
        excused &= (track.status(at, at + 1)[0] & np.uint8(bits)) != 0
    return values[0], excused


def _number(values: Array, excused: Array, place: int) -> float | None:
    return None if excused[place] else float(values[place])


def _holding(track: Track, step: float) -> int | None:
    at = int(np.searchsorted(track.steps, step, "right")) - 1
    return at if at >= 0 and track.ends[at] > step else None
