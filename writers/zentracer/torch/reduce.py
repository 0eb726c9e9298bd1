"""Reduces the rows of a matrix to the numbers that describe them, with non-finite entries counted and left out.

Two ways to the same numbers. On the host, where a value can be looked at, plain sums are taken first and `masked` only
of the few rows that need it. On a device nobody may look, and `masked` serves every row.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.linalg import vector_norm

CHUNK = 1 << 20
"""Entries that go through a work buffer at once: 4 MB of float32, kept, since fresh memory costs more than sums."""

STRETCH = 1024
FLAGS = 1 << 17
"""Entries that are counted at once: their flags stay in the second-level cache."""

MOMENTS = ("norm", "mean", "std", "low", "high", "zeros", "nan", "pinf", "ninf")


def sum_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which entries of `dtype` are summed."""
    return torch.float64 if dtype is torch.float64 else torch.float32


def norms(x: Tensor) -> Tensor:
    """The L2 norm of each row of `x` [m, n], [m], to about 2e-6. Not masked.

    PyTorch's own norm adds up squares one by one in float32 on a CPU: over 30 million entries it is wrong by 0.2 %. So
    they are taken of short stretches, and those put together in float64.
    """
    dtype = sum_dtype(x.dtype)
    n = x.shape[1]
    if n <= 4 * STRETCH:
        found: Tensor = vector_norm(x, dim=1, dtype=dtype)
        return found
    whole = n - n % STRETCH
    parts = vector_norm(x[:, :whole].unflatten(1, (-1, STRETCH)), dim=2, dtype=dtype)
    if whole < n:
        parts = torch.cat([parts, vector_norm(x[:, whole:], dim=1, keepdim=True, dtype=dtype)], 1)
    found = vector_norm(parts, dim=1, dtype=torch.float64)
    return found


def spread(x: Tensor) -> list[Tensor]:
    """Sum, minimum and maximum of each row of `x` [m, n], three vectors [m]. Not masked."""
    total = x.sum(1, dtype=sum_dtype(x.dtype))
    if x.shape[0] == 1:
        low, high = x.aminmax()
        return [total, low.unsqueeze(0), high.unsqueeze(0)]
    # Over a dimension aminmax is 8 times slower than the two.
    return [total, x.amin(1), x.amax(1)]


def nonzeros(x: Tensor, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Entries of each row of `x` [m, n], on the host, that are not 0: [m]. `flags` is a buffer."""
    # Twice as fast as PyTorch's, which counts in int64.
    rows = (x if x.dtype in (torch.float32, torch.float64) else x.to(torch.float32)).numpy()
    count = np.zeros(len(rows))
    for index, row in enumerate(rows):
        for start in range(0, len(row), len(flags)):
            part = row[start : start + len(flags)]
            count[index] += np.count_nonzero(np.not_equal(part, 0, out=flags[: len(part)]))
    return count


def centred_std(x: Tensor, mean: Tensor, work: Tensor) -> Tensor:
    """Standard deviation of each row of `x` [m, n] around about `mean` [m], by a second pass over the entries."""
    squares = torch.zeros_like(mean)
    rest = torch.zeros_like(mean)
    for piece in _pieces(x):
        apart = torch.sub(piece, mean.unsqueeze(1), out=work[: piece.numel()].view(piece.shape))
        squares += vector_norm(apart, dim=1) ** 2
        rest += apart.sum(1)
    n = x.shape[1]
    # What is left of the mean: it was rounded.
    return (squares / n - (rest / n) ** 2).clamp_min(0).sqrt()


def masked(x: Tensor) -> Tensor:
    """All `MOMENTS` of each row of `x` [m, n], as [9, m], over finite entries; NaN where there are none.

    Entries are scaled by the largest before they are squared, so that no finite row over- or underflows. Takes no
    decision on the host.
    """
    dtype = sum_dtype(x.dtype)
    infinity = float("inf")
    low = x.new_full((x.shape[0],), infinity, dtype=dtype)
    high = -low
    zeros = torch.zeros_like(low)
    nan, pinf, ninf = zeros, zeros, zeros
    for piece in _pieces(x):
        entries = piece.to(dtype)
        finite = entries.isfinite()
        low = torch.minimum(low, entries.where(finite, infinity).amin(1))
        high = torch.maximum(high, entries.where(finite, -infinity).amax(1))
        zeros = zeros + (entries == 0).sum(1)
        nan = nan + entries.isnan().sum(1)
        pinf = pinf + (entries == infinity).sum(1)
        ninf = ninf + (entries == -infinity).sum(1)
    count = x.shape[1] - nan - pinf - ninf
    some = count > 0
    largest = torch.maximum(low.abs(), high.abs())
    scale = largest.where(some & (largest > 0), 1.0)
    total, squares = torch.zeros_like(low), torch.zeros_like(low)
    for piece in _pieces(x):
        entries = _scaled(piece, scale)
        total = total + entries.sum(1)
        squares = squares + (entries * entries).sum(1)
    mean = total / count
    apart, rest = torch.zeros_like(low), torch.zeros_like(low)
    for piece in _pieces(x):
        entries = (_scaled(piece, scale) - mean.unsqueeze(1)).where(piece.isfinite(), 0.0)
        apart = apart + (entries * entries).sum(1)
        rest = rest + entries.sum(1)
    std = (apart / count - (rest / count) ** 2).clamp_min(0).sqrt()
    moments = [scale * squares.sqrt(), scale * mean, scale * std, low, high]
    return torch.stack([*(value.where(some, float("nan")) for value in moments), zeros, nan, pinf, ninf])


def _scaled(piece: Tensor, scale: Tensor) -> Tensor:
    return torch.nan_to_num(piece.to(scale.dtype), 0.0, 0.0, 0.0) / scale.unsqueeze(1)


def _pieces(x: Tensor) -> tuple[Tensor, ...]:
    if x.numel() <= CHUNK:
        return (x,)
    pieces: tuple[Tensor, ...] = x.split(max(1, CHUNK // x.shape[0]), 1)
    return pieces
