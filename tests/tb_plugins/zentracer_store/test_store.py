"""The catalogue of a log directory: what is there, what was read, what was odd; and keeping up with it."""

import logging
import os
import shutil
import threading
import time

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

import zentracer_schema as schema
from tests.logs import EVENTS, WALL, Log, begin, parameters, table, write_run, write_scalars
from zentracer_store import CellsQuery, Store, answer_cells, parse_places
from zentracer_store.catalogue import LIVE_S
from zentracer_store.follow import Follower
from zentracer_store.runs.trial import Trial

LONG_AGO = time.time() - 2 * LIVE_S


@pytest.fixture
def store_of():
    """Makes stores that are closed after the test."""
    made = []

    def make(logdir, look=True):
        store = Store(parse_places(str(logdir)))
        made.append(store)
        if look:
            store.look()
        return store

    yield make
    for store in made:
        store.close()


def runs(store):
    return {run.name: run for run in store.catalogue().runs}


def texts(store):
    return [(oddity.run, oddity.file, oddity.text) for oddity in store.catalogue().oddities]


def test_every_run_is_listed_with_what_it_has(tmp_path, store_of):
    write_run(tmp_path / "ours", steps=[0, 5])
    write_scalars(tmp_path / "theirs", {"loss": [1.0, 0.5, 0.25], "accuracy": [0.0]})
    listed = runs(store_of(tmp_path))
    assert [(run.name, run.tables, run.last_step) for run in listed.values()] == [
        ("ours", True, 5),
        ("theirs", False, 2),
    ]
    assert all(run.error is None and not run.nan for run in listed.values())


def test_counts_are_of_tags_of_other_writers(tmp_path, store_of):
    write_run(tmp_path / "a")
    write_scalars(tmp_path / "a", {"loss": [1.0], "zentracer/model/update_ratio": [0.1]})
    write_scalars(tmp_path / "b", {"loss": [1.0], "accuracy": [1.0]})
    counts = store_of(tmp_path).catalogue().counts
    assert (counts.runs, counts.files, counts.unreadable) == (2, 3, 0)
    assert (counts.scalar_tags, counts.histogram_tags, counts.other_tags) == (2, 0, 0)
    assert counts.bytes == sum(path.stat().st_size for path in tmp_path.rglob("*tfevents*"))


def test_a_trial_has_its_splits_scalars_and_its_tables(tmp_path, store_of):
    write_run(tmp_path / "x")
    write_scalars(tmp_path / "x/train", {"loss": [1.0, 2.0]})
    store = store_of(tmp_path)
    (run,) = runs(store).values()
    assert (run.name, run.tables) == ("x", True)
    points = {path: len(c.points) for path, c in store.contents("x").items() if len(c.points)}
    assert points == {f"x/train/{EVENTS}": 2}


def test_a_growing_file_is_followed(tmp_path, store_of):
    spec = parameters(["w"])
    log = begin(tmp_path / "a").table(0, spec, table(1)).append()
    store = store_of(tmp_path)
    before = store.generation_of("a")
    assert not store.look()
    log.table(1, spec, table(1)).append()
    assert store.look()
    assert store.generation_of("a") > before
    assert store.scopes("a")[1][0].timeline.steps.tolist() == [0, 1]


def test_a_new_run_appears_and_a_removed_one_goes(tmp_path, store_of):
    path = write_run(tmp_path / "a")
    store = store_of(tmp_path)
    write_run(tmp_path / "b")
    store.look()
    assert list(runs(store)) == ["a", "b"]
    os.remove(path)
    store.look()
    assert list(runs(store)) == ["b"]
    assert store.scopes("a") is None
    assert store.generation_of("a") is None


def test_a_replaced_file_takes_the_place_of_what_was_read(tmp_path, store_of):
    path = write_run(tmp_path / "a", steps=range(10))
    store = store_of(tmp_path)
    os.remove(path)
    write_run(tmp_path / "a", steps=range(3))
    store.look()
    assert store.scopes("a")[1][0].timeline.steps.tolist() == [0, 1, 2]
    assert "shrank" in texts(store)[0][2]


def test_a_description_in_another_file_of_the_run_serves_all(tmp_path, store_of):
    spec = parameters(["w"])
    late = Log(tmp_path / "a/zentracer/events.out.tfevents.1.host.1.1", described={spec.tag}).version()
    late.table(5, spec, table(1)).append()
    store = store_of(tmp_path)
    assert store.scopes("a")[1] == ()
    assert texts(store)[0][2] == f"{spec.tag} has no description so far: it shows once a file of the run has one."
    begin(tmp_path / "a").table(0, spec, table(1)).append()
    store.look()
    assert store.scopes("a")[1][0].timeline.steps.tolist() == [0, 5]


def test_a_run_whose_files_changed_lately_is_live_until_it_says_that_it_ended(tmp_path, store_of):
    log = begin(tmp_path / "a").session("one").table(0, parameters(["w"]), table(1)).append()
    store = store_of(tmp_path)
    assert runs(store)["a"].state == "live"
    log.add(schema.session_stop_event(log.wall, 0)).append()
    store.look()
    assert runs(store)["a"].state == "ended"


def test_a_run_that_goes_on_after_it_ended_is_live_again(tmp_path, store_of):
    log = begin(tmp_path / "a").session("one").table(0, parameters(["w"]), table(1))
    log.add(schema.session_stop_event(log.wall, 0)).append()
    begin(tmp_path / "a", "events.out.tfevents.2.host.2.0", wall=log.wall + 10).session("two", "one").append()
    assert runs(store_of(tmp_path))["a"].state == "live"


def test_a_run_that_was_left_alone_has_ended(tmp_path, store_of):
    os.utime(write_run(tmp_path / "a"), (LONG_AGO, LONG_AGO))
    assert runs(store_of(tmp_path))["a"].state == "ended"


def test_before_anything_is_read_runs_are_waiting_and_progress_says_so(tmp_path, store_of, monkeypatch):
    write_run(tmp_path / "a")
    store = store_of(tmp_path, look=False)
    progress = store.catalogue().progress
    assert (progress.files, progress.files_total, progress.done) == (0, 0, False)
    seen = []
    read = Store._read
    monkeypatch.setattr(Store, "_read", lambda self, file: seen.append(self.catalogue()) or read(self, file))
    store.look()
    assert [(run.name, run.state) for run in seen[0].runs] == [("a", "waiting")]
    assert (seen[0].progress.files, seen[0].progress.files_total, seen[0].progress.done) == (0, 1, False)
    progress = store.catalogue().progress
    assert (progress.files, progress.files_total, progress.done) == (1, 1, True)
    assert progress.bytes == progress.bytes_total == (tmp_path / f"a/zentracer/{EVENTS}").stat().st_size


def test_the_run_that_is_looked_at_is_read_first_then_the_newest(tmp_path, store_of, monkeypatch):
    for age, name in enumerate(("new", "middle", "old", "wanted")):
        path = write_run(tmp_path / name)
        os.utime(path, (LONG_AGO - age, LONG_AGO - age))
    store, order = store_of(tmp_path, look=False), []
    read = Store._read
    monkeypatch.setattr(Store, "_read", lambda self, file: order.append(file.found.trial) or read(self, file))
    monkeypatch.setattr(Follower, "ask", lambda self: None)
    store.ask("wanted")
    store.look()
    assert order == ["wanted", "new", "middle", "old"]


def test_the_last_step_of_a_run_that_began_again_is_the_newest(tmp_path, store_of):
    log = begin(tmp_path / "a").session("one").table(900, parameters(["w"]), table(1)).append()
    log = begin(tmp_path / "a", "events.out.tfevents.2.host.2.0", wall=log.wall + 10).session("two", "one")
    log.table(5, parameters(["w"]), table(1)).append()
    assert runs(store_of(tmp_path))["a"].last_step == 5


def test_nan_in_weights_is_told_of_the_run(tmp_path, store_of):
    write_run(tmp_path / "bad", weight_nan_fraction=lambda step: step == 7)
    write_run(tmp_path / "good")
    assert {name: run.nan for name, run in runs(store_of(tmp_path)).items()} == {"bad": True, "good": False}


def test_an_overflow_that_the_gradient_scaler_skipped_is_no_nan(tmp_path, store_of):
    status = schema.Status.SAMPLED | schema.Status.UPDATE_SKIPPED
    write_run(tmp_path / "a", gradient_nan_fraction=0.5, status=int(status))
    assert not runs(store_of(tmp_path))["a"].nan


def test_one_bad_file_hides_neither_its_run_nor_another(tmp_path, store_of):
    path = write_run(tmp_path / "a")
    size = path.stat().st_size
    with open(path, "ab") as file:
        file.write(b"this is no record at all")
    write_run(tmp_path / "b")
    store = store_of(tmp_path)
    assert [(run.name, run.last_step) for run in runs(store).values()] == [("a", 9), ("b", 9)]
    (oddity,) = store.catalogue().oddities
    assert (oddity.run, oddity.file, oddity.offset) == ("a", f"a/zentracer/{EVENTS}", size)
    assert oddity.text == "What begins here is no readable record. Reading goes on where the next one begins."


def test_damage_without_end_is_told_up_to_a_limit(tmp_path, store_of, monkeypatch, caplog):
    monkeypatch.setattr("zentracer_store.contents.file_contents.MOST_ODDITIES", 3)
    path = write_run(tmp_path / "a", steps=range(8))
    data = bytearray(path.read_bytes())
    at = 0
    while at < len(data):
        length = schema.parse_length(data[at : at + 12])
        data[at + 12 + length] ^= 1
        at += 16 + length
    path.write_bytes(data + schema.frame(schema.file_version_event(0.0)))
    told = [text for _, _, text in texts(store_of(tmp_path))]
    assert len(told) == len(caplog.messages) == 4
    assert told[-1] == "There is more like this in the file, which is not listed."


def test_a_newer_format_is_told_with_run_tag_and_version(tmp_path, store_of, caplog):
    spec = schema.TableSpec("parameters", "model", parameters(["w"]).columns, parameters(["w"]).rows, format=2)
    begin(tmp_path / "a").table(0, spec, table(1)).table(1, spec, table(1)).append()
    write_run(tmp_path / "b")
    with caplog.at_level(logging.WARNING):
        store = store_of(tmp_path)
    assert texts(store) == [
        (
            "a",
            f"a/zentracer/{EVENTS}",
            f"{spec.tag} is skipped. Written in format 2, this version reads up to 1: upgrade zentracer to see it.",
        )
    ]
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"Run a, file a/zentracer/{EVENTS} at byte ")
    assert store.scopes("a")[1] == ()
    assert len(store.scopes("b")[1]) == 1


def test_a_file_that_is_no_file_is_told_as_the_runs_error(tmp_path, store_of):
    write_run(tmp_path / "b")
    os.mkdir(tmp_path / "a")
    os.mkfifo(tmp_path / "a" / EVENTS)
    (tmp_path / "a/tfevents.device").symlink_to("/dev/zero")
    store = store_of(tmp_path)
    assert {name: run.error for name, run in runs(store).items()} == {
        "a": f"a/{EVENTS}: The file is a FIFO, not a regular file, and is not read.",
        "b": None,
    }
    assert store.catalogue().counts.unreadable == 2
    assert store.catalogue().progress.done
    assert not store.look()  # and is not news for ever


def test_a_file_that_may_not_be_read_is_told_until_it_may(unprivileged_path, store_of):
    path = write_run(unprivileged_path / "a")
    path.chmod(0)
    store = store_of(unprivileged_path)
    assert runs(store)["a"].error == f"a/zentracer/{EVENTS}: The file can't be read (Permission denied)."
    path.chmod(0o600)
    store.look()
    assert runs(store)["a"].error is None
    assert runs(store)["a"].last_step == 9


def test_a_link_to_nowhere_is_told(tmp_path, store_of):
    (tmp_path / "tfevents.gone").symlink_to(tmp_path / "nowhere")
    store = store_of(tmp_path)
    assert runs(store)["."].error == "tfevents.gone: The file can't be read (No such file or directory)."


def test_a_defect_of_ours_costs_one_file_and_is_told(tmp_path, store_of, monkeypatch, caplog):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b", rows=["other"])
    read_some = Store._read_some

    def failing(self, file):
        if file.found.trial == "a":
            raise ZeroDivisionError
        return read_some(self, file)

    monkeypatch.setattr(Store, "_read_some", failing)
    store = store_of(tmp_path)
    assert runs(store)["a"].error.endswith("ZenTracer failed on this file (ZeroDivisionError); the log says more.")
    assert len(store.scopes("b")[1]) == 1


def test_a_defect_of_ours_in_summing_up_a_run_costs_that_run_only(tmp_path, store_of, monkeypatch, caplog):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    whole = Trial.last_step.fget

    def fails_on_a(trial):
        if trial.name == "a":
            raise IndexError
        return whole(trial)

    monkeypatch.setattr(Trial, "last_step", property(fails_on_a))
    listed = runs(store_of(tmp_path))
    assert listed["a"].error == "ZenTracer failed on this run (IndexError); the log says more."
    assert (listed["b"].error, listed["b"].last_step) == (None, 9)
    assert "Summing up the run a failed." in caplog.text


def test_names_that_are_no_unicode_stay_apart(tmp_path, store_of):
    for name in (b"bad\xff", b"bad\xfe"):
        write_run(tmp_path / os.fsdecode(name))
    assert list(runs(store_of(tmp_path))) == ["bad\\xfe", "bad\\xff"]


def test_a_log_directory_that_is_not_there_yet_is_told_and_found_later(tmp_path, store_of):
    logdir = tmp_path / "runs"
    store = store_of(logdir)
    assert texts(store) == [(None, str(logdir), f"{logdir} does not exist yet. It is looked for again.")]
    assert store.catalogue().progress.done
    write_run(logdir / "a")
    store.look()
    assert (texts(store), list(runs(store))) == ([], ["a"])


def test_an_empty_log_directory_is_no_oddity(tmp_path, store_of):
    catalogue = store_of(tmp_path).catalogue()
    assert (catalogue.runs, catalogue.oddities, catalogue.counts.files) == ((), (), 0)


def test_wall_times_that_are_not_finite_are_told_and_replaced(tmp_path, store_of):
    log = begin(tmp_path / "a").table(0, parameters(["w"]), table(1))
    log.add(schema.table_event(float("nan"), 1, parameters(["w"]), table(1), with_spec=False)).append()
    store = store_of(tmp_path)
    assert texts(store)[0][2] == "A record has no finite wall time; that of the record before it is taken."
    assert np.isfinite(store.scopes("a")[1][0].timeline.walls).all()
    assert runs(store)["a"].last_wall == log.wall


def test_what_was_asked_for_stays_whole_while_the_run_grows(tmp_path, store_of):
    spec = parameters([f"w{number}" for number in range(50)])
    log = begin(tmp_path / "a").table(0, spec, table(50, update_ratio=1)).append()
    store = store_of(tmp_path)
    done = threading.Event()
    wrong = []

    def ask():
        while not done.is_set():
            timeline = store.scopes("a")[1][0].timeline
            answer = answer_cells(timeline, CellsQuery("update_ratio"))
            expected = timeline.steps + 1.0
            if answer.facts["samples"] != len(expected) or not (answer.arrays["max"] == expected).all():
                wrong.append(answer)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    for step in range(1, 150):
        log.table(step, spec, table(50, update_ratio=step + 1)).append()
        store.look()
    done.set()
    for thread in asking:
        thread.join()
    assert not wrong


def test_asking_starts_a_thread_that_reads_and_closing_ends_it(tmp_path, store_of):
    write_run(tmp_path / "a")
    store = store_of(tmp_path, look=False)
    before = threading.active_count()
    store.ask()
    end = time.monotonic() + 10
    while not store.catalogue().progress.done and time.monotonic() < end:
        time.sleep(0.01)
    assert runs(store)["a"].last_step == 9
    store.close()
    assert threading.active_count() == before


def test_a_glance_finds_what_grows_what_comes_and_what_goes(tmp_path, store_of):
    log = begin(tmp_path / "a").table(0, parameters(["w"]), table(1)).append()
    store = store_of(tmp_path, look=False)
    assert store.glance()
    assert not store.glance()
    log.table(1, parameters(["w"]), table(1)).append()
    assert store.glance()
    assert runs(store)["a"].last_step == 1
    write_run(tmp_path / "b")
    wait_until(lambda: store.glance() and set(runs(store)) == {"a", "b"})
    (tmp_path / "a").rename(tmp_path.parent / "elsewhere")
    wait_until(lambda: store.glance() and set(runs(store)) == {"b"})


def test_of_many_files_that_rest_a_glance_looks_at_few_but_always_at_those_of_the_run_looked_at(
    tmp_path, store_of, monkeypatch
):
    paths = [write_run(tmp_path / name) for name in "abcdefgh"]
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))
    store = store_of(tmp_path)
    seen = []
    changed_files = Store._changed_files
    monkeypatch.setattr(Store, "_changed_files", lambda self, some: changed_files(self, seen.extend(some) or seen))
    store._wanted = "c"
    store.glance()
    assert str(paths[2]) in seen
    assert len(set(seen)) < len(paths)


def test_a_run_at_rest_that_grows_again_is_seen_within_its_turn(tmp_path, store_of):
    log = begin(tmp_path / "a").table(0, parameters(["w"]), table(1)).append()
    os.utime(log.path, (LONG_AGO, LONG_AGO))
    store = store_of(tmp_path)
    log.table(1, parameters(["w"]), table(1)).append()
    wait_until(store.glance)
    assert runs(store)["a"].last_step == 1


def test_waiting_ends_with_the_next_change_or_its_time(tmp_path, store_of):
    store = store_of(tmp_path)
    before = store.generation
    assert store.wait(before, 0.01) == before
    assert store.wait(before - 1, 60) == before
    changing = threading.Timer(0.05, lambda: write_run(tmp_path / "a") and store.look())
    changing.start()
    assert store.wait(before, 60) > before
    changing.join()


def wait_until(condition):
    """Until it holds: nothing signals the turn of a file."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_store_that_nobody_asks_reads_nothing(tmp_path, store_of):
    write_run(tmp_path / "a")
    store = store_of(tmp_path, look=False)
    assert store.catalogue().runs == ()
    assert "zentracer-follow" not in {thread.name for thread in threading.enumerate()}


def test_the_sub_run_that_hparams_make_belongs_to_the_run_above_it(tmp_path, store_of):
    for run in ("a", "."):
        with SummaryWriter(str(tmp_path / run)) as writer:
            writer.add_scalar("loss", 1.0, 0)
            writer.add_hparams({"lr": 0.1}, {"hparam/accuracy": 0.5})
    write_scalars(tmp_path / "a/1700000000.5", {"loss": [1.0]})  # named so, but without hparams
    store = store_of(tmp_path)
    assert list(runs(store)) == [".", "a", "a/1700000000.5"]
    assert runs(store)["a"].holds == {"scalar": 2, "hparams": 3}
    assert [holding.examples for holding in store.holdings("a") if holding.sort == "scalar"] == [
        ("hparam/accuracy", "loss")
    ]


def test_what_a_run_holds_is_told_by_sort(tmp_path, store_of):
    with SummaryWriter(str(tmp_path / "a")) as writer:
        for step in range(3):
            writer.add_scalar("loss", step, step)
            writer.add_scalar("accuracy", step, step)
        writer.add_text("note", "hello", 0)
        writer.add_histogram("weights", np.arange(9.0), 0)
    write_run(tmp_path / "a")
    store = store_of(tmp_path)
    assert runs(store)["a"].holds == {"scalar": 2, "text": 1, "histogram": 1}
    assert [(h.sort, h.tags, h.points, h.examples) for h in store.holdings("a")] == [
        ("scalar", 2, 6, ("accuracy", "loss")),
        ("histogram", 1, 1, ("weights",)),
        ("text", 1, 1, ("note/text_summary",)),
    ]
    assert store.holdings("nowhere") == ()


def test_a_tag_without_end_is_named_by_its_beginning(tmp_path, store_of):
    write_scalars(tmp_path / "a", {"loss" * 1000: [1.0]})
    (holding,) = store_of(tmp_path).holdings("a")
    assert holding.examples == (("loss" * 50)[:199] + "…",)


def test_files_with_the_same_bytes_are_pointed_out(tmp_path, store_of, caplog):
    path = write_run(tmp_path / "a")
    (tmp_path / "b/zentracer").mkdir(parents=True)
    copy = tmp_path / "b/zentracer" / path.name
    shutil.copy(path, copy)
    store = store_of(tmp_path)
    text = f"The file holds the same bytes as a/zentracer/{EVENTS} of run a."
    assert texts(store) == [("b", f"b/zentracer/{EVENTS}", text)]
    assert caplog.messages == [f"Run b, file b/zentracer/{EVENTS}: {text}"]
    with open(copy, "ab") as file:
        file.write(schema.frame(schema.file_version_event(0.0)))
    store.look()
    assert texts(store) == []


def test_files_that_two_writers_wrote_at_the_same_time_are_pointed_out(tmp_path, store_of):
    for number in (1, 2):
        log = Log(tmp_path / f"a/events.out.tfevents.1700000000.host.{number}.0").version()
        for step in range(3):
            log.wall += 1
            log.scalars(step, loss=number)
        log.append()
    ((run, file, text),) = texts(store_of(tmp_path))
    assert (run, file) == ("a", "a/events.out.tfevents.1700000000.host.2.0")
    assert text.startswith(
        "The file was written at the same time as events.out.tfevents.1700000000.host.1.0, with loss"
    )


def test_of_very_many_oddities_the_newest_of_each_file_are_listed(tmp_path, store_of, monkeypatch):
    monkeypatch.setattr("zentracer_store.store.MOST_LISTED", 4)
    for number in range(4):
        path = write_run(tmp_path / f"run{number}", steps=range(number + 1))
        for _ in range(1 + 5 * (number == 3)):
            with open(path, "ab") as file:
                file.write(b"this is no record at all" + schema.frame(schema.file_version_event(0.0)))
    first, *others = store_of(tmp_path).catalogue().oddities
    assert first.text == (
        "There are 9 oddities, of which 4 are listed, the newest of each file. "
        "`zentracer doctor LOGDIR` tells of them all."
    )
    assert sorted(oddity.run for oddity in others) == ["run0", "run1", "run2", "run3"]


def test_what_is_odd_in_one_way_hides_no_other(tmp_path, store_of, monkeypatch):
    monkeypatch.setattr("zentracer_store.contents.file_contents.MOST_ODDITIES", 3)
    log = Log(tmp_path / "a" / EVENTS).version()
    for number in range(9):
        value = schema.Summary.Value(tag=f"zentracer/model/unknown/{number:08x}", simple_value=1.0)
        value.metadata.plugin_data.plugin_name = "zentracer_unknown"
        log.add(
            schema.Event(wall_time=log.wall, step=number, summary=schema.Summary(value=[value])).SerializeToString()
        )
    path = log.append().path
    with open(path, "ab") as file:
        file.write(b"this is no record at all" + schema.frame(schema.file_version_event(0.0)))
    told = [text for _, _, text in texts(store_of(tmp_path))]
    assert sum("does not know" in text for text in told) == 3
    assert told.count("There is more like this in the file, which is not listed.") == 1
    assert sum("no readable record" in text for text in told) == 1


def test_a_run_is_live_as_long_as_one_of_its_processes_writes(tmp_path, store_of):
    for number, ends in ((1, False), (2, True)):
        name = f"events.out.tfevents.170000000{number}.host.{number}.0"
        log = begin(tmp_path / "a", name, wall=WALL + number).session(str(number))
        log.table(0, parameters(["w"]), table(1))
        if ends:
            log.add(schema.session_stop_event(log.wall, 0))
        log.append()
    store = store_of(tmp_path)
    assert runs(store)["a"].state == "live"
    first = tmp_path / "a/zentracer/events.out.tfevents.1700000001.host.1.0"
    os.utime(first, (LONG_AGO, LONG_AGO))
    store.look()
    assert runs(store)["a"].state == "ended"


def test_who_asks_first_in_a_while_is_told_what_is_there_now(tmp_path, store_of, monkeypatch):
    monkeypatch.setattr("zentracer_store.store.FRESHEN_S", 10)
    monkeypatch.setattr("zentracer_store.store.STALE_S", 0)
    store = store_of(tmp_path, look=False)
    write_run(tmp_path / "a")
    store.ask()
    store.freshen()
    assert list(runs(store)) == ["a"]
    store.close()
    store.freshen()  # and who asks a store that is closed does not wait
