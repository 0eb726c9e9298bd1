"""Timelines along wall time and along counters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import WALL, begin, parameters, table
from zentracer_store import Store, parse_places
from zentracer_store.runs.axis import Axis, AxisError, Pause, axes_of, axis_of
from zentracer_store.runs.timeline import FURTHEST, timeline_of

SPEC = parameters(["w"])
CLOCK = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))


def session(run, number, steps, *, start=0, wall=None, every=1.0, **clock):
    """One session that begins at `wall` and samples these steps; `clock` columns are functions of the step."""
    wall = WALL + 1000 * (number - 1) if wall is None else wall
    log = begin(run, f"events.out.tfevents.170000000{number}.host.{number}.0", start=start, wall=wall)
    log.session(f"{number}", f"{number - 1}" if number > 1 else None, start_step=start)
    for step in steps:
        log.wall += every - 1
        log.table(step, SPEC, table(1))
        if clock:
            told = {name: value(step) for name, value in clock.items()}
            row = [told.get(column.name, np.nan) for column in schema.CLOCK_COLUMNS]
            log.add(schema.table_event(log.wall, step, CLOCK, np.array([row]), with_spec=True))
    return log.append()


def chain_in(tmp_path):
    store = Store(parse_places(str(tmp_path)))
    store.look()
    ((scope,),) = [store.scopes("a")[1]]
    return scope.chain


def timeline_in(tmp_path, **how):
    return timeline_of(chain_in(tmp_path), **how)


def test_the_axis_of_steps_is_the_steps(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20])
    axis = axis_of(timeline_in(tmp_path), "step")
    assert (axis.name, axis.label) == ("step", "Step")
    steps = np.array([-5.0, 0, 7.5, 20, 100])
    for way in (axis.positions, axis.ends, axis.steps_at):
        assert way(steps).tolist() == steps.tolist()


@pytest.mark.parametrize(
    "steps", [[2**63 - 3, 2**63 - 2], [2**62, 2**62 + 10], [-(2**63), -(2**63) + 1], [-(2**63), 0, 2**63 - 2]]
)
@pytest.mark.parametrize("name", ["step", "wall", "relative", "updates"])
@pytest.mark.filterwarnings("error")
def test_steps_that_are_one_as_floats_have_an_axis(tmp_path, steps, name):
    session(tmp_path / "a", 1, steps, start=steps[0], updates=lambda step: steps.index(step))
    axis = axis_of(timeline_in(tmp_path), name)
    for way in (axis.positions, axis.ends, axis.steps_at):
        assert np.isfinite(way(np.array(steps))).all()


@pytest.mark.parametrize("furthest", [1e308, -1e308])
@pytest.mark.parametrize("name", ["wall", "relative", "updates"])
@pytest.mark.filterwarnings("error")
def test_times_and_counts_that_are_none_make_no_axis_without_end(tmp_path, furthest, name):
    values = [-furthest, 0, 1, 2, furthest]
    for number in (1, 2):
        log = begin(tmp_path / "a", f"events.out.tfevents.170000000{number}.host.{number}.0", start=0, wall=0)
        log.session(f"{number}", f"{number - 1}" if number > 1 else None, start_step=3 * number - 3)
        for step in range(3 * number - 3, 3 * number + 2):
            log.wall = values[step - 3 * number + 3]
            log.table(step, SPEC, table(1))
            told = [values[step % 5] if c.name == "updates" else np.nan for c in schema.CLOCK_COLUMNS]
            log.add(schema.table_event(log.wall, step, CLOCK, np.array([told]), with_spec=True))
        log.append()
    timeline = timeline_in(tmp_path)
    try:
        axis = axis_of(timeline, name)
    except AxisError:
        assert name == "updates"
        return
    found = axis.positions(timeline.steps)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    assert np.abs(found).max() <= 2 * FURTHEST


def test_samples_stand_at_their_wall_time_and_what_is_between_them_in_proportion(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 30])
    axis = axis_of(timeline_in(tmp_path), "wall")
    assert (axis.label, axis.unit, axis.pauses) == ("Wall time", "s", ())
    assert (axis.positions([0, 5, 10, 20, 30]) - WALL).tolist() == [1, 1.5, 2, 2.5, 3]
    # The last sample holds for an interval: its time is that of the interval before.
    assert axis.positions([50]) - WALL == 4
    assert axis.steps_at(np.array([1, 1.5, 2, 2.5, 3, 4]) + WALL).tolist() == [0, 5, 10, 20, 30, 50]


def test_relative_time_counts_from_the_first_record(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 30])
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.label == "Time since the start"
    assert axis.positions([0, 10, 30]).tolist() == [1, 2, 3]


def test_outside_of_what_is_recorded_the_axis_goes_on_evenly(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20])
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.positions([-10, 40]).tolist() == [0, 5]
    assert axis.steps_at([0, 5]).tolist() == [-10, 40]


def test_a_pause_between_sessions_is_kept_and_its_length_told(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20])
    session(tmp_path / "a", 2, [30, 40], start=30)
    axis = axis_of(timeline_in(tmp_path), "relative")
    # The last sample holds for as long as the one before it.
    assert axis.pauses == (Pause(start=4, end=1001, step=30, idle_s=996),)
    assert axis.positions([20, 30, 40]).tolist() == [3, 1001, 1002]
    assert axis.ends([30]).tolist() == [4]
    assert axis.steps_at([3, 3.5, 4, 500, 1001, 1001.5]).tolist() == [20, 25, 30, 30, 30, 35]


def test_time_that_went_into_overwritten_steps_is_no_idle_time(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30, 40, 50])
    session(tmp_path / "a", 2, [20, 30], start=20)
    axis = axis_of(timeline_in(tmp_path), "relative")
    # The first session came to step 20 after 3 seconds and ended after 6, the second began after 1000.
    assert axis.pauses == (Pause(start=3, end=1001, step=20, idle_s=994),)
    assert axis.ends([20]).tolist() == [3]
    assert axis_of(timeline_in(tmp_path, until=0), "relative").pauses == ()


def test_a_session_that_begins_at_once_leaves_no_pause_to_speak_of(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20])
    session(tmp_path / "a", 2, [30, 40], start=30, wall=WALL + 3)
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.pauses == (Pause(start=3, end=4, step=30, idle_s=0),)


def test_a_session_of_a_single_sample_holds_for_a_second(tmp_path):
    session(tmp_path / "a", 1, [0])
    session(tmp_path / "a", 2, [10], start=10)
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.ends([10]).tolist() == [2]


@given(
    st.lists(st.tuples(st.integers(1, 40), st.floats(0.01, 50), st.floats(0, 50)), min_size=1, max_size=20),
    st.lists(st.floats(-10, 900), min_size=1, max_size=20),
)
def test_what_is_asked_there_and_back_is_the_same_but_in_pauses(knots, steps):
    apart, held, pause = (np.array(column) for column in zip(*knots, strict=True))
    pause[-1] = 0  # nothing comes after the end
    at = np.append(0, np.cumsum(held + pause))
    axis = Axis("wall", "", "s", np.append(0, np.cumsum(apart)), at, np.append(0, at[:-1] + held))
    steps = np.sort(steps)
    positions, ends = axis.positions(steps), axis.ends(steps)
    assert (np.diff(positions) >= 0).all()
    assert (ends <= positions).all()
    assert axis.steps_at(positions) == pytest.approx(steps, abs=1e-6)
    for step, position in zip(steps.tolist(), positions.tolist(), strict=True):
        k = max(sum(knot <= step for knot in axis.steps.tolist()) - 1, 0)
        if 0 <= step < axis.steps[-1]:
            share = (step - axis.steps[k]) / apart[k]
            assert position == pytest.approx(axis.at[k] + share * held[k])


def test_a_clock_that_is_set_back_stands_still(tmp_path):
    log = session(tmp_path / "a", 1, [0, 10])
    log.wall -= 500
    log.table(20, SPEC, table(1)).append()
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.positions([0, 10, 20]).tolist() == [1, 2, 2]
    assert np.isfinite(axis.positions([15, 25])).all()
    assert np.isfinite(axis.steps_at([1, 2, 3])).all()


def test_a_single_sample_has_a_second_of_its_own(tmp_path):
    session(tmp_path / "a", 1, [7])
    axis = axis_of(timeline_in(tmp_path), "relative")
    assert axis.positions([7, 8]).tolist() == [1, 2]


def test_a_counter_of_the_clock_may_be_the_axis(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], samples=lambda step: 32.0 * step, epoch=lambda step: step / 100)
    timeline = timeline_in(tmp_path)
    axis = axis_of(timeline, "samples")
    assert (axis.label, axis.pauses) == ("Samples seen", ())
    assert axis.positions([0, 5, 20, 30]).tolist() == [0, 160, 640, 960]
    assert axis.steps_at([320]).tolist() == [10]
    assert axes_of(timeline) == ("step", "wall", "relative", "samples", "epoch")


def test_a_counter_that_goes_back_is_refused_with_the_step(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], samples=lambda step: 32.0 * step)
    session(tmp_path / "a", 2, [30, 40], start=30, samples=lambda step: 32.0 * (step - 30))
    with pytest.raises(AxisError, match=r"^Samples seen can't be the axis: it goes back at step 30\.$"):
        axis_of(timeline_in(tmp_path), "samples")


@pytest.mark.parametrize("clock", [{}, {"epoch": lambda step: np.nan}, {"epoch": lambda step: 1.0}])
def test_a_counter_that_nobody_told_is_refused(tmp_path, clock):
    session(tmp_path / "a", 1, [0, 10, 20], **clock)
    message = r"^Epoch can't be the axis: the clock does not tell of it at two samples or more\.$"
    with pytest.raises(AxisError, match=message):
        axis_of(timeline_in(tmp_path), "epoch")


def test_an_unknown_axis_is_refused_with_those_that_there_are(tmp_path):
    session(tmp_path / "a", 1, [0])
    message = r"^There is no axis 'bytes'\. There are step, wall, relative, updates, forward_calls, user_step, samples"
    with pytest.raises(AxisError, match=message):
        axis_of(timeline_in(tmp_path), "bytes")


def test_nothing_has_no_axis():
    with pytest.raises(AxisError, match=r"^Nothing is recorded that could be laid along an axis\.$"):
        axis_of(timeline_of([]), "step")
