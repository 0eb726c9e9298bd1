"""Measures one side of an update, weights, gradients or changes, batch by batch: on the host or on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zentracer.torch.batch import Batch
from zentracer.torch.reduce import CHUNK, FLAGS, MOMENTS, centred_std, masked, nonzeros, norms, spread
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
        self.flags = np.empty(FLAGS, np.bool_)
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
    lengths = np.array([batch.length for batch in batches for _ in batch.rows], np.float64)
    found = np.zeros((len(MOMENTS), len(lengths)))
    norm, mean, std, low, high, zeros = found[:6]
    sketches = []
    spreads = "std" in side.moments
    start = 0
    for batch in batches:
        here = slice(start, start + len(batch.rows))
        start = here.stop
        x = side.matrix(batch)
        if x is None:
            zeros[here] = batch.length
        else:
            norm[here] = norms(x).numpy()
            zeros[here] = batch.length - nonzeros(x, tools.flags)
            if spreads:
                total, low[here], high[here] = (part.to(torch.float64).numpy() for part in spread(x))
                mean[here] = total / batch.length
                std[here] = _std(norm[here], mean[here], x, tools.of(batch)[0])
        if side.sketched:
            sketches.append(_none(batch, tools) if x is None else tools.sketch(batch, x))
    kept = torch.cat(sketches) if sketches else torch.empty(0)
    for at, batch, place in _doubtful(norm, lengths, zeros, batches):
        x = side.row(batch, place)
        found[:, at] = masked(x).numpy()[:, 0]
        if side.sketched:
            kept[at] = tools.sketch(batch, _finite(x))[0]
    return torch.from_numpy(found)[side.places], kept


# Between these a root mean square in float32 can be trusted: its squares neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-15, 1e15

Host = NDArray[np.float64]


def _std(norm: Host, mean: Host, x: Tensor, work: Tensor) -> Host:
    """Standard deviations of the rows of `x` from norms and means; where the two would cancel, by a second pass."""
    square = norm**2 / x.shape[1]
    with np.errstate(invalid="ignore"):
        if not (mean**2 > 0.5 * square).any():
            return np.sqrt(np.maximum(square - mean**2, 0.0))
    return centred_std(x, torch.from_numpy(mean).to(work.dtype), work).numpy().astype(np.float64)


def _doubtful(norm: Host, lengths: Host, zeros: Host, batches: Sequence[Batch]) -> list[tuple[int, Batch, int]]:
    """(place among all rows, batch, place in it) of the rows whose plain sums can't be trusted."""
    size = norm / np.sqrt(lengths)
    fine = (zeros == lengths) | ((size > _SMALLEST) & (size < _LARGEST))
    if fine.all():
        return []
    places = [(batch, place) for batch in batches for place in range(len(batch.rows))]
    return [(int(at), *places[at]) for at in np.flatnonzero(~fine)]


def _finite(x: Tensor) -> Tensor:
    return torch.nan_to_num(x, 0.0, 0.0, 0.0)


def _none(batch: Batch, tools: Tools) -> Tensor:
    return torch.zeros((len(batch.rows), BUCKETS), device=tools.device)
