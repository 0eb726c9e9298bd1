"""Cells of every level against the samples, and pictures from kept tiles against pictures from nothing."""

import itertools
import math
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.logs import begin, parameters, row, table, write_run
from tests.tb_plugins.zentracer_store.pictures.test_query import (
    LAST_SAMPLE,
    LOG,
    RULES,
    agree,
    as_read,
    inside,
    lines_of,
    models,
    slow_query,
    timeline_in,
    write,
)
from zentracer_store import CellsQuery, Store, answer_cells, parse_places
from zentracer_store.pictures import grid, levels, picture
from zentracer_store.pictures.cells import Samples, reduced
from zentracer_store.pictures.kept import Kept
from zentracer_store.runs.axis import axis_of

COLUMNS = ["update_ratio", "weight_norm", "weight_mean", "weight_std", "gradient_norm", "gradient_cosine"]
UNHURRIED = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(autouse=True, scope="module")
def _small_tiles():
    """Tiles and levels as small as they can be, so that few samples fill many of both."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (grid, levels):
            patch.setattr(module, "TILE", 4)
        patch.setattr(levels, "FINEST", 1)
        patch.setattr(levels, "_CHUNK", 3)
        yield


class Numbers:
    """A source of plain numbers, one row each."""

    log = False

    def __init__(self, steps, values):
        self.steps, self.values = np.asarray(steps), np.asarray(values, np.float32)
        self.rows = self.values.shape[1]

    def samples(self, first, last):
        return Samples(self.values[first:last])

    def key(self, first, last):
        return b"%d %d" % (first, last)


NUMBERS = st.sampled_from([0.0, 1.0, 2.5, -3.0, 1e20, 1e-20, math.nan, math.inf])


@UNHURRIED
@given(
    st.lists(st.tuples(st.integers(0, 70), NUMBERS, NUMBERS), min_size=1, max_size=40, unique_by=lambda one: one[0]),
    st.sampled_from([1.0, 2.0, 8.0, 32.0]),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_level_has_the_cells_that_the_samples_give(points, width, number, log):
    points.sort()
    source = Numbers([step for step, _, _ in points], [values for _, *values in points])
    source.log = log
    level = levels.level_of(source, width, number, Kept(), lambda: None)
    edges = grid.even_edges(width, number)
    at = np.searchsorted(source.steps, edges)
    assert level.places.tolist() == [k for k in range(4) if at[k] < at[k + 1]]
    expected = reduced(Samples(source.values), at[:-1][level.places], at[1:][level.places], log=log)
    for name in ("mean", "min", "max"):
        np.testing.assert_allclose(
            getattr(level.cells, name), getattr(expected, name), rtol=1e-6, atol=1e-5 if name == "mean" else 0
        )
    for name in ("count", "used"):
        assert (getattr(level.cells, name) == getattr(expected, name)).all()
    for name in {*level.cells.marks, *expected.marks}:
        nothing = np.zeros_like(expected.status)
        assert (level.cells.marks.get(name, nothing) == expected.marks.get(name, nothing)).all()


@UNHURRIED
@given(models(), st.sampled_from(COLUMNS), st.integers(1, 12), st.sampled_from([(), ("body",)]), st.data())
def test_cells_of_small_tiles_equal_the_slow_version(tmp_path_factory, model, column, width, folded, data):
    logdir = tmp_path_factory.mktemp("runs")
    assume(any(rows for _, rows in model.samples[""].values()))
    write(model, logdir / "a")
    timeline = timeline_in(logdir)
    shutil.rmtree(logdir)
    start = data.draw(st.none() | st.integers(-5, 30))
    end = data.draw(st.none() | st.integers((-5 if start is None else start) + 1, 80))
    assume((float(timeline.steps[0]) if start is None else start) < (timeline.end if end is None else end))
    answer = answer_cells(timeline, CellsQuery(column, start, end, width=width, folded=folded), kept=Kept())
    model, log, lines = as_read(model), column in LOG, lines_of(answer)
    first = float(timeline.steps[0]) if start is None else start
    assert answer.edges[0] <= first < answer.edges[1]
    assert answer.edges[-2] < (timeline.end if end is None else end) <= answer.edges[-1]
    assert (np.diff(answer.edges) > 0).all()
    for cell, (low, high) in enumerate(zip(answer.edges[:-1], answer.edges[1:], strict=True)):
        leaves = {
            one.name: slow_query.leaf_cell(model, one.name, column, log, column in LAST_SAMPLE, low, high)
            for one in timeline.rows
        }
        for node in answer.facts["nodes"]:
            if node["leaf"]:
                agree(lines[node["path"], "value"], leaves[node["path"]], cell)
                continue
            below = [one.name for one in timeline.rows if inside(one, node["path"])]
            for stratum, expected in slow_query.strata_cells([leaves[name] for name in below], log).items():
                agree(lines[node["path"], stratum], expected, cell)
            agree(lines[node["path"], "fold"], slow_query.fold_cell(model, below, column, RULES, log, low, high), cell)


@UNHURRIED
@given(
    st.integers(1, 40),
    st.integers(0, 20),
    st.booleans(),
    st.lists(
        st.tuples(st.sampled_from(COLUMNS), st.integers(-2, 30), st.integers(1, 40), st.integers(1, 9), st.booleans()),
        min_size=1,
        max_size=6,
    ),
)
def test_what_is_kept_never_changes_an_answer(tmp_path_factory, before, more, resumed, questions):
    logdir = tmp_path_factory.mktemp("runs")
    rows = [row("net.a", (3,)), row("net.b", (2,)), "head"]
    spec, kept, store = parameters(rows), Kept(), Store(parse_places(str(logdir)))
    log = begin(logdir / "a")

    def put(steps):
        for step in steps:
            values = {name: [1.0 + (step * 7 + n) % 5 for n in range(3)] for name in COLUMNS}
            log.table(step, spec, table(3, **values, weight_nan_fraction=step == 5))
        log.append()

    def ask_all():
        store.look()
        timeline = store.scopes("a")[1][0].timeline
        for column, start, length, width, folded in questions:
            query = CellsQuery(column, start, start + length, width, folded=("net",) if folded else ())
            answer = answer_cells(timeline, query, kept=kept)
            fresh = answer_cells(timeline, query, kept=Kept())
            assert answer.facts == fresh.facts
            assert answer.edges.tolist() == fresh.edges.tolist()
            for name, array in fresh.arrays.items():
                np.testing.assert_array_equal(answer.arrays[name], array, name)

    try:
        put(range(before))
        ask_all()
        if resumed:
            log = begin(logdir / "a", "events.out.tfevents.2.host.2.0", start=before // 2, wall=log.wall + 10)
            put(range(before // 2, before // 2 + more + 1))
        else:
            put(range(before, before + more))
        ask_all()
    finally:
        store.close()
        shutil.rmtree(logdir)


@UNHURRIED
@given(models(), st.sampled_from(COLUMNS), st.sampled_from([(), ("body",)]))
def test_along_another_axis_the_same_samples_stand_at_other_places(tmp_path_factory, model, column, folded):
    logdir = tmp_path_factory.mktemp("runs")
    assume(any(rows for _, rows in model.samples[""].values()))
    assume(len({number for samples in model.samples.values() for number, _ in samples.values()}) == 1)
    write(model, logdir / "a")
    timeline = timeline_in(logdir)
    shutil.rmtree(logdir)
    by_step = answer_cells(timeline, CellsQuery(column, folded=folded), kept=Kept())
    by_time = answer_cells(timeline, CellsQuery(column, folded=folded, axis="wall"), kept=Kept())
    expected = axis_of(timeline, "wall").ends(by_step.edges)
    assert by_time.edges == pytest.approx(expected, abs=1e-3)
    for name, array in by_step.arrays.items():
        if name == "missing":  # spread evenly over a gap, of which time may make another shape than steps
            assert ((by_time.arrays[name] > 0) == (array > 0)).all()
        else:
            np.testing.assert_array_equal(by_time.arrays[name], array, name)
    for name in ("quantiles", "samples", "nodes", "rows"):
        assert by_time.facts[name] == by_step.facts[name]
    assert by_time.facts["distribution"] | {"missing": 0} == by_step.facts["distribution"] | {"missing": 0}


def test_a_moved_window_reads_only_the_tiles_that_are_new(tmp_path, monkeypatch):
    write_run(tmp_path / "a", steps=range(64))
    timeline, kept, read = timeline_in(tmp_path), Kept(), []
    plain = levels._read

    def noted(source, first, last, check):
        read.append((int(first[0]), int(last[-1])))
        return plain(source, first, last, check)

    monkeypatch.setattr(levels, "_read", noted)
    answer_cells(timeline, CellsQuery("update_ratio", 0, 32, width=16), kept=kept)
    assert {first for first, _ in read} == set(range(0, 32, 4))
    read.clear()
    answer_cells(timeline, CellsQuery("update_ratio", 8, 40, width=16), kept=kept)
    assert {first for first, _ in read} == {32, 36}
    read.clear()
    answer_cells(timeline, CellsQuery("update_ratio", 0, 32, width=10), kept=kept)
    assert read == []


def test_what_lies_between_two_samples_that_are_repeated_is_not_read_at_once(tmp_path, monkeypatch):
    write_run(tmp_path / "a", steps=[0, 64, *range(160, 192), 255, 319], rows=["w"], update_ratio=lambda step: step + 1)
    timeline, read = timeline_in(tmp_path), []
    plain = picture.TrackSource.samples
    monkeypatch.setattr(picture, "_NEAR", 1)
    monkeypatch.setattr(
        picture.TrackSource, "samples", lambda self, lo, hi: read.append(hi - lo) or plain(self, lo, hi)
    )
    answer = answer_cells(timeline, CellsQuery("update_ratio", 128, 256, width=4), kept=Kept())
    assert answer.arrays["count"].tolist() == [[0, 32, 0, 1]]
    assert answer.arrays["max"].tolist() == [[65, 192, 192, 256]]
    assert max(read) <= 3


def test_the_work_ends_at_the_next_tile_when_nobody_waits(tmp_path):
    write_run(tmp_path / "a", steps=range(64))
    asked = []

    def check():
        asked.append(True)
        if len(asked) >= 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=16), kept=Kept(), check=check)
    assert len(asked) < 3 + 8  # each of the workers that went on meanwhile asked once more, of 16 + 4 times


def test_cells_lie_still_while_a_run_grows(tmp_path):
    log, spec = begin(tmp_path / "a"), parameters(["w"])
    seen = []
    store = Store(parse_places(str(tmp_path)))
    for step in range(40):
        log.table(step, spec, table(1, update_ratio=step + 1.0)).append()
        store.look()
        answer = answer_cells(store.scopes("a")[1][0].timeline, CellsQuery("update_ratio", 0, 40, width=8))
        whole = int(np.searchsorted(answer.edges, step + 1, "right")) - 1
        seen.append((answer.edges[: whole + 1].tolist(), answer.arrays["max"][0, :whole].tolist()))
    for (edges, values), (later_edges, later) in itertools.pairwise(seen[9:]):
        assert later_edges[: len(edges)] == edges
        assert later[: len(values)] == values
