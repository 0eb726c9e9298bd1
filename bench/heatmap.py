"""How soon 2,000 rows x 10,000 steps stand as a picture, how it moves, and what a question about it takes.

TensorBoard is started on the log once, so that it is read, and then anew: everything is measured on the second. The
browser is headless and has no GPU. Questions are asked as the tab asks them, over HTTP: a column not seen before, then
windows of it; `again` is the same ones once more, right after.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import numpy as np

import zentracer_schema as schema
from tests.tensorboard_server import ROOT, Server, tensorboard

LAYERS, STEPS = 125, 10_000
PARTS = ("attention.qkv", "attention.out", "norm1", "mlp.up", "mlp.down", "norm2", "gate", "skip")
RUN = "large"
LOADS = 5
PATIENCE_S = 600.0
CELLS = "data/plugin/zentracer_weights/cells?"
PICTURE = {"width": 1116, "height": 682}
"""Cells of a window of 1440 x 900."""

COLUMNS = ("update_ratio", "weight_norm", "gradient_norm", "weight_mean", "gradient_cosine", "weight_std")
WINDOWS = ((0, 5000), (2000, 7000), (3000, 4000), (3250, 4250), (3600, 3700), (6900, 7100))
_COLUMN = {column.name: number for number, column in enumerate(schema.PARAMETER_COLUMNS)}


def run() -> Iterator[dict[str, Any]]:
    """Yield first_paint_ms, frame_ms_p95, query_ms, and what the same questions take again."""
    with tempfile.TemporaryDirectory() as folder:
        logs, env = Path(folder, "logs"), {"ZENTRACER_CACHE_DIR": str(Path(folder, "cache"))}
        write(logs / RUN)
        for reopened in (False, True):
            with tensorboard("rust", "--logdir", str(logs), env=env) as server:
                _until_read(server)
                if not reopened:
                    continue
                fresh, again, size = asked(server)
                browser = seen(server)
    frames = browser["frames_ms"]
    yield _line("first_paint_ms", median(browser["first_paint_ms"]), len(browser["first_paint_ms"]))
    yield _line("frame_ms_p95", float(np.percentile(frames, 95)), len(frames))
    yield _line("frame_ms_median", median(frames), len(frames))
    yield _line("query_ms", median(fresh), len(fresh))
    yield _line("query_ms_p95", float(np.percentile(fresh, 95)), len(fresh))
    yield _line("query_again_ms_p95", float(np.percentile(again, 95)), len(again))
    yield {"name": "heatmap.answer_mb", "value": round(size / 1e6, 2), "unit": "MB", "runs": len(fresh)}


def write(run: Path, steps: int = STEPS) -> None:
    """A run of 2,000 parameters, all columns, as the tracer writes it: a table a step."""
    rows = tuple(
        schema.RowSpec(
            f"blocks.{layer}.{part}.{kind}",
            shape=(64, 64) if kind == "weight" else (64,),
            module=f"blocks.{layer}.{part}",
            class_name="Linear",
            dtype="float32",
        )
        for layer in range(LAYERS)
        for part in PARTS
        for kind in ("weight", "bias")
    )
    spec = schema.TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, rows)
    random = np.random.default_rng(0)
    level = random.uniform(-4, 0, (len(rows), len(_COLUMN)))
    noise = [0.2 * random.standard_normal(level.shape) for _ in range(32)]
    path = run / "zentracer" / "events.out.tfevents.1700000000.host.1.0"
    path.parent.mkdir(parents=True)
    with open(path, "wb", buffering=1 << 22) as file:
        file.write(schema.frame(schema.file_version_event(1.7e9)))
        file.write(schema.frame(schema.session_start_event(1.7e9, 0)))
        for step in range(steps):
            values = np.power(10, level + noise[step % len(noise)] + 0.3 * np.sin(step / 500)).astype(np.float32)
            for name, place in _COLUMN.items():
                if name.endswith("_fraction"):
                    values[:, place] = 0
            for name in ("weight_mean", "gradient_cosine", "update_cosine"):
                values[:, _COLUMN[name]] = np.tanh(5 * noise[step * 7 % len(noise)][:, _COLUMN[name]])
            values[:, _COLUMN["weight_min"]] *= -1
            values[:, _COLUMN["status"]] = schema.Status.SAMPLED
            # One tensor goes bad for a while: a picture without trouble would be the easier one.
            values[777, _COLUMN["gradient_nan_fraction"]] = 7000 <= step < 7010
            event = schema.table_event(1.7e9 + step / 10, step, spec, values, with_spec=step == 0)
            file.write(schema.frame(event))


def asked(server: Server) -> tuple[list[float], list[float], float]:
    """Milliseconds of each question, of the same once more, and the median size of the answers."""
    fresh: list[float] = []
    again: list[float] = []
    sizes = []
    for column in COLUMNS:
        for times in (fresh, again):
            for window in (None, *WINDOWS):
                question = {"run": RUN, "column": column, **PICTURE}
                if window is not None:
                    question |= {"from": window[0], "to": window[1]}
                began = time.perf_counter()
                answer = server.get(CELLS + urlencode(question))
                times.append((time.perf_counter() - began) * 1e3)
                assert answer.status == 200, answer.body
                sizes.append(len(answer.body))
    return fresh, again, median(sizes)


def seen(server: Server) -> dict[str, list[float]]:
    """What a browser that opens and moves the picture tells."""
    script = ["node", "--import", "tsx", "browser/heatmap.ts", server.url, RUN, str(LOADS)]
    printed = subprocess.run(script, cwd=ROOT / "frontend", check=True, capture_output=True, text=True).stdout
    found: dict[str, list[float]] = json.loads(printed.splitlines()[-1])
    return found


def _until_read(server: Server) -> None:
    """Wait until everything is read: the first picture of a column then has all its steps."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        runs = server.get("data/plugin/zentracer_weights/runs").json()
        if runs["progress"]["done"] and any(one["last_step"] == STEPS - 1 for one in runs["runs"]):
            return
        time.sleep(0.2)  # asked as often as a tab would
    raise RuntimeError(f"The log was not read within {PATIENCE_S:.0f} s:\n{server.log}")


def _line(name: str, value: float, runs: int) -> dict[str, Any]:
    return {"name": f"heatmap.{name}", "value": round(value, 1), "unit": "ms", "runs": runs}
