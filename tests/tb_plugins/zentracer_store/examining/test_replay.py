"""What the doctor says that TensorBoard's loaders keep, held against those loaders."""

import json
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing import plugin_event_accumulator, tag_types

from tests.tb_plugins.zentracer_store.examining.hiding_logs import CASES, no_event
from tests.tensorboard_server import MODES, missing, tensorboard
from zentracer_store.examining.losses import hidden_in
from zentracer_store.examining.order import Values, count_by_tag, kept_by_python, kept_by_server, values_of
from zentracer_store.examining.replay import replay

REAL = Path(__file__).resolve().parents[5] / "shared/real_logs"
PATIENCE_S = 60


def files_in(run):
    return [replay(str(path)) for path in sorted(run.iterdir()) if path.is_file() and "tfevents" in path.name]


def counted_by_python(run):
    files = files_in(run)
    values = values_of(files, [file.python for file in files])
    return dict(count_by_tag(values, kept_by_python(values)))


def shown_by_python(run):
    hidden = hidden_in("a", [("f", file) for file in files_in(run)])
    broken = {tag for one in hidden if one.kind == "not single" for tag in one.tags}
    return {tag: count for tag, count in counted_by_python(run).items() if tag not in broken}


def counted_by_server(run):
    files = files_in(run)
    values = values_of(files, [file.server for file in files])
    facts = {tag: fact for file in reversed(files) for tag, fact in file.tags.items()}
    wanted = np.array([facts[tag].in_server for tag in values.tags], np.uint8)[values.tag]
    return dict(count_by_tag(values, kept_by_server(values) & ((values.fits & wanted) != 0)))


def counted_by_their_accumulator(run):
    theirs = plugin_event_accumulator.EventAccumulator(str(run), {tag_types.TENSORS: 0}, _KeepAll())
    theirs.Reload()
    return {tag: len(theirs.Tensors(tag)) for tag in theirs.Tags()[tag_types.TENSORS] if len(theirs.Tensors(tag))}


class _KeepAll(dict):
    """Samples to keep of any plugin: all."""

    def get(self, key, default=None):
        return 0


@pytest.mark.parametrize("case", CASES)
def test_the_python_loader_keeps_what_we_say(tmp_path, case):
    CASES[case](tmp_path)
    assert counted_by_python(tmp_path) == counted_by_their_accumulator(tmp_path)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("mode", MODES)
def test_servers_show_what_we_say(tmp_path, mode):
    if reason := missing(mode):
        pytest.skip(reason)
    for name, case in CASES.items():
        case(tmp_path / name)
    count = counted_by_server if mode == "rust" else shown_by_python
    expected = {name: count(tmp_path / name) for name in CASES}
    flags = ["--logdir", str(tmp_path), "--samples_per_plugin", "scalars=100000", "--reload_interval", "1"]
    with tensorboard(mode, *flags) as server:
        end = time.monotonic() + PATIENCE_S
        while (shown := shown_by(server, expected)) != expected and time.monotonic() < end:
            time.sleep(0.2)  # TensorBoard gives no signal when it has loaded
    assert shown == expected


def shown_by(server, runs):
    """Points that the scalars tab gets of each tag, where it gets any."""
    shown = {}
    for run in runs:
        answers = {tag: server.get(f"data/plugin/scalars/scalars?run={quote(run)}&tag={tag}") for tag in TAGS}
        counts = {tag: len(json.loads(answer.body)) for tag, answer in answers.items() if answer.status == 200}
        shown[run] = {tag: count for tag, count in counts.items() if count}
    return shown


TAGS = ("loss", "accuracy")


def test_a_record_without_an_event_ends_the_python_loader(tmp_path):
    no_event(tmp_path)
    (file,) = files_in(tmp_path)
    assert file.kills_python is not None
    assert (file.python.values, file.server.values) == (7, 7)
    with pytest.raises(DecodeError):
        counted_by_their_accumulator(tmp_path)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} is not there")
def test_of_strangers_logs_the_python_loader_keeps_what_we_say():
    runs = sorted({path.parent for path in REAL.rglob("*tfevents*") if "_history" not in path.parts})
    compared = 0
    for run in runs[:: max(len(runs) // 60, 1)]:
        theirs = counted_by_their_accumulator(run)
        theirs.pop("__run_graph__", None)  # TensorBoard makes this tag of an event that has none
        ours = counted_by_python(run)
        assert {tag: ours.get(tag) for tag in theirs} == theirs, run
        compared += len(theirs)
    assert compared > 100


steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=40)


def stream(pairs, restarts=(), version=0):
    tag = np.array([tag for tag, _ in pairs], np.int64)
    step = np.array([step for _, step in pairs], np.int64)
    purging = np.diff(step, prepend=step[:1]) < 0
    purging[version:] = False
    finite, fits = np.ones(len(step), bool), np.ones(len(step), np.uint8)
    return Values(("a", "b", "c"), tag, step, purging, finite, fits, tuple(restarts))


@given(steps)
def test_the_data_server_drops_by_tag_what_a_later_value_takes_away(pairs):
    kept = {}
    for place, (tag, step) in enumerate(pairs):
        kept[tag] = [*((other, at) for other, at in kept.get(tag, []) if other < step), (step, place)]
    expected = sorted(at for values in kept.values() for _, at in values)
    assert np.flatnonzero(kept_by_server(stream(pairs))).tolist() == expected


@given(steps, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=5))
def test_the_python_loader_purges_at_every_start_but_the_first(pairs, restarts):
    restarts = sorted((min(place, len(pairs)), step) for place, step in restarts)
    kept: list = []
    for place in range(len(pairs) + 1):
        for number, (at, first) in enumerate(restarts):
            if at == place and number:
                kept = [other for other in kept if pairs[other][1] < first]
        if place < len(pairs):
            kept.append(place)
    assert np.flatnonzero(kept_by_python(stream(pairs, restarts))).tolist() == kept


@given(steps, st.integers(0, 40))
def test_in_files_without_a_version_it_purges_the_tags_of_an_event_that_goes_back(pairs, version):
    kept: list = []
    last = -1
    for place, (tag, step) in enumerate(pairs):
        if step < last and place < version:
            kept = [other for other in kept if pairs[other][0] != tag or pairs[other][1] < step]
        last = step
        kept.append(place)
    assert np.flatnonzero(kept_by_python(stream(pairs, version=version))).tolist() == kept


@given(steps)
def test_counts_are_by_tag(pairs):
    values = stream(pairs)
    chosen = values.step % 2 == 0
    expected = {}
    for tag, step in pairs:
        if step % 2 == 0:
            expected["abc"[tag]] = expected.get("abc"[tag], 0) + 1
    assert dict(count_by_tag(values, chosen)) == expected
