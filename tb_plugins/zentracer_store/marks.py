"""Knows which status bits explain a NaN: it then means "nothing to measure", not "the number went bad"."""

from __future__ import annotations

from zentracer_schema import ColumnSpec, Status

_IDLE = Status.NO_GRADIENT | Status.FROZEN | Status.UNUSED
_EVERY = 0xFF


def explaining(column: ColumnSpec) -> int:
    """Bits of which one makes a NaN in `column` count as missing. 256: every NaN there is just missing."""
    if column.since == "last sample":
        # A cosine with the sample before: there is none at first, nor an angle to a vector of zeros.
        return _EVERY + 1
    if column.name == "gradient_norm_before_clip":
        return int(_IDLE | Status.UNSEEN)
    if column.name.startswith("gradient_"):
        return int(_IDLE)
    if column.name.startswith(("update_", "unchanged_")):
        return int(_IDLE | Status.UPDATE_SKIPPED | Status.UNDEFINED_RATIO)
    return 0
