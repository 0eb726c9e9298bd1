"""Sessions in chains, and their tables along one axis of steps."""

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import WALL, Log, begin, parameters, row, table
from zentracer_store import Store, parse_places, sample_of, values_at
from zentracer_store.runs.reach import spans_of
from zentracer_store.runs.spans import Overwritten
from zentracer_store.runs.timeline import timeline_of

SPEC = parameters(["w"])
CLOCK = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))


def scopes_in(logdir, run="a"):
    store = Store(parse_places(str(logdir)))
    store.look()
    return {scope.name: scope for scope in store.scopes(run)[1]}


def named(number, name="events.out.tfevents.170000000{0}.host.{0}.0"):
    return name.format(number)


def session(run, number, steps, *, continues=None, start=None, wall=None, key=None, value=None, rows=("w",)):
    """A file of one session, `number`-th in time."""
    wall = WALL + (1000 * number if wall is None else wall)
    log = begin(run, named(number), start=steps[0] if start is None else start, wall=wall)
    if key is not None:
        log.session(key, continues, start_step=steps[0] if start is None else start)
    spec = parameters(rows)
    for step in steps:
        log.table(step, spec, table(len(rows), weight_norm=number if value is None else value))
    return log.append()


def norms(timeline):
    """weight_norm of the only row by step, as it is shown."""
    (track,) = timeline.tracks
    return dict(zip(track.steps.tolist(), track.values("weight_norm", 0, len(track.steps))[:, 0].tolist(), strict=True))


def test_a_session_that_continues_another_wins_over_overlapping_steps(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30], key="one")
    session(tmp_path / "a", 2, [20, 30, 40], key="two", continues="one")
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 1, 10: 1, 20: 2, 30: 2, 40: 2}
    assert [part.session.id for part in scope.chain] == ["one", "two"]
    assert scope.timeline.sessions.tolist() == [0, 0, 1, 1, 1]


def test_a_session_wins_from_the_step_it_says_it_starts_at(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30], key="one")
    session(tmp_path / "a", 2, [25, 35], key="two", continues="one", start=15)
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 1, 10: 1, 25: 2, 35: 2}


def test_a_run_begun_again_at_step_0_replaces_the_first(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one")
    session(tmp_path / "a", 2, [0, 10], key="two", continues="one")
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 2, 10: 2}


def test_sessions_without_records_of_them_form_a_chain_by_time(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20])
    session(tmp_path / "a", 2, [10, 20, 30])
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 1, 10: 2, 20: 2, 30: 2}


def test_two_sessions_that_grow_side_by_side_stay_apart(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one", wall=0)
    session(tmp_path / "a", 2, [0, 10, 20], key="two", wall=1.5)
    scopes = scopes_in(tmp_path)
    assert list(scopes) == ["model", "model #2"]
    assert norms(scopes["model"].timeline) == {0: 1, 10: 1, 20: 1}
    assert norms(scopes["model #2"].timeline) == {0: 2, 10: 2, 20: 2}


def test_a_session_that_continues_one_still_writing_wins_by_its_word(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one", wall=0)
    session(tmp_path / "a", 2, [10, 20], key="two", continues="one", wall=1.5)
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 1, 10: 2, 20: 2}


def test_a_file_that_the_process_opened_later_belongs_to_its_session(tmp_path):
    session(tmp_path / "a", 1, [0, 10], key="one")
    later = Log(tmp_path / "a/zentracer/events.out.tfevents.1700000001.host.1.1", wall=1_700_001_500.0).version()
    later.table(20, SPEC, table(1, weight_norm=1)).append()
    bulk = Log(tmp_path / "a/zentracer/zentracer.1700000001.host.1.0.ztrec", wall=1_700_001_600.0).version()
    bulk.table(30, parameters(["w", "x"]), table(2, weight_norm=1)).append()
    (scope,) = scopes_in(tmp_path).values()
    assert scope.timeline.steps.tolist() == [0, 10, 20, 30]
    assert len(scope.chain) == 1


def test_a_session_that_several_files_repeat_is_one(tmp_path):
    session(tmp_path / "a", 1, [0, 10], key="one")
    bulk = Log(tmp_path / "a/zentracer/zentracer.1700000001.host.1.0.ztrec", wall=1_700_001_001.0).version()
    bulk.session("one", None, start_step=0).table(5, parameters(["big"]), table(1)).append()
    (scope,) = scopes_in(tmp_path).values()
    assert len(scope.chain) == 1
    assert [one.name for one in scope.timeline.rows] == ["w", "big"]


@pytest.mark.parametrize("start", [0, 2])
def test_a_session_whose_table_has_no_rows_hides_none_of_the_next(tmp_path, start):
    empty = parameters([])
    log = begin(tmp_path / "a").table(0, empty, table(0)).table(1, empty, table(0))
    log.start(start).table(start, SPEC, table(1)).table(5, SPEC, table(1)).append()
    (scope,) = scopes_in(tmp_path).values()
    assert scope.timeline.steps.tolist() == [start, 5]
    assert [stint.left - WALL for stint in scope.timeline.stints] == [2, 4]
    assert len(scope.sessions) == 2


def test_rows_that_join_later_are_one_timeline_with_the_rest(tmp_path):
    log = begin(tmp_path / "a")
    log.table(0, parameters(["w"]), table(1, weight_norm=1)).table(10, parameters(["w"]), table(1, weight_norm=2))
    log.table(20, parameters(["new", "w"]), table(2, weight_norm=[30, 3])).append()
    (scope,) = scopes_in(tmp_path).values()
    timeline = scope.timeline
    assert [one.name for one in timeline.rows] == ["w", "new"]
    tracks = {tuple(track.rows.tolist()): track for track in timeline.tracks}
    assert tracks[0,].values("weight_norm", 0, 3).tolist() == [[1], [2], [3]]
    assert tracks[1,].steps.tolist() == [20]
    assert tracks[1,].values("weight_norm", 0, 1).tolist() == [[30]]


def test_the_newest_description_of_a_row_counts(tmp_path):
    log = begin(tmp_path / "a")
    log.table(0, parameters([row("w", trainable=False)]), table(1))
    log.table(1, parameters([row("w", trainable=True)]), table(1)).append()
    (scope,) = scopes_in(tmp_path).values()
    assert [one.trainable for one in scope.timeline.rows] == [True]


def test_a_row_that_moves_to_another_optimizer_keeps_its_timeline(tmp_path):
    log = begin(tmp_path / "a")
    first, second = parameters(["u", "w"], optimizer="a"), parameters(["w"], optimizer="b")
    log.table(0, first, table(2)).table(10, first, table(2))
    log.table(20, parameters(["u"], optimizer="a"), table(1)).table(20, second, table(1)).append()
    (scope,) = scopes_in(tmp_path).values()
    for track in scope.timeline.tracks:
        assert track.steps.tolist() == [0, 10, 20]
        assert not len(track.gaps.start)


def test_rows_are_in_the_models_order_where_the_session_tells_it(tmp_path):
    log = begin(tmp_path / "a").session("one", modules={"": "Net", "first": "Linear", "last": "Linear"})
    log.table(0, parameters(["last.weight"], optimizer="a"), table(1))
    log.table(0, parameters(["first.weight"], optimizer="b"), table(1)).append()
    (scope,) = scopes_in(tmp_path).values()
    assert [one.name for one in scope.timeline.rows] == ["first.weight", "last.weight"]
    assert scope.modules == {"": "Net", "first": "Linear", "last": "Linear"}


def track_of(tmp_path, steps, intervals=(), restart=None):
    """The only track of a run sampled at `steps`; `intervals` by step are what the clock told."""
    log = begin(tmp_path / "a", start=steps[0])
    for step in steps:
        if step == restart:
            log.append()
            log = begin(tmp_path / "a", named(2), start=step, wall=WALL + 1000)
        log.table(step, SPEC, table(1))
        if step in dict(intervals):
            values = np.full((1, len(schema.CLOCK_COLUMNS)), dict(intervals)[step])
            log.table(step, CLOCK, values)
    log.append()
    (scope,) = scopes_in(tmp_path).values()
    (track,) = scope.timeline.tracks
    return track


def gaps_of(track):
    return list(zip(track.gaps.start.tolist(), track.gaps.end.tolist(), track.gaps.expected.tolist(), strict=True))


def test_samples_up_to_four_intervals_apart_have_no_gap(tmp_path):
    track = track_of(tmp_path, [0, 10, 20, 60, 70])
    assert track.ends.tolist() == [10, 20, 60, 70, 80]
    assert gaps_of(track) == []


def test_samples_over_four_intervals_apart_have_a_gap_after_one_interval(tmp_path):
    track = track_of(tmp_path, [0, 10, 20, 70, 80])
    assert track.ends.tolist() == [10, 20, 30, 80, 90]
    assert gaps_of(track) == [(30, 70, 4)]


def test_an_interval_that_grows_is_no_gap(tmp_path):
    assert gaps_of(track_of(tmp_path, [0, 1, 2, 3, 103, 203])) == []


def test_the_clock_says_when_the_next_sample_was_to_come(tmp_path):
    track = track_of(tmp_path, [0, 1, 2, 102], intervals={0: 1, 1: 1, 2: 100, 102: 100})
    assert gaps_of(track) == []
    assert track.ends[-1] == 202


def test_a_restart_leaves_a_gap_where_more_than_one_interval_is_missing(tmp_path):
    track = track_of(tmp_path, [0, 10, 20, 50, 60], restart=50)
    assert track.ends.tolist() == [10, 20, 30, 60, 70]
    assert gaps_of(track) == [(30, 50, 2)]


def test_a_restart_right_after_the_last_sample_leaves_none(tmp_path):
    assert gaps_of(track_of(tmp_path, [0, 10, 20, 30, 40], restart=30)) == []


def test_a_single_sample_holds_for_one_step(tmp_path):
    assert track_of(tmp_path, [5]).ends.tolist() == [6]


def test_values_at_a_step_are_those_of_the_sample_before_it(tmp_path):
    log = begin(tmp_path / "a")
    log.table(0, parameters(["w"]), table(1, weight_norm=1)).table(10, parameters(["w"]), table(1, weight_norm=np.nan))
    log.table(20, parameters(["w", "x"]), table(2, weight_norm=[3, np.inf])).append()
    timeline = scopes_in(tmp_path)["model"].timeline
    assert values_at(timeline, "weight_norm", 9.5) == (0, [1.0, None], [1, 0])
    step, values, _ = values_at(timeline, "weight_norm", 10)
    assert (step, np.isnan(values[0])) == (10, True)
    assert values_at(timeline, "weight_norm", 20) == (20, [3.0, np.inf], [1, 1])
    assert values_at(timeline, "weight_norm", -1) == (None, [None, None], [0, 0])
    assert values_at(timeline, "weight_norm", 1e9) == (20, [None, None], [0, 0])


def test_what_could_not_be_measured_is_none_and_what_went_bad_is_nan(tmp_path):
    undefined = schema.Status.SAMPLED | schema.Status.UNDEFINED_RATIO
    unseen = schema.Status.SAMPLED | schema.Status.UNSEEN
    log = begin(tmp_path / "a")
    log.table(0, SPEC, table(1, update_ratio=np.nan, update_cosine=np.nan, status=int(undefined)))
    log.table(10, SPEC, table(1, update_ratio=1e-3, weight_nan_fraction=0.5, status=int(unseen)))
    log.table(20, SPEC, table(1, update_ratio=np.nan)).append()
    timeline = scopes_in(tmp_path)["model"].timeline
    assert values_at(timeline, "update_ratio", 0)[1] == [None]
    assert sample_of(timeline, 0, 0).values["update_ratio"] is None
    assert sample_of(timeline, 0, 0).values["update_cosine"] is None
    for step in (10, 20):
        assert np.isnan(values_at(timeline, "update_ratio", step)[1][0])
        assert np.isnan(sample_of(timeline, 0, step).values["update_ratio"])


def test_a_sample_of_a_row_has_every_column_and_the_step_where_it_ends(tmp_path):
    log = begin(tmp_path / "a")
    log.table(0, SPEC, table(1, weight_norm=1)).table(
        10, SPEC, table(1, weight_norm=2, weight_nan_fraction=0.5)
    ).append()
    timeline = scopes_in(tmp_path)["model"].timeline
    sample = sample_of(timeline, 0, 3)
    assert (sample.step, sample.next_step, sample.values["weight_norm"], sample.status) == (0, 10, 1, 1)
    assert set(sample.values) == {column.name for column in schema.PARAMETER_COLUMNS} - {"status"}
    bad = sample_of(timeline, 0, 10)
    assert np.isnan(bad.values["weight_norm"])
    assert bad.values["weight_nan_fraction"] == 0.5
    assert sample_of(timeline, 0, 1000) is None


def pulse(log, steps):
    """Pulse rows of these steps in one record, keyed by the time."""
    spec = schema.TableSpec("pulse", "model", schema.pulse_columns([]))
    rows = np.full((len(steps), len(spec.columns)), 0.5)
    rows[:, 0] = steps
    return log.table(int(log.wall * 1000), spec, rows)


def test_the_last_sample_stands_for_no_step_that_training_has_not_reached(tmp_path):
    log = session(tmp_path / "a", 1, [0, 50, 100])
    assert scopes_in(tmp_path)["model"].timeline.end == 150
    pulse(log, range(100, 121)).append()
    assert scopes_in(tmp_path)["model"].timeline.end == 121
    pulse(log, range(121, 400)).append()
    assert scopes_in(tmp_path)["model"].timeline.end == 150


def test_the_last_step_of_a_run_is_its_last_update_sampled_or_not(tmp_path):
    log = session(tmp_path / "a", 1, [0, 50, 100])
    pulse(log, range(100, 121)).append()
    store = Store(parse_places(str(tmp_path)))
    store.look()
    assert store.catalogue().runs[0].last_step == 120


def spans_in(tmp_path):
    (scope,) = scopes_in(tmp_path).values()
    return spans_of(scope.chain)


def test_a_chain_can_be_shown_as_it_stood_before_a_session(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30], key="one")
    session(tmp_path / "a", 2, [20, 30, 40], key="two", continues="one")
    session(tmp_path / "a", 3, [40, 50], key="three", continues="two")
    (scope,) = scopes_in(tmp_path).values()
    assert norms(timeline_of(scope.chain, until=0)) == {0: 1, 10: 1, 20: 1, 30: 1}
    assert norms(timeline_of(scope.chain, until=1)) == {0: 1, 10: 1, 20: 2, 30: 2, 40: 2}
    for until in (2, 7, None):
        assert norms(timeline_of(scope.chain, until=until)) == norms(scope.timeline)


def test_a_span_tells_what_of_a_session_was_overwritten(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30], key="one")
    session(tmp_path / "a", 2, [20, 40], key="two", continues="one", start=15)
    first, second = spans_in(tmp_path)
    assert (first.number, first.id, first.continues, first.wall) == (0, "one", None, WALL + 1000)
    assert (first.start_step, first.first, first.last, first.offset) == (0, 0, 30, None)
    assert first.overwritten == Overwritten(20, 30, 2)
    assert (second.id, second.continues, second.start_step, second.first, second.last) == ("two", "one", 15, 20, 40)
    assert (second.overwritten, second.offset) == (None, None)
    assert second.file.endswith("events.out.tfevents.1700000002.host.2.0")


def test_sessions_that_begin_again_at_step_0_can_be_laid_one_behind_the_other(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one")
    pulse(session(tmp_path / "a", 2, [0, 10], key="two", continues="one"), range(15)).append()
    session(tmp_path / "a", 3, [10, 20], key="three", continues="two")
    (scope,) = scopes_in(tmp_path).values()
    assert norms(scope.timeline) == {0: 2, 10: 3, 20: 3}
    # The second began after the last sample of the first; the third goes on with its count.
    assert [span.offset for span in spans_of(scope.chain)] == [None, 21, 21]
    assert norms(timeline_of(scope.chain, shift=True)) == {0: 1, 10: 1, 20: 1, 21: 2, 31: 3, 41: 3}
    # As far as the pulse of the second tells, not only to its last sample.
    shifted = timeline_of(scope.chain, until=1, shift=True)
    assert norms(shifted) == {0: 1, 10: 1, 20: 1, 21: 2, 31: 2}
    assert shifted.end == 21 + 15
    assert shifted.steps.tolist() == [0, 10, 20, 21, 31]


def test_the_spans_of_sessions_laid_one_behind_the_other_are_told_as_they_lie(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one")
    session(tmp_path / "a", 2, [0, 10, 20], key="two", continues="one")
    session(tmp_path / "a", 3, [10, 20], key="three", continues="two")
    (scope,) = scopes_in(tmp_path).values()
    assert [span.overwritten for span in scope.sessions] == [Overwritten(0, 20, 3), Overwritten(10, 20, 2), None]
    shifted = spans_of(scope.chain, shift=True)
    assert [(span.start_step, span.first, span.last) for span in shifted] == [(0, 0, 20), (21, 21, 41), (31, 31, 41)]
    assert [span.overwritten for span in shifted] == [None, Overwritten(31, 41, 2), None]
    assert [span.offset for span in shifted] == [None, 21, 21]


def test_shifted_values_are_found_at_their_shifted_steps(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20], key="one")
    session(tmp_path / "a", 2, [0, 10], key="two", continues="one")
    (scope,) = scopes_in(tmp_path).values()
    shifted = timeline_of(scope.chain, shift=True)
    assert values_at(shifted, "weight_norm", 20)[:2] == (20, [1.0])
    assert values_at(shifted, "weight_norm", 25)[:2] == (21, [2.0])
    assert sample_of(shifted, 0, 31).next_step == 41


def test_the_clock_moves_with_its_session(tmp_path):
    for number in (1, 2):
        log = session(tmp_path / "a", number, [0, 10], key=str(number), continues="1" if number == 2 else None)
        for step in (0, 10):
            log.table(step, CLOCK, np.full((1, len(schema.CLOCK_COLUMNS)), 10.0 * number + step))
        log.append()
    (scope,) = scopes_in(tmp_path).values()
    steps, values = timeline_of(scope.chain, shift=True).clock("samples")
    assert list(zip(steps.tolist(), values.tolist(), strict=True)) == [(0, 10), (10, 20), (11, 20), (21, 30)]
    steps, values = scope.timeline.clock("samples")
    assert list(zip(steps.tolist(), values.tolist(), strict=True)) == [(0, 20), (10, 30)]


def test_stints_say_when_each_session_was_at_work(tmp_path):
    session(tmp_path / "a", 1, [0, 10, 20, 30], key="one")
    session(tmp_path / "a", 2, [15, 30], key="two", continues="one")
    (scope,) = scopes_in(tmp_path).values()
    first, second = scope.timeline.stints
    # The first was at step 15 between its samples of the steps 10 and 20.
    assert (first.began - WALL, first.ended - WALL, first.left - WALL) == (1000, 1004, 1002.5)
    assert (second.session, second.ended - WALL, second.left - WALL) == (1, 2002, 2002)


def slow_norms(sessions, until, shift):
    """What is shown by step, session for session: each is laid over what there is from where it begins."""
    there, spans, moved = {}, {}, 0
    for number, (start, steps) in enumerate(sessions[: until + 1]):
        begin = min(start, steps[0])
        if shift and number:
            before = sessions[number - 1][1]
            if begin <= before[0] and begin <= 0:  # else its writer says that it went back to a checkpoint
                moved += before[-1] + 1 - begin
        for step in [step for step in there if step >= begin + moved]:
            del there[step]
        there |= {step + moved: number for step in steps}
        spans[number] = moved or None
    return dict(sorted(there.items())), list(spans.values())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0, 3, 8]), st.sets(st.integers(0, 15), min_size=1, max_size=6).map(sorted)),
        min_size=1,
        max_size=4,
    )
)
def test_chains_are_shown_as_the_book_says(tmp_path, sessions):
    shutil.rmtree(tmp_path / "a", ignore_errors=True)
    for number, (start, steps) in enumerate(sessions):
        before = str(number - 1) if number else None
        session(tmp_path / "a", number, steps, key=str(number), continues=before, start=start)
    (scope,) = scopes_in(tmp_path).values()
    for until in range(len(sessions)):
        shown, _ = slow_norms(sessions, until, shift=False)
        assert norms(timeline_of(scope.chain, until=until)) == shown
        shown, offsets = slow_norms(sessions, until, shift=True)
        assert norms(timeline_of(scope.chain, until=until, shift=True)) == shown
    assert [span.offset for span in spans_of(scope.chain)] == offsets
    for span, (_, steps) in zip(spans_of(scope.chain), sessions, strict=True):
        later = [min(start, steps[0]) for start, steps in sessions[span.number + 1 :]]
        lost = [step for step in steps if any(step >= begin for begin in later)]
        assert span.overwritten == (Overwritten(lost[0], lost[-1], len(lost)) if lost else None)


def test_a_session_is_behind_the_one_that_it_continues_though_its_clock_is_behind(tmp_path):
    session(tmp_path / "a", 5, [0, 10, 20], key="one")
    session(tmp_path / "a", 1, [10, 20, 30], key="two", continues="one")
    (scope,) = scopes_in(tmp_path).values()
    assert [part.session.id for part in scope.chain] == ["one", "two"]
    assert norms(scope.timeline) == {0: 5, 10: 1, 20: 1, 30: 1}
