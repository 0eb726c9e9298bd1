"""How soon 2,000 runs of 30 tags are listed, none of them lost, and what they cost a server at rest.

Ours is counted from the first question to our tab until it lists every run and tag: cold, on a server that has never
seen them, and warm, on one whose predecessor has. The rivals, TensorBoard's readers, begin by themselves when it
starts; theirs is counted from TensorBoard's first answer until its list of scalars is whole, which gives them a head
start. They get as many file descriptors as they could want. At rest somebody watches: a stream is open, and the list is
asked for every 10 s, as by our page.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import psutil

import zentracer_schema as schema
from tests.tensorboard_server import Server, tensorboard

RUNS, TAGS, STEPS = 2000, 30, 20
ROUNDS = 3
REST_S = 60.0
ASK_EVERY_S = 10.0
PATIENCE_S = 600.0
OURS = "data/plugin/zentracer_weights/"
RIVALS = {"rust": "data server", "python-no-tf": "Python loader"}


def run() -> Iterator[dict[str, Any]]:
    """Yield cold_s and warm_s beside the data server and the Python loader, and idle_core_percent."""
    _allow_descriptors()
    with tempfile.TemporaryDirectory() as folder:
        logs, cache = Path(folder, "logs"), Path(folder, "cache")
        write(logs)
        flags = ("--logdir", str(logs))
        env = {"ZENTRACER_CACHE_DIR": str(cache)}
        for mode, suffix in (("rust", ""), ("python-no-tf", "_python")):
            cold: list[float] = []
            warm: list[float] = []
            theirs: list[float] = []
            for _ in range(ROUNDS if mode == "rust" else 1):
                shutil.rmtree(cache, ignore_errors=True)
                for times in (cold, warm):
                    with tensorboard(mode, *flags, env=env) as server:
                        times.append(_until(lambda: _ours_listed(server)))
                with tensorboard(mode, *flags, env=env) as server:
                    theirs.append(_until(lambda: _theirs_listed(server)))
            rival = {"rival": RIVALS[mode], "rival_value": round(median(theirs), 2)}
            for name, times in (("cold", cold), ("warm", warm)):
                yield _line(f"{name}{suffix}_s", median(times), "s", len(times)) | rival
        with tensorboard("rust", *flags, env=env) as server:
            _until(lambda: _ours_listed(server))
            ours, data_server = at_rest(server)
        yield _line("idle_core_percent", ours, "%", 1) | {"rival": "data server", "rival_value": round(data_server, 2)}


def write(logs: Path) -> None:
    """All runs, each an hour old and with values of its own, as a usual writer leaves them: an event for each value."""
    for number in range(RUNS):
        wall = 1.7e9 + 1000 * number
        events = [schema.file_version_event(wall)]
        for step in range(STEPS):
            for tag in range(TAGS):
                events.append(schema.scalar_event(wall + step, step, {f"metrics/{tag}": number + tag / (1 + step)}))
        path = logs / f"sweep{number % 20}" / f"run{number}" / f"events.out.tfevents.{1_700_000_000 + number}.host.1.0"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(map(schema.frame, events)))
        hour_ago = time.time() - 3600
        os.utime(path, (hour_ago, hour_ago))


def at_rest(server: Server) -> tuple[float, float]:
    """Percent of a core that the TensorBoard process takes while somebody watches quiet runs, and its data server."""
    process = psutil.Process(server.process.pid)
    children = process.children(recursive=True)
    with urllib.request.urlopen(server.url + OURS + "stream", timeout=PATIENCE_S):
        time.sleep(ASK_EVERY_S)
        began, spent, theirs = time.monotonic(), _cpu_s([process]), _cpu_s(children)
        while time.monotonic() - began < REST_S:
            server.get(OURS + "runs")
            time.sleep(ASK_EVERY_S)
        seconds = time.monotonic() - began
        return 100 * (_cpu_s([process]) - spent) / seconds, 100 * (_cpu_s(children) - theirs) / seconds


def _until(listed: Callable[[], bool]) -> float:
    """Seconds until all is listed."""
    began = time.perf_counter()
    while not listed():
        if time.perf_counter() - began > PATIENCE_S:
            raise SystemExit(f"After {PATIENCE_S:.0f} s not all runs are listed.")
        time.sleep(0.5)  # each list is work for the server, too
    return time.perf_counter() - began


def _ours_listed(server: Server) -> bool:
    content = server.get(OURS + "runs").json()
    if not content["progress"]["done"]:
        return False
    tags = [run["holds"] for run in content["runs"]]
    assert tags == RUNS * [{"scalar": TAGS}], "something was lost"
    return True


def _theirs_listed(server: Server) -> bool:
    answer = server.get("data/plugin/scalars/tags")
    return answer.status == 200 and sum(map(len, answer.json().values())) == RUNS * TAGS


def _allow_descriptors() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _cpu_s(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _line(name: str, value: float, unit: str, runs: int) -> dict[str, Any]:
    return {"name": f"many_runs.{name}", "value": round(value, 2), "unit": unit, "runs": runs}
