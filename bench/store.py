"""How fast logs are read that nobody has read before, and again after a restart, beside the readers that there are.

One log has a million scalar events of 100 tags, an event for each value, as most writers leave them. Ours is counted
from a store that has never seen it until every point is in arrays: what other processes read and what the cache on disk
costs is in it. The data server is counted until it has loaded the log and handed all points over; TensorBoard's Python
loader and tbparse until they hold all points. All are told to keep every point. Another log has packed tables of ours.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import zentracer_schema as schema
from zentracer_store import Store, parse_places
from zentracer_store.caching.cache import Cache
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.tail import Tail

TAGS, STEPS = 100, 10_000
ROWS, COLUMNS, TABLES = 1000, 12, 4000
ROUNDS = 5
SLOW = frozenset({"python", "tbparse"})
"""Rivals that take minutes: once is enough to tell them from seconds."""

PATIENCE_S = 600.0
EVENTS = "events.out.tfevents.1700000000.host.1.0"


def run() -> Iterator[dict[str, Any]]:
    """Yield the times for a million scalars beside three rivals, the rate for packed tables, and that of a restart."""
    with tempfile.TemporaryDirectory() as folder:
        scalars, packed = Path(folder, "scalars"), Path(folder, "packed")
        _write(scalars / EVENTS, _scalars())
        _write(packed / EVENTS, _packed())
        # Before the rivals, whose millions of objects would weigh on this process.
        size = (packed / EVENTS).stat().st_size / 1e6
        yield _line("packed_mb_per_s", size / median(_timed(lambda: _read(packed)) for _ in range(ROUNDS)), "MB/s")
        cold, again = _restarts(packed)
        yield _line("packed_cold_mb_per_s", size / cold, "MB/s")
        yield _line("packed_second_start_vs_cold", again / cold, "ratio")
        yield from _scalar_figures(scalars)


def _scalar_figures(log: Path) -> Iterator[dict[str, Any]]:
    rivals: dict[str, tuple[str, Callable[[Path], float]]] = {
        "rust": ("data server", _by_data_server),
        "python": ("Python loader", _by_python_loader),
        "tbparse": ("tbparse", _by_tbparse),
    }
    times: dict[str, list[float]] = {name: [] for name in rivals}
    cold, again = [], []
    for _ in range(ROUNDS):
        first, second = _restarts(log)
        cold.append(first)
        again.append(second)
        for name, (_, read) in rivals.items():
            if name not in SLOW or not times[name]:
                times[name].append(read(log))
    ours = median(cold)
    for name, (rival, _) in rivals.items():
        theirs = median(times[name])
        often = {"rival_runs": len(times[name])}
        yield _line(f"cold_scalars_vs_{name}", ours / theirs, "ratio") | often
        yield (
            _line(f"cold_scalars_beside_{name}_s", ours, "s")
            | {"rival": rival, "rival_value": round(theirs, 3)}
            | often
        )
    yield _line("read_scalars_s", median(_timed(lambda: _read(log)) for _ in range(ROUNDS)), "s")
    yield _line("second_start_vs_cold", median(again) / ours, "ratio")
    yield _line("second_start_s", median(again), "s")


def _restarts(log: Path) -> tuple[float, float]:
    """Seconds until a store has a log that it never saw, and until one has it that starts after the first."""
    with tempfile.TemporaryDirectory() as cache:
        return _ours(log, Path(cache)), _ours(log, Path(cache))


def _ours(log: Path, cache: Path) -> float:
    """Seconds until a store has read a log and the points of a tag are in hand, or the last sample of a table."""
    began = time.perf_counter()
    store = Store(parse_places(str(log)), Cache(cache))
    try:
        store.look()
        (contents,) = store.contents(".").values()
        if contents.segments:
            (segment,) = contents.segments
            assert segment.column("c0", TABLES - 1, TABLES) is not None
        else:
            assert len(contents.points) == TAGS * STEPS
            assert len(contents.points_of("group/tag_0")[2]) == STEPS
        return time.perf_counter() - began
    finally:
        store.close()


def _read(log: Path) -> None:
    """Read a log in this process, without a cache."""
    path = str(log / EVENTS)
    tail, contents, more = Tail(path), FileContents(path), True
    while more:
        batch = tail.read()
        contents.feed(batch.records)
        more = batch.more
    assert len(contents.points) == TAGS * STEPS or contents.segments[0].count == TABLES


def _by_data_server(log: Path) -> float:
    from tensorboard.context import RequestContext
    from tensorboard.data.server_ingester import SubprocessServerDataIngester, get_server_binary
    from tensorboard.util.grpc_util import ChannelCredsType

    began = time.perf_counter()
    server = SubprocessServerDataIngester(
        server_binary=get_server_binary(),
        logdir=str(log),
        reload_interval=0,
        channel_creds_type=ChannelCredsType.LOCAL,
        samples_per_plugin={"scalars": 0},
    )
    server.start()
    try:
        asked = {"experiment_id": "", "plugin_name": "scalars"}
        while True:
            listed = server.data_provider.list_scalars(RequestContext(), **asked)
            tags = [tag for run in listed.values() for tag in run.values()]
            if len(tags) == TAGS and all(tag.max_step == STEPS - 1 for tag in tags):
                break
            assert time.perf_counter() - began < PATIENCE_S, "the data server does not get through"
            time.sleep(0.02)
        points = server.data_provider.read_scalars(RequestContext(), **asked, downsample=STEPS)
        assert sum(len(series) for run in points.values() for series in run.values()) == TAGS * STEPS
        return time.perf_counter() - began
    finally:
        server._stdin_handle.close()


def _by_python_loader(log: Path) -> float:
    from tensorboard.backend.event_processing import plugin_event_accumulator as accumulators

    began = time.perf_counter()
    loader = accumulators.EventAccumulator(str(log), tensor_size_guidance={"scalars": 0})
    loader.Reload()
    assert sum(len(loader.Tensors(tag)) for tag in loader.Tags()[accumulators.TENSORS]) == TAGS * STEPS
    return time.perf_counter() - began


def _by_tbparse(log: Path) -> float:
    from tbparse import SummaryReader

    began = time.perf_counter()
    assert len(SummaryReader(str(log), event_types={"scalars"}).scalars) == TAGS * STEPS
    return time.perf_counter() - began


def _scalars() -> Iterator[bytes]:
    values = np.random.default_rng(0).standard_normal((STEPS, TAGS))
    for step in range(STEPS):
        for tag in range(TAGS):
            event = schema.Event(wall_time=1.7e9 + step, step=step)
            event.summary.value.add(tag=f"group/tag_{tag}", simple_value=values[step, tag])
            yield event.SerializeToString()


def _packed() -> Iterator[bytes]:
    columns = tuple(schema.ColumnSpec(f"c{column}") for column in range(COLUMNS))
    rows = tuple(schema.RowSpec(f"layer{row}.weight", shape=(64, 64)) for row in range(ROWS))
    spec = schema.TableSpec("parameters", "model", columns, rows)
    random = np.random.default_rng(0)
    for step in range(TABLES):
        values = random.standard_normal((ROWS, COLUMNS), np.float32)
        yield schema.table_event(1.7e9 + step, step, spec, values, with_spec=step == 0)


def _write(path: Path, payloads: Iterable[bytes]) -> None:
    path.parent.mkdir()
    with open(path, "wb") as file:
        file.write(schema.frame(schema.file_version_event(1.7e9)))
        for payload in payloads:
            file.write(schema.frame(payload))


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _line(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"name": f"store.{name}", "value": round(value, 4), "unit": unit, "runs": ROUNDS}
