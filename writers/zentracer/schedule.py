"""Decides on which steps to take a full sample."""

from __future__ import annotations

import math
import random

FIRST_STEPS = 20
"""Every run begins with this many full samples: what goes wrong at once is gone a moment later."""

FORCED_STEPS = 3
LONGEST_INTERVAL = 1000  # for budgets that are next to nothing
LARGEST_STRETCH = 64
_JITTER = 0.25
_MEMORY = 0.8  # weight of the past in running means
_PAUSE = 4.0


class Schedule:
    """Spaces full samples so that everything recorded costs at most `budget` of the time of training.

    `due` is asked once for each step, in order; `account` then tells what the step took and cost. The budget holds over
    the run: the first samples are a debt that later steps pay off, while time in which nothing was sampled is no credit
    for a burst. Yet no interval is longer than 1 / budget steps, at which a sample as dear as a whole step would cost
    the budget: where steps take but milliseconds, being there is worth more than the last percent. Intervals are
    jittered, lest a period of the training be aliased. `every` replaces all of it by steps 0, n, 2n and so on.
    """

    def __init__(self, *, budget: float = 0.02, every: int | None = None, seed: int | None = None) -> None:
        self._budget = budget
        self._every = every
        self._longest = min(LONGEST_INTERVAL, math.ceil(1 / budget)) if budget else 0
        self._random = random.Random(seed)  # an own one: the user's stream stays as it is
        self._factor = 1.0
        self._asked = 0
        self._last = -1
        self._sampled = False
        self._forced = 0
        self._forced_by: set[str] = set()
        self._stretch = 1
        self._planned = float(every or 1)
        self._step_s = 0.0
        self._sample_s = 0.0
        self._plain_s: float | None = None
        self._elapsed_s = 0.0
        self._spent_s = 0.0

    @property
    def interval(self) -> int:
        """Steps from one full sample to the next, as planned now."""
        return max(1, round(self._planned))

    @property
    def overhead(self) -> float:
        """Our cost so far as a fraction of the time of training; 0 before the first step is timed."""
        return self._spent_s / self._elapsed_s if self._elapsed_s else 0.0

    def due(self, step: int, *, crowded: bool = False) -> bool:
        """Whether to sample `step`. While the writer is `crowded` intervals double with each sample, then shrink."""
        if self._sampled:
            self._stretch = min(LARGEST_STRETCH, 2 * self._stretch) if crowded else max(1, self._stretch // 2)
            self._factor = self._random.uniform(1.0 - _JITTER, 1.0 + _JITTER)
        if self._every is not None:
            self._planned = float(self._every * self._stretch)
            self._sampled = step % (self._every * self._stretch) == 0
        else:
            self._sampled = self._due_by_budget()
        if self._sampled:
            self._last = self._asked
        self._asked += 1
        return self._sampled

    def account(self, seconds: float, cost_s: float) -> None:
        """The step that `due` was last asked about took `seconds`, `cost_s` of it (CPU) for recording."""
        if math.isfinite(seconds):
            # A pause (evaluation, a checkpoint) is no time in which recording could hide.
            seconds = min(seconds, _PAUSE * self._step_s) if self._step_s else seconds
            self._step_s = _blend(self._step_s or seconds, seconds)
            self._elapsed_s += seconds
        self._spent_s += cost_s
        if self._sampled:
            above = max(0.0, cost_s - (self._plain_s or 0.0))
            self._sample_s = _blend(self._sample_s or above, above)
        else:
            self._plain_s = _blend(cost_s if self._plain_s is None else self._plain_s, cost_s)

    def force(self, why: str) -> None:
        """Sample the next steps, something is wrong: for each reason once, and again when that is paid off."""
        if self._every is not None or self._budget == 0.0 or self._asked < FIRST_STEPS:
            return
        if why in self._forced_by and self._spent_s > self._budget * self._elapsed_s:
            return
        self._forced_by.add(why)
        self._forced = FORCED_STEPS

    def _due_by_budget(self) -> bool:
        if self._budget == 0.0:
            return False
        if self._forced:
            self._forced -= 1
            return True
        since = self._asked - self._last
        if self._asked < FIRST_STEPS:
            return since >= self._stretch
        longest = self._stretch * self._longest
        overdue = since >= int(self._factor * longest)
        gain = self._budget * self._step_s - (self._plain_s or 0.0)
        if gain <= 0.0:
            self._planned = longest
            return overdue
        spacing = self._stretch * max(1.0, self._sample_s / gain)
        debt = self._spent_s - self._budget * self._elapsed_s
        unpaid = debt + self._factor * self._sample_s
        self._planned = min(longest, max(spacing, since + unpaid / gain))
        return overdue or (unpaid <= 0.0 and since >= int(self._factor * spacing))


def _blend(past: float, new: float) -> float:
    return _MEMORY * past + (1.0 - _MEMORY) * new
