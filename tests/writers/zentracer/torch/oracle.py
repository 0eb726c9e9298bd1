"""The statistics of an update by slow, plain float64 arithmetic, from copies taken around `optimizer.step`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

import zentracer_schema as schema

Status = schema.Status
COLUMNS = {column.name: column for column in schema.PARAMETER_COLUMNS}


@dataclass
class Update:
    """Copies of one update: weights before and after, gradients as applied, norms before clipping where seen."""

    before: dict[str, torch.Tensor]
    gradients: dict[str, torch.Tensor | None]
    after: dict[str, torch.Tensor] = field(default_factory=dict)
    before_clip: dict[str, torch.Tensor] = field(default_factory=dict)


class Witness:
    """Takes copies around every step of an optimizer, by hooks of its own."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model = model
        self.updates: list[Update] = []
        self.clipping: dict[str, torch.Tensor] = {}
        optimizer.register_step_pre_hook(self._before)
        optimizer.register_step_post_hook(self._after)

    def before_clipping(self) -> None:
        """To be called before gradients are clipped."""
        self.clipping = {
            name: p.grad.detach().clone() for name, p in self.model.named_parameters() if p.grad is not None
        }

    def _before(self, optimizer, args, kwargs) -> None:
        owned = {id(p) for group in optimizer.param_groups for p in group["params"]}
        self.updates.append(
            Update(
                {name: p.detach().clone() for name, p in self.model.named_parameters()},
                {
                    name: p.grad.detach().clone() if id(p) in owned and p.grad is not None else None
                    for name, p in self.model.named_parameters()
                },
                before_clip=self.clipping,
            )
        )
        self.clipping = {}

    def _after(self, optimizer, args, kwargs) -> None:
        self.updates[-1].after = {name: p.detach().clone() for name, p in self.model.named_parameters()}


def expected(update: Update, name: str, last: Update | None) -> dict[str, float]:
    """Every column but the status of one row, in float64."""
    columns = {f"weight_{key}": value for key, value in _moments(_numbers(update.before[name])).items()}
    gradient = update.gradients[name]
    for key in ("norm", "zero_fraction", "nan_fraction", "pinf_fraction", "ninf_fraction"):
        columns[f"gradient_{key}"] = np.nan if gradient is None else _moments(_numbers(gradient))[key]
    clipped = update.before_clip.get(name)
    columns["gradient_norm_before_clip"] = np.nan if clipped is None else _moments(_numbers(clipped))["norm"]
    change = _change(update, name)
    columns["update_norm"] = _moments(change)["norm"]
    ratio = columns["update_norm"] / columns["weight_norm"] if columns["weight_norm"] else np.nan
    columns["update_ratio"] = ratio
    columns["unchanged_fraction"] = float(np.mean(change == 0))
    columns["gradient_cosine"] = columns["update_cosine"] = np.nan
    if last is not None:
        if gradient is not None and last.gradients[name] is not None:
            columns["gradient_cosine"] = _cosine(_numbers(gradient), _numbers(last.gradients[name]))
        columns["update_cosine"] = _cosine(change, _change(last, name))
    return columns


def check(table, update: Update, last: Update | None = None, *, rows: list[str] | None = None) -> None:
    """Compare each value of a table with the expected one, within the error that its column states."""
    for name in rows or [row.name for row in table.spec.rows]:
        row, truth = table.row(name), expected(update, name, last)
        for column, value in truth.items():
            spec = COLUMNS[column]
            found = row[column]
            where = f"{column} of {name} at step {table.step}: {found!r}, expected {value!r}"
            if np.isnan(value):
                assert np.isnan(found), where
                continue
            allowed = spec.error if spec.error_kind == "absolute" else spec.error * abs(value)
            if column == "weight_mean":
                allowed *= max(1.0, truth["weight_rms"])  # stated for weights about 1
            # What a float32 can hold.
            allowed += 2**-23 * abs(value) + 1e-44
            assert abs(found - value) <= allowed, where


def _numbers(tensor: torch.Tensor) -> np.ndarray:
    return tensor.to(torch.float64).numpy().ravel()


def _change(update: Update, name: str) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # Inf - Inf
        return _numbers(update.after[name]) - _numbers(update.before[name])


def _moments(x: np.ndarray) -> dict[str, float]:
    finite = x[np.isfinite(x)]
    none = not len(finite)
    return {
        "norm": np.nan if none else float(np.sqrt(np.sum(finite**2))),
        "rms": np.nan if none else float(np.sqrt(np.mean(finite**2))),
        "mean": np.nan if none else float(np.mean(finite)),
        "std": np.nan if none else float(np.std(finite)),
        "min": np.nan if none else float(np.min(finite)),
        "max": np.nan if none else float(np.max(finite)),
        "zero_fraction": float(np.mean(x == 0)),
        "nan_fraction": float(np.mean(np.isnan(x))),
        "pinf_fraction": float(np.mean(x == np.inf)),
        "ninf_fraction": float(np.mean(x == -np.inf)),
    }


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = np.where(np.isfinite(a), a, 0.0), np.where(np.isfinite(b), b, 0.0)
    size = np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(b * b))
    return float(np.sum(a * b) / size) if size else np.nan
