"""Keeps what belongs to a step until the step is over: the values logged for it and its pulse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Key = tuple[str | None, str]
"""Split and name of a logged value."""


@dataclass
class Entry:
    """One step: its number, when its update ended, what was logged for it and what the pulse saw."""

    step: int
    wall_time: float
    pulse: Any = None
    values: dict[Key, Any] = field(default_factory=dict)


class Ledger:
    """Finds the step of a logged value.

    After an update and before the next forward pass in train mode a value belongs to that update, after such a forward
    pass to the coming one: so it makes no difference on which side of `optimizer.step()` a loop logs its loss. The
    last value of a name wins.
    """

    def __init__(self) -> None:
        self._last: Entry | None = None
        self._coming: dict[Key, Any] = {}
        self._forwarded = False

    def log(self, values: Mapping[Key, Any]) -> None:
        """Take in values as they are; nothing is converted here."""
        into = self._coming if self._last is None or self._forwarded else self._last.values
        into.update(values)

    def forward(self) -> None:
        """A forward pass in train mode began."""
        self._forwarded = True

    def update(self, step: int, wall_time: float, pulse: Any) -> Entry | None:
        """An update of `step` ended. Returns the step before, now that it is over; None where it is the same step."""
        before = self._last
        values, self._coming = self._coming, {}
        self._forwarded = False
        if before is not None and before.step == step:
            values = before.values | values
            before = None
        self._last = Entry(step, wall_time, pulse, values)
        return before

    def mark(self, **changes: Any) -> bool:
        """Change the pulse of the last update. False where there is none that is not over."""
        if self._last is None:
            return False
        self._last.pulse = replace(self._last.pulse, **changes)
        return True

    def skip(self, step: int, wall_time: float, pulse: Any) -> list[Entry]:
        """An update of `step` was left out. Returns what is over by that, the left out one last.

        Values logged for it stay with the update that will be made.
        """
        over = [self._last] if self._last is not None else []
        self._last = None
        return [*over, Entry(step, wall_time, pulse, dict(self._coming))]

    def close(self, step: int, wall_time: float) -> list[Entry]:
        """Training is over, `step` would be the next. Returns what is left, in order."""
        left = [self._last] if self._last is not None else []
        if self._coming:
            left.append(Entry(step, wall_time, None, self._coming))
        self._last, self._coming = None, {}
        return left
