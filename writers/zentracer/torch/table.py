"""Turns what was measured into the columns of the `parameters` table. Runs on the writer thread, in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import zentracer_schema as schema
from zentracer.torch.rows import Rows
from zentracer.torch.statistics import MEASURED

Status = schema.Status
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """What the host knew of each row, [rows] each: of its status, and what belongs in columns that were not measured.

    `update`: 1 where the change was measured, 0 where there was none for certain, NaN where nobody knows.
    """

    status: NDArray[np.int64]
    has_gradient: NDArray[np.bool_]
    update: Numbers


def parameter_table(
    rows: Rows, measured: Numbers, facts: Facts, *, before_clip: Numbers, grad_scale: float, skipped: bool
) -> NDArray[np.float32]:
    """The table [rows, columns] from what was `MEASURED` [18, rows], NaN where it was not."""
    found = dict(zip(MEASURED, measured, strict=True))
    size = np.array([row.spec.size for row in rows.rows], np.float64)
    finite = size - found["weight_nan"] - found["weight_pinf"] - found["weight_ninf"]
    gradient = np.where(facts.has_gradient, 1.0, np.nan)
    changed = np.where(facts.update == 0.0, 0.0, found["update_norm"] * facts.update)
    unchanged = np.where(facts.update == 0.0, 1.0, found["update_zeros"] * facts.update / size)
    status = facts.status.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        weight_norm = found["weight_norm"]
        undefined = weight_norm == 0.0
        columns = {
            "weight_norm": weight_norm,
            "weight_rms": weight_norm / np.sqrt(finite),
            "weight_mean": found["weight_mean"],
            "weight_std": found["weight_std"],
            "weight_min": found["weight_low"],
            "weight_max": found["weight_high"],
            "weight_zero_fraction": found["weight_zeros"] / size,
            "weight_nan_fraction": found["weight_nan"] / size,
            "weight_pinf_fraction": found["weight_pinf"] / size,
            "weight_ninf_fraction": found["weight_ninf"] / size,
            "gradient_norm": gradient * found["gradient_norm"] / grad_scale,
            "gradient_norm_before_clip": gradient * before_clip / grad_scale,
            "gradient_zero_fraction": gradient * found["gradient_zeros"] / size,
            "gradient_nan_fraction": gradient * found["gradient_nan"] / size,
            "gradient_pinf_fraction": gradient * found["gradient_pinf"] / size,
            "gradient_ninf_fraction": gradient * found["gradient_ninf"] / size,
            "gradient_cosine": gradient * found["gradient_cosine"],
            "update_norm": changed,
            "update_ratio": np.where(undefined, np.nan, changed / weight_norm),
            "update_cosine": facts.update * found["update_cosine"],
            "unchanged_fraction": unchanged,
        }
    status |= np.where(undefined, int(Status.UNDEFINED_RATIO), 0)
    status |= np.where(facts.has_gradient & np.isnan(before_clip), int(Status.UNSEEN), 0)
    if skipped:
        status |= int(Status.UPDATE_SKIPPED)
    columns["status"] = status.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.stack([columns[column.name] for column in rows.spec.columns], 1).astype(np.float32)


def median_of(rows: Rows, table: NDArray[np.float32], name: str) -> float | None:
    """The median of a column over the rows that an optimizer trains; None where there is none."""
    place = [column.name for column in rows.spec.columns].index(name)
    idle = Status.FROZEN | Status.UNUSED | Status.NO_GRADIENT
    trained = (table[:, -1].astype(np.int64) & int(idle)) == 0
    values = table[trained, place]
    values = values[~np.isnan(values)]
    return float(np.median(values)) if len(values) else None
