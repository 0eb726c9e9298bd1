"""Pictures a module by the smallest, the median and the largest of its tensors: an average would hide the bad one."""

from __future__ import annotations

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.pictures.cells import Cells
from zentracer_store.pictures.groups import Groups

STRATA = ("smallest", "median", "largest")


def strata_of(cells: Cells, modules: Groups, *, log: bool) -> dict[str, dict[str, Array]]:
    """Of each stratum, and of `fold` what belongs to all rows together, the arrays of a picture, [modules, cells].

    `cells` are turned, [rows, cells]. Smallest and largest take each of mean, min and max by itself, so that no spike
    is lost. The median is that of the rows' means, of an even number the lower of the two in the middle; its min and
    max are itself. NaN and Inf belong to the largest, to the others only where no row has a finite value; zeros to
    those strata that reach 0; missing to the largest, to the others only where every row lacks something. `count` is in
    samples.
    """
    mean = cells.mean
    if log and "zeros" in cells.marks:
        # A cell of nothing but zeros has no logarithm, and is smaller than all that have one.
        mean = np.where(np.isnan(mean) & (cells.marks["zeros"] > 0), np.float32(-np.inf), mean)
    means = _ordered(mean, modules)
    middle = np.power(np.float32(10), means["median"]) if log else means["median"]
    values = {
        "smallest": _extremes(cells, modules, np.fmin),
        "median": {"min": middle, "max": middle},
        "largest": _extremes(cells, modules, np.fmax),
    }
    marks = {name: modules.reduce(np.add, array) for name, array in cells.marks.items()}
    common = {
        "count": cells.count if len(cells.count) == 1 else modules.reduce(np.maximum, cells.count),
        "status": modules.reduce(np.bitwise_or, cells.status),
    }
    result = {"fold": common | marks}
    for stratum in STRATA:
        arrays = values[stratum]
        shown = {name: _share(stratum, name, total, arrays, cells, modules) for name, total in marks.items()}
        value = means[stratum]
        arrays["mean"] = np.where(value == -np.inf, np.float32(np.nan), value) if "zeros" in marks else value
        result[stratum] = arrays | common | shown
    return result


def _extremes(cells: Cells, modules: Groups, ufunc: np.ufunc) -> dict[str, Array]:
    low = modules.reduce(ufunc, cells.min)
    return {"min": low, "max": low if cells.max is cells.min else modules.reduce(ufunc, cells.max)}


def _share(stratum: str, name: str, total: Array, values: dict[str, Array], cells: Cells, modules: Groups) -> Array:
    """How many of a mark's `total` are shown in a stratum."""
    if name == "zeros":
        shown = (values["min"] <= 0) & (values["max"] >= 0)
    elif stratum == "largest":
        return total
    elif name == "missing":
        return modules.reduce(np.minimum, cells.marks[name])
    else:
        shown = np.isnan(values["max"])
    return np.where(shown, total, 0).astype(total.dtype)


def _ordered(values: Array, modules: Groups) -> dict[str, Array]:
    """Smallest, lower median and largest of each module's rows, NaN left out."""
    found = {name: np.empty((len(modules.members), values.shape[1]), values.dtype) for name in STRATA}
    for group, stacked in modules.stacked(values):
        ordered = np.sort(stacked, axis=1)  # NaN last
        size = ordered.shape[1]
        places: dict[str, Array | int] = {"smallest": 0, "median": (size - 1) // 2, "largest": size - 1}
        if np.isnan(ordered[:, -1]).any():
            last = np.maximum(size - 1 - np.isnan(ordered).sum(axis=1), 0)
            places |= {"median": last // 2, "largest": last}
        for name, place in places.items():
            found[name][group] = _taken(ordered, place)
    return found


def _taken(ordered: Array, place: Array | int) -> Array:
    if isinstance(place, int):
        row: Array = ordered[:, place]
        return row
    taken: Array = np.take_along_axis(ordered, place[:, None], axis=1)[:, 0]
    return taken
