"""What handing a table of 1,000 x 16 numbers to the sink costs the training thread, the writer thread and the disk."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from torch.utils.tensorboard import SummaryWriter

import zentracer_schema as schema
from zentracer.output import Output
from zentracer.sink import open_sink, release_sink

ROWS, COLUMNS = 1000, 16
RECORDS, ROUNDS = 100, 15
RIVAL_STEPS = 3
RIVAL = "SummaryWriter.add_scalar"


def run() -> Iterator[dict[str, Any]]:
    """Yield record_us, thread_us and bytes_per_statistic, each beside one scalar event for each number."""
    columns = tuple(schema.ColumnSpec(f"statistic_{index}") for index in range(COLUMNS))
    rows = tuple(schema.RowSpec(f"layer{index}.weight", shape=(64, 64)) for index in range(ROWS))
    spec = schema.TableSpec("parameters", "model", columns, rows)
    table = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    put_us, thread_us = [], []
    with tempfile.TemporaryDirectory() as directory:
        sink = open_sink(Path(directory, "zentracer"), start_step=0, rank=0)
        for number in range(ROUNDS):
            before = sink.cpu_s.get("model", 0.0)
            for step in range(number * RECORDS, (number + 1) * RECORDS):
                began = time.perf_counter()
                sink.put(partial(_write, spec, table, step), table.nbytes, owner="model")
                put_us.append((time.perf_counter() - began) * 1e6)
            assert sink.flush(60), "the disk did not keep up"
            thread_us.append((sink.cpu_s["model"] - before) / RECORDS * 1e6)
        release_sink(sink, wait=True)
        size = _bytes_in(directory) / (ROUNDS * RECORDS * table.size)
    rival_us, rival_bytes = _rival(table)
    yield _line("record_us", median(put_us), "us", len(put_us), rival_us)
    yield _line("thread_us", median(thread_us), "us", ROUNDS, None)
    yield _line("bytes_per_statistic", size, "bytes", 1, rival_bytes)


def _write(spec: schema.TableSpec, table: np.ndarray[Any, Any], step: int, output: Output) -> None:
    output.table(1.0, step, spec, table)


def _rival(table: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Microseconds a table and bytes a number, on the training thread, by an event for each number."""
    with tempfile.TemporaryDirectory() as directory:
        writer = SummaryWriter(directory)
        spent = []
        for step in range(RIVAL_STEPS):
            began = time.perf_counter()
            for row, numbers in enumerate(table):
                for column, number in enumerate(numbers):
                    writer.add_scalar(f"layer{row}.weight/statistic_{column}", float(number), step)
            spent.append((time.perf_counter() - began) * 1e6)
        writer.close()
        return median(spent), _bytes_in(directory) / (RIVAL_STEPS * table.size)


def _bytes_in(directory: str) -> int:
    return sum(os.path.getsize(path) for path in Path(directory).rglob("*") if path.is_file())


def _line(name: str, value: float, unit: str, runs: int, rival: float | None) -> dict[str, Any]:
    line = {"name": f"sink.{name}", "value": round(value, 2), "unit": unit, "runs": runs}
    return line if rival is None else line | {"rival": RIVAL, "rival_value": round(rival, 2)}
