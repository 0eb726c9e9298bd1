"""How soon new data is on screen: from its flush, and from the optimizer step in a training that runs meanwhile.

A browser shows our tab and tells each change of its pixels. For `flush` a record is appended to a run of 200, its time
taken, and the change waited for, in each of TensorBoard's three modes; beside it the same with a scalar and
TensorBoard's own Time Series tab, which has to be told to reload by itself. For `step` a small CNN trains at full speed
on the same machine and every tenth step is recorded; a step is on screen when the last step there is that one or later.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np

import zentracer_schema as schema
from tests.tensorboard_server import MODES, missing, tensorboard

ROOT = Path(__file__).parent.parent
COLUMNS = [column.name for column in schema.PARAMETER_COLUMNS]
ROWS, BEFORE = 60, 200
FLUSHES, RIVAL_FLUSHES = 40, 5
EVERY, SHOWN = 10, 60
LONGEST_S = 120.0
PATIENCE_S = 120.0
RIVAL = "Time Series tab, reloading by itself"


def run() -> Iterator[dict[str, Any]]:
    """Yield flush_p95_ms and step_p95_ms of the worst mode, then those of each."""
    modes = [mode for mode in MODES if not missing(mode)]
    flushes = {mode: flush_ms(mode) for mode in modes}
    steps = {mode: step_ms(mode) for mode in modes}
    rival = rival_flush_ms()
    flush = max((p95(times), len(times)) for times in flushes.values())
    yield _line("flush_p95_ms", *flush) | {"rival": RIVAL, "rival_value": round(p95(rival))}
    yield _line("step_p95_ms", *max((p95(times), len(times)) for times in steps.values()))
    for name, measured in (("flush", flushes), ("step", steps)):
        for mode, times in measured.items():
            yield _line(f"{name}_p95_ms.{mode}", p95(times), len(times))
            yield _line(f"{name}_median_ms.{mode}", float(np.median(times)), len(times))


def flush_ms(mode: str) -> list[float]:
    """From the flush of a record to the change of pixels that shows it, in ms."""
    rows = tuple(schema.RowSpec(f"layer{number}.weight", module=f"layer{number}", shape=(8,)) for number in range(ROWS))
    spec = schema.TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, rows)
    values = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, _log(Path(folder, "run/zentracer")) as write:

        def record(step: int) -> float:
            table = np.exp(values.normal(-6, 2, (ROWS, len(COLUMNS)))).astype(np.float32)
            table[:, [place for place, name in enumerate(COLUMNS) if name.endswith("_fraction")]] = 0
            table[:, COLUMNS.index("status")] = schema.Status.SAMPLED
            return write(schema.table_event(time.time(), step, spec, table, with_spec=step == 0))

        for step in range(BEFORE):
            record(step)
        with tensorboard(mode, "--logdir", folder) as server, _watching("ours", server.url) as screen:
            screen.change()
            return [_seen(screen, record(step), step) for step in _steps(BEFORE, FLUSHES, 1.0)]


def rival_flush_ms() -> list[float]:
    """From the flush of a scalar to the change of pixels in the Time Series tab, in ms."""
    with tempfile.TemporaryDirectory() as folder, _log(Path(folder, "run")) as write:

        def record(step: int) -> float:
            return write(schema.scalar_event(time.time(), step, {"loss": random.random()}))

        for step in range(BEFORE):
            record(step)
        with tensorboard("rust", "--logdir", folder) as server, _watching("timeseries", server.url) as screen:
            screen.change()
            screen.rest(10)
            return [_seen(screen, record(step), None) for step in _steps(BEFORE, RIVAL_FLUSHES, 20.0)]


def step_ms(mode: str) -> list[float]:
    """From the end of each recorded optimizer step to the change of pixels that shows it, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.live", str(Path(folder, "run"))]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as training:
            lines = _Lines(training)
            try:
                lines.next()
                with tensorboard(mode, "--logdir", folder) as server, _watching("ours", server.url) as screen:
                    shown = [screen.change()]
                    last, end = shown[0]["step"] + SHOWN * EVERY, time.monotonic() + LONGEST_S
                    while shown[-1]["step"] < last and time.monotonic() < end:
                        shown.append(screen.change())
            finally:
                training.kill()
        return list(_waited(lines.all(), shown))


def _waited(stepped: list[dict[str, Any]], shown: list[dict[str, Any]]) -> Iterator[float]:
    """How long each step that was taken after the first picture was waited for."""
    since = shown[0]["at"]
    for step in stepped:
        if step["at"] > since:
            seen = next((change["at"] for change in shown if change["step"] >= step["step"]), None)
            if seen is not None:
                yield seen - step["at"]


def train(logdir: Path) -> None:
    """Train until the end, and print when each recorded step was through."""
    import torch
    from torch.nn.functional import cross_entropy

    import zentracer.torch as zt
    from demo_runs.digits import DigitNet, digits

    torch.set_num_threads(1)  # leaves something to the server and the browser, as a GPU would
    images, labels = digits()
    model = DigitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    zt.watch(model, optimizer, logdir=logdir, every=EVERY)
    step = 0
    while True:
        some = torch.randint(len(images), (32,))
        optimizer.zero_grad()
        cross_entropy(model(images[some]), labels[some]).backward()
        optimizer.step()
        if step % EVERY == 0:
            print(json.dumps({"at": time.time() * 1000, "step": step}), flush=True)
        step += 1


@dataclass
class _Lines:
    """The JSON lines that a process prints."""

    process: subprocess.Popen[str]

    def __post_init__(self) -> None:
        self._queue: Queue[dict[str, Any]] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                self._queue.put(json.loads(line))

    def next(self) -> dict[str, Any]:
        """The next line."""
        try:
            return self._queue.get(timeout=PATIENCE_S)
        except Empty:
            raise SystemExit(f"Nothing came for {PATIENCE_S:.0f} s from: {self.process.args!r}") from None

    def all(self) -> list[dict[str, Any]]:
        """Those that came and were not taken."""
        return [self._queue.get() for _ in range(self._queue.qsize())]

    change = next

    def rest(self, seconds: float) -> None:
        """Let what still moves come to rest."""
        time.sleep(seconds)
        self.all()


@contextmanager
def _watching(what: str, address: str) -> Iterator[_Lines]:
    """A browser that shows `address` and tells each change of pixels."""
    command = ["node", "--import", "tsx", "browser/latency.ts", what, address]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT / "frontend", stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield _Lines(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


@contextmanager
def _log(directory: Path) -> Iterator[Callable[[bytes], float]]:
    """A new event file; what is yielded writes a record and says when it was flushed, in ms since the epoch."""
    directory.mkdir(parents=True)
    with open(directory / f"events.out.tfevents.{time.time():.0f}.host.1.0", "wb", buffering=0) as file:

        def write(event: bytes) -> float:
            file.write(schema.frame(event))
            return time.time() * 1000

        write(schema.file_version_event(time.time()))
        yield write


def _steps(start: int, count: int, apart_s: float) -> Iterator[int]:
    """Steps at moments that follow no beat of the server or the browser."""
    for step in range(start, start + count):
        time.sleep(apart_s * random.uniform(0.3, 1.0))
        yield step


def _seen(screen: _Lines, flushed: float, step: int | None) -> float:
    while True:
        change = screen.change()
        if step is None or change["step"] >= step:
            return float(change["at"] - flushed)


def p95(times: list[float]) -> float:
    """The 95th percentile, of few times the largest."""
    return float(np.quantile(times, 0.95, method="higher"))


def _line(name: str, value: float, runs: int) -> dict[str, Any]:
    return {"name": f"live.{name}", "value": round(value), "unit": "ms", "runs": runs}


if __name__ == "__main__":
    train(Path(sys.argv[1]))
