"""Decides which parameters make up an optimizer's table, and describes them as its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.optim import Optimizer

import zentracer_schema as schema
from zentracer.torch.batch import is_plain
from zentracer.torch.names import NamedParameter, named_parameters

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
    """The rows of one optimizer's table. `signature` is equal as long as the table would come out the same."""

    spec: schema.TableSpec
    rows: tuple[Row, ...]
    signature: tuple[object, ...]


def signature_of(optimizer: Optimizer) -> tuple[object, ...]:
    """What the rows depend on, cheap enough to be compared at each sample.

    New groups and parameters, freezing, and a model that was moved or cast all change it.
    """
    return tuple(
        (id(p), p.requires_grad, p.dtype, p.device, p.shape)
        for group in optimizer.param_groups
        for p in group["params"]
    )


def find_rows(
    model: nn.Module, optimizer: Optimizer, *, scope: str, name: str, others: Sequence[Optimizer], first: bool
) -> Rows:
    """The model's parameters that `optimizer` owns; for the `first` optimizer also those that none of them owns."""
    groups = {id(p): index for index, group in enumerate(optimizer.param_groups) for p in group["params"]}
    elsewhere = {id(p) for other in others for group in other.param_groups for p in group["params"]}
    rows = []
    for named in named_parameters(model):
        key = id(named.parameter)
        if key in groups:
            rows.append(_row(named, optimizer=name, group=groups[key]))
        elif first and key not in elsewhere:
            rows.append(_row(named, optimizer="", group=0))
    spec = schema.TableSpec(
        "parameters", scope, schema.PARAMETER_COLUMNS, tuple(row.spec for row in rows), optimizer=name
    )
    return Rows(spec, tuple(rows), signature_of(optimizer))


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
