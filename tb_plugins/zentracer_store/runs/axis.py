"""Says where the steps of a timeline stand on another axis: wall time, time since the start, a counter of the clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from zentracer_schema import CLOCK_COLUMNS
from zentracer_store.contents.growing import Array
from zentracer_store.runs.timeline import FURTHEST, Timeline, near

COUNTERS = ("updates", "forward_calls", "user_step", "samples", "epoch")
"""Columns of the clock that count training."""

_LABELS = {column.name: column.label for column in CLOCK_COLUMNS}


class AxisError(ValueError):
    """A timeline can't be laid along that axis; the message is a sentence for who asked."""


@dataclass(frozen=True)
class Pause:
    """Positions [start, end) between two sessions, at which no step stands.

    `idle_s` are the seconds in which nothing was written. The rest went into steps that were overwritten since, and
    into starting up.
    """

    start: float
    end: float
    step: float
    idle_s: float


@dataclass(frozen=True)
class Axis:
    """An axis on which steps keep their order: straight between knots, with jumps at pauses.

    At the step `steps[i]` stands `at[i]`; what comes right before that step nears `before[i]`.
    """

    name: str
    label: str
    unit: str
    steps: Array
    at: Array
    before: Array
    pauses: tuple[Pause, ...] = ()

    def positions(self, steps: Array) -> Array:
        """Where samples at `steps` stand."""
        return self._on(np.asarray(steps, np.float64), "right")

    def ends(self, steps: Array) -> Array:
        """Where what holds up to `steps` ends: before a pause that stands there, not behind it."""
        return self._on(np.asarray(steps, np.float64), "left")

    def steps_at(self, positions: Array) -> Array:
        """The step at each position; within a pause the step that comes after it."""
        positions = np.asarray(positions, np.float64)
        k = np.clip(np.searchsorted(self.at, positions, "right") - 1, 0, len(self.at) - 2)
        share = np.clip(_ratio(positions - self.at[k], self.before[k + 1] - self.at[k]), 0.0, 1.0)
        found: Array = self.steps[k] + share * (self.steps[k + 1] - self.steps[k])
        found += _outside(positions, self.at) / self._scale
        return found

    def _on(self, steps: Array, side: Literal["left", "right"]) -> Array:
        k = np.clip(np.searchsorted(self.steps, steps, side) - 1, 0, len(self.steps) - 2)
        share = np.clip(_ratio(steps - self.steps[k], self.steps[k + 1] - self.steps[k]), 0.0, 1.0)
        # Not from the one by a share of the way to the other: that would round past the end of the way.
        found: Array = (1.0 - share) * self.at[k] + share * self.before[k + 1]
        found += _outside(steps, self.steps) * self._scale
        return found

    @property
    def _scale(self) -> float:
        """Axis units a step over all, by which the axis goes on outside of what is recorded."""
        return _slope(self.at[-1] - self.at[0], self.steps[-1] - self.steps[0]) or 1.0


def axis_of(timeline: Timeline, name: str) -> Axis:
    """The axis `name` of a timeline: step, wall, relative (seconds since the first record) or one of `COUNTERS`.

    Raises:
        AxisError: there is no such axis, or the counter does not rise with the steps.
    """
    if not len(timeline.steps):
        raise AxisError("Nothing is recorded that could be laid along an axis.")
    if name == "step":
        ends = np.array([timeline.steps[0], timeline.end], np.float64)
        return Axis("step", "Step", "", ends, ends, ends)
    if name in ("wall", "relative"):
        return _by_time(timeline, name)
    if name in COUNTERS:
        return _by_counter(timeline, name)
    raise AxisError(f"There is no axis {name!r}. There are step, wall, relative, {', '.join(COUNTERS)}.")


def axes_of(timeline: Timeline) -> tuple[str, ...]:
    """The names of the axes along which a timeline can be laid."""
    found = []
    for name in ("step", "wall", "relative", *COUNTERS):
        try:
            axis_of(timeline, name)
        except AxisError:
            continue
        found.append(name)
    return tuple(found)


def _by_time(timeline: Timeline, name: str) -> Axis:
    steps, sessions = timeline.steps.astype(np.float64), timeline.sessions
    walls = np.maximum.accumulate(near(timeline.walls))  # a clock that was set back makes no time of its own
    apart = np.append(0.0, np.where(np.diff(sessions) == 0, np.diff(steps), 0.0))
    pace = _ratio(np.append(0.0, np.diff(walls)), apart)
    before = walls.copy()
    stints = {stint.session: stint for stint in timeline.stints}
    pauses = []
    for place in (np.flatnonzero(np.diff(sessions)) + 1).tolist():
        last = place - 1
        old, new = stints[int(sessions[last])], stints[int(sessions[place])]
        left = old.left
        if left <= walls[last]:  # it ended with this sample, which holds for as long as the one before it
            left = walls[last] + (pace[last] * min(apart[last], steps[place] - steps[last]) or 1.0)
        before[place] = np.clip(min(left, new.began), walls[last], walls[place])
        idle_s = max(new.began - max(old.ended, left), 0.0)
        pauses.append(Pause(float(before[place]), float(walls[place]), float(steps[place]), idle_s))
    end = walls[-1] + (pace[-1] * (timeline.end - steps[-1]) or 1.0)
    origin = 0.0 if name == "wall" else stints[timeline.stints[0].session].began
    return Axis(
        name,
        "Wall time" if name == "wall" else "Time since the start",
        "s",
        np.append(steps, timeline.end),
        np.append(walls, end) - origin,
        np.append(before, end) - origin,
        tuple(replace(pause, start=pause.start - origin, end=pause.end - origin) for pause in pauses),
    )


def _by_counter(timeline: Timeline, name: str) -> Axis:
    steps, values = timeline.clock(name)
    told = np.abs(values) <= FURTHEST
    steps, values = steps[told].astype(np.float64), values[told]
    label = _LABELS[name]
    if len(steps) < 2 or values[0] == values[-1]:
        raise AxisError(f"{label} can't be the axis: the clock does not tell of it at two samples or more.")
    back = np.flatnonzero(np.diff(values) < 0)
    if len(back):
        raise AxisError(f"{label} can't be the axis: it goes back at step {steps[back[0] + 1]:,.0f}.")
    pace = _slope(values[-1] - values[-2], steps[-1] - steps[-2])
    if timeline.end > steps[-1]:
        values = np.append(values, values[-1] + pace * (timeline.end - steps[-1]))
        steps = np.append(steps, timeline.end)
    return Axis(name, label, "", steps, values, values)


def _slope(rise: float, steps: float) -> float:
    """Axis units a step; 0 where large steps are one as float64."""
    return float(rise / steps) if steps > 0 else 0.0


def _outside(values: Array, knots: Array) -> Array:
    """How far each value lies outside of the knots: below 0 before the first, 0 within."""
    out: Array = np.minimum(values - knots[0], 0.0) + np.maximum(values - knots[-1], 0.0)
    return out


def _ratio(part: Array, whole: Array) -> Array:
    """`part` / `whole`, 0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)
