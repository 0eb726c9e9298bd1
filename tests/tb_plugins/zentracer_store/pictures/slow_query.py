"""The query once more, as plainly as it can be said: one row, one cell, one value at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from zentracer_schema import RowSpec, Status

NAN = float("nan")


@dataclass
class Model:
    """What was recorded. `samples[optimizer][step]` is (session, {row name: {column: value}}).

    `clock[step]` is the interval that the clock told; 0 where it told none.
    """

    rows: list[RowSpec]
    samples: dict[str, dict[int, tuple[int, dict[str, dict[str, float]]]]]
    clock: dict[int, float] = field(default_factory=dict)


@dataclass
class Hold:
    """A sample and the steps [start, end) on which it stands."""

    start: int
    end: float
    values: dict[str, float]


@dataclass
class Gap:
    """Steps [start, end) in which `expected` samples are missing."""

    start: float
    end: float
    expected: int


def holds_of(model: Model, name: str) -> tuple[list[Hold], list[Gap]]:
    """Until when each sample of a row stands, and what is missing between them."""
    holds, gaps = [], []
    samples = model.samples[next(row.optimizer for row in model.rows if row.name == name)]
    steps = sorted(samples)
    for number, step in enumerate(steps):
        session, rows = samples[step]
        previous, following = (steps[n] if 0 <= n < len(steps) else None for n in (number - 1, number + 1))
        told = [model.clock[s] for s in sorted(model.clock) if s <= step]
        if told and told[-1] > 0:
            usual = told[-1]
        elif previous is not None and samples[previous][0] == session:
            usual = step - previous
        else:
            usual = 0
        if following is None:
            end = step + max(usual, 1)
            gap = False
        else:
            apart = following - step
            restart = samples[following][0] != session
            likely = usual
            after = steps[number + 2] if number + 2 < len(steps) else None
            if after is not None and samples[after][0] == samples[following][0]:
                likely = max(likely, after - following)
            hold = max(usual if restart else likely, 1)
            gap = apart > max(usual, 1) if restart else likely > 0 and apart > 4 * likely
            end = step + hold if gap and name in rows else following
        if name not in rows:
            gaps.append(Gap(step, end, 1))
            continue
        holds.append(Hold(step, end, rows[name]))
        if gap:
            gaps.append(Gap(end, following, max(round((following - end) / (end - step)), 1)))
    return holds, gaps


def sample_value(values: dict[str, float], column: str, last_sample: bool) -> tuple[float, bool]:
    """The value shown, and whether it is missing rather than NaN."""
    status = int(values.get("status", 0))
    sides = {
        "weight": ["weight"],
        "gradient": ["gradient"],
        "update": ["weight", "gradient"],
        "unchanged": ["weight", "gradient"],
    }.get(column.split("_")[0], [])
    if column.endswith(("nan_fraction", "inf_fraction")):
        sides = []
    if status & Status.UPDATE_SKIPPED:
        sides = [side for side in sides if side != "gradient"]
    for kind, instead in (("nan", NAN), ("pinf", math.inf), ("ninf", -math.inf)):
        if any(values.get(f"{side}_{kind}_fraction", 0) > 0 for side in sides):
            return instead, False
    value = values.get(column, NAN)
    idle = Status.NO_GRADIENT | Status.FROZEN | Status.UNUSED
    if column == "gradient_norm_before_clip":
        idle |= Status.UNSEEN
    elif column.startswith(("update_", "unchanged_")):
        idle |= Status.UPDATE_SKIPPED | Status.UNDEFINED_RATIO | Status.UNSEEN
    elif not column.startswith("gradient_"):
        idle = Status(0)
    return value, math.isnan(value) and (last_sample or bool(status & idle))


def missing_in(gaps: list[Gap], low: float, high: float) -> int:
    """How many missing samples belong to [low, high); at least 1 where it touches a gap."""
    inside, touches = 0, False
    for gap in gaps:
        spacing = (gap.end - gap.start) / gap.expected
        inside += sum(low <= gap.start + number * spacing < high for number in range(gap.expected))
        touches = touches or (gap.start < high and low < gap.end)
    return max(inside, 1) if touches else 0


def leaf_cell(model: Model, name: str, column: str, log: bool, last_sample: bool, low: float, high: float) -> dict:
    """One row in one cell."""
    holds, gaps = holds_of(model, name)
    inside = [hold for hold in holds if low <= hold.start < high]
    shown = inside or [hold for hold in holds if hold.start < low < hold.end]
    cell = dict.fromkeys(("zeros", "nan", "pinf", "ninf", "status"), 0) | {"count": len(inside)}
    cell["missing"] = missing_in(gaps, low, high)
    finite = []
    for hold in shown:
        value, missing = sample_value(hold.values, column, last_sample)
        cell["status"] |= int(hold.values.get("status", 0))
        cell["missing"] += missing
        cell["nan"] += math.isnan(value) and not missing
        cell["pinf"] += value == math.inf
        cell["ninf"] += value == -math.inf
        cell["zeros"] += value == 0
        if math.isfinite(value):
            finite.append(value)
    averaged = [math.log10(value) for value in finite if value > 0] if log else finite
    cell["mean"] = sum(averaged) / len(averaged) if averaged else NAN
    cell["min"], cell["max"] = min(finite, default=NAN), max(finite, default=NAN)
    return cell


def strata_cells(cells: list[dict], log: bool) -> dict[str, dict]:
    """The strata of a module in one cell, from those of its rows."""
    means = []
    for cell in cells:
        if not math.isnan(cell["mean"]):
            means.append(cell["mean"])
        elif log and cell["zeros"]:
            means.append(-math.inf)
    means.sort()
    found = {}
    for stratum in ("smallest", "median", "largest"):
        pick = {"smallest": min, "largest": max, "median": None}[stratum]
        if pick is None:
            mean = means[(len(means) - 1) // 2] if means else NAN
            low = high = 10**mean if log else mean
        else:
            mean = pick(means, default=NAN)
            low = pick((c["min"] for c in cells if not math.isnan(c["min"])), default=NAN)
            high = pick((c["max"] for c in cells if not math.isnan(c["max"])), default=NAN)
        stratum_cell = {"mean": NAN if mean == -math.inf else mean, "min": low, "max": high}
        for mark in ("nan", "pinf", "ninf"):
            shown = stratum == "largest" or math.isnan(high)
            stratum_cell[mark] = sum(c[mark] for c in cells) if shown else 0
        stratum_cell["zeros"] = sum(c["zeros"] for c in cells) if low <= 0 <= high else 0
        every = [c["missing"] for c in cells]
        stratum_cell["missing"] = sum(every) if stratum == "largest" else min(every)
        stratum_cell["count"] = max(c["count"] for c in cells)
        stratum_cell["status"] = 0
        for cell in cells:
            stratum_cell["status"] |= cell["status"]
        found[stratum] = stratum_cell
    return found


def folded_value(rule: str, rows: list[tuple[int, dict[str, float]]], column: str, rules: dict[str, str]) -> float:
    """One sample of a folded row; `rows` are (size, values)."""
    if rule.startswith("ratio:"):
        over, under = rule.removeprefix("ratio:").split("/")
        below = folded_value(rules[under], rows, under, rules)
        above = folded_value(rules[over], rows, over, rules)
        return NAN if below == 0 or math.isnan(below) else above / below
    kept = [(size, values[column]) for size, values in rows if math.isfinite(values.get(column, NAN))]
    if rule == "pooled_std":
        mean = column.removesuffix("_std") + "_mean"
        both = [(n, v[column], v[mean]) for n, v in rows if math.isfinite(v[column]) and math.isfinite(v[mean])]
        if not both:
            return NAN
        total = sum(n for n, _, _ in both)
        middle = sum(n * m for n, _, m in both) / total
        return math.sqrt(sum(n * (s**2 + (m - middle) ** 2) for n, s, m in both) / total)
    if not kept or rule == "none":
        return NAN
    values = [value for _, value in kept]
    total = sum(size for size, _ in kept)
    match rule:
        case "root_sum_squares":
            return math.sqrt(sum(value**2 for value in values))
        case "sum":
            return sum(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case "root_mean_square":
            return math.sqrt(sum(n * v**2 for n, v in kept) / total)
        case "mean_by_count":
            return sum(n * v for n, v in kept) / total
    raise AssertionError(rule)


def fold_cell(
    model: Model, names: list[str], column: str, rules: dict[str, str], log: bool, low: float, high: float
) -> dict:
    """Mean, min and max of a folded row in one cell."""
    sizes = {row.name: row.size for row in model.rows}
    held = {name: holds_of(model, name)[0] for name in names}
    steps = sorted({hold.start for holds in held.values() for hold in holds})
    inside = [step for step in steps if low <= step < high]
    if not inside:
        before = [step for step in steps if step < low]
        reach = max((h.end for holds in held.values() for h in holds if before and h.start <= before[-1]), default=0)
        inside = before[-1:] if before and reach > low else []
    finite = []
    for step in inside:
        rows = [(sizes[n], h.values) for n, holds in held.items() for h in holds if h.start <= step < h.end]
        value = folded_value(rules[column], rows, column, rules)
        if math.isfinite(value):
            finite.append(value)
    averaged = [math.log10(value) for value in finite if value > 0] if log else finite
    mean = sum(averaged) / len(averaged) if averaged else NAN
    return {"mean": mean, "min": min(finite, default=NAN), "max": max(finite, default=NAN)}
