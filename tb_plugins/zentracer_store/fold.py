"""Makes one row of a module's rows, by the rule that the column states, and the three strata of the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from zentracer_schema import ColumnSpec

from zentracer_store.cells import Cells
from zentracer_store.columns import Array

RATIO = "ratio:"
STRATA = ("smallest", "median", "largest")

Get = Callable[[str], Array]


def fold_rows(column: ColumnSpec, columns: Sequence[ColumnSpec], get: Get, sizes: Array, starts: Array) -> Array:
    """Fold samples [n, rows] to [n, modules], module i being the rows from `starts[i]` to `starts[i + 1]`.

    `get` gives a column's samples by name, `sizes` [rows] the entries of each tensor. Values that are not finite are
    left out; NaN where nothing is left, and for columns that have no rule.
    """
    if column.fold.startswith(RATIO):
        upper, lower = (_named(columns, name) for name in column.fold.removeprefix(RATIO).split("/"))
        below = fold_rows(lower, columns, get, sizes, starts)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = fold_rows(upper, columns, get, sizes, starts) / below
        return np.where(below == 0, np.nan, ratio)
    values = get(column.name)
    folded = np.empty((len(values), len(starts)))
    mean_name = column.name.removesuffix("_std") + "_mean"
    pooled = column.fold == "pooled_std" and any(other.name == mean_name for other in columns)
    means = get(mean_name) if pooled else None
    step = max((1 << 18) // max(values.shape[1], 1), 1)
    for at in range(0, len(values), step):
        part = np.asarray(values[at : at + step], np.float64)
        mean = None if means is None else np.asarray(means[at : at + step], np.float64)
        folded[at : at + step] = _fold(column.fold, part, mean, sizes, starts)
    return folded


def _named(columns: Sequence[ColumnSpec], name: str) -> ColumnSpec:
    return next(column for column in columns if column.name == name)


def _fold(rule: str, values: Array, means: Array | None, sizes: Array, starts: Array) -> Array:
    finite = np.isfinite(values)
    if means is not None:
        finite &= np.isfinite(means)
    whole = bool(finite.all())

    def add(numbers: Array) -> Array:
        result: Array = np.add.reduceat(numbers if whole else np.where(finite, numbers, 0), starts, axis=1)
        return result

    some = add(np.broadcast_to(1.0, values.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        match rule:
            case "root_sum_squares":
                folded = np.sqrt(add(values * values))
            case "sum":
                folded = add(values)
            case "min":
                folded = np.minimum.reduceat(np.where(finite, values, np.inf), starts, axis=1)
            case "max":
                folded = np.maximum.reduceat(np.where(finite, values, -np.inf), starts, axis=1)
            case "root_mean_square":
                folded = np.sqrt(add(values * values * sizes) / add(np.broadcast_to(sizes, values.shape)))
            case "mean_by_count":
                folded = add(values * sizes) / add(np.broadcast_to(sizes, values.shape))
            case "pooled_std":
                count = add(np.broadcast_to(sizes, values.shape))
                squares = values * values
                if means is not None:
                    rows = np.diff(np.append(starts, values.shape[1]))
                    squares += (means - np.repeat(add(means * sizes) / count, rows, axis=1)) ** 2
                folded = np.sqrt(add(squares * sizes) / count)
            case _:
                folded = np.full(some.shape, np.nan)
    return np.where(some > 0, folded, np.nan)


def strata_of(cells: Cells, rows: Array, *, log: bool) -> dict[str, dict[str, Array]]:
    """The smallest, median and largest of a module's `rows` per cell: name -> array name -> [cells].

    Each of mean, min and max is taken by itself; the median of an even number is the lower of the two in the middle.
    Marks belong to the largest; to the others only where no row has a finite value. `count` is in samples.
    """
    part = {name: getattr(cells, name)[:, rows] for name in ARRAYS}
    order = {}
    for name in ("mean", "min", "max"):
        values = part[name]
        if log and name == "mean":
            # A cell of nothing but zeros has no logarithm, and is smaller than all that have one.
            values = np.where(np.isnan(values) & (part["zeros"] > 0), -np.inf, values)
        order[name] = _ordered(values)
    none = np.isnan(order["max"]["largest"])
    sums = {name: part[name].sum(axis=1, dtype=np.uint32) for name in ("zeros", "nan", "pinf", "ninf", "missing")}
    result: dict[str, dict[str, Array]] = {}
    for stratum in STRATA:
        arrays = {name: values[stratum] for name, values in order.items()}
        zero = (arrays["min"] <= 0) & (arrays["max"] >= 0)
        arrays["mean"] = np.where(np.isinf(arrays["mean"]), np.nan, arrays["mean"])
        top = stratum == "largest"
        for name in ("nan", "pinf", "ninf"):
            arrays[name] = sums[name] if top else np.where(none, sums[name], 0).astype(np.uint32)
        arrays["zeros"] = np.where(zero, sums["zeros"], 0).astype(np.uint32)
        arrays["missing"] = sums["missing"] if top else part["missing"].min(axis=1)
        arrays["count"] = part["count"].max(axis=1)
        arrays["status"] = np.bitwise_or.reduce(part["status"], axis=1)
        result[stratum] = arrays
    return result


ARRAYS = ("mean", "min", "max", "count", "zeros", "nan", "pinf", "ninf", "missing", "status")
"""The arrays of an answer, in its order."""


def _ordered(values: Array) -> dict[str, Array]:
    """Smallest, lower median and largest of each line [cells, rows], NaN left out."""
    ordered = np.sort(values, axis=1)  # NaN last
    known = np.sum(~np.isnan(ordered), axis=1)
    line = np.arange(len(ordered))
    none = known == 0
    picks = {"smallest": np.zeros_like(known), "median": (known - 1) // 2, "largest": known - 1}
    return {name: np.where(none, np.nan, ordered[line, np.maximum(pick, 0)]) for name, pick in picks.items()}
