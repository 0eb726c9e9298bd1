"""Measures the parameters of one device around an update: before it weights and gradients, after it what changed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from zentracer.torch.batch import make_batches
from zentracer.torch.measure import GRADIENTS, UPDATES, WEIGHTS, Side, Tools, on_device, on_host
from zentracer.torch.sketch import unit
from zentracer.torch.transfer import Stopwatch, sent

MEASURED = (
    *(f"weight_{name}" for name in WEIGHTS.moments),
    *(f"gradient_{name}" for name in (*GRADIENTS.moments, "cosine")),
    *(f"update_{name}" for name in (*UPDATES.moments, "cosine")),
)
"""The rows of what `Statistics.after` returns."""

HOST_STACK_LIMIT = 1 << 19
DEVICE_STACK_LIMIT = 1 << 20


class Statistics:
    """Statistics of `members`, (row, parameter, whether an optimizer of ours changes it), all on one device.

    `before` and `after` are called around an update, under `no_grad`; neither waits for a device. `snapshots` asks for
    the updates, which takes a copy of the weights.
    """

    def __init__(
        self, members: Sequence[tuple[int, Tensor, bool]], *, snapshots: bool, look: bool | None = None
    ) -> None:
        self.device = members[0][1].device
        # `look`: values may be looked at, as on the host.
        look = self.device.type == "cpu" if look is None else look
        self._measure = on_host if look else on_device
        limit = HOST_STACK_LIMIT if look else DEVICE_STACK_LIMIT
        self._batches = make_batches(members, snapshots=snapshots, stack_limit=limit)
        self._tools = Tools(self._batches)
        self._last: dict[str, Tensor] = {}
        self._before: list[Tensor] = []
        self._stopwatch = Stopwatch(self.device)
        self.rows = [row for batch in self._batches for row in batch.rows]

    def before(self) -> None:
        """Measure weights and gradients; keep the weights."""
        self._stopwatch.start()
        weights, _ = self._measure(WEIGHTS, self._batches, self._tools)
        there = [there for batch in self._batches for there in batch.has_gradients]
        self._before = [weights, *self._directed(GRADIENTS, there)]
        self._stopwatch.stop()

    def after(self) -> Tensor:
        """Measure the updates. Returns all that was `MEASURED`, [18, rows], in the order of `rows`."""
        self._stopwatch.start()
        there = [batch.snapshot is not None for batch in self._batches for _ in batch.rows]
        found = torch.cat([*self._before, *self._directed(UPDATES, there)])
        self._before = []
        self._stopwatch.stop()
        return found

    @property
    def device_s(self) -> float:
        """Seconds that the device spent on this, as far as it has finished; 0 on the host, where CPU time says it."""
        return self._stopwatch.read()

    def _directed(self, side: Side, there: Sequence[bool]) -> tuple[Tensor, Tensor]:
        """Moments of a side, and the cosine [1, rows] with the last time; rows not `there` keep what they had then."""
        moments, sketches = self._measure(side, self._batches, self._tools)
        now = unit(sketches)
        last = self._last.get(side.name)
        cosine = torch.full_like(now[:, 0], float("nan")) if last is None else (now * last).sum(1)
        if last is not None and not all(there):
            now = now.where(sent(there, self.device).unsqueeze(1), last)
        self._last[side.name] = now
        return moments, cosine.to(moments.dtype).unsqueeze(0)
