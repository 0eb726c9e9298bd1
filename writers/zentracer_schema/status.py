"""Says why a row of a table holds what it holds."""

from __future__ import annotations

from enum import IntFlag


class Status(IntFlag):
    """Bits of the `status` column: a whole number in the table's own dtype, so that NaN is left for NaN."""

    SAMPLED = 1
    """The row was measured in this record."""
    NO_GRADIENT = 2
    """The optimizer saw no gradient for it."""
    FROZEN = 4
    """It does not ask for gradients."""
    UNDEFINED_RATIO = 8
    """The update ratio has no value: the weights' norm is 0."""
    SUB_SAMPLED = 16
    """Its statistics are estimates from a part of its entries."""
    UPDATE_SKIPPED = 32
    """The optimizer left the whole step out, as a gradient scaler does on overflow."""
    UNUSED = 64
    """It asks for gradients, but the backward pass never reached it or no optimizer owns it."""
    UNSEEN = 128
    """Something belonging to this row happened where it could not be measured; that column is NaN."""
