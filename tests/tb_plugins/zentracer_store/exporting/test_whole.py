"""Reading runs whole: all files of a run together, and what could not be read beside what could."""

import os

import pytest

import zentracer_schema as schema
from tests.logs import EVENTS, Log, begin, parameters, table, write_scalars
from zentracer_store.exporting.whole import look_under, read_run
from zentracer_store.reading.tail import Tail


def run_under(logdir, told=lambda count: None):
    found = look_under(str(logdir))
    ((name, files),) = found.runs.items()
    return read_run(name, files, told)


def test_runs_are_directories_and_their_files_are_sorted_by_name(tmp_path):
    for name in ("b/zentracer", "a", "."):
        for number in (2, 1):
            write_scalars(tmp_path / name, {"loss": [1.0]}, name=f"{EVENTS}.{number}")
    found = look_under(str(tmp_path))
    assert list(found.runs) == [".", "a", "b/zentracer"]
    assert [os.path.basename(file.path)[-1] for file in found.runs["a"]] == ["1", "2"]
    assert {file.trial for file in found.runs["b/zentracer"]} == {"b"}
    assert found.sizes["a"] == sum(path.stat().st_size for path in (tmp_path / "a").iterdir())
    assert found.problems == ()


def test_a_directory_that_is_not_there_is_a_problem_and_no_crash(tmp_path):
    found = look_under(str(tmp_path / "nowhere"))
    assert found.runs == {}
    assert ["does not exist" in problem.text for problem in found.problems] == [True]


def test_every_byte_is_told_as_it_is_read(tmp_path):
    path = write_scalars(tmp_path, {"loss": [1.0] * 1000})
    counts = []
    run_under(tmp_path, counts.append)
    assert sum(counts) == path.stat().st_size


def test_a_description_in_one_file_serves_the_tables_of_another(tmp_path):
    spec = parameters(["w"])
    begin(tmp_path).table(0, spec, table(1)).append()
    other = begin(tmp_path, name=EVENTS.replace("1.0", "1.1"), start=None)
    other.described.add(spec.tag)
    other.table(1, spec, table(1)).append()
    run = run_under(tmp_path)
    assert [len(file.contents.segments) for file in run.files] == [1, 1]
    assert [text for file in run.files for text in file.odd()] == []


def test_a_table_that_nobody_describes_is_odd(tmp_path):
    spec = parameters(["w"])
    log = begin(tmp_path)
    log.described.add(spec.tag)
    log.table(1, spec, table(1)).append()
    (text,) = run_under(tmp_path).files[0].odd()
    assert text.startswith(f"zentracer/{EVENTS}, byte ")
    assert text.endswith(f"{spec.tag} has no description so far: it shows once a file of the run has one.")


def test_what_is_lost_and_what_is_only_odd_are_told_apart(tmp_path):
    path = write_scalars(tmp_path, {"loss": [1.0, 2.0, 3.0]})
    data = bytearray(path.read_bytes())
    data[-60] ^= 1
    path.write_bytes(data + b"\x10\x00")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (file,) = run_under(tmp_path).files
    assert [("is damaged and is skipped" in text, f"{EVENTS}, byte " in text) for text in file.lost()] == [(True, True)]
    assert ["is not whole" in text for text in file.odd()] == [True]


def test_a_file_that_cannot_be_read_is_lost_whole(tmp_path):
    os.mkfifo(tmp_path / EVENTS)
    (file,) = run_under(tmp_path).files
    (text,) = file.lost()
    assert text == f"{EVENTS}: The file is a FIFO, not a regular file, and is not read."


def test_a_file_that_vanishes_after_the_walk_is_lost(tmp_path):
    path = write_scalars(tmp_path, {"loss": [1.0]})
    found = look_under(str(tmp_path))
    path.unlink()
    (file,) = read_run(".", found.runs["."]).files
    assert list(file.lost()) == [f"{EVENTS}: The file can't be read (No such file or directory)."]
    assert found.sizes == {".": 0}


@pytest.mark.parametrize("kept", [1, 5])
def test_a_file_that_is_replaced_while_it_is_read_is_read_anew(tmp_path, monkeypatch, kept):
    write_scalars(tmp_path, {"loss": [1.0] * 200})
    reads = []
    whole = Tail.read

    def read(tail, most=2_000):
        reads.append(tail.offset)
        if len(reads) == 3:
            (tmp_path / EVENTS).unlink()
            write_scalars(tmp_path, {"other": [5.0] * kept})
        return whole(tail, most)

    monkeypatch.setattr(Tail, "read", read)
    (file,) = run_under(tmp_path).files
    assert [info.tag for info in file.contents.tags] == ["other"]
    assert len(file.contents.points) == kept


def test_a_whole_record_that_is_no_event_is_lost(tmp_path):
    payload = schema.scalar_event(1.0, 0, {"XX": 1.0}).replace(b"XX", b"\xff\xfe")  # a tag that is not UTF-8
    Log(tmp_path / EVENTS).version().scalars(0, loss=1.0).add(payload).scalars(1, loss=1.0).append()
    found = look_under(str(tmp_path))
    (file,) = read_run(".", found.runs["."]).files
    (text,) = file.lost()
    assert text.startswith(f"{EVENTS}, byte ")
    assert text.endswith("is no event and is skipped.")
    assert list(file.odd()) == []
    assert len(file.contents.points) == 2


def test_directories_that_look_the_same_are_two_runs(tmp_path):
    for name, value in ((b"raw\xff", 1.0), (b"raw\\xff", 2.0)):
        write_scalars(tmp_path / os.fsdecode(name), {"loss": [value]})
    found = look_under(str(tmp_path))
    runs = [read_run(name, files) for name, files in found.runs.items()]
    assert [(run.name, os.fsencode(os.path.dirname(run.files[0].found.path))) for run in runs] == [
        ("raw\\xff", os.fsencode(tmp_path / "raw\\xff")),
        ("raw\\xff #2", os.fsencode(tmp_path) + b"/raw\xff"),
    ]
    assert len(found.sizes) == 2
