"""Directories that appear whole, and names of runs as names of folders."""

import os
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.exporting.partition import (
    LONGEST_NAME,
    MARKER,
    Refused,
    is_shortened,
    partition,
    refuse,
    replacing,
)


def fill(folder: Path, text: str = "whole") -> None:
    (folder / "data").write_text(text)
    (folder / MARKER).write_text("{}")


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=60))
def test_a_name_is_one_folder_and_comes_back_from_it(name):
    folder = partition(run=name)
    assert "/" not in folder
    assert folder not in (".", "..")
    assert "\0" not in folder
    if not is_shortened(name):
        assert unquote(folder.removeprefix("run=")) == name


def test_keys_are_folders_in_folders():
    assert partition(kind="scalars", run="a/b c=d") == "kind=scalars/run=a%2Fb%20c%3Dd"
    assert partition(run=".") == "run=."


def test_the_name_that_stands_for_no_value_is_encoded():
    folder = partition(run="__HIVE_DEFAULT_PARTITION__")
    assert "_" not in folder
    assert unquote(folder) == "run=__HIVE_DEFAULT_PARTITION__"


def test_a_long_name_keeps_its_beginning_and_stays_different_from_others():
    names = ["ä" * 300, "ä" * 299 + "b", "x" * 252, "x" * 251]
    folders = [partition(run=name) for name in names]
    assert len(set(folders)) == 4
    assert all(len(folder) <= LONGEST_NAME for folder in folders)
    assert [is_shortened(name) for name in names] == [True, True, True, False]
    assert unquote(folders[0]).startswith("run=ääää")
    assert "\ufffd" not in unquote(folders[0]).rpartition("~")[0].removeprefix("run=ä")[:30]


def test_a_directory_appears_only_once_it_is_whole(tmp_path):
    out = tmp_path / "deep/out"
    with replacing(str(out)) as folder:
        fill(folder)
        assert not out.exists()
    assert (out / "data").read_text() == "whole"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_what_fails_leaves_nothing_behind(tmp_path):
    def interrupted(folder):
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), replacing(str(tmp_path / "out")) as folder:
        interrupted(folder)
    assert list(tmp_path.iterdir()) == []


def test_an_export_is_replaced_only_by_force(tmp_path):
    out = tmp_path / "out"
    with replacing(str(out)) as folder:
        fill(folder, "old")
    with pytest.raises(Refused, match="holds an export already. Replace it with --force, or give another --out."):
        refuse(str(out), force=False)
    with replacing(str(out), force=True) as folder:
        fill(folder, "new")
        assert (out / "data").read_text() == "old"
    assert (out / "data").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_replacement_leaves_the_old_export(tmp_path):
    out = tmp_path / "out"
    with replacing(str(out)) as folder:
        fill(folder, "old")
    with pytest.raises(OSError, match="No space"), replacing(str(out), force=True) as folder:
        raise OSError(28, "No space left on device")
    assert (out / "data").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_directory_is_filled(tmp_path):
    with replacing(str(tmp_path)) as folder:
        fill(folder)
    assert (tmp_path / "data").exists()


@pytest.mark.parametrize("force", [False, True])
def test_nothing_but_an_export_is_ever_replaced(tmp_path, force):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(Refused, match="is not empty and holds no export. Give another --out."):
        refuse(str(tmp_path), force=force)
    with pytest.raises(Refused, match="thesis.tex is a file. Give another --out."):
        refuse(str(tmp_path / "thesis.tex"), force=force)


def test_the_logs_are_never_replaced_even_where_an_export_holds_them(tmp_path):
    logdir = tmp_path / "export/runs"
    logdir.mkdir(parents=True)
    (tmp_path / "export" / MARKER).write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "export")
    for out in (logdir, tmp_path / "export", tmp_path / "link"):
        with pytest.raises(Refused, match="holds the logs themselves. Give another --out."):
            refuse(str(out), force=True, keep=str(logdir))


def test_what_came_there_meanwhile_stays(tmp_path):
    out = tmp_path / "out"

    def slow(folder):
        fill(folder)
        out.mkdir()
        (out / "theirs").write_text("")

    with pytest.raises(Refused, match="is not empty and holds no export"), replacing(str(out)) as folder:
        slow(folder)
    assert os.listdir(out) == ["theirs"]


def test_a_link_to_an_export_stays_a_link(tmp_path):
    with replacing(str(tmp_path / "real")) as folder:
        fill(folder, "old")
    (tmp_path / "link").symlink_to("real")
    with replacing(str(tmp_path / "link"), force=True) as folder:
        fill(folder, "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real/data").read_text() == "new"


def left(folder: Path) -> Path:
    """What a killed export leaves, an hour old."""
    (folder / "kind=scalars").mkdir(parents=True)
    os.utime(folder, (time.time() - 3600,) * 2)
    return folder


def test_what_a_killed_export_left_is_removed_and_nothing_else(tmp_path):
    gone = left(tmp_path / ".out.0123abcd.partial")
    stay = [left(tmp_path / name) for name in (".other.0123abcd.partial", ".out.mine.partial", ".out.89abcdef.partial")]
    (stay[-1] / "thesis.tex").touch()
    os.utime(stay[-1], (0, 0))
    young = tmp_path / ".out.00000000.partial"
    young.mkdir()
    with replacing(str(tmp_path / "out")) as folder:
        fill(folder)
    assert not gone.exists()
    assert all(path.exists() for path in (*stay, young))


def test_an_export_that_is_still_being_written_is_not_removed(tmp_path):
    out = str(tmp_path / "out")
    with replacing(out, force=True) as slow:
        fill(left(slow / "kind=texts").parent, "slow")
        with replacing(out) as folder:
            fill(folder)
        os.utime(slow, (0, 0))
        with replacing(out, force=True) as folder:
            fill(folder)
        assert slow.exists()
    assert (tmp_path / "out/data").read_text() == "slow"


def test_an_interrupt_between_the_renames_brings_the_old_export_back(tmp_path, monkeypatch):
    out = tmp_path / "out"
    with replacing(str(out)) as folder:
        fill(folder, "old")
    rename, calls = Path.rename, []

    def interrupted(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(str(out), force=True) as folder:
        fill(folder, "new")
    assert (out / "data").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["x" * 250, "ä" * 125, "x" * 255])
def test_a_name_may_be_as_long_as_the_file_system_takes(tmp_path, name):
    for _ in range(2):
        with replacing(str(tmp_path / name), force=True) as folder:
            fill(folder)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_nothing_can_be_inside_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match=r"/file is a file, so .*/file/x/y can't be in it. Give another --out."):
        refuse(str(tmp_path / "file/x/y"), force=False)


def test_an_export_that_was_being_replaced_comes_back(tmp_path):
    old = tmp_path / ".out.0123abcd.old"
    old.mkdir()
    (old / "kind=scalars").mkdir()
    (old / MARKER).write_text("{}")
    with pytest.raises(Refused, match="holds an export already"), replacing(str(tmp_path / "out")):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_export_that_was_replaced_goes(tmp_path):
    with replacing(str(tmp_path / "out")) as folder:
        fill(folder)
    old = left(tmp_path / ".out.0123abcd.old")
    with replacing(str(tmp_path / "out"), force=True) as folder:
        fill(folder)
    assert not old.exists()
