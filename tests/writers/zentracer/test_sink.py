"""The queue between training and disk."""

import threading
import time

import numpy as np
import pytest

import zentracer_schema as schema
from tests.writers.zentracer.reading import files_of, read_run
from zentracer import sink as sinks
from zentracer.notice import ZenTracerWarning
from zentracer.output import Output
from zentracer.sink import MOST_BYTES, MOST_ITEMS, PATIENCE_S, open_sink, release_sink

SPEC = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))


def clock(step):
    return lambda output: output.table(1.0, step, SPEC, np.full((1, SPEC.width), float(step)))


@pytest.fixture
def sink(tmp_path):
    sink = open_sink(tmp_path / "zentracer", start_step=0, rank=0)
    yield sink
    if sink.users:
        release_sink(sink, wait=True)


@pytest.fixture
def stuck(sink):
    """The writer thread, held up inside a job until the event is set."""
    reached, free = threading.Event(), threading.Event()

    def wait(output):
        reached.set()
        free.wait(30)

    sink.put(wait)
    assert reached.wait(10)
    yield free
    free.set()


def steps_in(tmp_path):
    return [table.step for table in read_run(tmp_path).tables["clock"]]


def test_what_was_put_before_a_flush_is_on_disk_after_it(tmp_path, sink):
    for step in range(100):
        assert sink.put(clock(step))
    assert sink.flush(10)
    assert steps_in(tmp_path) == list(range(100))


def test_a_first_flush_waits_until_the_run_is_there(tmp_path, monkeypatch):
    begin = Output.begin

    def slow(output):
        time.sleep(0.3)
        begin(output)

    monkeypatch.setattr(Output, "begin", slow)
    sink = open_sink(tmp_path / "zentracer", start_step=0, rank=0)
    try:
        assert not sink.flush(0)
        assert sink.flush(10)
        assert len(files_of(tmp_path)) == 1
    finally:
        release_sink(sink, wait=True)


def test_records_reach_the_disk_within_a_second_without_being_asked(tmp_path, sink):
    assert sink.flush(10)
    (path,) = files_of(tmp_path)
    before = path.stat().st_size
    began = time.monotonic()
    sink.put(clock(0))
    while path.stat().st_size == before:
        assert time.monotonic() - began < 10
    # A second, and what a busy machine takes to wake a thread up.
    assert time.monotonic() - began < 3
    assert sinks.LINGER_S <= 1


def test_everything_is_written_before_the_last_user_leaves(tmp_path, sink):
    second = open_sink(tmp_path / "zentracer", start_step=0, rank=0)
    assert second is sink
    release_sink(sink, wait=True)
    sink.put(clock(1))
    release_sink(sink, wait=True)
    assert steps_in(tmp_path) == [1]
    assert read_run(tmp_path).marks == [(1, 0), (2, 1)]
    assert not sink.put(clock(2))


def test_small_records_wait_for_room_before_they_are_dropped(tmp_path, sink, stuck):
    while sink.put(clock(0)):
        assert len(sink._queue) <= MOST_ITEMS
    began = time.monotonic()
    assert not sink.put(clock(1))
    assert time.monotonic() - began < PATIENCE_S  # one wait a stall: training must not pay it at every step
    assert sink.crowded
    assert sink.dropped == 2
    stuck.set()
    with pytest.warns(ZenTracerWarning, match="2 records for .*zentracer could not be written and were dropped"):
        release_sink(sink, wait=True)


def test_the_first_record_without_room_waits(sink, stuck):
    for _ in range(MOST_ITEMS):
        sink.put(clock(0))
    began = time.monotonic()
    assert not sink.put(clock(1))
    assert time.monotonic() - began >= PATIENCE_S
    stuck.set()
    with pytest.warns(ZenTracerWarning):
        release_sink(sink, wait=True)


def test_room_in_time_saves_the_record(tmp_path, sink, stuck):
    for _ in range(MOST_ITEMS):
        sink.put(lambda output: None)
    threading.Timer(PATIENCE_S / 5, stuck.set).start()
    assert sink.put(clock(5)) or sink.put(clock(5))
    assert sink.flush(10)
    assert steps_in(tmp_path) == [5]
    if sink.dropped:  # the machine was too busy for the first try
        with pytest.warns(ZenTracerWarning):
            release_sink(sink, wait=True)


def test_bulk_records_make_room_for_others_the_oldest_first(sink, stuck):
    done = []
    for number in range(4):
        assert sink.put(lambda output, number=number: done.append(f"bulk {number}"), MOST_BYTES // 4, bulk=True)
    assert sink.put(lambda output: done.append("small"), 1000)
    assert sink.put(lambda output: done.append("bulk 4"), MOST_BYTES // 8, bulk=True)
    stuck.set()
    assert sink.flush(10)
    assert done == ["bulk 1", "bulk 2", "bulk 3", "small", "bulk 4"]
    with pytest.warns(ZenTracerWarning):
        release_sink(sink, wait=True)


def test_a_record_that_fails_costs_only_itself(tmp_path, sink):
    def fail(output):
        raise RuntimeError("no such thing")

    sink.put(fail)
    with pytest.warns(ZenTracerWarning, match=r"Recording failed with RuntimeError \(no such thing\)"):
        assert sink.flush(10)
    sink.put(clock(3))
    with pytest.warns(ZenTracerWarning, match="1 records for .* were dropped"):
        release_sink(sink, wait=True)
    assert sink.dropped == 1
    assert steps_in(tmp_path) == [3]


def test_a_disk_that_hangs_does_not_hang_the_end(sink, stuck, monkeypatch):
    monkeypatch.setattr(sinks, "CLOSE_S", 0.05)
    with pytest.warns(ZenTracerWarning, match="is still being written after 0.05 s; the rest may be lost"):
        release_sink(sink, wait=True)


def test_a_record_that_can_not_be_encoded_leaves_the_next_one_described(tmp_path, sink):
    sink.put(lambda output: output.table(1.0, 0, SPEC, np.zeros((1, 3))))
    with pytest.warns(ZenTracerWarning, match="Recording failed with ValueError"):
        assert sink.flush(10)
    sink.put(clock(1))
    with pytest.warns(ZenTracerWarning, match="1 records"):
        release_sink(sink, wait=True)
    assert steps_in(tmp_path) == [1]


def test_what_the_thread_costs_is_booked_to_its_owner(sink):
    sink.put(lambda output: sum(range(100_000)), owner="a")
    assert sink.flush(10)
    assert sink.cpu_s["a"] > 0
