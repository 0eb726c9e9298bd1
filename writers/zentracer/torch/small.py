"""Measures small parameters on the host: one after the other in one float64 vector, reduced by segments.

Most tensors of a network are biases and norms of a few hundred entries. One by one, calling an operation costs more
than what it does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from zentracer.torch.batch import is_plain

LARGEST = 1024

Numbers = NDArray[np.float64]


class SmallStatistics:
    """What `Statistics` is, for members on the host of at most `LARGEST` entries. Cosines are exact."""

    def __init__(self, members: Sequence[tuple[int, Tensor, bool]], *, snapshots: bool) -> None:
        self.rows = [row for row, _, _ in members]
        self._parameters = [parameter for _, parameter, _ in members]
        self._owned = np.array([owned for _, _, owned in members])
        self._lengths = np.array([parameter.numel() for parameter in self._parameters])
        self._starts = np.concatenate([[0], np.cumsum(self._lengths)[:-1]])
        self._weights, self._weight_views = self._room()
        self._gradients, self._gradient_views = self._room()
        self._snapshots = snapshots
        self._last: dict[str, Numbers] = {}
        self._before: list[Numbers] = []

    def before(self) -> None:
        """Measure weights and gradients; keep the weights."""
        torch._foreach_copy_(self._weight_views, self._parameters)
        gradients = [parameter.grad for parameter in self._parameters]
        there = np.array([g is not None and is_plain(g) for g in gradients]) & self._owned
        pairs = [
            (view, g) for view, g, t in zip(self._gradient_views, gradients, there, strict=True) if t and g is not None
        ]
        if len(pairs) < len(gradients):
            self._gradients[:] = 0.0
        if pairs:
            torch._foreach_copy_([view for view, _ in pairs], [gradient for _, gradient in pairs])
        norm, mean, std, low, high, *counts = self._moments(self._weights)
        gradient_norm, *_, zeros, nan, pinf, ninf = self._moments(self._gradients)
        cosine = self._cosine("gradient", self._gradients, there)
        self._before = [norm, mean, std, low, high, *counts, gradient_norm, zeros, nan, pinf, ninf, cosine]

    def after(self) -> Tensor:
        """Measure the updates. Returns all that was `MEASURED`, [18, rows], in the order of `rows`."""
        if self._snapshots:
            torch._foreach_sub_(self._weight_views, self._parameters)
        else:
            self._weights[:] = 0.0
        norm, *_, zeros, _, _, _ = self._moments(self._weights)
        cosine = self._cosine("update", self._weights, self._owned)
        found = np.stack([*self._before, norm, zeros, cosine])
        self._before = []
        return torch.from_numpy(found)

    @property
    def device_s(self) -> float:
        """No device works for these."""
        return 0.0

    def _room(self) -> tuple[Numbers, list[Tensor]]:
        flat = torch.zeros(int(self._lengths.sum()), dtype=torch.float64, device="cpu")
        parts = flat.split(self._lengths.tolist())
        return flat.numpy(), [part.view(p.shape) for part, p in zip(parts, self._parameters, strict=True)]

    def _sum(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> Numbers:
        return np.add.reduceat(values, self._starts, dtype=np.float64)

    def _moments(self, x: Numbers) -> list[Numbers]:
        """The `MOMENTS` of each segment of `x`, over finite entries; NaN where there are none."""
        finite = np.isfinite(x)
        zeros = self._sum(x == 0.0)
        none = np.zeros_like(zeros)
        if finite.all():
            clean, count, nan, pinf, ninf = x, self._lengths, none, none, none
            low, high = np.minimum.reduceat(x, self._starts), np.maximum.reduceat(x, self._starts)
        else:
            clean = np.where(finite, x, 0.0)
            count, nan = self._sum(finite), self._sum(np.isnan(x))
            pinf, ninf = self._sum(x == np.inf), self._sum(x == -np.inf)
            low = np.minimum.reduceat(np.where(finite, x, np.inf), self._starts)
            high = np.maximum.reduceat(np.where(finite, x, -np.inf), self._starts)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self._sum(clean) / count
            apart = np.where(finite, clean - np.repeat(mean, self._lengths), 0.0)
            std = np.sqrt(self._sum(apart * apart) / count)
            norm = np.sqrt(self._sum(clean * clean))
        moments = [np.where(count > 0, value, np.nan) for value in (norm, mean, std, low, high)]
        return [*moments, zeros, nan, pinf, ninf]

    def _cosine(self, what: str, x: Numbers, there: NDArray[np.bool_]) -> Numbers:
        """Cosine of each segment with the last time; segments that are not `there` keep what they had then."""
        now = np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
        last = self._last.get(what)
        if last is None:
            self._last[what] = now
            return np.full(len(self.rows), np.nan)
        with np.errstate(invalid="ignore"):
            cosine = self._sum(now * last) / np.sqrt(self._sum(now * now) * self._sum(last * last))
        self._last[what] = now if there.all() else np.where(np.repeat(there, self._lengths), now, last)
        return cosine
