"""Decides which parameters make up an optimizer's table, and describes them as its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

import zentracer_schema as schema
from zentracer.torch.batch import is_plain
from zentracer.torch.names import NamedParameter, named_parameters
from zentracer.torch.optimizers import Watched

Status = schema.Status


@dataclass(frozen=True)
class Row:
    """One row: a parameter, what never changes about its status, and whether we can measure it at all."""

    spec: schema.RowSpec
    parameter: Tensor
    owned: bool
    status: schema.Status
    measurable: bool


@dataclass(frozen=True)
class Rows:
    """The rows of one optimizer's table."""

    spec: schema.TableSpec
    rows: tuple[Row, ...]
    signature: tuple[object, ...]

    def are_those_of(self, watched: Watched, others: Sequence[Watched]) -> bool:
        """Whether `find_rows` would find the same; cheap enough to be asked at each sample."""
        return self.signature == _signature(watched, others, self.rows)


def find_rows(model: nn.Module, watched: Watched, others: Sequence[Watched], *, scope: str) -> Rows:
    """The model's parameters that an optimizer owns; for the first optimizer also those that none of them owns."""
    groups = {id(p): index for index, group in enumerate(watched.groups) for p in group["params"]}
    elsewhere = {id(p) for other in others for group in other.groups for p in group["params"]}
    rows = []
    for named in named_parameters(model):
        key = id(named.parameter)
        if key in groups:
            rows.append(_row(named, optimizer=watched.name, group=groups[key]))
        elif watched.first and key not in elsewhere:
            rows.append(_row(named, optimizer="", group=0))
    spec = schema.TableSpec(
        "parameters", scope, schema.PARAMETER_COLUMNS, tuple(row.spec for row in rows), optimizer=watched.name
    )
    return Rows(spec, tuple(rows), _signature(watched, others, rows))


def _signature(watched: Watched, others: Sequence[Watched], rows: Sequence[Row]) -> tuple[object, ...]:
    """What the rows depend on: new groups, new parameters, freezing, and a model that was moved or cast change it."""
    owned = [p for group in watched.groups for p in group["params"]]
    loose = [row.parameter for row in rows if not row.owned]
    elsewhere = sum(len(group["params"]) for other in others for group in other.groups)
    return (len(owned), elsewhere, *((id(p), p.requires_grad, p.dtype, p.device, p.shape) for p in (*owned, *loose)))


def _row(named: NamedParameter, *, optimizer: str, group: int) -> Row:
    parameter = named.parameter
    if not parameter.requires_grad:
        status = Status.FROZEN
    elif not optimizer:
        status = Status.UNUSED
    else:
        status = Status(0)
    measurable = is_plain(parameter)
    spec = schema.RowSpec(
        named.name,
        named.aliases,
        named.class_name,
        named.module,
        named.shape,
        str(parameter.dtype).removeprefix("torch."),
        named.layout,
        parameter.requires_grad,
        optimizer,
        group,
    )
    return Row(spec, parameter, bool(optimizer), status if measurable else status | Status.UNSEEN, measurable)
