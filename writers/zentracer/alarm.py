"""Tells an abnormal step from its loss and gradient norm."""

from __future__ import annotations

from collections import deque
from math import isfinite
from statistics import median

REMEMBERED = 32
FEWEST = 8
FACTOR = 8.0


class Alarm:
    """Watches the pulse. Abnormal is what is not finite, or above `FACTOR` times the median of the steps before."""

    def __init__(self) -> None:
        self._losses: deque[float] = deque(maxlen=REMEMBERED)
        self._norms: deque[float] = deque(maxlen=REMEMBERED)

    def rings(self, loss: float | None, gradient_norm: float | None) -> bool:
        """Whether this step is abnormal; `None` is what was not measured. The step joins those to compare with."""
        by_loss = _abnormal(loss, self._losses)
        return _abnormal(gradient_norm, self._norms) or by_loss


def _abnormal(value: float | None, past: deque[float]) -> bool:
    if value is None:
        return False
    if not isfinite(value):
        return True
    usual = median(past) if len(past) >= FEWEST else 0.0
    past.append(value)
    return value > FACTOR * usual > 0.0
