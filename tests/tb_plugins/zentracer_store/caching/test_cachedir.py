"""The directory of the cache: found by the environment, ours alone, and never over its limit for long."""

import os
import time

import pytest

from zentracer_store.caching import cachedir
from zentracer_store.caching.cachedir import CacheDir, Unusable, default_most_bytes, default_root

OLD = time.time() - 10 * cachedir.RECENT_S
OWN = r"logs are read anew at every start\. Set ZENTRACER_CACHE_DIR to a directory of your own\."


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"ZENTRACER_CACHE_DIR": "/mine", "XDG_CACHE_HOME": "/xdg"}, "/mine"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/zentracer"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/zentracer"),
        ({}, "/home/me/.cache/zentracer"),
    ],
)
def test_the_environment_says_where_it_is(monkeypatch, environment, root):
    for name in ("ZENTRACER_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    assert str(default_root()) == root


def test_a_user_without_home_is_told_what_to_set(monkeypatch):
    for name in ("ZENTRACER_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(Unusable, match=rf"There is no home directory to cache in: {OWN}"):
        default_root()


def test_the_environment_says_how_large_it_is(monkeypatch):
    monkeypatch.delenv("ZENTRACER_CACHE_BYTES", raising=False)
    assert default_most_bytes() == 2 << 30
    monkeypatch.setenv("ZENTRACER_CACHE_BYTES", "1000")
    assert default_most_bytes() == 1000
    monkeypatch.setenv("ZENTRACER_CACHE_BYTES", "2 GB")
    with pytest.raises(Unusable, match=r"ZENTRACER_CACHE_BYTES must be a number of bytes, got '2 GB': nothing is cach"):
        default_most_bytes()


def test_it_is_made_for_the_owner_alone(tmp_path):
    directory = CacheDir(tmp_path / "a/b", 1000)
    directory.prepare()
    directory.prepare()
    assert directory.entries == tmp_path / "a/b/v1"
    assert directory.entries.stat().st_mode & 0o777 == directory.root.stat().st_mode & 0o777 == 0o700


def test_entries_of_a_directory_that_others_may_read_are_hidden_from_them(tmp_path):
    directory = CacheDir(tmp_path / "a", 1000)
    directory.root.mkdir(mode=0o755)
    directory.entries.mkdir(mode=0o755)
    directory.prepare()
    assert directory.entries.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["", "v1"])
def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch, name):
    directory = CacheDir(tmp_path / "a", 1000)
    directory.prepare()
    path, uid = directory.root / name, os.geteuid() + 1
    if os.geteuid() == 0:
        os.chown(path, uid, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: uid)
    with pytest.raises(Unusable, match=rf"The cache directory {tmp_path}/a belongs to another user: {OWN}"):
        directory.prepare()


def test_a_directory_that_others_can_write_is_refused(tmp_path):
    directory = CacheDir(tmp_path / "a", 1000)
    directory.prepare()
    directory.root.chmod(0o777)
    with pytest.raises(Unusable, match=rf"Other users can write to the cache directory {tmp_path}/a: {OWN}"):
        directory.prepare()


def test_a_directory_that_can_not_be_made_is_refused(unprivileged_path):
    unprivileged_path.chmod(0o500)
    said = rf"The cache directory {unprivileged_path}/a can't be used \(Permission denied\): {OWN}"
    with pytest.raises(Unusable, match=said):
        CacheDir(unprivileged_path / "a", 1000).prepare()


def test_a_file_in_its_place_is_refused(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(Unusable, match=r"can't be used \(Not a directory\)"):
        CacheDir(tmp_path / "a", 1000).prepare()


def add(directory, name, kilobytes, used_at=OLD, number=1):
    """An entry of this size."""
    path = directory.root / f"v{number}" / name
    path.mkdir(parents=True)
    (path / "1.arrow").write_bytes(bytes(kilobytes << 10))
    os.utime(path, (used_at, used_at))


def left(directory):
    return sorted(path.name for path in directory.root.glob("*/*"))


@pytest.fixture
def directory(tmp_path):
    made = CacheDir(tmp_path / "a", 100 << 10)
    made.prepare()
    return made


def test_what_was_used_longest_ago_goes_first(directory):
    for age, name in enumerate(("newest", "middle", "oldest")):
        add(directory, name, 32, OLD - age)
    assert directory.make_room(4 << 10, set)
    assert left(directory) == ["middle", "newest", "oldest"]
    assert directory.make_room(32 << 10, set)
    assert left(directory) == ["middle", "newest"]


def test_what_is_in_use_stays(directory):
    add(directory, "ours", 32, OLD - 2)
    add(directory, "other", 32, OLD - 1)
    add(directory, "another process's", 32, time.time() - 60)
    assert not directory.make_room(90 << 10, lambda: {"ours"})
    assert left(directory) == ["another process's", "ours"]
    assert directory.make_room(32 << 10, lambda: {"ours"})


def test_what_did_not_fit_does_not_count(directory):
    for _ in range(5):
        assert not directory.make_room(101 << 10, set)
    assert directory.make_room(100 << 10, set)


def test_what_was_written_counts_before_it_is_counted(directory):
    assert directory.make_room(99 << 10, set)
    add(directory, "first", 96)
    assert not directory.make_room(40 << 10, lambda: {"first"})
    assert directory.make_room(40 << 10, set)
    assert left(directory) == []


def test_only_entries_of_older_formats_count_and_go(tmp_path, monkeypatch):
    monkeypatch.setattr(cachedir, "FORMAT", 2)
    directory = CacheDir(tmp_path / "a", 100 << 10)
    directory.prepare()
    add(directory, "older", 60, number=1)
    add(directory, "newer", 600, number=3)
    assert directory.make_room(80 << 10, set)
    assert left(directory) == ["newer"]


def test_files_that_lie_about_are_left_alone(directory):
    (directory.entries / "notes.txt").write_bytes(bytes(200 << 10))
    assert directory.make_room(90 << 10, set)
    assert left(directory) == ["notes.txt"]
