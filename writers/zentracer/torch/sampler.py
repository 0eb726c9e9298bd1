"""Takes the full samples of one optimizer's parameters, and makes of each a record for the writer thread."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import psutil
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import zentracer_schema as schema
from zentracer.notice import tell
from zentracer.output import Job, Output
from zentracer.torch.batch import is_plain
from zentracer.torch.optimizers import Watched
from zentracer.torch.reduce import sum_dtype
from zentracer.torch.rows import Rows, find_rows
from zentracer.torch.small import LARGEST, SmallStatistics
from zentracer.torch.statistics import MEASURED, Statistics
from zentracer.torch.table import Facts, median_of, parameter_table
from zentracer.torch.transfer import Arriving

Status = schema.Status
FREE_SHARE = 0.25
"""The copy of the weights is made only where it fits into this share of the free memory."""


class Sampler:
    """Samples of one optimizer. `before` and `after` are called around an update, under `no_grad`."""

    def __init__(self, scope: str, watched: Watched, others: tuple[Watched, ...], *, exact: bool) -> None:
        self._scope = scope
        self._watched = watched
        self._others = others
        self._exact = exact
        self._rows: Rows | None = None
        self._statistics: list[Statistics | SmallStatistics] = []
        self._snapshots = True
        self._device_s = 0.0  # of statistics that were replaced
        self._versions: dict[int, int] = {}
        self._facts: Facts | None = None

    def before(self, model: nn.Module) -> None:
        """Measure weights and gradients; keep the weights."""
        self._facts = None
        if self._rows is None or not self._rows.are_those_of(self._watched, self._others):
            self._plan(model)
        assert self._rows is not None
        for statistics in self._statistics:
            statistics.before()
        self._versions = {i: _version(row.parameter) for i, row in enumerate(self._rows.rows) if not row.owned}
        self._facts = self._know(self._rows)

    def after(self, step: int, wall_time: float) -> tuple[Job, int] | None:
        """Measure what changed. Returns the record and how many bytes it holds; None where `before` did not succeed."""
        rows, facts = self._rows, self._facts
        self._facts = None
        if rows is None or facts is None:
            return None
        for index, version in self._versions.items():
            if _version(rows.rows[index].parameter) != version:
                facts.update[index] = np.nan
                facts.status[index] |= int(Status.UNSEEN)
        parts = [(statistics.rows, Arriving(statistics.after())) for statistics in self._statistics]
        clipped = self._before_clip(rows)
        scale = self._watched.grad_scale
        scaled = None if scale is None else Arriving(scale.detach().clone())
        skipped = self._watched.found_inf
        found_inf = Arriving(skipped.detach().clone()) if isinstance(skipped, Tensor) else None
        job = partial(
            _write, rows, facts, parts, clipped, scaled, found_inf, step, wall_time, self._scope, self._watched.first
        )
        return job, 8 * len(MEASURED) * len(rows.rows)

    @property
    def device_s(self) -> float:
        """Seconds that devices spent on samples so far."""
        return self._device_s + sum(statistics.device_s for statistics in self._statistics)

    def drop_buffers(self) -> None:
        """Let go of all memory; from now on go without the copy of the weights."""
        self._device_s = self.device_s
        self._rows, self._facts, self._statistics = None, None, []
        self._snapshots = False

    @property
    def keeps_weights(self) -> bool:
        """Whether the weights from before an update are kept, so that updates are measured."""
        return self._snapshots

    def _plan(self, model: nn.Module) -> None:
        self._device_s = self.device_s
        self._statistics = []  # first, so that the old buffers make room for the new ones
        rows = find_rows(model, self._watched, self._others, scope=self._scope)
        places: dict[torch.device, list[tuple[int, Tensor, bool]]] = {}
        for index, row in enumerate(rows.rows):
            if row.measurable:
                places.setdefault(row.parameter.device, []).append((index, row.parameter, row.owned))
        if self._snapshots and not self._exact:
            for device, members in places.items():
                self._snapshots = self._snapshots and _copy_fits(device, members)
        for device, members in places.items():
            small = [member for member in members if device.type == "cpu" and member[1].numel() <= LARGEST]
            large = [member for member in members if device.type != "cpu" or member[1].numel() > LARGEST]
            if small:
                self._statistics.append(SmallStatistics(small, snapshots=self._snapshots))
            if large:
                self._statistics.append(Statistics(large, snapshots=self._snapshots))
        unmeasured = [row for row in rows.rows if not row.measurable]
        if unmeasured:
            one = unmeasured[0]
            tell(
                f"{len(unmeasured)} of {len(rows.rows)} parameters are sparse, complex, quantized or sharded and not "
                f"measured yet, such as {one.spec.name} ({one.spec.dtype}). Their rows stay empty."
            )
        self._rows = rows

    def _know(self, rows: Rows) -> Facts:
        """What the host knows of every row before the update."""
        owned = np.array([row.owned for row in rows.rows])
        measured = owned & [row.measurable for row in rows.rows]
        gradients = [row.parameter.grad for row in rows.rows]
        there = np.array([gradient is not None for gradient in gradients])
        plain = np.array([gradient is not None and is_plain(gradient) for gradient in gradients])
        status = np.array([int(row.status) for row in rows.rows]) | int(Status.SAMPLED)
        frozen = (status & int(Status.FROZEN)) > 0
        status[measured & ~there & ~frozen] |= int(Status.NO_GRADIENT)
        unseen = there & ~plain
        if self._watched.has_closure:
            status &= ~int(Status.NO_GRADIENT)
            plain[:], unseen = False, measured
        if not self._snapshots:
            unseen = measured
        status[measured & unseen] |= int(Status.UNSEEN)
        update = np.where(measured & self._snapshots, 1.0, np.where(owned, np.nan, 0.0))
        return Facts(status, measured & plain, update)

    def _before_clip(self, rows: Rows) -> tuple[list[int], Arriving] | None:
        """(rows, their gradient norms before clipping), None where no clipping was seen."""
        seen = self._watched.clipped
        found = [(index, seen[id(row.parameter)]) for index, row in enumerate(rows.rows) if id(row.parameter) in seen]
        if not found:
            return None
        device = found[0][1].device
        return [index for index, _ in found], Arriving(torch.stack([norm.to(device) for _, norm in found]))


def _version(parameter: Tensor) -> int:
    """How often a parameter was changed in place, as far as PyTorch counts that."""
    return -1 if parameter.is_inference() else parameter._version


def _copy_fits(device: torch.device, members: list[tuple[int, Tensor, bool]]) -> bool:
    needed = sum(p.numel() * sum_dtype(p.dtype).itemsize for _, p, owned in members if owned)
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        free = torch.cuda.mem_get_info(device)[0] + kept
    else:
        free = psutil.virtual_memory().available
    if needed <= FREE_SHARE * free:
        return True
    tell(
        f"Updates are not measured: that takes a copy of the weights on {device} ({needed / 1e9:.1f} GB), more than a "
        f'quarter of the free memory ({free / 1e9:.1f} GB). mode="exact" takes it anyway.'
    )
    return False


def _write(
    rows: Rows,
    facts: Facts,
    parts: list[tuple[list[int], Arriving]],
    clipped: tuple[list[int], Arriving] | None,
    scaled: Arriving | None,
    found_inf: Arriving | None,
    step: int,
    wall_time: float,
    scope: str,
    first: bool,
    output: Output,
) -> None:
    measured = np.full((len(MEASURED), len(rows.rows)), np.nan)
    for places, arriving in parts:
        measured[:, places] = arriving.read().numpy()
    before_clip = np.full(len(rows.rows), np.nan)
    if clipped is not None:
        places, arriving = clipped
        before_clip[places] = arriving.read().numpy()
    table = parameter_table(
        rows,
        measured,
        facts,
        before_clip=before_clip,
        grad_scale=1.0 if scaled is None else float(scaled.read()),
        skipped=found_inf is not None and float(found_inf.read()) > 0,
    )
    output.table(wall_time, step, rows.spec, table)
    if first:
        output.scalars(wall_time, step, scope, _medians(rows, table, scope))


def _medians(rows: Rows, table: NDArray[np.float32], scope: str) -> Mapping[str, float]:
    found = {name: median_of(rows, table, name) for name in ("update_ratio", "gradient_norm")}
    return {schema.scalar_tag(scope, name): value for name, value in found.items() if value is not None}
