"""Reading in other processes: what they save is all there is, and whatever happens to them is survived and told."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import zentracer_schema as schema
from tests.logs import Log
from zentracer_store.caching import ingest as ingest_module
from zentracer_store.caching import worker
from zentracer_store.caching.cache import Cache, Saved
from zentracer_store.caching.ingest import Ingest
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.tail import Tail, Unreadable

PATIENCE_S = 60.0


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", 1 << 30)


@pytest.fixture
def ingest(cache):
    made = Ingest(cache, workers=2)
    yield made
    made.close()


def write(folder, count=500, name="events.out.tfevents.1.h"):
    """A log of so many scalars; its path and size."""
    log = Log(folder / name).version()
    for step in range(count):
        log.scalars(step, loss=float(step))
    path = log.append().path
    return str(path), path.stat().st_size


def until_done(ingest):
    """All reports until nothing is left to be read."""
    reports, deadline = [], time.monotonic() + PATIENCE_S
    while ingest.busy:
        assert time.monotonic() < deadline
        reports += ingest.poll(0.1)
    return reports + ingest.poll()


def values(loaded):
    tail, contents = loaded
    assert not tail.read().records
    return contents.points.column("value").tolist()


def pids(ingest):
    return [one.process.pid for one in ingest._workers]


def is_running(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid):
    deadline = time.monotonic() + PATIENCE_S
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(pid)


def test_files_are_read_and_cached(tmp_path, cache, ingest):
    files = [write(tmp_path / str(number), count=100 * number) for number in range(1, 8)]
    ingest.start(files)
    assert ingest.busy == {path for path, _ in files}
    reports = until_done(ingest)
    for number, (path, size) in enumerate(files, 1):
        mine = [report for report in reports if report.path == path]
        assert [report.done for report in mine] == [False] * (len(mine) - 1) + [True]
        assert any(report.saved for report in mine)
        assert (mine[-1].offset, mine[-1].size, mine[-1].problem) == (size, size, None)
        assert mine[-1].bytes_per_s > 0
        assert values(cache.load(path)) == [float(step) for step in range(100 * number)]


def test_processes_end_when_the_work_does_and_start_again_with_it(tmp_path, cache, ingest):
    for count in (10, 20):
        path, size = write(tmp_path / str(count), count)
        ingest.start([(path, size)])
        (pid,) = pids(ingest)
        until_done(ingest)
        assert (pids(ingest), gone(pid)) == ([], True)
        assert len(values(cache.load(path))) == count


def test_there_are_as_many_processes_as_the_work_is_worth(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(ingest_module, "_WORTH_BYTES", 50_000)
    small, large = Ingest(cache), Ingest(cache)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    many = Ingest(cache)
    try:
        small.start([write(tmp_path / "a", 10)])
        assert len(pids(small)) == 1
        large._most = 2
        large.start([write(tmp_path / str(number), 1000) for number in range(5)])
        assert len(pids(large)) == 2
        assert many._most == 4
    finally:
        for one in (small, large, many):
            one.close()


def test_a_file_is_given_once_and_what_is_preferred_goes_first(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(ingest_module, "_QUEUE_FILES", 1)
    ingest = Ingest(cache, workers=1)
    files = [write(tmp_path / str(number), 10) for number in range(4)]
    ingest.start(files)
    ingest.start(files)
    ingest.prefer({files[3][0]})
    try:
        done = [report.path for report in until_done(ingest) if report.done]
    finally:
        ingest.close()
    assert done == [files[number][0] for number in (0, 3, 1, 2)]


def test_it_goes_on_where_the_cache_ends(tmp_path, cache, ingest):
    path, size = write(tmp_path / "a", 2000)
    ingest.start([(path, size)])
    until_done(ingest)
    Log(Path(path)).scalars(2000, loss=2000.0).append()
    ingest.start([(path, os.path.getsize(path))])
    until_done(ingest)
    assert len(values(cache.load(path))) == 2001


def test_what_can_not_be_read_is_told(tmp_path, ingest):
    os.mkfifo(tmp_path / "fifo")
    ingest.start([(str(tmp_path / "fifo"), 0), (str(tmp_path / "none"), 0)])
    told = {report.path: report.problem for report in until_done(ingest) if report.done}
    assert told == {
        str(tmp_path / "fifo"): "The file is a FIFO, not a regular file, and is not read.",
        str(tmp_path / "none"): "The file can't be read (No such file or directory).",
    }


def test_a_name_that_is_no_text_is_read_like_any_other(tmp_path, cache, ingest):
    path, size = write(tmp_path / "\udcff\nb", 10)
    ingest.start([(path, size)])
    until_done(ingest)
    assert len(values(cache.load(path))) == 10


def test_damage_is_remembered_with_the_contents(tmp_path, cache, ingest):
    path, _ = write(tmp_path / "a", 10)
    data = bytearray(Path(path).read_bytes())
    second = schema.parse_length(data[:12]) + 16
    data[second + 14] ^= 1
    Path(path).write_bytes(data)
    ingest.start([(path, len(data))])
    until_done(ingest)
    _, contents = cache.load(path)
    assert len(contents.points) == 9
    assert [oddity.offset for oddity in contents.oddities] == [second]


def stall(ingest, monkeypatch, tmp_path):
    """Let workers start in which a file called `fatal` waits for its end."""
    script = tmp_path / "stall.py"
    script.write_text(
        "import time, zentracer_store.caching.worker as worker\n"
        "read = worker.ingest\n"
        "def wait(path, cache, tell):\n"
        "    if 'fatal' in path:\n"
        "        tell(offset=1, saved=False, bytes_per_s=None)\n"
        "        time.sleep(1000)\n"
        "    read(path, cache, tell)\n"
        "worker.ingest = wait\n"
        "worker.main()\n"
    )
    begin = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda args, **more: begin([args[0], str(script)], **more))


def until_read(ingest, path):
    deadline = time.monotonic() + PATIENCE_S
    while not any(report.path == path for report in ingest.poll(0.1)):
        assert time.monotonic() < deadline


def test_a_file_whose_process_dies_twice_is_told_and_the_others_are_read(tmp_path, cache, monkeypatch, caplog):
    ingest = Ingest(cache, workers=1)
    stall(ingest, monkeypatch, tmp_path)
    fatal, size = write(tmp_path / "fatal", 10)
    others = [write(tmp_path / str(number), 10) for number in range(3)]
    ingest.start([others[0], (fatal, size), *others[1:]])
    for _ in range(2):
        until_read(ingest, fatal)
        os.kill(pids(ingest)[0], signal.SIGKILL)
    reports = until_done(ingest)
    ingest.close()
    (problem,) = [report.problem for report in reports if report.path == fatal and report.done]
    assert problem == (
        "Reading this file ended its process twice (signal 9, which often means that memory ran out): "
        "it is read as far as it was saved."
    )
    assert caplog.messages == [f"The process that read {fatal} died (signal 9)."] * 2
    assert all(len(values(cache.load(path))) == 10 for path, _ in others)


def test_a_process_that_can_not_start_leaves_the_work_to_the_server(tmp_path, cache, monkeypatch):
    ingest, files = Ingest(cache, workers=2), [write(tmp_path / name, 10) for name in "ab"]
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    ingest.start(files)
    reports = ingest.poll()
    assert [(report.path, report.done, report.problem) for report in reports] == [
        (path, True, None) for path, _ in files
    ]
    assert cache.problems == (
        "No process that reads logs can be started (No such file or directory): the server reads them itself.",
    )
    assert (ingest.busy, pids(ingest)) == (set(), [])
    ingest.close()


def test_a_process_that_dies_before_it_is_ready_is_not_the_files_fault(tmp_path, cache, monkeypatch):
    ingest = Ingest(cache, workers=2)
    begin = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda args, **more: begin([args[0], "-c", "exit(3)"], **more))
    ingest.start([write(tmp_path / "a", 10)])
    (report,) = until_done(ingest)
    assert (report.done, report.problem) == (True, None)
    (problem,) = cache.problems
    assert problem == "No process that reads logs can be started (exit status 3): the server reads them itself."
    ingest.start([write(tmp_path / "b", 10)])
    assert [report.done for report in ingest.poll()] == [True]
    ingest.close()


def test_what_others_print_in_the_process_is_passed_over(tmp_path, cache, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text("print('Hello! {')\nprint(1)")
    monkeypatch.syspath_prepend(tmp_path / "site")
    ingest = Ingest(cache)
    path, size = write(tmp_path / "a", 10)
    ingest.start([(path, size)])
    until_done(ingest)
    ingest.close()
    assert len(values(cache.load(path))) == 10


def test_a_process_that_does_not_end_is_not_waited_for(tmp_path, cache, monkeypatch):
    ingest = Ingest(cache)
    stall(ingest, monkeypatch, tmp_path)
    ingest.start([write(tmp_path / "fatal", 10)])
    process = ingest._workers[0].process
    wait, given = process.wait, []

    def never(timeout):
        given.append(timeout)
        raise subprocess.TimeoutExpired("worker", timeout)

    monkeypatch.setattr(process, "wait", never)
    ingest.close()
    assert given == [5.0]
    wait()


def test_without_a_cache_no_process_is_started(tmp_path):
    ingest = Ingest(Cache(tmp_path / "cache", 0))
    ingest.start([write(tmp_path / "a", 10)])
    assert [report.done for report in ingest.poll()] == [True]
    assert pids(ingest) == []
    ingest.close()


def test_what_the_cache_refuses_is_left_to_the_server_with_the_reason(tmp_path):
    cache = Cache(tmp_path / "cache", 1000)
    ingest = Ingest(cache)
    path, size = write(tmp_path / "a", 1000)
    ingest.start([(path, size)])
    (report,) = until_done(ingest)
    ingest.close()
    assert (report.done, report.saved, report.problem) == (True, False, None)
    assert "has reached its limit of 1,000 bytes" in cache.problems[0]


def test_closing_ends_the_processes(tmp_path, cache, monkeypatch):
    ingest = Ingest(cache)
    stall(ingest, monkeypatch, tmp_path)
    fatal, size = write(tmp_path / "fatal", 10)
    ingest.start([(fatal, size)])
    until_read(ingest, fatal)
    (pid,) = pids(ingest)
    ingest.close()
    assert gone(pid)


SERVER = """
import sys
from pathlib import Path
from zentracer_store.caching.cache import Cache
from zentracer_store.caching.ingest import Ingest
ingest = Ingest(Cache(Path(sys.argv[1]), 1 << 30))
ingest.start([(sys.argv[2], 1)])
print(ingest._workers[0].process.pid, flush=True)
while True:
    ingest.poll(0.1)
"""


def test_workers_end_when_the_server_is_killed_whatever_they_are_at(tmp_path):
    path, _ = write(tmp_path / "a", 10)
    entry = Cache(tmp_path / "cache", 1 << 30).claim(path)
    with entry.lock("reading"):  # the worker waits for another one, without end
        command = [sys.executable, "-c", SERVER, str(tmp_path / "cache"), path]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        pid = int(server.stdout.readline())
        assert is_running(pid)
        server.kill()
        server.wait()
        server.stdout.close()
        assert gone(pid)


def test_a_worker_is_nice_and_loads_no_tensorboard(tmp_path):
    code = (
        "import sys, os, zentracer_store.caching.worker as worker\n"
        "worker._serve = lambda *more: (print(os.nice(0), *sys.modules, file=sys.stderr), os._exit(0))\n"
        "worker.main()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        process.stdin.write(
            json.dumps({"root": str(tmp_path), "most_bytes": 1}) + "\n" + json.dumps({"path": "x"}) + "\n"
        )
        process.stdin.flush()
        nice, *modules = process.stderr.read().split()
        assert json.loads(process.stdout.read()) == {"ready": True}
    assert int(nice) == os.nice(0) + 5
    assert not {name.partition(".")[0] for name in modules} & {"tensorboard", "torch", "tensorflow", "pandas"}


def test_a_module_that_lies_in_the_working_directory_is_not_imported(tmp_path, cache, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    ingest = Ingest(cache)
    path, size = write(tmp_path / "a", 10)
    ingest.start([(path, size)])
    assert [report.problem for report in until_done(ingest)] == [None] * 2
    ingest.close()
    assert cache.problems == ()


def tell_to(told):
    return lambda **what: told.append(what)


def test_a_worker_takes_over_what_the_worker_of_another_server_reads(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(worker, "_LOOK_S", 0.0)
    path, size = write(tmp_path / "a", 500)
    entry, other, told = cache.claim(path), Cache(cache._root, 1 << 30), []
    tail, contents = Tail(path), FileContents(path)
    contents.feed(tail.read().records)
    with entry.lock("reading") as held:
        assert held
        reach = type(entry).reach
        turns = iter([lambda: None, lambda: other.save(path, tail, contents, all_of_it=True), lambda: None])

        class Finished(Exception):
            pass

        def look(self):
            step = next(turns, None)
            if step is None:
                raise Finished
            step()
            return reach(self)

        monkeypatch.setattr(type(entry), "reach", look)
        with pytest.raises(Finished):
            worker.ingest(path, cache, tell_to(told))
    assert told == [{"offset": size, "saved": True, "bytes_per_s": None}]


@pytest.mark.parametrize("limit", ["SAVE_S", "SAVE_BYTES"])
def test_a_large_file_is_saved_in_stretches_and_told_meanwhile(tmp_path, cache, monkeypatch, limit):
    monkeypatch.setattr(worker, "READ_BYTES", 100_000)
    monkeypatch.setattr(worker, limit, 0)
    monkeypatch.setattr(worker, "_SAVE_SHARE", 0)
    path, size = write(tmp_path / "a", 20_000)
    told = []
    worker.ingest(path, cache, tell_to(told))
    offsets = [what["offset"] for what in told if what["saved"]]
    assert len(offsets) > 3
    assert offsets == sorted(offsets)
    assert offsets[-1] == size
    assert len(values(Cache(cache._root).load(path))) == 20_000


def test_where_saving_is_slow_it_is_done_seldom():
    assert worker._next_save(5.0, 5.01) == 5.01 + worker.SAVE_S
    assert worker._next_save(5.0, 7.0) == 27.0


def test_a_file_that_is_quickly_read_is_saved_once(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(worker, "READ_BYTES", 100_000)
    monkeypatch.setattr(worker, "SAVE_S", 1e9)
    monkeypatch.setattr(worker, "TELL_S", 0.0)
    path, size = write(tmp_path / "a", 20_000)
    told = []
    worker.ingest(path, cache, tell_to(told))
    assert [what["offset"] for what in told if what["saved"]] == [size]
    assert len(told) > 3


def test_a_file_replaced_while_it_is_read_is_read_anew(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(worker, "READ_BYTES", 20_000)
    monkeypatch.setattr(worker, "TELL_S", 0.0)
    path, _ = write(tmp_path / "a", 2000)
    told = []

    def tell(**what):
        told.append(what)
        if len(told) == 1:
            os.remove(path)
            log = Log(Path(path), wall=5.0).version()
            for step in range(100):
                log.scalars(step, other=1.0)
            log.append()

    worker.ingest(path, cache, tell)
    _, contents = cache.load(path)
    assert contents.points.column("value").tolist() == [1.0] * 100
    assert "while it was followed" in contents.oddities[0].text


def test_the_last_save_waits_for_another_process_that_writes(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(worker, "_LOOK_S", 0.0)
    path, _ = write(tmp_path / "a", 100)
    outcomes = iter([Saved.BUSY, Saved.BUSY])
    save = cache.save
    monkeypatch.setattr(cache, "save", lambda *args, **more: next(outcomes, None) or save(*args, **more))
    told = []
    worker.ingest(path, cache, tell_to(told))
    assert told[-1]["saved"]
    assert len(values(Cache(cache._root).load(path))) == 100


def test_it_begins_again_where_another_process_removed_what_was_cached(tmp_path, cache, monkeypatch):
    path, _ = write(tmp_path / "a", 100)
    outcomes = iter([Saved.STALE])
    save = cache.save
    monkeypatch.setattr(cache, "save", lambda *args, **more: next(outcomes, None) or save(*args, **more))
    worker.ingest(path, cache, lambda **what: None)
    assert len(values(Cache(cache._root).load(path))) == 100


def test_a_defect_on_one_file_is_told_and_goes_no_further(tmp_path, cache, monkeypatch, caplog):
    told = []

    def fail(*args):
        raise ZeroDivisionError

    monkeypatch.setattr(worker, "ingest", fail)
    worker._serve("/runs/a", cache, tell_to(told))
    assert told == [
        {
            "path": "/runs/a",
            "done": True,
            "problem": "ZenTracer failed on this file (ZeroDivisionError); the log says more.",
            "troubles": (),
        }
    ]
    assert caplog.messages == ["Reading /runs/a failed."]


def test_an_unreadable_file_raises_nothing_but_that(tmp_path, cache):
    with pytest.raises(Unreadable):
        worker.ingest(str(tmp_path / "none"), cache, lambda **what: None)
