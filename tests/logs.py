"""Writes small logs for tests: real event files, built record by record with the schema package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import zentracer_schema as schema
from zentracer_schema import RowSpec, Status, TableSpec

COLUMN = {column.name: number for number, column in enumerate(schema.PARAMETER_COLUMNS)}
WALL = 1_700_000_000.0
EVENTS = "events.out.tfevents.1700000000.host.1.0"


def row(name: str, shape: tuple[int, ...] = (4,), module: str | None = None, **more: Any) -> RowSpec:
    """A parameter called `name`, of the module before its last dot."""
    module = name.rpartition(".")[0] if module is None else module
    return RowSpec(name, shape=shape, module=module, class_name="Linear", dtype="float32", **more)


def parameters(rows: Sequence[RowSpec | str], scope: str = "model", optimizer: str = "") -> TableSpec:
    """The description of a parameters table."""
    made = tuple(row(one) if isinstance(one, str) else one for one in rows)
    return TableSpec("parameters", scope, schema.PARAMETER_COLUMNS, made, optimizer)


def table(rows: int, status: int = Status.SAMPLED, **columns: Any) -> np.ndarray:
    """A parameters table: healthy numbers, and what `columns` say (one number, or one a row)."""
    values = np.full((rows, len(COLUMN)), 0.01, np.float32)
    for name in COLUMN:
        if name.endswith("_fraction"):
            values[:, COLUMN[name]] = 0
    values[:, COLUMN["status"]] = status
    for name, given in columns.items():
        values[:, COLUMN[name]] = given
    return values


@dataclass
class Log:
    """One event file in the making. `append` puts what was added at the end of the file."""

    path: Path
    wall: float = WALL
    described: set[str] = field(default_factory=set)
    pending: list[bytes] = field(default_factory=list)

    def add(self, payload: bytes) -> Log:
        """A record with this payload."""
        self.pending.append(schema.frame(payload))
        return self

    def version(self) -> Log:
        """The first record of every file."""
        return self.add(schema.file_version_event(self.wall))

    def start(self, step: int = 0) -> Log:
        """The mark of a process that starts at `step`."""
        return self.add(schema.session_start_event(self.wall, step))

    def session(self, key: str, continues: str | None = None, scope: str = "model", **facts: Any) -> Log:
        """A session record; `facts` are those of the scope."""
        content = {"id": key, "continues": continues, "started": self.wall, "scopes": {scope: facts}}
        return self.add(schema.message_event(self.wall, facts.get("start_step", 0), "session", scope, content))

    def table(self, step: int, spec: TableSpec, values: Any) -> Log:
        """A table, described where this log did not yet. Time goes on by a second."""
        self.wall += 1
        with_spec = spec.tag not in self.described
        self.described.add(spec.tag)
        return self.add(schema.table_event(self.wall, step, spec, values, with_spec=with_spec))

    def scalars(self, step: int, **values: float) -> Log:
        """Plain scalars of another writer."""
        return self.add(schema.scalar_event(self.wall, step, values))

    def append(self) -> Log:
        """Write what was added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.write(b"".join(self.pending))
        self.pending = []
        return self


def begin(run: Path, name: str = EVENTS, start: int | None = 0, wall: float = WALL) -> Log:
    """A log of ours in `run`/zentracer, with its first records."""
    log = Log(run / "zentracer" / name, wall).version()
    return log if start is None else log.start(start)


def write_run(
    run: Path, steps: Iterable[int] = range(10), rows: Sequence[RowSpec | str] = ("a.weight", "a.bias"), **columns: Any
) -> Path:
    """A whole run in `run`; `columns` as for `table`, or functions of the step. Returns its file."""
    log, spec = begin(run), parameters(rows)
    for step in steps:
        given = {name: value(step) if callable(value) else value for name, value in columns.items()}
        log.table(step, spec, table(len(rows), **given))
    return log.append().path


def write_scalars(run: Path, points: Mapping[str, Sequence[float]], name: str = EVENTS) -> Path:
    """A run of another writer: each tag's values at steps 0, 1, ..."""
    log = Log(run / name).version()
    for tag, values in points.items():
        for step, value in enumerate(values):
            log.scalars(step, **{tag: value})
    return log.append().path
