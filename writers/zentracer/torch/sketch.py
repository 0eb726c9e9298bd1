"""Shrinks a tensor to 1,024 numbers that keep its direction: cosines without a copy of the last gradient.

A count sketch: entries are dealt to 1,024 buckets in turn and summed with fixed random signs. Inner products of
sketches are those of the tensors in expectation. A tensor of at most 1,024 entries is its own sketch.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from zentracer.torch.reduce import CHUNK

BUCKETS = 1024
_SEED = 1024
_SHIFTS = 1 << 16
_SHIFT = 977  # odd, so that no two chunks in the same bucket meet the same sign


def make_signs(device: torch.device, dtype: torch.dtype) -> Tensor:
    """Random signs, the same in every run; 4 MB. Drawn from a generator of our own."""
    generator = torch.Generator(device="cpu").manual_seed(_SEED)
    bits = torch.randint(0, 2, (CHUNK + _SHIFTS,), generator=generator, dtype=torch.int8, device="cpu")
    return (2 * bits - 1).to(device=device, dtype=dtype)


def sketch(x: Tensor, signs: Tensor | None, work: Tensor) -> Tensor:
    """The sketches [m, 1024] of the rows of `x` [m, n]; `signs` may be None where n <= 1024."""
    m, n = x.shape
    found = torch.zeros((m, BUCKETS), dtype=work.dtype, device=x.device)
    if n <= BUCKETS:
        found[:, :n] = x
        return found
    assert signs is not None
    rows = n // BUCKETS
    at_once = max(1, min(rows, CHUNK // (m * BUCKETS)))
    for chunk, row in enumerate(range(0, rows, at_once)):
        count = min(at_once, rows - row)
        part = x[:, row * BUCKETS : (row + count) * BUCKETS].unflatten(1, (count, BUCKETS))
        flips = _signs(signs, chunk, count * BUCKETS).view(count, BUCKETS)
        if x.device.type == "cpu" and x.dtype is flips.dtype:
            # In one pass over the entries and without a buffer, which PyTorch has no operation for.
            found += torch.from_numpy(np.einsum("mrk,rk->mk", part.numpy(), flips.numpy()))
        else:
            found += torch.mul(part, flips, out=work[: part.numel()].view(part.shape)).sum(1)
    rest = n - rows * BUCKETS
    if rest:
        found[:, :rest] += x[:, rows * BUCKETS :] * _signs(signs, rows, rest)
    return found


def unit(sketches: Tensor) -> Tensor:
    """Rows of `sketches` [m, 1024] at length 1, by way of their largest entry lest squares vanish; 0 becomes NaN."""
    largest = sketches.abs().amax(1, keepdim=True)
    sketches = sketches / largest.where(largest > 0, 1.0)
    length: Tensor = torch.linalg.vector_norm(sketches, dim=1, keepdim=True)
    return sketches / length


def _signs(signs: Tensor, chunk: int, count: int) -> Tensor:
    shift = chunk * _SHIFT % _SHIFTS
    return signs[shift : shift + count]
