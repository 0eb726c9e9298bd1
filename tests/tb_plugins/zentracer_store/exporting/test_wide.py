"""Our tables as rows: each sample of each tensor once, in order, with its session and whether it was overwritten."""

import math

import numpy as np
import pyarrow as pa
import pytest

import zentracer_schema as schema
import zentracer_store.exporting.wide
from tests.logs import EVENTS, Log, begin, parameters, table
from zentracer_schema import ColumnSpec, TableSpec
from zentracer_store.exporting.tabular import Choice, batches_of, joined
from zentracer_store.exporting.whole import look_under, read_run

SPEC = parameters(["a.weight", "a.bias"])
PULSE = TableSpec("pulse", "model", schema.pulse_columns(["adam/0"]))


def run_under(logdir):
    found = look_under(str(logdir))
    ((name, files),) = found.runs.items()
    return read_run(name, files)


def rows_under(logdir, kind="parameters"):
    return joined([run_under(logdir)], kind, Choice(), pytest.fail).to_pylist()


def batches_under(logdir):
    """The batches of the table of parameters."""
    (batches,) = batches_of(run_under(logdir), Choice(kinds=frozenset({"parameters"})), pytest.fail)
    return batches


def pulse(*steps):
    values = np.zeros((len(steps), len(PULSE.columns)))
    values[:, 0] = steps
    values[:, 1] = np.array(steps) / 10
    return values


def test_every_tensor_at_every_step_is_one_row(tmp_path):
    log = begin(tmp_path)
    for step in (0, 5):
        log.table(step, SPEC, table(2, weight_norm=[step + 0.5, -1]))
    log.append()
    rows = rows_under(tmp_path)
    assert [(row["row"], row["step"], row["weight_norm"]) for row in rows] == [
        ("a.weight", 0, 0.5),
        ("a.bias", 0, -1),
        ("a.weight", 5, 5.5),
        ("a.bias", 5, -1),
    ]
    assert {row["scope"] for row in rows} == {"model"}
    assert [row["wall_time"] for row in rows] == [1_700_000_001.0] * 2 + [1_700_000_002.0] * 2
    assert {(row["session"], row["superseded"], row["status"]) for row in rows} == {(0, False, 1)}


def test_a_column_of_a_statistic_keeps_its_type(tmp_path):
    begin(tmp_path).table(0, SPEC, table(2, update_ratio=[math.nan, math.inf])).append()
    batches = batches_under(tmp_path)
    kinds = {field.name: str(field.type) for field in batches.schema}
    assert kinds["weight_norm"] == "float"
    assert kinds["status"] == "uint8"
    ratios = batches.table()["update_ratio"].to_pylist()
    assert math.isnan(ratios[0])
    assert ratios[1] == math.inf


def test_what_a_later_session_wrote_anew_stays_and_is_marked(tmp_path):
    first = begin(tmp_path).session("one", start_step=0)
    for step in range(10):
        first.table(step, SPEC, table(2, weight_norm=step))
    first.append()
    second = begin(tmp_path, name=EVENTS.replace("1.0", "2.0"), start=6, wall=first.wall + 60)
    second.session("two", continues="one", start_step=6)
    for step in range(6, 12):
        second.table(step, SPEC, table(2, weight_norm=100 + step))
    second.append()
    rows = [row for row in rows_under(tmp_path) if row["row"] == "a.bias"]
    assert [row["step"] for row in rows] == sorted([*range(10), *range(6, 12)])
    current = [row for row in rows if not row["superseded"]]
    assert [(row["step"], row["weight_norm"], row["session"]) for row in current] == [
        *((step, step, 0) for step in range(6)),
        *((step, 100 + step, 1) for step in range(6, 12)),
    ]
    old = [row for row in rows if row["superseded"]]
    assert [(row["step"], row["weight_norm"], row["session"]) for row in old] == [(s, s, 0) for s in range(6, 10)]


def test_a_pulse_has_the_steps_that_it_tells_of_and_the_same_marks(tmp_path):
    first = begin(tmp_path).session("one", start_step=0).table(0, SPEC, table(2))
    first.table(1_000, PULSE, pulse(0, 1, 2)).table(2_000, PULSE, pulse(3, 4)).append()
    second = begin(tmp_path, name=EVENTS.replace("1.0", "2.0"), start=3, wall=first.wall + 60)
    second.session("two", continues="one", start_step=3).table(3, SPEC, table(2))
    second.table(3_000, PULSE, pulse(3, 4, 5)).append()
    rows = rows_under(tmp_path, "pulse")
    assert [(row["step"], row["session"], row["superseded"]) for row in rows] == [
        *((step, 0, False) for step in range(3)),
        *((step, session, session == 0) for step in (3, 4) for session in (0, 1)),
        (5, 1, False),
    ]
    assert [row["loss"] for row in rows] == [row["step"] / 10 for row in rows]
    assert "row" not in rows[0]


def test_a_clock_tells_its_own_wall_time(tmp_path):
    spec = TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))
    values = np.full((1, len(spec.columns)), np.nan)
    values[0, [column.name for column in spec.columns].index("wall_time")] = 1234.5
    begin(tmp_path).table(0, spec, values).append()
    assert [row["wall_time"] for row in rows_under(tmp_path, "clock")] == [1234.5]


def test_two_that_grew_side_by_side_are_two_scopes_and_overwrite_nothing(tmp_path):
    for number in (1, 2):
        log = begin(tmp_path, name=EVENTS.replace("1.0", f"{number}.0")).session(f"s{number}", start_step=0)
        for step in range(3):
            log.table(step, SPEC, table(2, weight_norm=number))
        log.append()
    rows = rows_under(tmp_path)
    assert {(row["scope"], row["weight_norm"]) for row in rows} == {("model", 1), ("model #2", 2)}
    assert len(rows) == 12
    assert not any(row["superseded"] for row in rows)


def test_tables_of_a_model_without_parameters_are_there_without_a_session(tmp_path):
    begin(tmp_path).table(1_000, PULSE, pulse(0, 1)).append()
    rows = rows_under(tmp_path, "pulse")
    assert [(row["step"], row["session"], row["superseded"]) for row in rows] == [(0, None, False), (1, None, False)]


def test_tables_with_different_columns_stand_in_one_with_nulls(tmp_path):
    short = TableSpec("pulse", "other", (ColumnSpec("step", dtype="float64"), ColumnSpec("grip", dtype="float64")))
    log = begin(tmp_path).table(1_000, PULSE, pulse(0, 1))
    log.table(1_000, short, np.array([[7.0, 0.5]])).append()
    rows = rows_under(tmp_path, "pulse")
    assert [(row["scope"], row["step"], row["grip"], row["loss"]) for row in rows] == [
        ("model", 0, None, 0.0),
        ("model", 1, None, 0.1),
        ("other", 7, 0.5, None),
    ]


def test_a_step_that_is_no_number_is_no_step(tmp_path):
    begin(tmp_path).table(1_000, PULSE, pulse(np.nan, np.inf, 1e300, 4)).append()
    assert sorted(row["step"] for row in rows_under(tmp_path, "pulse")) == [-1, -1, -1, 4]


def test_columns_named_like_ours_do_not_take_their_place(tmp_path):
    odd = TableSpec("pulse", "model", tuple(ColumnSpec(name, dtype="float64") for name in ("session", "scope", "x")))
    begin(tmp_path).table(5, odd, np.array([[9.0, 8.0, 7.0]])).append()
    assert [(row["scope"], row["session"], row["x"]) for row in rows_under(tmp_path, "pulse")] == [("model", None, 7.0)]


@pytest.mark.parametrize("most", [1, 3, 4, 1000])
def test_batches_of_any_size_make_the_same_table(tmp_path, monkeypatch, most):
    rng = np.random.default_rng(0)
    first = begin(tmp_path).session("one", start_step=0)
    second = Log(first.path, first.wall)
    for log, steps in ((first, range(0, 20, 2)), (second, range(9, 30, 3))):
        if log is second:
            log.start(9).session("two", continues="one", start_step=9)
        for step in steps:
            log.table(step, SPEC, table(2, weight_norm=rng.random(2)))
        log.append()
    whole = batches_under(tmp_path)
    expected = whole.table()
    assert len(expected) == 2 * (10 + 7)
    monkeypatch.setattr(zentracer_store.exporting.wide, "BATCH_ROWS", most)
    some = batches_under(tmp_path)
    parts = list(some.parts())
    assert all(len(part) <= max(most, 2) for part in parts)
    assert pa.concat_tables(parts).to_pylist() == expected.to_pylist()
