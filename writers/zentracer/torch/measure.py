"""Measures one side of an update, weights, gradients or changes, batch by batch: on the host or on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zentracer.torch.batch import Batch
from zentracer.torch.reduce import CHUNK, MOMENTS, centred_std, masked, quick, quick_spread
from zentracer.torch.sketch import BUCKETS, make_signs, sketch


@dataclass(frozen=True)
class Side:
    """What is measured of a batch: its matrix, one row of it, which moments, and whether its direction is kept."""

    name: str
    matrix: Callable[[Batch], Tensor | None]
    row: Callable[[Batch, int], Tensor]
    moments: tuple[str, ...]
    sketched: bool

    @property
    def places(self) -> list[int]:
        """The places of its moments among `MOMENTS`."""
        return [MOMENTS.index(name) for name in self.moments]


WEIGHTS = Side("weight", Batch.weights, Batch.weight, MOMENTS, False)
GRADIENTS = Side("gradient", Batch.gradients, Batch.gradient, ("norm", "zeros", "nan", "pinf", "ninf"), True)
UPDATES = Side("update", Batch.updates, Batch.update, ("norm", "zeros"), True)


class Tools:
    """Buffers that are kept from sample to sample: fresh memory costs more than the arithmetic."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.device = batches[0].parameters[0].device
        self._largest = min(CHUNK, max(batch.length * len(batch.rows) for batch in batches))
        self._signed = any(batch.length > BUCKETS for batch in batches)
        self._kept: dict[torch.dtype, tuple[Tensor, Tensor | None]] = {}

    def of(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """A work buffer and the signs of sketches, in the dtype in which the batch is summed."""
        dtype = batch.sum_dtype
        if dtype not in self._kept:
            work = torch.empty(self._largest, dtype=dtype, device=self.device)
            self._kept[dtype] = (work, make_signs(self.device, dtype) if self._signed else None)
        return self._kept[dtype]

    def sketch(self, batch: Batch, x: Tensor) -> Tensor:
        """The sketches of the rows of `x`, [m, 1024] float32."""
        work, signs = self.of(batch)
        return sketch(x, signs, work).to(torch.float32)


Measured = tuple[Tensor, Tensor]
"""Moments [those of the side, rows] and sketches [rows, 1024], which are empty for a side without."""


def on_device(side: Side, batches: Sequence[Batch], tools: Tools) -> Measured:
    """Without a look at any value: every row goes the masked way."""
    moments, sketches = [], []
    for batch in batches:
        x = side.matrix(batch)
        if x is None:
            moments.append(torch.zeros((len(MOMENTS), len(batch.rows)), device=tools.device))
        else:
            moments.append(masked(x).to(torch.float32))
        if side.sketched:
            sketches.append(_none(batch, tools) if x is None else tools.sketch(batch, _finite(x)))
    return torch.cat(moments, 1)[side.places], torch.cat(sketches) if sketches else torch.empty(0)


def on_host(side: Side, batches: Sequence[Batch], tools: Tools) -> Measured:
    """Plain sums first; the masked way only for rows whose sums are not finite or at the end of their range."""
    sums: list[list[Tensor]] = []
    sketches = []
    spread = "std" in side.moments
    for batch in batches:
        x = side.matrix(batch)
        work, _ = tools.of(batch)
        if x is None:
            sums.append(list(torch.zeros(2, len(batch.rows), dtype=work.dtype)))
        else:
            sums.append(quick(x, work) + (quick_spread(x, work.dtype) if spread else []))
        if side.sketched:
            sketches.append(_none(batch, tools) if x is None else tools.sketch(batch, x))
    norm, nonzeros, *rest = (torch.cat([v.to(torch.float64) for v in part]).numpy() for part in zip(*sums, strict=True))
    lengths = np.array([batch.length for batch in batches for _ in batch.rows], np.float64)
    found = np.zeros((len(MOMENTS), len(norm)))
    found[MOMENTS.index("norm")] = norm
    found[MOMENTS.index("zeros")] = lengths - nonzeros
    if spread:
        total, low, high = rest
        mean = total / lengths
        found[1:5] = mean, _std(norm**2 / lengths, mean, batches, tools), low, high
    kept = torch.cat(sketches) if sketches else torch.empty(0)
    for at, batch, place in _doubtful(norm, nonzeros, lengths, batches):
        x = side.row(batch, place)
        found[:, at] = masked(x).numpy()[:, 0]
        if side.sketched:
            kept[at] = tools.sketch(batch, _finite(x))[0]
    return torch.from_numpy(found)[side.places], kept


# Between these a root mean square in float32 can be trusted: its squares neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-15, 1e15

Host = NDArray[np.float64]


def _std(square: Host, mean: Host, batches: Sequence[Batch], tools: Tools) -> Host:
    """Standard deviations from mean squares and means; where the two would cancel, by a second pass over the batch."""
    with np.errstate(invalid="ignore", over="ignore"):
        std = np.sqrt(np.maximum(square - mean**2, 0.0))
        cancels = mean**2 > 0.5 * square
    start = 0
    for batch in batches:
        here = slice(start, start + len(batch.rows))
        if cancels[here].any():
            work, _ = tools.of(batch)
            around = torch.from_numpy(mean[here]).to(work.dtype)
            std[here] = centred_std(batch.weights(), around, work).numpy()
        start = here.stop
    return std


def _doubtful(norm: Host, nonzeros: Host, lengths: Host, batches: Sequence[Batch]) -> list[tuple[int, Batch, int]]:
    """(place among all rows, batch, place in it) of the rows whose plain sums can't be trusted."""
    size = norm / np.sqrt(lengths)
    fine = (nonzeros == 0) | ((size > _SMALLEST) & (size < _LARGEST))
    if fine.all():
        return []
    places = [(batch, place) for batch in batches for place in range(len(batch.rows))]
    return [(int(at), *places[at]) for at in np.flatnonzero(~fine)]


def _finite(x: Tensor) -> Tensor:
    return torch.nan_to_num(x, 0.0, 0.0, 0.0)


def _none(batch: Batch, tools: Tools) -> Tensor:
    return torch.zeros((len(batch.rows), BUCKETS), device=tools.device)
