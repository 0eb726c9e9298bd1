"""Lays other writers' values out as rows: one for each value, under its tag and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from zentracer_store.contents.growing import Array
from zentracer_store.exporting.batches import BATCH_ROWS, TEXT, Batches, codes
from zentracer_store.runs.series import Series

KEYS = (
    pa.field("tag", TEXT),
    pa.field("step", pa.int64()),
    pa.field("wall_time", pa.float64()),
    pa.field("session", pa.uint32()),
    pa.field("superseded", pa.bool_()),
)
"""The columns that every kind of other writers' values begins with."""


def scalar_batches(series: Sequence[Series]) -> Batches:
    """Scalars, by tag, then by step; what was written first comes first of equal steps."""
    schema = pa.schema([*KEYS, pa.field("value", pa.float64())])
    ordered = sorted(series, key=lambda one: one.tag)

    def parts() -> Iterator[pa.Table]:
        for some in _together(ordered):
            orders = [np.argsort(one.step, kind="stable") for one in some]
            values = [one.value[order] for one, order in zip(some, orders, strict=True) if one.value is not None]
            yield pa.table([*keys_of(some, orders), pa.array(np.concatenate(values))], schema=schema)

    return Batches("scalars", schema, parts)


def _together(series: Sequence[Series]) -> Iterator[list[Series]]:
    """Series that make about one batch, so that a thousand short ones are not a thousand batches."""
    some: list[Series] = []
    for one in series:
        some.append(one)
        if sum(map(len, some)) >= BATCH_ROWS:
            yield some
            some = []
    if some:
        yield some


def keys_of(series: Sequence[Series], orders: Sequence[Array]) -> list[pa.Array]:
    """The columns `KEYS` of the values that `orders` choose from each series."""
    pairs = list(zip(series, orders, strict=True))
    numbers = np.repeat(np.arange(len(series)), [len(order) for order in orders])
    return [
        codes(numbers, [one.tag for one in series]),
        pa.array(np.concatenate([one.step[order] for one, order in pairs])),
        pa.array(np.concatenate([one.wall[order] for one, order in pairs])),
        pa.array(np.concatenate([one.session[order] for one, order in pairs]).astype(np.uint32)),
        pa.array(np.concatenate([one.superseded[order] for one, order in pairs])),
    ]
