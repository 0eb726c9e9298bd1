"""Whether a server's memory grows while it follows a log: 500 reloads, each of one record more, as the tab reloads.

A reload is what our page asks for when it hears of news: the run, its steps and its cells. The log has 1,000 records
before, so that the picture is as large at the beginning as at the end. TensorBoard's own Python loader reads the log in
the same process each second meanwhile.
"""

from __future__ import annotations

import struct
import tempfile
import time
from collections.abc import Iterator
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import zentracer_schema as schema
from tests.tensorboard_server import Server, tensorboard

ROWS, BEFORE = 100, 1000
WARM_UP, RELOADS = 50, 500
PATIENCE_S = 60.0
OURS = "data/plugin/zentracer_weights/"


def run() -> Iterator[dict[str, Any]]:
    """Yield growth_percent, and the memory it is of."""
    rows = tuple(schema.RowSpec(f"layer{number}.weight", module=f"layer{number}", shape=(8,)) for number in range(ROWS))
    spec = schema.TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, rows)
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        run_directory = Path(folder, "logs/run/zentracer")
        run_directory.mkdir(parents=True)
        with open(run_directory / "events.out.tfevents.1700000000.host.1.0", "wb", buffering=0) as log:

            def record(step: int) -> None:
                values = random.random((ROWS, len(schema.PARAMETER_COLUMNS)), np.float32)
                log.write(schema.frame(schema.table_event(1.7e9 + step, step, spec, values, with_spec=step == 0)))

            log.write(schema.frame(schema.file_version_event(1.7e9)))
            for step in range(BEFORE):
                record(step)
            flags = ("--logdir", str(Path(folder, "logs")), "--reload_interval", "1")
            env = {"ZENTRACER_CACHE_DIR": str(Path(folder, "cache"))}
            with tensorboard("python-no-tf", *flags, env=env) as server:
                process = psutil.Process(server.process.pid)
                began = 0
                for reload in range(WARM_UP + RELOADS):
                    if reload == WARM_UP:
                        began = process.memory_info().rss
                    record(BEFORE + reload)
                    _reload(server, BEFORE + reload)
                ended = process.memory_info().rss
    yield _line("growth_percent", 100 * (ended - began) / began, "%")
    yield _line("memory_mb", ended / 1e6, "MB")


def _reload(server: Server, step: int) -> None:
    """Ask until the sample of `step` is there, then for what the page asks."""
    end = time.monotonic() + PATIENCE_S
    while True:
        answer = server.get(OURS + "run?run=run")
        scopes = loads(answer.body)["scopes"] if answer.status == 200 else []
        if scopes and scopes[0]["steps"]["last"] == step:
            break
        if time.monotonic() > end:
            raise SystemExit(f"After {PATIENCE_S:.0f} s step {step} is not there: {answer.body[:500]!r}")
        time.sleep(0.02)
    server.get(OURS + "runs")
    server.get(OURS + "steps?run=run")
    answer = server.get(OURS + "cells?run=run&column=update_ratio&width=1000&height=500")
    (length,) = struct.unpack_from("<I", answer.body)
    assert loads(answer.body[4 : 4 + length])["last"] == step


def _line(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"name": f"soak.{name}", "value": round(value, 2), "unit": unit, "runs": 1}
