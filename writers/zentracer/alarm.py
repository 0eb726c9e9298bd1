"""Tells an abnormal step from its loss and gradient norm."""

from __future__ import annotations

from collections import deque
from math import isfinite
from statistics import median
from typing import Literal

Verdict = Literal["", "abnormal", "not finite"]

REMEMBERED = 32
FEWEST = 8
FACTOR = 8.0


class Alarm:
    """Watches the pulse. Abnormal is what is not finite, or above `FACTOR` times the median of the steps before."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=REMEMBERED)
        self._norms: deque[float] = deque(maxlen=REMEMBERED)

    def judge(self, loss: float | None, gradient_norm: float | None) -> Verdict:
        """What is wrong with this step; `None` is what was not measured. The step joins those to compare with."""
        verdicts = {_judge(loss, self._losses), _judge(gradient_norm, self._norms)}
        return next((verdict for verdict in ("not finite", "abnormal") if verdict in verdicts), "")


def _judge(value: float | None, past: deque[float]) -> Verdict:
    if value is None:
        return ""
    if not isfinite(value):
        return "not finite"
    usual = median(past) if len(past) >= FEWEST else 0.0
    past.append(value)
    return "abnormal" if value > FACTOR * usual > 0.0 else ""
