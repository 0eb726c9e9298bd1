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
        norm, *counts = self._moments(self._weights)
        gradient = self._moments(self._gradients)
        cosine = self._cosine("gradient", self._gradients, there)
        self._before = [norm, *self._spread(self._weights), *counts, *gradient, cosine]

    def after(self) -> Tensor:
        """Measure the updates. Returns all that was `MEASURED`, [18, rows], in the order of `rows`."""
        if self._snapshots:
            torch._foreach_sub_(self._weight_views, self._parameters)
        else:
            self._weights[:] = 0.0
        norm, zeros, *_ = self._moments(self._weights)
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
        """Norm, zeros, NaN, +Inf and -Inf of each segment of `x`; the norm over finite entries, NaN without any."""
        zeros = self._sum(x == 0.0)
        with np.errstate(over="ignore"):
            norm = np.sqrt(self._sum(x * x))
        if np.isfinite(norm).all():
            none = np.zeros_like(zeros)
            return [norm, zeros, none, none, none]
        finite = np.isfinite(x)
        norm = np.sqrt(self._sum(np.where(finite, x, 0.0) ** 2))
        norm[self._sum(finite) == 0] = np.nan
        return [norm, zeros, self._sum(np.isnan(x)), self._sum(x == np.inf), self._sum(x == -np.inf)]

    def _spread(self, x: Numbers) -> list[Numbers]:
        """Mean, standard deviation, minimum and maximum of each segment of `x` over finite entries; NaN without any."""
        finite = np.isfinite(x)
        whole = bool(finite.all())
        count = self._lengths if whole else self._sum(finite)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self._sum(x if whole else np.where(finite, x, 0.0)) / count
            apart = x - np.repeat(mean, self._lengths)
            std = np.sqrt(self._sum(apart * apart if whole else np.where(finite, apart, 0.0) ** 2) / count)
        low = np.minimum.reduceat(x if whole else np.where(finite, x, np.inf), self._starts)
        high = np.maximum.reduceat(x if whole else np.where(finite, x, -np.inf), self._starts)
        return [np.where(count > 0, value, np.nan) for value in (mean, std, low, high)]

    def _cosine(self, what: str, x: Numbers, there: NDArray[np.bool_]) -> Numbers:
        """Cosine of each segment with the last time; segments that are not `there` keep what they had then."""
        now = np.where(np.isfinite(x), x, 0.0)
        last = self._last.get(what)
        if last is None:
            self._last[what] = now
            return np.full(len(self.rows), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            cosine = self._sum(now * last) / np.sqrt(self._sum(now * now) * self._sum(last * last))
        self._last[what] = now if there.all() else np.where(np.repeat(there, self._lengths), now, last)
        return cosine
