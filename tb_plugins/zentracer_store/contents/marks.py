"""Tells a number that went bad from one that was never there: NaN alone does not say which.

Entries that are not finite are counted in columns of their own and left out of all others, so a norm stays finite while
its tensor fills with NaN. Here those counts come back: a sample whose tensor holds NaN is shown as NaN. Status bits
explain other NaNs: there was nothing to measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

import numpy as np

from zentracer_schema import ColumnSpec, Status
from zentracer_store.contents.growing import Array

EVERY_NAN = 256
"""Of a column in which a NaN never means that something went bad."""

_IDLE = Status.NO_GRADIENT | Status.FROZEN | Status.UNUSED


class Bad(IntFlag):
    """What the entries of a row's weights and applied gradient hold besides numbers."""

    WEIGHT_NAN = 1
    WEIGHT_PINF = 2
    WEIGHT_NINF = 4
    GRADIENT_NAN = 8
    GRADIENT_PINF = 16
    GRADIENT_NINF = 32


NAN = Bad.WEIGHT_NAN | Bad.GRADIENT_NAN
PINF = Bad.WEIGHT_PINF | Bad.GRADIENT_PINF
_WEIGHT = Bad.WEIGHT_NAN | Bad.WEIGHT_PINF | Bad.WEIGHT_NINF
_GRADIENT = Bad.GRADIENT_NAN | Bad.GRADIENT_PINF | Bad.GRADIENT_NINF
_FRACTIONS = {f"{bit.name.lower()}_fraction": bit for bit in Bad if bit.name is not None}


def bad_bits(columns: Mapping[str, Array]) -> Array | None:
    """Bits of `Bad` for each sample and row; None where the columns do not tell.

    A step that the gradient scaler left out has no bad gradient: overflow there is how it finds its scale.
    """
    told = {name: bit for name, bit in _FRACTIONS.items() if name in columns}
    if not told:
        return None
    shape = next(columns[name].shape for name in told)
    bits = np.zeros(shape, np.uint8)
    for name, bit in told.items():
        if columns[name].any():
            bits[columns[name] > 0] |= np.uint8(bit)
    if bits.any() and "status" in columns:
        bits[(columns["status"] & np.uint8(Status.UPDATE_SKIPPED)) != 0] &= np.uint8(_WEIGHT)
    return bits


def bits_that_matter(column: str) -> Bad:
    """Bits that make a sample of `column` count as bad."""
    if column in _FRACTIONS:
        return Bad(0)
    if column.startswith("weight_"):
        return _WEIGHT
    if column.startswith("gradient_"):
        return _GRADIENT
    if column.startswith(("update_", "unchanged_")):
        return _WEIGHT | _GRADIENT
    return Bad(0)


def shown(values: Array, bits: Array) -> Array:
    """`values` with NaN, +Inf or -Inf, the first that is so, where `bits` say that the tensor holds them."""
    if not bits.any():
        return values
    infinite = np.where(bits & np.uint8(PINF), np.float32(np.inf), np.float32(-np.inf))
    instead = np.where(bits & np.uint8(NAN), np.float32(np.nan), infinite)
    return np.where(bits, instead, values)


def explaining(column: ColumnSpec) -> int:
    """Status bits of which one makes a NaN in `column` count as missing, or `EVERY_NAN`."""
    if column.since == "last sample":
        # A cosine with the sample before: there is none at first, nor an angle to a vector of zeros.
        return EVERY_NAN
    if column.name == "gradient_norm_before_clip":
        return int(_IDLE | Status.UNSEEN)
    if column.name.startswith("gradient_"):
        return int(_IDLE)
    if column.name.startswith(("update_", "unchanged_")):
        return int(_IDLE | Status.UPDATE_SKIPPED | Status.UNDEFINED_RATIO | Status.UNSEEN)
    return 0
