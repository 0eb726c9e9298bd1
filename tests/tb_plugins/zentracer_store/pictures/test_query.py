"""The query against a slow version of itself, on real files."""

import math
import random
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import WALL, begin, parameters, row, table, write_run
from tests.tb_plugins.zentracer_store.pictures import slow_query
from tests.tb_plugins.zentracer_store.pictures.slow_query import Model
from zentracer_schema import Status
from zentracer_store import CellsQuery, QueryError, Store, answer_cells, parse_places

RULES = {column.name: column.fold for column in schema.PARAMETER_COLUMNS}
LOG = {column.name for column in schema.PARAMETER_COLUMNS if column.scale == "log"}
LAST_SAMPLE = {column.name for column in schema.PARAMETER_COLUMNS if column.since == "last sample"}
CLOCK = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("clock"),))


def timeline_in(logdir, run="a"):
    store = Store(parse_places(str(logdir)))
    store.look()
    _, (scope,) = store.scopes(run)
    return scope.timeline


def lines_of(answer):
    """(path, stratum) -> array name -> values by cell."""
    paths = [node["path"] for node in answer.facts["nodes"]]
    return {
        (paths[line["node"]], line["stratum"]): {name: array[number] for name, array in answer.arrays.items()}
        for number, line in enumerate(answer.facts["rows"])
    }


VALUES = [0.0, 1e-3, 2.5e-3, 0.1, 7.0, 1e-9, math.nan, math.inf, -math.inf, -0.5]
STATUSES = [1, 1, 1, 1 | 2, 4, 1 | 8, 1 | 32, 64, 1 | 128]
ROWS = [
    row("stem.weight", (3, 2)),
    row("body.a.weight", (4,)),
    row("body.a.bias", (2,)),
    row("body.b.weight", (5,), optimizer="slow"),
    row("head", (1,), module="", optimizer="slow"),
]


@st.composite
def models(draw):
    """A run of one or two sessions, whose rows change once, with or without a clock. Values come from a seed: drawing
    each would be too slow."""
    steps = np.cumsum(draw(st.lists(st.sampled_from([1, 1, 1, 2, 3, 5, 20]), min_size=1, max_size=14))).tolist()
    restart = draw(st.integers(0, len(steps)))
    grown = draw(st.integers(0, len(steps)))
    left_out = draw(st.sets(st.sampled_from(ROWS), max_size=2))
    told = draw(st.sampled_from([0, 0.5, 1]))
    pick = random.Random(draw(st.integers(0, 1 << 16)))
    healthy = pick.random() < 0.5
    samples, clock = {"": {}, "slow": {}}, {}
    for number, step in enumerate(steps):
        for optimizer, found in samples.items():
            there = [one for one in ROWS if one.optimizer == optimizer and (number >= grown or one not in left_out)]
            if not optimizer or pick.random() < 0.6:
                found[step] = int(number >= restart), {one.name: some_values(pick, healthy) for one in there}
        if pick.random() < told:
            clock[step] = pick.choice([1.0, 2.0, 10.0, math.nan])
    return Model(ROWS, samples, clock)


def some_values(pick, healthy):
    names = ("update_norm", "weight_norm", "weight_mean", "weight_std", "update_ratio", "weight_min")
    values = {name: pick.choice(VALUES[:6] if healthy else VALUES) for name in names}
    values["weight_nan_fraction"] = 0 if healthy else pick.choice([0, 0, 0, 0.5])
    values["gradient_pinf_fraction"] = 0 if healthy else pick.choice([0, 0, 0, 0.5])
    values["gradient_cosine"], values["gradient_norm"] = pick.choice(VALUES), pick.choice(VALUES)
    return values | {"status": pick.choice(STATUSES)}


def write(model, run):
    """The run's files: one a session."""
    for session in (0, 1):
        found = sorted(
            (step, optimizer, rows)
            for optimizer, samples in model.samples.items()
            for step, (number, rows) in samples.items()
            if number == session and rows
        )
        if not found:
            continue
        start = found[0][0]
        name = f"events.out.tfevents.170000000{session}.host.{session + 1}.0"
        log = begin(run, name, start=start, wall=WALL + 1000 * session)
        log.session(str(session), None if session == 0 else "0", start_step=start)
        last = found[-1][0] if session == 0 else math.inf
        told = {step for step in model.clock if start <= step <= last}
        for step in sorted({*(step for step, _, _ in found), *told}):
            for _, optimizer, rows in (one for one in found if one[0] == step):
                present = [one for one in model.rows if one.name in rows]
                values = {name: [rows[one.name][name] for one in present] for name in rows[present[0].name]}
                log.table(step, parameters(present, optimizer=optimizer), table(len(present), **values))
            if step in told:
                log.table(step, CLOCK, np.full((1, len(schema.CLOCK_COLUMNS)), model.clock[step]))
        log.append()


def as_read(model):
    """The model as a reader can know it: numbers as float32, no samples without rows, a clock of NaN tells nothing."""
    rounded = {
        optimizer: {
            step: (session, {n: {c: float(np.float32(v)) for c, v in values.items()} for n, values in rows.items()})
            for step, (session, rows) in samples.items()
            if rows
        }
        for optimizer, samples in model.samples.items()
    }
    clock = {step: 0.0 if math.isnan(told) else told for step, told in model.clock.items()}
    starts = [(number, step) for samples in rounded.values() for step, (number, _) in samples.items()]
    # A clock between the last sample of a session and the first of the next was never written.
    last = max((step for number, step in starts if number == 0), default=-1)
    first = min((step for number, step in starts if number == 1), default=math.inf)
    clock = {step: told for step, told in clock.items() if step <= last or step >= first}
    return Model(model.rows, rounded, clock)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    models(),
    st.sampled_from(["update_ratio", "weight_norm", "weight_mean", "weight_std", "weight_min", "gradient_norm"]),
    st.integers(1, 30),
    st.sampled_from([(), ("body",), ("body.a",), ("body.a", "body")]),
    st.sampled_from([None, (0, 12), (-3, 40), (4.5, 9)]),
)
def test_cells_equal_the_slow_version(tmp_path_factory, model, column, width, folded, window):
    logdir = tmp_path_factory.mktemp("runs")
    assume(any(rows for _, rows in model.samples[""].values()))
    write(model, logdir / "a")
    timeline = timeline_in(logdir)
    shutil.rmtree(logdir)
    start, end = window or (None, None)
    answer = answer_cells(timeline, CellsQuery(column, start, end, width=width, folded=folded))
    model, log = as_read(model), column in LOG
    lines = lines_of(answer)
    kept = {one.name for one in timeline.rows}
    for cell, (low, high) in enumerate(zip(answer.edges[:-1], answer.edges[1:], strict=True)):
        leaves = {
            name: slow_query.leaf_cell(model, name, column, log, column in LAST_SAMPLE, low, high) for name in kept
        }
        for node in answer.facts["nodes"]:
            below = [one.name for one in timeline.rows if one.name == node["path"] or inside(one, node["path"])]
            if node["leaf"]:
                agree(lines[node["path"], "value"], leaves[node["path"]], cell)
                continue
            for stratum, expected in slow_query.strata_cells([leaves[name] for name in below], log).items():
                agree(lines[node["path"], stratum], expected, cell)
            agree(lines[node["path"], "fold"], slow_query.fold_cell(model, below, column, RULES, log, low, high), cell)


def inside(one, path):
    return one.module == path or one.module.startswith(path + ".")


def agree(line, expected, cell):
    for name, value in expected.items():
        got = line[name][cell]
        if name in ("mean", "min", "max"):
            assert got == pytest.approx(value, rel=1e-4, abs=1e-5 if name == "mean" else 0, nan_ok=True), (name, cell)
        else:
            assert got == value, (name, cell, line, expected)


def test_with_at_most_width_samples_there_is_one_cell_a_sample(tmp_path):
    write_run(tmp_path / "a", steps=[0, 10, 20, 30])
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=4))
    assert answer.edges.tolist() == [0, 10, 20, 30, 40]
    assert answer.arrays["count"].tolist() == [[1, 1, 1, 1]] * 2


def test_with_more_samples_than_width_the_cells_are_as_wide_as_the_next_power_of_two(tmp_path):
    write_run(tmp_path / "a", steps=range(100))
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=10))
    assert answer.edges.tolist() == list(range(0, 113, 16))
    assert answer.arrays["count"].tolist() == [[16, 16, 16, 16, 16, 16, 4]] * 2


def test_even_cells_lie_where_they_lay_when_the_window_moves(tmp_path):
    write_run(tmp_path / "a", steps=range(100), update_ratio=lambda step: step + 1.0)
    timeline = timeline_in(tmp_path)
    whole = answer_cells(timeline, CellsQuery("update_ratio", 0, 96, width=24))
    moved = answer_cells(timeline, CellsQuery("update_ratio", 13, 61, width=12))
    assert moved.edges.tolist() == list(range(12, 65, 4))
    for name in ("min", "max", "mean", "count"):
        assert moved.arrays[name].tolist() == whole.arrays[name][:, 3:16].tolist()


def test_a_window_between_two_samples_shows_the_whole_cell_of_the_first_of_them(tmp_path):
    write_run(tmp_path / "a", steps=[0, 100, 200], update_ratio=lambda step: 0.5 if step == 100 else 0.25)
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", 120, 180, width=100))
    assert answer.edges.tolist() == [100, 200]
    assert answer.arrays["max"].tolist() == [[0.5], [0.5]]
    assert answer.arrays["count"].tolist() == [[1], [1]]
    assert answer.facts["samples"] == 0


def test_before_the_first_sample_and_after_the_last_there_is_nothing(tmp_path):
    write_run(tmp_path / "a", steps=[100, 110])
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", 0, 1000))
    assert answer.edges.tolist() == [0, 100, 110, 120, 1000]
    for cell in (0, 3):
        assert np.isnan(answer.arrays["max"][:, cell]).all()
        assert not answer.arrays["count"][:, cell].any()
        assert not answer.arrays["missing"][:, cell].any()


def test_a_spike_and_a_nan_survive_a_wide_zoom(tmp_path):
    write_run(
        tmp_path / "a",
        steps=range(1000),
        update_ratio=lambda step: {500: 100.0, 501: math.nan}.get(step, 1e-3),
    )
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=1))
    assert answer.arrays["max"].tolist() == [[100.0], [100.0]]
    assert answer.arrays["nan"].tolist() == [[1], [1]]


def test_the_deepest_modules_fold_until_the_picture_fits(tmp_path):
    names = [f"net.{layer}.{part}.weight" for layer in range(4) for part in range(3)] + ["head.weight"]
    write_run(tmp_path / "a", rows=names)
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", height=6))
    assert [(node["path"], node["folded_to_fit"]) for node in answer.facts["nodes"]] == [
        *((f"net.{layer}", True) for layer in range(4)),
        ("head.weight", False),
    ]


def test_distribution_counts_every_value_of_the_window(tmp_path):
    ratios = {0: 1e-3, 1: 1e-2, 2: 0.0, 3: math.nan, 4: math.inf, 5: 1e-30}
    write_run(tmp_path / "a", steps=range(6), rows=["w"], update_ratio=lambda step: ratios[step])
    distribution = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio")).facts["distribution"]
    assert (distribution["low"], distribution["high"], distribution["bins"]) == (-12, 6, 360)
    assert {n: c for n, c in enumerate(distribution["counts"]) if c} == {0: 1, 180: 1, 200: 1}
    marks = {name: distribution[name] for name in ("zeros", "nan", "pinf", "ninf", "missing")}
    assert marks == {"zeros": 1, "nan": 1, "pinf": 1, "ninf": 0, "missing": 0}


def test_distribution_of_a_linear_column_has_bins_as_wide_as_a_power_of_two_about_the_data(tmp_path):
    write_run(tmp_path / "a", steps=range(5), rows=["w"], weight_mean=lambda step: step - 1.0)
    distribution = answer_cells(timeline_in(tmp_path), CellsQuery("weight_mean")).facts["distribution"]
    assert (distribution["low"], distribution["high"], distribution["bins"]) == (-1, 3 + 1 / 64, 257)
    assert {n: c for n, c in enumerate(distribution["counts"]) if c} == {0: 1, 64: 1, 128: 1, 192: 1, 256: 1}
    assert distribution["zeros"] == 1


def test_quantiles_are_of_the_whole_run_and_leave_out_zeros_and_bad_values(tmp_path):
    write_run(
        tmp_path / "a",
        steps=range(1001),
        rows=["w"],
        update_ratio=lambda step: [0.0, math.nan, math.inf][step % 3] if step % 10 == 0 else step / 1000,
    )
    quantiles = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", 0, 10)).facts["quantiles"]
    assert quantiles["p50"] == pytest.approx(0.5, abs=2e-3)
    assert quantiles["p1"] == pytest.approx(0.01, abs=2e-3)
    assert quantiles["p99"] == pytest.approx(0.99, abs=2e-3)


def test_a_column_without_a_finite_value_has_no_quantiles(tmp_path):
    write_run(tmp_path / "a", update_ratio=math.nan)
    quantiles = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio")).facts["quantiles"]
    assert quantiles == {"p1": None, "p50": None, "p99": None}


def test_an_unknown_column_is_refused_with_the_names_there_are(tmp_path):
    write_run(tmp_path / "a")
    with pytest.raises(QueryError, match=r"^No column 'ratio' is recorded\. There are weight_norm, weight_rms, "):
        answer_cells(timeline_in(tmp_path), CellsQuery("ratio"))


def test_an_empty_window_is_refused(tmp_path):
    write_run(tmp_path / "a")
    with pytest.raises(QueryError, match=r"from step 7 to step 7 is empty\. Ask for 'from' below 'to'\.$"):
        answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", 7, 7))


def test_a_picture_over_the_limit_of_cells_is_refused(tmp_path):
    write_run(tmp_path / "a", steps=range(3000), rows=[f"w{number}" for number in range(1500)])
    with pytest.raises(
        QueryError, match=r"1,500 rows of 3,000 cells, over the limit of 4,000,000 cells\. Ask for a sm"
    ):
        answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=3000))


def test_one_cell_a_sample_gives_way_to_even_cells_where_gaps_would_make_too_many(tmp_path):
    write_run(tmp_path / "a", steps=[0, 1, 2, 50, 51, 52, 200, 201, 202], rows=["w"])
    timeline = timeline_in(tmp_path)
    by_sample = answer_cells(timeline, CellsQuery("update_ratio", 0, 203, width=9))
    assert by_sample.edges.tolist() == [0, 1, 2, 3, 50, 51, 52, 53, 200, 201, 202, 203]
    even = answer_cells(timeline, CellsQuery("update_ratio", 0, 203, width=3))
    assert even.edges.tolist() == [0, 128, 256]


def test_one_cell_a_sample_gives_way_to_even_cells_where_they_would_be_over_the_limit(tmp_path):
    write_run(tmp_path / "a", steps=[0, 1, 2, 50, 51, 52, 200, 201, 202], rows=["w"])
    timeline = timeline_in(tmp_path)
    assert len(answer_cells(timeline, CellsQuery("update_ratio", 0, 203, width=9), most=11).edges) == 12
    even = answer_cells(timeline, CellsQuery("update_ratio", 0, 203, width=9), most=10)
    assert even.edges.tolist() == list(range(0, 225, 32))


def test_columns_of_an_older_table_that_the_newer_lacks_are_missing_there(tmp_path):
    log = begin(tmp_path / "a")
    narrow = schema.TableSpec("parameters", "model", schema.PARAMETER_COLUMNS[:2], (row("w"),))
    log.table(0, parameters(["w"]), table(1)).table(1, narrow, np.ones((1, 2), np.float32)).append()
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio"))
    assert answer.arrays["max"][0].tolist() == pytest.approx([0.01, math.nan], nan_ok=True)
    assert answer.arrays["missing"].tolist() == [[0, 1]]
    assert not answer.arrays["nan"].any()


def test_the_status_bits_of_a_cell_are_those_of_all_its_samples(tmp_path):
    bits = [Status.SAMPLED, Status.SAMPLED | Status.UPDATE_SKIPPED, Status.FROZEN]
    log, spec = begin(tmp_path / "a"), parameters(["w"])
    for step, status in enumerate(bits):
        log.table(step, spec, table(1, status=status))
    log.append()
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio", width=1))
    assert answer.arrays["status"].tolist() == [[Status.SAMPLED | Status.UPDATE_SKIPPED | Status.FROZEN]]


def test_a_tensor_that_fills_with_nan_shows_as_nan_though_its_norm_is_finite(tmp_path):
    write_run(tmp_path / "a", steps=range(3), rows=["w"], weight_nan_fraction=lambda step: 0.5 if step == 1 else 0)
    timeline = timeline_in(tmp_path)
    for column in ("update_ratio", "weight_norm"):
        assert answer_cells(timeline, CellsQuery(column)).arrays["nan"].tolist() == [[0, 1, 0]]
    for column in ("gradient_norm", "weight_nan_fraction"):
        assert not answer_cells(timeline, CellsQuery(column)).arrays["nan"].any()


def test_an_overflow_that_the_gradient_scaler_skipped_is_not_shown_as_bad(tmp_path):
    status = Status.SAMPLED | Status.UPDATE_SKIPPED
    write_run(tmp_path / "a", rows=["w"], gradient_pinf_fraction=0.5, status=status)
    answer = answer_cells(timeline_in(tmp_path), CellsQuery("update_ratio"))
    assert not answer.arrays["pinf"].any()
