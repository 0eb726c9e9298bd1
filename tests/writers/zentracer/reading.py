"""Reads what a tracer wrote, by the file format alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import zentracer_schema as schema


@dataclass
class Table:
    """One record of a table: a dict of columns [rows] and the names of its rows."""

    step: int
    wall_time: float
    spec: schema.TableSpec
    columns: dict[str, np.ndarray]

    def row(self, name: str) -> dict[str, float]:
        place = [row.name for row in self.spec.rows].index(name)
        return {column: float(values[place]) for column, values in self.columns.items()}


@dataclass
class Run:
    """Everything in a directory, in the order of files and records."""

    tables: dict[str, list[Table]] = field(default_factory=lambda: defaultdict(list))
    scalars: dict[str, list[tuple[int, float]]] = field(default_factory=lambda: defaultdict(list))
    sessions: list[dict[str, Any]] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)  # (status, step) of session logs
    files: list[str] = field(default_factory=list)

    def parameters(self, optimizer: str = "optimizer", scope: str = "model") -> list[Table]:
        return [
            table
            for table in self.tables["parameters"]
            if table.spec.optimizer == optimizer and table.spec.scope == scope
        ]

    def pulse(self) -> list[dict[str, float]]:
        """The pulse, row by row."""
        return [
            {name: float(values[place]) for name, values in table.columns.items()}
            for table in self.tables["pulse"]
            for place in range(len(table.columns["step"]))
        ]

    def metric(self, tag: str) -> list[tuple[int, float]]:
        return self.scalars[f"zentracer/model/metrics/{tag}"]


def files_of(logdir: Path | str) -> list[Path]:
    """The files of a run, in TensorBoard's order."""
    directory = Path(logdir, "zentracer")
    return sorted(path for path in directory.iterdir() if "tfevents" in path.name or path.suffix == ".ztrec")


def events_of(path: Path) -> Iterator[Any]:
    """The whole records of a file; a torn tail is passed over, anything else that is wrong fails."""
    content = path.read_bytes()
    offset = 0
    while offset + schema.HEADER_BYTES <= len(content):
        length = schema.parse_length(content[offset : offset + schema.HEADER_BYTES])
        assert length is not None, f"{path} has a damaged length at {offset}"
        start = offset + schema.HEADER_BYTES
        offset = start + length + schema.FOOTER_BYTES
        if offset > len(content):
            return
        payload = content[start : start + length]
        assert schema.footer_ok(payload, content[start + length : offset]), f"{path} has a damaged record at {start}"
        yield schema.Event.FromString(payload)


def read_run(logdir: Path | str) -> Run:
    """All that a tracer wrote into `logdir`."""
    run = Run()
    for path in files_of(logdir):
        run.files.append(path.name)
        described: dict[str, schema.TableSpec] = {}
        for number, event in enumerate(events_of(path)):
            assert (number == 0) == bool(event.file_version), f"{path} must begin with its version, and only once"
            if event.HasField("session_log"):
                run.marks.append((event.session_log.status, event.step))
            for value in event.summary.value:
                _take(run, described, event, value)
    return run


def _take(run: Run, described: dict[str, schema.TableSpec], event: Any, value: Any) -> None:
    tag = schema.parse_tag(value.tag)
    if tag is None:
        run.scalars[value.tag].append((event.step, value.simple_value))
        return
    if tag.kind == "session":
        run.sessions.append(schema.decode_message(value.tensor))
        return
    content = value.metadata.plugin_data.content
    if content:
        described[value.tag] = schema.TableSpec.from_json(content)
    spec = described[value.tag]  # the first record of each tag in each file describes it
    assert spec.tag == value.tag
    table = schema.decode_table(spec, value.tensor)
    columns = {column.name: np.array(table[:, place]) for place, column in enumerate(spec.columns)}
    run.tables[tag.kind].append(Table(event.step, event.wall_time, spec, columns))
