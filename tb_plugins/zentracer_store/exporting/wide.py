"""Lays our tables out as rows of one wide table a kind: a row for each tensor and step, a column a statistic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from zentracer_store.contents.columns import Segment
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Array
from zentracer_store.exporting.batches import BATCH_ROWS, TEXT, Batches, codes, repeated
from zentracer_store.runs.chains import chains_of, scopes_of
from zentracer_store.runs.spans import NEVER, cuts_of

_OWN = {"step", "wall_time"}
"""Columns that a table may bring itself: those of a pulse are the steps that it tells of, not the record's."""


@dataclass(frozen=True)
class Stretch:
    """A segment's samples in their place among the sessions: from the step `cut` on a later one wins.

    `session` is None where the records say of no session that they are part of it.
    """

    segment: Segment
    scope: str
    session: int | None
    cut: int = NEVER

    @property
    def steps(self) -> Array:
        """The step of each sample."""
        own = self.segment.column("step", 0, self.segment.count)
        if own is None:
            return self.segment.steps(self.segment.count)
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(own) & (np.abs(own) < NEVER), own, -1).astype(np.int64)


def stretches_of(files: Sequence[FileContents]) -> list[Stretch]:
    """Every segment of the files. Two chains of one scope are `name` and `name #2`, as in the tab."""
    found: list[Stretch] = []
    for name in scopes_of(files):
        for number, chain in enumerate(chains_of(files, name), start=1):
            shown = name if number == 1 else f"{name} #{number}"
            cuts = cuts_of([part.start_step for part in chain])
            for session, (part, cut) in enumerate(zip(chain, cuts, strict=True)):
                found += [Stretch(segment, shown, session, cut) for segment in part.segments]
    placed = {id(stretch.segment) for stretch in found}
    rest = [segment for file in files for segment in file.segments if id(segment) not in placed]
    found += [Stretch(segment, segment.spec.scope, None) for segment in rest]
    return [stretch for stretch in found if stretch.segment.count]


def wide_batches(kind: str, stretches: Sequence[Stretch]) -> Batches:
    """Tables of one kind, by scope and description, then by step."""
    groups: dict[tuple[str, str], list[Stretch]] = {}
    for stretch in stretches:
        groups.setdefault((stretch.scope, stretch.segment.spec.tag), []).append(stretch)
    schema = _schema(stretches)

    def parts() -> Iterator[pa.Table]:
        for _, group in sorted(groups.items()):
            yield from _rows(group, schema)

    return Batches(kind, schema, parts)


def _schema(stretches: Sequence[Stretch]) -> pa.Schema:
    fields = [pa.field("scope", TEXT), pa.field("optimizer", TEXT)]
    if any(stretch.segment.spec.rows is not None for stretch in stretches):
        fields.append(pa.field("row", TEXT))
    fields += [pa.field("step", pa.int64()), pa.field("wall_time", pa.float64())]
    fields += [pa.field("session", pa.uint32()), pa.field("superseded", pa.bool_())]
    columns: dict[str, np.dtype] = {}
    for stretch in stretches:
        for column in stretch.segment.spec.columns:
            dtype = np.dtype("uint8" if column.name == "status" else column.dtype)
            if column.length == 1 and column.name not in _OWN:
                columns[column.name] = np.promote_types(dtype, columns.get(column.name, dtype))
    taken = {field.name for field in fields}
    return pa.schema(
        [*fields, *(pa.field(name, pa.from_numpy_dtype(dtype)) for name, dtype in columns.items() if name not in taken)]
    )


def _rows(group: Sequence[Stretch], schema: pa.Schema) -> Iterator[pa.Table]:
    """The samples of one description, in the order of their steps, some at a time."""
    steps = np.concatenate([stretch.steps for stretch in group])
    source = np.repeat(np.arange(len(group)), [stretch.segment.count for stretch in group])
    place = np.concatenate([np.arange(stretch.segment.count) for stretch in group])
    order = np.argsort(steps, kind="stable")
    spec = group[0].segment.spec
    height = 1 if spec.rows is None else len(spec.rows)
    names = None if spec.rows is None else [row.name for row in spec.rows]
    most = max(BATCH_ROWS // max(height, 1), 1)
    for lo in range(0, len(order), most):
        chosen = order[lo : lo + most]
        yield _table(group, names, schema, source[chosen], place[chosen], steps[chosen])


def _table(
    group: Sequence[Stretch], names: list[str] | None, schema: pa.Schema, source: Array, place: Array, steps: Array
) -> pa.Table:
    height = 1 if names is None else len(names)
    rows = len(steps) * height
    spec = group[0].segment.spec
    known = {
        "scope": repeated(group[0].scope, rows),
        "optimizer": repeated(spec.optimizer, rows),
        "step": pa.array(np.repeat(steps, height)),
    }
    if names is not None:
        known["row"] = codes(np.tile(np.arange(height), len(steps)), names)
    sessions = np.array([-1 if stretch.session is None else stretch.session for stretch in group])
    known["session"] = pa.array(
        np.repeat(sessions[source], height), pa.int64(), mask=np.repeat(sessions[source] < 0, height)
    )
    cuts = np.array([stretch.cut for stretch in group])
    known["superseded"] = pa.array(np.repeat(steps >= cuts[source], height))
    for field in schema:
        if field.name not in known:
            known[field.name] = _gathered(group, field, source, place, names is not None, height)
    return pa.table({field.name: known[field.name].cast(field.type) for field in schema}, schema)


def _gathered(
    group: Sequence[Stretch], field: pa.Field, source: Array, place: Array, has_rows: bool, height: int
) -> pa.Array:
    """One column's entries of the samples that `source` and `place` name."""
    name = field.name
    spec = group[0].segment.spec
    own = any(column.name == name and column.length == 1 for column in spec.columns)
    if not own and name != "wall_time":
        return pa.nulls(len(place) * height, field.type)
    out: Array | None = None
    for number in np.unique(source):
        segment = group[number].segment
        at = np.flatnonzero(source == number)
        wanted = place[at]
        first, last = int(wanted.min()), int(wanted.max()) + 1
        part = segment.column(name, first, last) if own else segment.walls(last)[first:]
        assert part is not None  # all of a group have one description
        if out is None:
            out = np.empty((len(place), *part.shape[1:]), part.dtype)
        out[at] = part[wanted - first]
    assert out is not None
    if has_rows and not own:
        out = np.repeat(out, height)
    return pa.array(out.ravel())
