"""Every point of a run by tag, over all its files and sessions."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import WALL, Log, begin, parameters, table
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.fetch import Moved
from zentracer_store.reading.tail import Tail
from zentracer_store.runs.series import series_of


def read(path):
    contents = FileContents(str(path))
    tail = Tail(str(path))
    more = True
    while more:
        batch = tail.read()
        contents.feed(batch.records)
        more = batch.more
    return contents


def run_in(directory, run="a"):
    return series_of(run, [read(path) for path in sorted(directory.iterdir())])


def writer(directory, number, *, wall=None, start=None):
    """A file of another writer, the `number`-th in time; `start` is the step of its START mark."""
    wall = WALL + 1000 * number if wall is None else wall
    log = Log(directory / f"events.out.tfevents.170000000{number}.host.{number}.0", wall).version()
    return log if start is None else log.start(start)


def write(log, steps, tag="loss", value=None, every=1.0):
    """Points at these steps, one every second."""
    for step in steps:
        log.wall += every
        log.scalars(step, **{tag: step if value is None else value})
    return log


def shown(series):
    """Step and value of the points that nothing superseded."""
    kept = ~series.superseded
    return list(zip(series.step[kept].tolist(), series.value[kept].tolist(), strict=True))


def test_every_point_of_one_file_is_there_in_its_order(tmp_path):
    log = writer(tmp_path / "a", 1)
    log.scalars(0, loss=3, acc=0).scalars(1, loss=2).scalars(1, loss=1, acc=0.5).append()
    found = run_in(tmp_path / "a")
    assert list(found) == ["loss", "acc"]
    loss = found["loss"]
    assert (loss.run, loss.tag, loss.sort, len(loss)) == ("a", "loss", "scalar", 3)
    assert loss.step.tolist() == [0, 1, 1]
    assert loss.value.tolist() == [3, 2, 1]
    assert loss.decode(2) == 1.0
    assert not loss.superseded.any()
    assert loss.places is None
    (session,) = found.sessions
    assert (session.number, session.id, session.first, session.last, session.offset) == (0, None, 0, 1, None)


def test_files_one_after_the_other_are_a_chain_in_which_the_later_wins(tmp_path):
    write(writer(tmp_path / "a", 1), [0, 10, 20, 30], value=1).append()
    write(writer(tmp_path / "a", 2), [20, 30, 40], value=2).append()
    found = run_in(tmp_path / "a")
    assert shown(found["loss"]) == [(0, 1), (10, 1), (20, 2), (30, 2), (40, 2)]
    assert found["loss"].session.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert found["loss"].chains == ((0, 1),)
    first, second = found.sessions
    assert (first.overwritten.first, first.overwritten.last, first.overwritten.samples) == (20, 30, 2)
    assert (second.overwritten, second.start_step, second.offset) == (None, 20, None)
    assert [session.wall for session in found.sessions] == [WALL + 1001, WALL + 2001]
    assert first.file.endswith(".1.0")


def test_files_that_grow_side_by_side_supersede_nothing(tmp_path):
    write(writer(tmp_path / "a", 1, wall=WALL), range(10), value=1).append()
    write(writer(tmp_path / "a", 2, wall=WALL + 5), range(10), value=2).append()
    found = run_in(tmp_path / "a")
    assert not found["loss"].superseded.any()
    assert found["loss"].chains == ((0,), (1,))
    assert [session.chain for session in found.sessions] == [0, 1]
    assert found["loss"].value.tolist() == [1] * 10 + [2] * 10


def test_two_writers_on_one_machine_that_overlap_for_an_instant_grow_side_by_side(tmp_path):
    write(writer(tmp_path / "a", 1, wall=WALL), range(10), every=0.01).append()
    write(writer(tmp_path / "a", 2, wall=WALL + 0.05), range(10), every=0.01).append()
    assert run_in(tmp_path / "a")["loss"].chains == ((0,), (1,))


def test_a_third_file_goes_on_from_whichever_writer_had_the_tag(tmp_path):
    write(writer(tmp_path / "a", 1, wall=WALL), range(10), tag="loss").append()
    write(writer(tmp_path / "a", 2, wall=WALL + 5), range(10), tag="accuracy").append()
    both = writer(tmp_path / "a", 3)
    write(write(both, range(5, 8), tag="loss"), range(5, 8), tag="accuracy").append()
    found = run_in(tmp_path / "a")
    assert found["loss"].superseded.sum() == found["accuracy"].superseded.sum() == 5


def test_chains_of_one_tag_stand_one_after_the_other(tmp_path):
    write(writer(tmp_path / "a", 1, wall=WALL), [0, 1, 2], value=1).append()
    write(writer(tmp_path / "a", 2, wall=WALL + 0.5), [0, 1], value=2).append()
    write(writer(tmp_path / "a", 3, wall=WALL + 100), [2, 3], value=3).append()
    loss = run_in(tmp_path / "a")["loss"]
    assert loss.chains == ((0, 2), (1,))
    assert loss.value.tolist() == [1, 1, 1, 3, 3, 2, 2]
    assert shown(loss) == [(0, 1), (1, 1), (2, 3), (3, 3), (0, 2), (1, 2)]
    assert shown(loss.until(1)) == [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2)]


def test_a_start_mark_wins_from_the_step_it_tells(tmp_path):
    write(writer(tmp_path / "a", 1), [0, 10, 20, 30], value=1).append()
    write(writer(tmp_path / "a", 2, start=15), [30], value=2).append()
    assert shown(run_in(tmp_path / "a")["loss"]) == [(0, 1), (10, 1), (30, 2)]


def test_a_start_mark_at_step_0_says_nothing(tmp_path):
    write(writer(tmp_path / "a", 1), [0, 10, 20, 30], value=1).append()
    write(writer(tmp_path / "a", 2, start=0), [30, 40], value=2).append()
    assert shown(run_in(tmp_path / "a")["loss"]) == [(0, 1), (10, 1), (20, 1), (30, 2), (40, 2)]


def test_a_start_mark_within_a_file_begins_a_session(tmp_path):
    log = write(writer(tmp_path / "a", 1), [0, 10, 20], value=1)
    write(log.start(10), [10, 20, 30], value=2).append()
    found = run_in(tmp_path / "a")
    assert shown(found["loss"]) == [(0, 1), (10, 2), (20, 2), (30, 2)]
    assert len(found.sessions) == 2


def test_steps_that_go_back_without_a_mark_begin_a_session_for_all_tags(tmp_path):
    log = writer(tmp_path / "a", 1)
    for value, steps in ((1, range(6)), (2, range(3, 8))):
        for step in steps:
            log.wall += 1
            log.scalars(step, loss=value, acc=value)
    log.append()
    found = run_in(tmp_path / "a")
    for tag in ("loss", "acc"):
        assert shown(found[tag]) == [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2)]
    assert [(session.first, session.last) for session in found.sessions] == [(0, 5), (3, 7)]
    assert found.sessions[1].wall == WALL + 1007


@pytest.mark.parametrize("every", [0.0, -5.0, 1.0])
def test_the_order_of_a_file_is_that_of_its_sessions_whatever_its_clock_says(tmp_path, every):
    log = write(writer(tmp_path / "a", 1, wall=WALL), [0, 1, 2], value=1, every=every)
    write(log, [1, 2, 3], value=2, every=every).append()
    assert shown(run_in(tmp_path / "a")["loss"]) == [(0, 1), (1, 2), (2, 2), (3, 2)]


def test_files_that_began_together_follow_each_other_by_name(tmp_path):
    write(writer(tmp_path / "a", 1, wall=WALL), [0, 1, 2], value=1, every=0).append()
    write(writer(tmp_path / "a", 2, wall=WALL), [1, 2, 3], value=2, every=0).append()
    assert shown(run_in(tmp_path / "a")["loss"]) == [(0, 1), (1, 2), (2, 2), (3, 2)]


def test_what_counts_epochs_is_cut_where_it_goes_back_itself(tmp_path):
    first, second = writer(tmp_path / "a", 1), writer(tmp_path / "a", 2)
    for log, steps in ((first, range(0, 300)), (second, range(200, 400))):
        for step in steps:
            log.wall += 1
            log.scalars(step, loss=step)
            if step % 100 == 99:
                log.scalars(step // 100, epoch_loss=step)
        log.append()
    found = run_in(tmp_path / "a")
    assert shown(found["epoch_loss"]) == [(0, 99), (1, 199), (2, 299), (3, 399)]
    assert (found.sessions[0].first, found.sessions[0].last) == (0, 299)
    assert found.sessions[0].overwritten.first == 200


def test_steps_that_never_move_supersede_nothing(tmp_path):
    for number in (1, 2):
        write(writer(tmp_path / "a", number), [0] * 5, value=number).append()
    loss = run_in(tmp_path / "a")["loss"]
    assert loss.value.tolist() == [1] * 5 + [2] * 5
    assert not loss.superseded.any()
    assert loss.shifted().step.tolist() == [0] * 10


def test_a_single_value_written_again_is_superseded(tmp_path):
    for number in (1, 2):
        write(write(writer(tmp_path / "a", number), [0], tag="metric", value=number), range(9)).append()
    assert shown(run_in(tmp_path / "a")["metric"]) == [(0, 2)]


def test_a_counter_that_restarts_at_0_is_offered_an_offset(tmp_path):
    for number in (1, 2, 3):
        write(writer(tmp_path / "a", number), range(5), value=number).append()
    found = run_in(tmp_path / "a")
    assert [session.offset for session in found.sessions] == [None, 5, 10]
    assert shown(found["loss"]) == [(step, 3) for step in range(5)]
    shifted = found["loss"].shifted()
    assert shown(shifted) == [(step, step // 5 + 1) for step in range(15)]
    assert shown(shifted.shifted()) == shown(shifted)
    assert [step for step, _ in shown(found["loss"].until(1).shifted())] == list(range(10))


def test_tags_that_count_the_same_move_together_and_epochs_by_themselves(tmp_path):
    for number in (1, 2):
        log = writer(tmp_path / "a", number)
        for step in range(100):
            log.scalars(step, loss=step)
            if step % 30 == 0:
                log.scalars(step, validation=step)
            if step % 50 == 0:
                log.scalars(step // 50, epoch=step)
        log.append()
    found = run_in(tmp_path / "a")
    assert found["loss"].shifted().step[100] == 100
    assert found["validation"].shifted().step.tolist() == [0, 30, 60, 90, 100, 130, 160, 190]
    assert found["epoch"].shifted().step.tolist() == [0, 1, 2, 3]


def test_a_tag_of_a_later_session_alone_moves_with_it(tmp_path):
    write(writer(tmp_path / "a", 1), range(10)).append()
    write(write(writer(tmp_path / "a", 2), range(10)), range(10), tag="new").append()
    found = run_in(tmp_path / "a")
    assert found["new"].shifted().step.tolist() == found["loss"].shifted().step[10:].tolist() == list(range(10, 20))


def test_sessions_of_ours_follow_by_their_records_and_wins_from_the_step_they_tell(tmp_path):
    for number, (key, before, steps) in enumerate([("one", None, range(6)), ("two", "one", [4, 5])], start=1):
        # They overlap in time: only the record says that the second goes on from the first.
        log = begin(tmp_path / "a", f"events.out.tfevents.170000000{number}.host.{number}.0", start=0)
        log.session(key, before, start_step=0 if number == 1 else 2)
        write(log, steps, tag=schema.scalar_tag("model", "loss"), value=number).append()
    found = run_in(tmp_path / "a/zentracer")
    assert shown(found["zentracer/model/loss"]) == [(0, 1), (1, 1), (4, 2), (5, 2)]
    assert [(s.id, s.continues) for s in found.sessions] == [("one", None), ("two", "one")]


def test_a_file_that_a_process_of_ours_opened_later_belongs_to_its_session(tmp_path):
    tag = schema.scalar_tag("model", "loss")
    log = begin(tmp_path / "a", "events.out.tfevents.1700000001.host.1.0").session("one")
    write(log, range(3), tag=tag).append()
    later = Log(tmp_path / "a/zentracer/events.out.tfevents.1700000001.host.1.1", log.wall).version()
    write(later, range(3, 5), tag=tag).append()
    found = run_in(tmp_path / "a/zentracer")
    assert found[tag].step.tolist() == [0, 1, 2, 3, 4]
    assert len(found.sessions) == 1


def test_our_messages_and_tables_keyed_by_time_supersede_nothing(tmp_path):
    for number in (1, 2):
        log = begin(tmp_path / "a", f"events.out.tfevents.170000000{number}.host.{number}.0", wall=WALL + 1000 * number)
        log.session(f"{number}", start_step=0)
        log.table(0, parameters(["w"]), table(1)).append()
    found = run_in(tmp_path / "a/zentracer")
    (session,) = [series for series in found.values() if series.sort == "message"]
    assert len(session) == 2
    assert not session.superseded.any()


def test_settings_that_every_session_writes_are_not_superseded_nor_counted(tmp_path):
    for number in (1, 2):
        event = schema.Event(wall_time=WALL + 1000 * number, graph_def=b"graph")
        log = writer(tmp_path / "a", number).add(event.SerializeToString())
        (log if number == 1 else write(log, [5, 6])).append()
    found = run_in(tmp_path / "a")
    assert not found["<graph_def>"].superseded.any()
    assert [(session.first, session.last, session.offset) for session in found.sessions] == [(0, 0, None), (5, 6, None)]


def records(directory, number, steps, value):
    log = writer(directory, number)
    for step in steps:
        log.wall += 1
        event = schema.Event(wall_time=log.wall, step=step)
        event.summary.value.add(tag="other", simple_value=1)
        histogram = event.summary.value.add(tag="weights").histo
        histogram.num, histogram.bucket[:], histogram.bucket_limit[:] = value, [value], [1.0]
        log.add(event.SerializeToString())
    return log.append().path


def test_a_value_that_is_no_scalar_is_read_from_its_record(tmp_path):
    records(tmp_path / "a", 1, [0, 1, 2], 1)
    path = records(tmp_path / "a", 2, [1, 2], 2)
    weights = run_in(tmp_path / "a")["weights"]
    assert (weights.sort, weights.value) == ("histogram", None)
    assert weights.step.tolist() == [0, 1, 2, 1, 2]
    assert weights.superseded.tolist() == [False, True, True, False, False]
    assert [weights.decode(row).histo.num for row in range(5)] == [1, 1, 1, 2, 2]
    assert weights.places.paths[weights.places.file[3]] == str(path)
    assert [weights.until(0).decode(row).histo.num for row in range(3)] == [1, 1, 1]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(Moved, match="no longer there"):
        weights.decode(4)


def test_histograms_that_go_back_begin_a_session_as_scalars_do(tmp_path):
    log = writer(tmp_path / "a", 1)
    for number, steps in ((1, [0, 1, 2]), (2, [1, 2])):
        for step in steps:
            log.wall += 1
            event = schema.Event(wall_time=log.wall, step=step)
            event.summary.value.add(tag="weights").histo.num = number
            log.add(event.SerializeToString())
    log.append()
    weights = run_in(tmp_path / "a")["weights"]
    assert weights.session.tolist() == [0, 0, 0, 1, 1]


def test_a_graph_is_decoded_as_its_event(tmp_path):
    event = schema.Event(wall_time=WALL, graph_def=b"graph")
    writer(tmp_path / "a", 1).add(event.SerializeToString()).append()
    assert run_in(tmp_path / "a")["<graph_def>"].decode(0).graph_def == b"graph"


def test_a_tag_in_angle_brackets_is_a_tag_as_any_other(tmp_path):
    event = schema.Event(wall_time=WALL)
    event.summary.value.add(tag="<weights>").histo.num = 7
    writer(tmp_path / "a", 1).add(event.SerializeToString()).append()
    assert run_in(tmp_path / "a")["<weights>"].decode(0).histo.num == 7


def test_a_tag_that_is_of_another_sort_in_another_file_is_two(tmp_path):
    write(writer(tmp_path / "a", 1), [0, 1], tag="weights").append()
    records(tmp_path / "a", 2, [2], 5)
    found = run_in(tmp_path / "a")
    assert list(found) == ["weights", "other", "weights (histogram)"]
    assert found["weights"].step.tolist() == [0, 1]
    assert found["weights (histogram)"].step.tolist() == [2]


def test_a_run_without_records_has_no_series(tmp_path):
    writer(tmp_path / "a", 1).append()
    found = run_in(tmp_path / "a")
    assert (len(found), found.sessions) == (0, ())


@st.composite
def writings(draw):
    """Files as (begin in seconds, step of a START mark or None, steps, rising)."""
    steps = st.lists(st.integers(0, 20), min_size=1, max_size=8).map(sorted)
    one = st.tuples(st.integers(0, 30), st.sampled_from([None, None, 5, 12]), steps)
    return draw(st.lists(one, min_size=1, max_size=4, unique_by=start_of))


def start_of(file):
    """A mark is written when the file begins; its first point a second later."""
    begin, told, _ = file
    return begin + (told is None)


def slow_series(files):
    """Chains of file numbers, and of each point its file, its step and whether it is superseded, by the book."""
    files = sorted(files, key=start_of)
    ends = [begin + len(steps) for begin, _, steps in files]
    chains = []
    for number, file in enumerate(files):
        ended = [chain for chain in chains if all(ends[other] <= start_of(file) for other in chain)]
        best = max(ended, key=lambda chain: max(ends[other] for other in chain), default=None)
        if best is None:
            chains.append(best := [])
        best.append(number)
    kept = []
    for chain in chains:
        for place, number in enumerate(chain):
            for step in files[number][2]:
                later = [files[other] for other in chain[place + 1 :]]
                lost = any(step >= min(steps[0], steps[0] if told is None else told) for _, told, steps in later)
                kept.append((number, step, lost))
    return sorted(map(tuple, chains)), kept


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writings())
def test_what_is_superseded_is_what_the_book_says(tmp_path, files):
    shutil.rmtree(tmp_path / "a", ignore_errors=True)
    for number, (begin_s, told, steps) in enumerate(files):
        write(writer(tmp_path / "a", number, wall=WALL + begin_s, start=told), steps).append()
    loss = run_in(tmp_path / "a")["loss"]
    chains, kept = slow_series(files)
    assert sorted(loss.chains) == chains
    # Steps that never move count nothing: tests of their own say what holds for them.
    if len({step for _, _, steps in files for step in steps}) > 1:
        got = zip(loss.session.tolist(), loss.step.tolist(), loss.superseded.tolist(), strict=True)
        assert sorted(got) == sorted(kept)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["scalar", "scalar", "histogram", "start"]),
        st.integers(0, 6),
        st.sampled_from([WALL, WALL + 1, WALL + 2, WALL + 1e6, 0.0, -5.0, float("nan")]),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(EVENTS, min_size=1, max_size=3))
def test_whatever_the_wall_times_are_every_point_is_there_once(tmp_path, files):
    shutil.rmtree(tmp_path / "a", ignore_errors=True)
    wanted = []
    for number, events in enumerate(files):
        log = Log(tmp_path / f"a/events.out.tfevents.{number}").version()
        for place, (sort, step, wall) in enumerate(events):
            event = schema.Event(wall_time=wall, step=step)
            if sort == "start":
                event.session_log.status = 1
            elif sort == "scalar":
                event.summary.value.add(tag="loss", simple_value=place)
            else:
                event.summary.value.add(tag="weights").histo.num = place
            if sort != "start":
                wanted.append((sort, number, place, step))
            log.add(event.SerializeToString())
        log.append()
    found = run_in(tmp_path / "a")
    got = []
    for series in found.values():
        for row, step in enumerate(series.step.tolist()):
            value = series.decode(row)
            place = value if series.sort == "scalar" else value.histo.num
            got.append((series.sort, place, step))
        assert len(series.session) == len(series.superseded) == len(series.wall) == len(series)
        assert set(series.session.tolist()) == {number for chain in series.chains for number in chain}
    assert sorted(got) == sorted((sort, place, step) for sort, _, place, step in wanted)


REAL_LOGS = Path(__file__).parents[5] / "shared/real_logs"


@pytest.mark.skipif(not REAL_LOGS.is_dir(), reason="the logs of strangers are not here")
def test_real_runs_that_went_over_their_steps_again_are_told_apart():
    # One file whose writer went back from step 99 to 90 without a mark.
    (directory,) = REAL_LOGS.glob("janosh*/tests/runs/duplicate_steps/run_1")
    again = run_in(directory)
    assert [(session.first, session.last) for session in again.sessions] == [(0, 99), (90, 199)]
    foo = again["dup_steps/foo"]
    assert (len(foo), int(foo.superseded.sum())) == (210, 10)
    # Three files, each a whole run from step 0.
    (directory,) = REAL_LOGS.glob("gradio*/tf_test_run")
    thrice = run_in(directory)
    assert [session.offset for session in thrice.sessions] == [None, 10, 20]
    assert thrice["loss"].shifted().step.tolist() == list(range(30))
