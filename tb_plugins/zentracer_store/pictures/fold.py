"""Makes one row of a module's rows at each sample, by the rule that the column states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from zentracer_schema import ColumnSpec
from zentracer_store.contents.growing import Array
from zentracer_store.pictures.groups import Groups

RATIO = "ratio:"

Get = Callable[[str], Array]


def fold_rows(column: ColumnSpec, columns: Sequence[ColumnSpec], get: Get, sizes: Array, modules: Groups) -> Array:
    """Fold samples [n, rows] to [n, modules].

    `get` gives a column's samples by name, `sizes` [rows] the entries of each tensor. Values that are not finite are
    left out; NaN where nothing is left, and for columns that have no rule.
    """
    values = get(column.name)
    if column.fold.startswith(RATIO):
        parts = [
            other for name in column.fold.removeprefix(RATIO).split("/") for other in columns if other.name == name
        ]
        if len(parts) != 2 or any(part.fold.startswith(RATIO) for part in parts):
            return np.full((len(values), len(modules.members)), np.nan)  # the file's word, which may be nonsense
        above, below = (fold_rows(part, columns, get, sizes, modules) for part in parts)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(below == 0, np.nan, above / below)
    mean_name = column.name.removesuffix("_std") + "_mean"
    pooled = column.fold == "pooled_std" and any(other.name == mean_name for other in columns)
    means = get(mean_name) if pooled else None
    with np.errstate(all="ignore"):
        folded = _fold(column.fold, values, means, sizes.astype(values.dtype), modules)
        if np.isfinite(folded).all():
            return folded
        # Something is not finite, or grew too large for float32 on the way.
        wide = np.asarray(values, np.float64)
        wide_means = None if means is None else np.asarray(means, np.float64)
        finite = np.isfinite(wide) if wide_means is None else np.isfinite(wide) & np.isfinite(wide_means)
        folded = _fold(column.fold, wide, wide_means, sizes, modules, finite)
        return np.where(modules.reduce(np.logical_or, finite.T).T, folded, np.nan)


def _fold(
    rule: str, values: Array, means: Array | None, sizes: Array, modules: Groups, finite: Array | None = None
) -> Array:
    """Fold by `rule`; of `values` only those that are `finite`, None meaning all."""

    def kept(numbers: Array, other: float = 0.0) -> Array:
        return numbers if finite is None else np.where(finite, numbers, numbers.dtype.type(other))

    def total(numbers: Array, weights: Array) -> Array:
        return modules.dot(kept(numbers), weights)

    def entries() -> Array:
        ones = np.ones((1, len(sizes)), values.dtype) if finite is None else finite.astype(values.dtype)
        return modules.dot(ones, sizes)

    match rule:
        case "root_sum_squares":
            plain = kept(values)
            return np.asarray(np.sqrt(modules.dot(plain, plain)))
        case "sum":
            return total(values, np.ones(len(sizes), values.dtype))
        case "min":
            return modules.reduce(np.minimum, kept(values, np.inf).T).T
        case "max":
            return modules.reduce(np.maximum, kept(values, -np.inf).T).T
        case "root_mean_square":
            return np.asarray(np.sqrt(total(values * values, sizes) / entries()))
        case "mean_by_count":
            return np.asarray(total(values, sizes) / entries())
        case "pooled_std":
            squares = values * values
            if means is not None:
                mean = total(means, sizes) / entries()
                squares += (means - mean[:, modules.owner]) ** 2
            return np.asarray(np.sqrt(total(squares, sizes) / entries()))
        case _:
            return np.full((len(values), len(modules.members)), np.nan)
