"""Declares the columns of the kinds that are written today."""

from __future__ import annotations

from collections.abc import Iterable

from zentracer_schema.specs import ColumnSpec

# Stated errors are against a float64 computation from copies: float32 sums, pairwise as the frameworks do them.


def _norm(name: str, label: str, fold: str = "root_sum_squares") -> ColumnSpec:
    return ColumnSpec(name, label=label, fold=fold, scale="log", error=1e-5)


def _fraction(name: str, label: str) -> ColumnSpec:
    return ColumnSpec(name, "fraction", label=label, fold="mean_by_count", error=1e-6, error_kind="absolute")


def _cosine(name: str, label: str) -> ColumnSpec:
    return ColumnSpec(name, label=label, mode="sketch 1024", error=0.15, error_kind="absolute", since="last sample")


def _non_finite(of: str, label: str) -> tuple[ColumnSpec, ...]:
    return (
        _fraction(f"{of}_nan_fraction", f"{label} NaN"),
        _fraction(f"{of}_pinf_fraction", f"{label} +Inf"),
        _fraction(f"{of}_ninf_fraction", f"{label} −Inf"),
    )


PARAMETER_COLUMNS = (
    _norm("weight_norm", "Weight norm"),
    _norm("weight_rms", "Weight RMS", fold="root_mean_square"),
    ColumnSpec("weight_mean", label="Weight mean", fold="mean_by_count", error=1e-6, error_kind="absolute"),
    ColumnSpec("weight_std", label="Weight std", fold="pooled_std", scale="log", error=1e-4),
    ColumnSpec("weight_min", label="Weight min", fold="min"),
    ColumnSpec("weight_max", label="Weight max", fold="max"),
    _fraction("weight_zero_fraction", "Weight zeros"),
    *_non_finite("weight", "Weight"),
    _norm("gradient_norm", "Gradient norm"),
    _norm("gradient_norm_before_clip", "Gradient norm before clipping"),
    _fraction("gradient_zero_fraction", "Gradient zeros"),
    *_non_finite("gradient", "Gradient"),
    _cosine("gradient_cosine", "Gradient cosine"),
    _norm("update_norm", "Update norm"),
    ColumnSpec(
        "update_ratio",
        unit="update norm / weight norm",
        label="Update ratio",
        fold="ratio:update_norm/weight_norm",
        scale="log",
        error=2e-5,
        healthy=1e-3,
    ),
    _cosine("update_cosine", "Update cosine"),
    _fraction("unchanged_fraction", "Unchanged entries"),
    ColumnSpec("status", unit="bits", label="Status"),
)
"""Statistics of one parameter tensor. Those of the weights are of the weights before the update.

update_ratio is ||W_after - W_before|| / ||W_before||, in L2; the cosines are with the last sampled gradient and update.
Entries that are not finite are counted, then left out of every other column.
"""

CLOCK_COLUMNS = tuple(
    ColumnSpec(name, unit=unit, dtype="float64", label=label)
    for name, unit, label in (
        ("updates", "", "Optimizer updates"),
        ("forward_calls", "", "Forward calls in training"),
        ("user_step", "", "Step by the user's count"),
        ("samples", "", "Samples seen"),
        ("epoch", "", "Epoch"),
        ("wall_time", "s", "Seconds since the Unix epoch"),
        ("skipped_updates", "", "Updates that a gradient scaler skipped"),
        ("interval", "steps", "Steps to the next full sample"),
        ("dropped", "", "Records dropped so far"),
        ("bytes", "B", "Bytes written so far"),
        ("overhead", "fraction", "Our CPU time / time of training"),
    )
)


def pulse_columns(learning_rates: Iterable[str]) -> tuple[ColumnSpec, ...]:
    """Columns of the pulse; `learning_rates` names its last ones, `<optimizer>/<group>` each."""
    fixed = (
        ColumnSpec("step", dtype="float64", label="Step"),
        ColumnSpec("loss", dtype="float64", label="Loss"),
        ColumnSpec(
            "gradient_norm_before_clip",
            dtype="float64",
            scale="log",
            label="Total gradient norm before clipping",
        ),
        ColumnSpec("gradient_norm", dtype="float64", scale="log", label="Total gradient norm"),
        ColumnSpec("found_inf", dtype="float64", label="Overflow found by the gradient scaler"),
        ColumnSpec("loss_scale", dtype="float64", scale="log", label="Loss scale"),
        ColumnSpec("step_seconds", unit="s", dtype="float64", scale="log", label="Seconds a step"),
    )
    return fixed + tuple(
        ColumnSpec(f"learning_rate/{name}", dtype="float64", scale="log", label=f"Learning rate of {name}")
        for name in learning_rates
    )
