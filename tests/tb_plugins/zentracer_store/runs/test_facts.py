"""What a run says of itself."""

import numpy as np
import pytest

import zentracer_schema as schema
from tests.logs import WALL, begin, parameters, row, table
from zentracer_store import Store, facts_of, has_loss, parse_places
from zentracer_store.runs.facts import large


def scope_in(logdir):
    store = Store(parse_places(str(logdir)))
    store.look()
    return store.scopes("a")[1][0]


def test_facts_are_those_of_the_session_the_clock_and_the_pulse(tmp_path):
    clock = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))
    pulse = schema.TableSpec("pulse", "model", schema.pulse_columns(["SGD/0", "SGD/1"]))
    told = dict.fromkeys((column.name for column in schema.CLOCK_COLUMNS), np.nan)
    told |= {"interval": 20, "overhead": 0.014, "dropped": 3}
    beat = dict.fromkeys((column.name for column in pulse.columns), np.nan)
    beat |= {"loss": 0.5, "learning_rate/SGD/0": 0.08, "learning_rate/SGD/1": 0.08}
    spec = parameters([row("w", (1000, 1234))])
    session = {"model": "ResNet", "optimizers": {"SGD": {"class": "SGD"}}, "start_step": 0, "planned_steps": 50_000}
    log = begin(tmp_path / "a").session("one", **session).table(0, spec, table(1)).append()
    name = "events.out.tfevents.2.host.2.0"
    log = begin(tmp_path / "a", name, start=13_200, wall=WALL + 100).session(
        "two", "one", **session | {"start_step": 13_200}
    )
    log.table(13_200, spec, table(1)).table(13_200, clock, np.array([list(told.values())]))
    log.table(1, pulse, np.array([list(beat.values())])).append()
    scope = scope_in(tmp_path)
    assert facts_of(scope.chain, scope.timeline) == [
        ("Model", "ResNet, 1 tensor"),
        ("Size", "1.2 M parameters"),
        ("Optimizer", "SGD"),
        ("Learning rate", "0.08"),
        ("Recorded", "every 20 steps"),
        ("Overhead", "1.4 % of a step"),
        ("Sessions", "2, restart at 13,200"),
        ("Dropped", "3 records"),
    ]
    assert scope.planned == 50_000
    assert has_loss(scope.chain)


def test_of_many_restarts_the_latest_are_told(tmp_path):
    for number in range(5):
        log = begin(tmp_path / "a", f"events.out.tfevents.{number}.host.{number}.0", number * 10, WALL + 100 * number)
        log.session(str(number), str(number - 1), start_step=number * 10).table(
            number * 10, parameters(["w"]), table(1)
        )
        log.append()
    scope = scope_in(tmp_path)
    assert ("Sessions", "5, the latest restarts at 20, 30, 40") in facts_of(scope.chain, scope.timeline)


def test_a_run_without_session_record_says_what_its_tables_say(tmp_path):
    begin(tmp_path / "a").table(0, parameters([row("w", (3,), optimizer="adam"), row("v", (4,))]), table(2)).append()
    scope = scope_in(tmp_path)
    assert facts_of(scope.chain, scope.timeline) == [
        ("Model", "2 tensors"),
        ("Size", "7 parameters"),
        ("Optimizer", "adam"),
    ]
    assert scope.planned is None
    assert not has_loss(scope.chain)


@pytest.mark.parametrize("record", [{"optimizers": 7}, {"modules": [1]}, {"model": None}, {"planned_steps": "many"}])
def test_a_session_record_of_another_shape_is_passed_over(tmp_path, record):
    begin(tmp_path / "a").session("one", **record).table(0, parameters(["w"]), table(1)).append()
    scope = scope_in(tmp_path)
    assert facts_of(scope.chain, scope.timeline)[0] == ("Model", "1 tensor")
    assert scope.planned is None
    assert scope.modules == {}


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (12_400, "12,400"), (25_600_000, "25.6 M"), (7_000_000_000, "7.0 G")]
)
def test_counts_are_said_as_people_say_them(number, text):
    assert large(number) == text
