"""Turns what each step left behind into its pulse row and its metrics, without waiting for a device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from typing import Any, Protocol

import zentracer_schema as schema
from zentracer.alarm import Alarm, Verdict
from zentracer.ledger import Entry, Key

LOSSES: tuple[Key, ...] = (("train", "loss"), (None, "loss"))


class Fetched(Protocol):
    """Numbers on their way to the host."""

    @property
    def ready(self) -> bool:
        """Whether `read` returns without waiting for a device."""

    def read(self) -> list[float]:
        """The numbers, in the order in which they were asked for."""


Fetch = Callable[[Sequence[Any]], Fetched]
"""An adapter's way to bring numbers to the host; what is a float already is passed through."""


@dataclass(frozen=True)
class Pulse:
    """What an update showed. Numbers may still be on the device; None is what was not measured."""

    gradient_norm: Any
    gradient_norm_before_clip: Any
    found_inf: Any
    loss_scale: Any
    step_seconds: float
    learning_rates: dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """One step in numbers: its pulse row where it had an update, and its metrics by tag."""

    step: int
    wall_time: float
    spec: schema.TableSpec | None
    row: tuple[float, ...]
    metrics: dict[str, float]
    trouble: Verdict
    found_inf: bool


class PulseReader:
    """Fetches the numbers of steps that are over and hands them out, in order, once they have come."""

    def __init__(self, scope: str, fetch: Fetch) -> None:
        self._scope = scope
        self._fetch = fetch
        self._alarm = Alarm()
        self._coming: deque[tuple[Entry, Fetched]] = deque()

    def add(self, entry: Entry) -> None:
        """Begin to fetch the numbers of a step that is over."""
        self._coming.append((entry, self._fetch([*_pulse_numbers(entry), *entry.values.values()])))

    def read(self, *, wait: bool = False) -> list[Reading]:
        """The steps whose numbers have come; all of them with `wait`."""
        readings = []
        while self._coming and (wait or self._coming[0][1].ready):
            entry, fetched = self._coming.popleft()
            readings.append(self._reading(entry, fetched.read()))
        return readings

    def _reading(self, entry: Entry, numbers: list[float]) -> Reading:
        count = len(numbers) - len(entry.values)
        of_pulse, of_metrics = numbers[:count], numbers[count:]
        metrics = {
            schema.metric_tag(self._scope, name, split): number
            for (split, name), number in zip(entry.values, of_metrics, strict=True)
        }
        if entry.pulse is None:
            return Reading(entry.step, entry.wall_time, None, (), metrics, "", False)
        loss, before, norm, found_inf, *_ = of_pulse
        trouble = self._alarm.judge(
            loss if _loss(entry) is not None else None, norm if entry.pulse.gradient_norm is not None else None
        )
        row = (float(entry.step), loss, before, norm, *of_pulse[3:5], entry.pulse.step_seconds, *of_pulse[5:])
        spec = pulse_spec(self._scope, tuple(entry.pulse.learning_rates))
        return Reading(entry.step, entry.wall_time, spec, row, metrics, trouble, found_inf > 0)


@lru_cache(maxsize=64)
def pulse_spec(scope: str, learning_rates: tuple[str, ...]) -> schema.TableSpec:
    """The description of a scope's pulse; `learning_rates` names its groups, `<optimizer>/<group>` each."""
    return schema.TableSpec("pulse", scope, schema.pulse_columns(learning_rates))


def _loss(entry: Entry) -> Any:
    return next((entry.values[key] for key in LOSSES if key in entry.values), None)


def _pulse_numbers(entry: Entry) -> list[Any]:
    pulse = entry.pulse
    if pulse is None:
        return []
    found = (
        _loss(entry),
        pulse.gradient_norm_before_clip,
        pulse.gradient_norm,
        pulse.found_inf,
        pulse.loss_scale,
        *pulse.learning_rates.values(),
    )
    return [nan if value is None else value for value in found]
