"""What the doctor finds in log directories."""

import os

import pytest

from tests.logs import EVENTS, begin, parameters, table, write_run, write_scalars
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer_store.examining.doctor import examine


def test_a_healthy_directory_is_told_run_by_run(tmp_path):
    write_run(tmp_path / "a", steps=range(5))
    write_scalars(tmp_path / "a", {"loss": [1.0] * 7, "accuracy": [0.5] * 3})
    report = examine(str(tmp_path))
    assert (report.damage, report.oddities, report.hidden, report.advice) == ([], [], [], [])
    theirs, ours = report.runs
    assert (theirs.name, theirs.trial, theirs.files, theirs.tags) == ("a", "a", 1, {"scalar": 2})
    assert (theirs.points, theirs.values, theirs.last_step, theirs.writers) == (10, 10, 6, ())
    assert (ours.name, ours.trial, ours.tags, ours.values) == ("a/zentracer", "a", {"table": 1}, 5)
    assert (ours.sessions, ours.last_step, ours.writers) == (1, 4, ("ZenTracer",))
    assert theirs.bytes == (tmp_path / "a" / EVENTS).stat().st_size


def test_a_writer_that_says_who_it_is_is_named(tmp_path):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path))
    writer.add_event(Event(step=1))
    writer.close()
    (run,) = examine(str(tmp_path)).runs
    assert run.writers == ("TensorBoard's writer (PyTorch and others)",)


def test_damage_is_told_with_file_and_offset(tmp_path):
    hiding_logs.damaged_data(tmp_path / "a")
    report = examine(str(tmp_path))
    (found,) = report.damage
    assert (found.run, found.file) == ("a", f"a/{EVENTS}")
    assert "is damaged and is skipped" in found.text
    (hidden,) = report.hidden
    assert (hidden.kind, hidden.offset) == ("behind damage", found.offset)
    assert report.advice == [
        "ZenTracer reads on behind it: its tabs, `zentracer export` and `zentracer.read` have the rest."
    ]


def test_a_record_without_an_event_is_damage(tmp_path):
    hiding_logs.no_event(tmp_path / "a")
    report = examine(str(tmp_path))
    assert [("is no event" in found.text, found.offset is not None) for found in report.damage] == [(True, True)]
    assert report.oddities == []


def test_what_is_odd_but_read_is_no_damage(tmp_path):
    spec = parameters(["w"])
    begin(tmp_path / "a").table(0, spec, table(1)).table(0, spec, table(1)).append()
    report = examine(str(tmp_path))
    assert report.damage == []
    assert ["repeats step 0" in found.text for found in report.oddities] == [True]


def test_files_and_places_that_cannot_be_read_are_damage(tmp_path):
    os.mkfifo(tmp_path / EVENTS)
    report = examine(str(tmp_path))
    assert [(found.file, "FIFO" in found.text) for found in report.damage] == [(EVENTS, True)]
    missing = examine(str(tmp_path / "nowhere"))
    assert ["does not exist" in found.text for found in missing.damage] == [True]


def test_bulk_files_are_counted_but_not_missed_in_tensorboard(tmp_path):
    log = begin(tmp_path / "a", name="zentracer.1700000000.host.1.0.ztrec").scalars(0, loss=1.0).scalars(0, loss=1.0)
    log.append()
    report = examine(str(tmp_path))
    (run,) = report.runs
    assert (run.files, run.points) == (1, 2)
    assert report.hidden == []


def test_too_many_files_for_the_data_server_are_told(tmp_path, monkeypatch):
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number in range(200):
        write_scalars(tmp_path / f"run{number}", {"loss": [1.0]})
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        report = examine(str(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    if not report.environment.data_server:
        pytest.skip("no data server is built for this platform")
    (hidden,) = report.hidden
    assert (hidden.kind, hidden.values) == ("descriptors", 8)


def test_it_tells_how_far_it_has_come(tmp_path):
    for name in "ab":
        write_scalars(tmp_path / name, {"loss": [1.0]})
    told = []
    examine(str(tmp_path), lambda done, total: told.append((done, total)))
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_a_directory_whose_name_is_not_utf8_is_told(tmp_path):
    write_scalars(tmp_path / os.fsdecode(b"odd\xff"), {"loss": [1.0]})
    report = examine(str(tmp_path))
    assert [(one.kind, one.reader, one.file) for one in report.hidden] == [
        ("ends loading", "python", f"odd\\xff/{EVENTS}")
    ]


def test_a_bulk_file_in_a_directory_called_tfevents_is_not_missed_in_tensorboard(tmp_path):
    log = begin(tmp_path / "tfevents/a", name="zentracer.1700000000.host.1.0.ztrec")
    log.scalars(0, loss=1.0).scalars(0, loss=1.0).append()
    assert examine(str(tmp_path)).hidden == []


def test_a_record_without_an_event_is_damage_in_a_bulk_file_too(tmp_path):
    log = begin(tmp_path / "a", name="zentracer.1700000000.host.1.0.ztrec").add(b"\xff\xff\xff\xff")
    log.append()
    report = examine(str(tmp_path))
    assert ["is no event" in found.text for found in report.damage] == [True]
    assert report.oddities == []
