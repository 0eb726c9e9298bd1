"""Reduces the rows of a matrix to the numbers that describe them, with non-finite entries counted and left out.

Two ways to the same numbers. On the host, where a value can be looked at, `quick` takes the plain sums and the caller
takes `masked` for the few rows that need it. On a device nobody may look, and `masked` serves every row.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.linalg import vector_norm

CHUNK = 1 << 20
"""Entries that go through a work buffer at once: 4 MB of float32, kept, since fresh memory costs more than sums."""

MOMENTS = ("norm", "mean", "std", "low", "high", "zeros", "nan", "pinf", "ninf")


def sum_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which entries of `dtype` are summed."""
    return torch.float64 if dtype is torch.float64 else torch.float32


def quick(x: Tensor, work: Tensor) -> list[Tensor]:
    """Norm and count of non-zero entries of each row of `x` [m, n], as two vectors [m]. Not masked."""
    return [vector_norm(x, dim=1, dtype=work.dtype), nonzeros(x, work)]


def quick_spread(x: Tensor, dtype: torch.dtype) -> list[Tensor]:
    """Sum, minimum and maximum of each row of `x` [m, n], as three vectors [m]. Not masked."""
    # amin and amax: aminmax over a dimension is 8 times slower.
    return [x.sum(1, dtype=dtype), x.amin(1).to(dtype), x.amax(1).to(dtype)]


def nonzeros(x: Tensor, work: Tensor) -> Tensor:
    """Entries of each row of `x` [m, n] that are not 0, [m]. Exact: sums of ones in float32 are, up to `CHUNK`."""
    total = None
    for piece in _pieces(x):
        ones = torch.ne(piece, 0, out=work[: piece.numel()].view(piece.shape)).sum(1)
        total = ones if total is None else total + ones
    assert total is not None
    return total


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
    pieces: tuple[Tensor, ...] = x.split(max(1, CHUNK // x.shape[0]), 1)
    return pieces
