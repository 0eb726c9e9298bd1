"""Lays our bulk tables out as rows: those that hold several entries a row, such as a histogram of each tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from zentracer_schema import FormatError, TableSpec, decode_table
from zentracer_store.contents.growing import Array
from zentracer_store.exporting.batches import TEXT, Batches, codes, repeated
from zentracer_store.exporting.valued import Tell, left_out, portions
from zentracer_store.reading.fetch import Moved
from zentracer_store.runs.series import Series

_KEYS = (
    pa.field("scope", TEXT),
    pa.field("row", TEXT),
    pa.field("step", pa.int64()),
    pa.field("wall_time", pa.float64()),
    pa.field("session", pa.uint32()),
    pa.field("superseded", pa.bool_()),
)


def deep_batches(kind: str, series: Sequence[Series], specs: Mapping[str, TableSpec], tell: Tell) -> Batches:
    """The tables of some series, by tag, then by step. What can't be read is left out and told, once a tag."""
    known = sorted((one for one in series if one.tag in specs), key=lambda one: one.tag)
    schema = _schema([specs[one.tag] for one in known])

    def parts() -> Iterator[pa.Table]:
        for one in known:
            yield from _parts(one, specs[one.tag], schema, tell)

    return Batches(kind, schema, parts)


def _schema(specs: Sequence[TableSpec]) -> pa.Schema:
    fields = {field.name: field for field in _KEYS}
    for spec in specs:
        for column in spec.columns:
            item = pa.from_numpy_dtype(np.dtype(column.dtype))
            kind = item if column.length == 1 else pa.list_(item)
            fields.setdefault(column.name, pa.field(column.name, kind))
    return pa.schema(list(fields.values()))


def _parts(series: Series, spec: TableSpec, schema: pa.Schema, tell: Tell) -> Iterator[pa.Table]:
    failed: list[str] = []
    for chosen in portions(series):
        places: list[int] = []
        tables: list[dict[str, Array]] = []
        for place in chosen.tolist():
            try:
                tables.append(_columns(spec, decode_table(spec, series.decode(place).tensor)))
                places.append(place)
            except (FormatError, Moved) as error:
                failed.append(str(error))
        if tables:
            yield _joined(series, spec, schema, np.array(places), tables)
    if failed:
        tell(left_out(series, failed))


def _columns(spec: TableSpec, table: Any) -> dict[str, Array]:
    """A table's columns, [rows] or [rows, length]."""
    if not isinstance(table, np.ndarray):
        return dict(table)
    ends = np.cumsum([column.length for column in spec.columns])
    parts = np.split(table, ends[:-1], axis=1)
    return {c.name: part if c.length > 1 else part[:, 0] for c, part in zip(spec.columns, parts, strict=True)}


def _joined(
    series: Series, spec: TableSpec, schema: pa.Schema, places: Array, tables: Sequence[Mapping[str, Array]]
) -> pa.Table:
    heights = [len(next(iter(table.values()))) for table in tables]
    total = sum(heights)
    names = [] if spec.rows is None else [row.name for row in spec.rows]
    known = {
        "scope": repeated(spec.scope, total),
        "row": codes(np.tile(np.arange(len(names)), len(tables)), names) if names else pa.nulls(total, TEXT),
        "step": pa.array(np.repeat(series.step[places], heights)),
        "wall_time": pa.array(np.repeat(series.wall[places], heights)),
        "session": pa.array(np.repeat(series.session[places], heights).astype(np.uint32)),
        "superseded": pa.array(np.repeat(series.superseded[places], heights)),
    }
    for field in schema:
        if field.name not in known:
            given = [table[field.name] for table in tables if field.name in table]
            known[field.name] = _array(np.concatenate(given)) if given else pa.nulls(total, field.type)
    return pa.table([known[field.name].cast(field.type) for field in schema], schema=schema)


def _array(values: Array) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    places = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(places), pa.array(values.ravel()))
