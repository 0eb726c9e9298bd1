"""What stands in the files, and what happens when they can't be written."""

import os
import time

import numpy as np
import pytest

import zentracer_schema as schema
from tests.writers.zentracer.reading import events_of, files_of, read_run
from zentracer.notice import ZenTracerWarning
from zentracer.output import DESCRIBE_EVERY_BYTES, Output

CLOCK = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))
PULSE = schema.TableSpec("pulse", "model", schema.pulse_columns(["a/0"]))


def parameters(rows):
    return schema.TableSpec(
        "parameters", "model", schema.PARAMETER_COLUMNS, tuple(schema.RowSpec(f"p{i}", shape=(2,)) for i in range(rows))
    )


def values(spec):
    return np.zeros((len(spec.rows), spec.width), spec.shared_dtype)


@pytest.fixture
def output(tmp_path):
    output = Output(tmp_path / "zentracer", start_step=7, rank=0)
    output.open()
    yield output
    output.close()


def test_a_file_begins_with_version_start_and_sessions(tmp_path, output):
    output.session("model", {"id": "s"}, 7)
    output.table(1.0, 7, CLOCK, values(CLOCK))
    output.commit()
    (path,) = files_of(tmp_path)
    first, second, third, fourth = events_of(path)
    assert first.file_version == "brain.Event:2"
    assert (second.session_log.status, second.step) == (1, 7)
    assert schema.parse_tag(third.summary.value[0].tag).kind == "session"
    assert schema.parse_tag(fourth.summary.value[0].tag).kind == "clock"


def test_small_tables_go_to_tfevents_and_large_ones_to_ztrec_of_the_same_stem(tmp_path, output):
    small, large = parameters(10), parameters(800)
    output.table(1.0, 7, small, values(small))
    output.table(1.0, 7, large, values(large))
    output.scalars(1.0, 7, "model", {"zentracer/model/update_ratio": 0.5})
    output.commit()
    events, bulk = files_of(tmp_path)
    assert bulk.name == events.name.replace("events.out.tfevents", "zentracer") + ".ztrec"
    assert [v.tag for e in events_of(bulk) for v in e.summary.value] == [large.tag]
    tags = [v.tag for e in events_of(events) for v in e.summary.value]
    assert tags == [small.tag, "zentracer/model/update_ratio"]


def test_a_large_session_record_goes_to_ztrec(tmp_path, output):
    output.session("model", {"id": "s", "scopes": {"model": {"modules": {f"m{i}": "Linear" for i in range(9000)}}}}, 7)
    output.begin()
    output.commit()
    events, bulk = files_of(tmp_path)
    assert [v.tag for e in events_of(events) for v in e.summary.value] == []
    assert [schema.parse_tag(v.tag).kind for e in events_of(bulk) for v in e.summary.value] == ["session"]


def test_a_tag_is_described_first_and_again_every_16_mb(tmp_path, output):
    spec = parameters(700)
    count = 2 * DESCRIBE_EVERY_BYTES // values(spec).nbytes
    for step in range(count):
        output.table(1.0, step, spec, values(spec))
        if step % 50 == 0:
            output.commit()
    output.commit()
    described = [
        bool(value.metadata.plugin_data.content)
        for path in files_of(tmp_path)
        for event in events_of(path)
        for value in event.summary.value
    ]
    assert described[0]
    assert sum(described) == 2


def test_rows_of_a_commit_make_one_record_and_times_grow(tmp_path, output):
    for commit in range(3):
        for row in range(4):
            output.row(1234.5, PULSE, [float(4 * commit + row)] * 8)
        output.commit()
    run = read_run(tmp_path)
    assert [table.step for table in run.tables["pulse"]] == [1234500, 1234501, 1234502]
    assert [row["step"] for row in run.pulse()] == list(range(12))


def test_the_end_is_marked(tmp_path, output):
    output.table(1.0, 9, CLOCK, values(CLOCK))
    output.stop()
    output.commit()
    assert read_run(tmp_path).marks == [(1, 7), (2, 9)]


def test_files_sort_in_the_order_in_which_they_were_begun(tmp_path):
    """Within a second, and after a clock that was ahead."""
    directory = tmp_path / "zentracer"
    directory.mkdir()
    ahead = int(time.time()) + 5000
    (directory / f"events.out.tfevents.{ahead}.host.1.0").write_bytes(b"")
    for step in range(3):
        output = Output(directory, start_step=step, rank=0)
        output.open()
        output.begin()
        output.commit()
        output.close()
    starts = [list(events_of(path))[1].step for path in files_of(tmp_path)[1:]]
    assert starts == [0, 1, 2]
    assert int(files_of(tmp_path)[-1].name.split(".")[3]) == ahead + 3


def test_other_ranks_write_ztrec_under_their_own_name(tmp_path):
    output = Output(tmp_path / "zentracer", start_step=0, rank=3)
    output.open()
    output.table(1.0, 0, CLOCK, values(CLOCK))
    output.scalars(1.0, 0, "model", {"a": 1.0})
    output.commit()
    output.close()
    (path,) = files_of(tmp_path)
    assert path.name.startswith("rank_0003.")
    assert [len(event.summary.value) for event in events_of(path)] == [0, 1]


def test_a_second_output_in_a_directory_writes_only_ztrec_and_no_scalars(tmp_path, output):
    second = Output(tmp_path / "zentracer", start_step=0, rank=0)
    second.open()
    assert not second.plain
    second.scalars(1.0, 0, "model", {"a": 1.0})
    second.table(1.0, 0, CLOCK, values(CLOCK))
    second.commit()
    second.close()
    (path,) = files_of(tmp_path)
    assert path.suffix == ".ztrec"


def test_a_removed_directory_is_told_once_and_written_anew(tmp_path, output):
    directory = tmp_path / "zentracer"
    output.table(1.0, 7, CLOCK, values(CLOCK))
    output.commit()
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()
    output._looked = 0.0  # a second has passed
    output.table(1.0, 8, CLOCK, values(CLOCK))
    with pytest.warns(ZenTracerWarning, match="Writing to .*zentracer failed: it was removed") as told:
        output.commit()
    output.table(1.0, 9, CLOCK, values(CLOCK))
    output.commit()
    assert len(told) == 1
    run = read_run(tmp_path)
    assert [table.step for table in run.tables["clock"]] == [9]
    assert run.marks == []  # begun after an error, not at a start
    assert (directory / "zentracer.lock").exists()


def test_the_lock_says_who_holds_it(tmp_path, output):
    assert f'"pid": {os.getpid()}' in (tmp_path / "zentracer" / "zentracer.lock").read_text()
