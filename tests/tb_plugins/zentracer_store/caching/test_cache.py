"""The cache: what is loaded is what was saved, and no trouble with its files loses a point or raises."""

import errno
import gc
import os
import resource
import shutil
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import Log, begin, parameters, table
from zentracer_store.caching import cache as cache_module
from zentracer_store.caching import volumes
from zentracer_store.caching.cache import Cache, Saved
from zentracer_store.caching.shelf import Shelf
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Lost
from zentracer_store.reading.tail import Tail

ANEW = r"what was read of the logs stays in memory, and is read anew at the next start\."


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", 1 << 30)


@pytest.fixture
def other(cache):
    """Another process with the same cache."""
    return Cache(cache._root, 1 << 30)


def read(path, tail=None, contents=None):
    """Read an event file to its end, from the start or from where `tail` stands."""
    tail, contents = tail or Tail(path), contents or FileContents(path)
    while True:
        batch = tail.read()
        assert not batch.restarted
        contents.feed(batch.records)
        if not batch.more:
            return tail, contents


def same(one, other):
    """Whether two contents hold the same."""
    columns, others = dict(one.columns()), dict(other.columns())
    if columns.keys() != others.keys() or one.head() != other.head():
        return False
    for name, column in columns.items():
        values, more = (each.part(0, len(each)) for each in (column, others[name]))
        if (values.dtype, values.shape, values.tobytes()) != (more.dtype, more.shape, more.tobytes()):
            return False
    return True


def in_memory(contents):
    return sum(column.bytes_in_memory for _, column in contents.columns())


def volumes_of(cache):
    return sorted(cache._root.glob("v1/*/*.arrow"))


class Growth:
    """A log that grows by scalars, tables and what else there is, and its path."""

    def __init__(self, run):
        self.log = begin(run).session("one")
        self.step = 0
        self.path = str(self.log.path)
        self.spec = parameters(["a.weight", "b.weight"])

    def grow(self, records=40):
        for _ in range(records):
            self.log.table(self.step, self.spec, table(2, weight_norm=self.step))
            self.log.scalars(self.step, loss=1 / (1 + self.step), **{f"tag{self.step % 7}": self.step})
            self.step += 1
        self.log.add(schema.message_event(self.log.wall, self.step, "incident", "model", {"what": "é"}))
        self.log.append()
        return self


@pytest.fixture
def growth(tmp_path):
    return Growth(tmp_path / "a").grow()


def test_what_is_loaded_is_what_was_saved_and_goes_on_growing(growth, cache, other):
    tail, contents = read(growth.path)
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
    tail, loaded = other.load(growth.path)
    assert same(loaded, read(growth.path)[1])
    assert tail.read().records.size == 0
    growth.grow()
    assert same(read(growth.path, tail, loaded)[1], read(growth.path)[1])
    assert other.save(growth.path, tail, loaded, all_of_it=True) is Saved.SAVED
    assert same(Cache(cache._root).load(growth.path)[1], read(growth.path)[1])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.sampled_from(["save", "start", "wait"])), max_size=9), st.data())
def test_however_it_is_saved_nothing_is_lost_or_doubled(tmp_path_factory, rounds, data):
    root = tmp_path_factory.mktemp("c")
    growth, cache = Growth(root / "a"), Cache(root / "cache", 1 << 30, Shelf(data.draw(st.sampled_from([0, 5000]))))
    growth.grow(1)
    tail, contents = read(growth.path)
    for records, then in rounds:
        growth.grow(records)
        tail, contents = read(growth.path, tail, contents)
        if then == "save":
            assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
        elif then == "start":
            cache = Cache(cache._root, 1 << 30)
            tail, contents = read(growth.path, *(cache.load(growth.path) or ()))
        assert same(contents, read(growth.path)[1])


def test_what_is_saved_leaves_memory(growth, cache):
    tail, contents = read(growth.path)
    assert in_memory(contents) > 5_000
    cache.save(growth.path, tail, contents, all_of_it=True)
    assert in_memory(contents) == 0
    assert same(contents, read(growth.path)[1])


def test_loading_reads_no_column(growth, cache, other, monkeypatch):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    monkeypatch.setattr(cache_module, "read_column", None)
    _, contents = other.load(growth.path)
    assert len(contents.points) == 80


def test_a_saved_log_needs_no_pyarrow_to_be_loaded(growth, cache, other, monkeypatch):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert same(other.load(growth.path)[1], read(growth.path)[1])


def test_little_is_not_worth_a_file(growth, cache):
    tail, contents = read(growth.path)
    assert tail.offset < cache_module.LEAST_BYTES
    assert cache.save(growth.path, tail, contents) is Saved.NOTHING
    growth.grow(400)
    tail, contents = read(growth.path)
    assert cache.save(growth.path, tail, contents) is Saved.SAVED
    assert cache.save(growth.path, tail, contents) is Saved.NOTHING
    growth.grow(1)
    tail, contents = read(growth.path, tail, contents)
    assert cache.save(growth.path, tail, contents) is Saved.NOTHING
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED


def test_there_are_few_files_however_often_is_saved(growth, cache):
    tail, contents = read(growth.path)
    most = 0
    for _ in range(64):
        growth.grow(5)
        read(growth.path, tail, contents)
        assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
        most = max(most, len(volumes_of(cache)))
    assert most <= 7
    assert same(Cache(cache._root).load(growth.path)[1], read(growth.path)[1])


def test_a_volume_takes_in_no_more_than_its_largest_size(growth, cache, monkeypatch):
    monkeypatch.setattr(cache_module, "_LARGEST_VOLUME", 20_000)
    tail, contents = read(growth.path)
    for _ in range(20):
        growth.grow(20)
        read(growth.path, tail, contents)
        cache.save(growth.path, tail, contents, all_of_it=True)
    assert max(path.stat().st_size for path in volumes_of(cache)) < 60_000
    assert same(contents, read(growth.path)[1])


def test_another_process_that_saved_more_is_told_of(growth, cache, other):
    tail, contents = read(growth.path)
    cache.save(growth.path, tail, contents, all_of_it=True)
    loaded = other.load(growth.path)
    growth.grow()
    assert other.save(growth.path, *read(growth.path, *loaded), all_of_it=True) is Saved.SAVED
    growth.grow()
    read(growth.path, tail, contents)
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.STALE
    tail, contents = read(growth.path, *cache.load(growth.path))
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
    assert same(contents, read(growth.path)[1])


def test_columns_that_another_process_took_into_its_volume_are_lost_and_loaded_again(growth, cache, other):
    tail, contents = read(growth.path)
    cache.save(growth.path, tail, contents, all_of_it=True)
    loaded = other.load(growth.path)
    growth.grow(100)
    other.save(growth.path, *read(growth.path, *loaded), all_of_it=True)
    with pytest.raises(Lost, match="is gone"):
        contents.points.column("value")
    assert same(read(growth.path, *cache.load(growth.path))[1], read(growth.path)[1])


def test_two_processes_that_save_in_turn_lose_nothing(growth, cache, other):
    sides = [[cache, *read(growth.path)], [other, *read(growth.path)]]
    for turn in range(12):
        growth.grow(15)
        side = sides[turn % 2]
        try:
            read(growth.path, *side[1:])
            outcome = side[0].save(growth.path, *side[1:], all_of_it=True)
        except Lost:
            outcome = Saved.STALE
        if outcome is Saved.STALE:
            side[1:] = read(growth.path, *(side[0].load(growth.path) or ()))
            outcome = side[0].save(growth.path, *side[1:], all_of_it=True)
        assert outcome in (Saved.SAVED, Saved.NOTHING)
        assert same(side[2], read(growth.path)[1])


def test_while_another_process_writes_nothing_is_saved(growth, cache, other):
    tail, contents = read(growth.path)
    with cache.claim(growth.path).lock("writing"):
        assert other.save(growth.path, tail, contents, all_of_it=True) is Saved.BUSY
    assert other.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED


def test_one_log_by_two_paths_is_one_entry(growth, cache, tmp_path):
    (tmp_path / "link").symlink_to(growth.log.path)
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    _, contents = cache.load(str(tmp_path / "link"))
    assert contents.path == str(tmp_path / "link")
    assert len(list(cache._root.glob("v1/*"))) == 1


@pytest.mark.parametrize("ruin", ["delete", "truncate", "zero", "directory", "all"])
def test_whatever_happens_to_the_files_no_point_is_lost(growth, cache, other, ruin):
    tail, contents = read(growth.path)
    cache.save(growth.path, tail, contents, all_of_it=True)
    growth.grow(2)
    read(growth.path, tail, contents)
    cache.save(growth.path, tail, contents, all_of_it=True)
    first = volumes_of(cache)[-1]
    match ruin:
        case "delete":
            first.unlink()
        case "truncate":
            os.truncate(first, 700)
        case "zero":
            first.write_bytes(bytes(first.stat().st_size))
        case "directory":
            shutil.rmtree(first.parent)
        case "all":
            shutil.rmtree(cache._root)
    with pytest.raises(Lost):
        same(contents, contents)
    for user in (other, cache):
        loaded = user.load(growth.path) or ()
        tail, contents = read(growth.path, *loaded)
        assert same(contents, read(growth.path)[1])
        assert user.save(growth.path, tail, contents, all_of_it=True) in (Saved.SAVED, Saved.NOTHING)
    assert same(Cache(cache._root).load(growth.path)[1], read(growth.path)[1])


def test_a_volume_found_damaged_is_not_found_again(growth, cache):
    tail, contents = read(growth.path)
    values = contents.points.column("value")
    cache.save(growth.path, tail, contents, all_of_it=True)
    (volume,) = volumes_of(cache)
    data = bytearray(volume.read_bytes())
    data[bytes(data).index(values.tobytes()) + 50] ^= 1
    volume.write_bytes(data)
    with pytest.raises(Lost, match=r"is damaged in the column points\.value\."):
        contents.points.column("value")
    assert cache.load(growth.path) is None
    assert same(read(growth.path)[1], read(growth.path)[1])


def test_a_volume_that_can_not_be_opened_for_the_moment_stays(growth, cache, other, monkeypatch):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    _, contents = other.load(growth.path)
    open_file = os.open

    def full(path, *more, **others):
        if str(path).endswith(".arrow"):
            raise OSError(errno.EMFILE, "Too many open files")
        return open_file(path, *more, **others)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(Lost, match=r"can't be read \(Too many open files\)"):
        contents.points.column("value")
    assert other.load(growth.path) is None
    monkeypatch.undo()
    assert same(other.load(growth.path)[1], contents)


def test_to_save_on_what_is_lost_says_that_it_is_stale(growth, cache):
    tail, contents = read(growth.path)
    cache.save(growth.path, tail, contents, all_of_it=True)
    shutil.rmtree(cache._root)
    growth.grow()
    read(growth.path, tail, contents)
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.STALE
    assert cache.load(growth.path) is None
    assert cache.save(growth.path, *read(growth.path), all_of_it=True) is Saved.SAVED


def test_columns_in_use_stay_alive_when_their_file_goes(growth, cache):
    tail, contents = read(growth.path)
    expected = contents.points.column("value").tolist()
    cache.save(growth.path, tail, contents, all_of_it=True)
    taken = contents.points.column("value")
    shutil.rmtree(cache._root)
    assert taken.tolist() == contents.points.column("value").tolist() == expected


@pytest.mark.parametrize("how", ["shrunk", "replaced", "gone"])
def test_the_entry_of_a_log_that_is_another_now_is_dropped(growth, cache, other, how, tmp_path):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    os.remove(growth.path)
    if how != "gone":
        log = Log(growth.log.path, wall=5.0).version()
        for step in range(3 if how == "shrunk" else 3000):
            log.scalars(step, other=step)
        log.append()
    assert other.load(growth.path) is None
    assert volumes_of(cache) == []
    if how != "gone":
        assert other.save(growth.path, *read(growth.path), all_of_it=True) is Saved.SAVED


def test_a_log_replaced_while_it_is_followed_is_saved_anew(growth, cache):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    os.remove(growth.path)
    Log(growth.log.path, wall=5.0).version().scalars(1, other=2.0).append()
    tail, contents = read(growth.path)
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
    assert same(Cache(cache._root).load(growth.path)[1], contents)


def test_a_log_that_only_looks_touched_is_loaded(growth, cache, other):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    os.utime(growth.path, (1, 1))
    assert other.load(growth.path) is not None


@pytest.mark.parametrize("how", ["in place", "renamed over"])
def test_the_entry_of_a_log_of_which_only_the_middle_is_another_now_is_dropped(growth, cache, other, how):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    whole = bytearray(growth.log.path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path = growth.log.path if how == "in place" else growth.log.path.with_name("copy")
    path.write_bytes(whole)
    os.utime(path, (1, 1))
    os.replace(path, growth.path)
    assert other.load(growth.path) is None
    assert volumes_of(cache) == []


def test_a_newer_entry_of_another_version_does_not_hinder_saving(growth, cache, other, monkeypatch):
    tail, contents = read(growth.path)
    cache.save(growth.path, tail, contents, all_of_it=True)
    growth.grow()
    with monkeypatch.context() as patched:
        patched.setattr(Tail, "state", lambda self: {"position": "of tomorrow"})
        other.save(growth.path, *read(growth.path), all_of_it=True)
    read(growth.path, tail, contents)
    assert cache.save(growth.path, tail, contents, all_of_it=True) in (Saved.SAVED, Saved.STALE)
    assert cache.load(growth.path) is None or same(cache.load(growth.path)[1], read(growth.path)[1])


def test_a_log_that_became_a_fifo_is_not_waited_for(growth, cache, other):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    os.remove(growth.path)
    os.mkfifo(growth.path)
    assert other.load(growth.path) is None


def test_what_another_version_saved_is_dropped(growth, cache, other, monkeypatch):
    monkeypatch.setattr(FileContents, "head", lambda self: {"layout": "of tomorrow"})
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    monkeypatch.undo()
    assert other.load(growth.path) is None
    assert volumes_of(cache) == []


def test_files_of_another_format_are_ignored(growth, cache, other, monkeypatch):
    monkeypatch.setattr(volumes, "FORMAT", 99)
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    monkeypatch.undo()
    assert other.load(growth.path) is None
    assert len(volumes_of(cache)) == 1


def test_to_drop_removes_the_entry(growth, cache, other):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    cache.drop(growth.path)
    assert other.load(growth.path) is None


def test_a_full_disk_is_told_once_and_everything_stays_in_memory(growth, cache, caplog, monkeypatch):
    tail, contents = read(growth.path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, before[1]))
    try:
        assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.REFUSED
        monkeypatch.setattr(cache_module, "_PAUSE_S", 0.0)
        cache._paused_until = 0.0
        assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.REFUSED
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    (entry,) = cache._root.glob("v1/*")
    assert cache.problems == tuple(caplog.messages)
    assert len(cache.problems) == 1
    assert cache.problems[0].startswith(f"The cache in {entry} can't be written (File too large): what was read of ")
    assert cache.problems[0].endswith(ANEW.replace("\\", ""))
    assert [path.name for path in entry.iterdir()] == ["writing"]
    assert in_memory(contents) > 5_000
    assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED


def test_after_trouble_with_the_disk_it_is_left_in_peace_for_a_while(growth, cache, monkeypatch):
    tail, contents = read(growth.path)
    calls = []

    def full(*args, **more):
        calls.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache_module, "write_volume", full)
    for _ in range(3):
        assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.REFUSED
    assert len(calls) == 1
    later = time.monotonic() + 1000
    monkeypatch.setattr(time, "monotonic", lambda: later)
    cache.save(growth.path, tail, contents, all_of_it=True)
    assert len(calls) == 2


def test_a_cache_full_of_what_is_in_use_refuses_more(tmp_path, cache):
    cache._most_bytes = 60_000
    first, second = Growth(tmp_path / "a").grow(100), Growth(tmp_path / "b").grow(100)
    used = read(first.path)
    assert cache.save(first.path, *used, all_of_it=True) is Saved.SAVED
    tail, contents = read(second.path)
    assert cache.save(second.path, tail, contents, all_of_it=True) is Saved.REFUSED
    assert cache.problems == (
        f"The cache in {cache._root} has reached its limit of 60,000 bytes with what is in use: what is read further "
        "of the logs stays in memory, and is read anew at the next start. Set ZENTRACER_CACHE_BYTES to allow more.",
    )
    assert same(used[1], read(first.path)[1])
    entry = volumes_of(cache)[0].parent
    os.utime(entry, (1, 1))
    del used
    gc.collect()
    assert cache.save(second.path, tail, contents, all_of_it=True) is Saved.SAVED
    assert cache.load(first.path) is None


def test_a_limit_of_nothing_turns_it_off_in_silence(growth, cache):
    cache._most_bytes = 0
    assert cache.save(growth.path, *read(growth.path), all_of_it=True) is Saved.REFUSED
    assert cache.load(growth.path) is None
    assert (cache.problems, cache._root.exists()) == ((), False)


def test_without_pyarrow_it_says_what_to_install(growth, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert cache.save(growth.path, *read(growth.path), all_of_it=True) is Saved.REFUSED
    assert cache.problems == (
        "pyarrow is not installed, so what was read of the logs stays in memory and is read anew at the next start: "
        "pip install 'zentracer[tensorboard]'.",
    )


def test_an_unusable_directory_is_told_and_nothing_raises(growth, tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    tail, contents = read(growth.path)
    for _ in range(2):
        assert cache.load(growth.path) is None
        assert cache.save(growth.path, tail, contents, all_of_it=True) is Saved.REFUSED
        assert cache.claim(growth.path) is None
        cache.drop(growth.path)
    (problem,) = cache.problems
    assert problem.startswith(
        f"The cache directory {tmp_path}/file can't be used (Not a directory): logs are read anew"
    )


def test_the_environment_says_where_the_cache_is(growth, tmp_path, monkeypatch):
    monkeypatch.setenv("ZENTRACER_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("ZENTRACER_CACHE_BYTES", "many")
    tail, contents = read(growth.path)
    wrong = Cache()
    assert wrong.save(growth.path, tail, contents, all_of_it=True) is Saved.REFUSED
    assert wrong.problems == ("ZENTRACER_CACHE_BYTES must be a number of bytes, got 'many': nothing is cached.",)
    monkeypatch.setenv("ZENTRACER_CACHE_BYTES", "1000000")
    assert Cache().save(growth.path, tail, contents, all_of_it=True) is Saved.SAVED
    assert len(list((tmp_path / "mine/v1").iterdir())) == 1


def test_the_entry_that_is_read_is_not_the_one_used_longest_ago(growth, cache, other):
    cache.save(growth.path, *read(growth.path), all_of_it=True)
    (entry,) = cache._root.glob("v1/*")
    _, contents = other.load(growth.path)
    os.utime(entry, (1, 1))
    contents.points.column("value")
    assert entry.stat().st_mtime > time.time() - 100


def test_values_survive_to_the_bit(tmp_path, cache, other):
    log = Log(tmp_path / "a/events.out.tfevents.1.h").version()
    values = [np.nan, -0.0, np.inf, 1e-40, 0.1]
    for step, value in enumerate(values):
        log.scalars(step, x=value)
    path = str(log.append().path)
    cache.save(path, *read(path), all_of_it=True)
    loaded = other.load(path)[1].points.column("value")
    assert loaded.tobytes() == read(path)[1].points.column("value").tobytes()
