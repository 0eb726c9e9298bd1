"""Reads the histograms of other writers, in their two spellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zentracer_schema import FormatError
from zentracer_store.contents.growing import Array
from zentracer_store.reading.tensors import array_of


@dataclass(frozen=True)
class Histogram:
    """Counts of the values between `lefts` and `rights`, float64 each, from small to large."""

    lefts: Array
    rights: Array
    counts: Array


def histogram_of(value: Any) -> Histogram:
    """The histogram that a summary value holds.

    Raises:
        FormatError: it holds none.
    """
    if value.HasField("histo"):
        return _from_limits(value.histo)
    if not value.HasField("tensor"):
        raise FormatError("The value holds no histogram.")
    rows = array_of(value.tensor)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "fiu":
        raise FormatError(f"A histogram is [bins, 3] numbers, the tensor is {rows.shape} of {rows.dtype}.")
    lefts, rights, counts = rows.astype(np.float64).T
    return Histogram(lefts, rights, counts)


def _from_limits(histo: Any) -> Histogram:
    """The older spelling: the right limit of each bin, the outer ones often as far as numbers go.

    So the bins without values at both ends are left out, and the smallest and largest value limit the others.
    """
    limits, counts = np.array(histo.bucket_limit), np.array(histo.bucket)
    if len(limits) != len(counts):
        raise FormatError(f"A histogram has {len(counts)} bins and {len(limits)} limits.")
    filled = np.flatnonzero(counts > 0)
    if not len(filled):
        return Histogram(np.empty(0), np.empty(0), np.empty(0))
    first, last = filled[0], filled[-1]
    inner = limits[first:last]
    lefts, rights = np.array([histo.min, *inner]), np.array([*inner, histo.max])
    return Histogram(lefts, rights, counts[first : last + 1])
