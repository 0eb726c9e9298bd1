"""Finding runs as TensorBoard finds and names them."""

import os

import pytest
from tensorboard.backend.event_processing import data_ingester, io_wrapper

from tests.logs import write_run, write_scalars
from zentracer_store import discover as discovering
from zentracer_store.discover import Place, Walker, discover, parse_places


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")


def found(*places):
    return discover(tuple(Place(str(place)) if not isinstance(place, Place) else place for place in places))


def test_runs_have_tensorboards_names(tmp_path):
    for name in (
        "events.out.tfevents.1",
        "a/tfevents",
        "a/b/x.tfevents.y",
        "c d/é/events.out.tfevents.1.profile-empty",
    ):
        touch(tmp_path / name)
    touch(tmp_path / "none/model.ckpt")
    theirs = {os.path.relpath(path, tmp_path) for path in io_wrapper.GetLogdirSubdirectories(str(tmp_path))}
    assert {file.run for file in found(tmp_path).files} == theirs == {".", "a", "a/b", "c d/é"}


def test_our_directory_and_keras_splits_belong_to_the_trial_above(tmp_path):
    write_run(tmp_path / "x")
    for split in ("train", "validation", "test"):
        write_scalars(tmp_path / "x" / split, {"loss": [1.0]})
    write_run(tmp_path)
    trials = {file.run: file.trial for file in found(tmp_path).files}
    assert trials == {
        "zentracer": ".",
        "x/zentracer": "x",
        "x/train": "x",
        "x/validation": "x",
        "x/test": "x/test",
    }


def test_bulk_files_are_found_and_those_of_other_ranks_are_not(tmp_path):
    for name in ("zentracer.1.host.1.0.ztrec", "rank_0001.1.host.1.0.ztrec", "rank_0001.events.tfevents", "notes.txt"):
        touch(tmp_path / "a" / name)
    assert [os.path.basename(file.path) for file in found(tmp_path).files] == ["zentracer.1.host.1.0.ztrec"]


@pytest.mark.parametrize("spec", ["one:{a},two:{b}", "{a},{b}", "one:{a},/odd:name/x", "x:rel/dir"])
def test_logdir_spec_is_read_as_tensorboard_reads_it(tmp_path, spec, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = spec.format(a=tmp_path / "a", b=tmp_path / "b")
    theirs = data_ingester._parse_event_files_spec(spec)
    assert {os.path.realpath(place.path): place.name for place in parse_places("", spec)} == theirs


def test_names_in_logdir_spec_begin_the_runs_names(tmp_path):
    touch(tmp_path / "a/events.out.tfevents.1")
    write_run(tmp_path / "a/b")
    files = found(Place(str(tmp_path / "a"), "one")).files
    assert {(file.run, file.trial) for file in files} == {("one/.", "one/."), ("one/b/zentracer", "one/b")}


def test_a_loop_of_links_ends(tmp_path):
    touch(tmp_path / "a/events.out.tfevents.1")
    (tmp_path / "a/again").symlink_to(tmp_path)
    (tmp_path / "a/self").symlink_to(tmp_path / "a")
    assert {file.run for file in found(tmp_path).files} == {"a"}


def test_a_link_to_a_directory_elsewhere_is_a_run_as_in_tensorboard(tmp_path):
    touch(tmp_path / "elsewhere/events.out.tfevents.1")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "runs/b").symlink_to(tmp_path / "elsewhere")
    assert {file.run for file in found(tmp_path / "runs").files} == {"a", "b"}


def test_a_walk_without_end_is_given_up_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr("zentracer_store.discover.MOST_DIRECTORIES", 3)
    for number in range(5):
        touch(tmp_path / str(number) / "events.out.tfevents.1")
    looked = found(tmp_path)
    assert len(looked.files) == 2
    assert [problem.text for problem in looked.problems] == [
        f"{tmp_path} has more than 3 directories; the rest is not looked into. Give --logdir one further down."
    ]


def test_a_directory_that_may_not_be_read_is_told_and_hides_no_other(unprivileged_path):
    touch(unprivileged_path / "a/events.out.tfevents.1")
    touch(unprivileged_path / "b/events.out.tfevents.1")
    (unprivileged_path / "a").chmod(0)
    looked = found(unprivileged_path)
    assert [file.run for file in looked.files] == ["b"]
    assert [(p.path, p.text) for p in looked.problems] == [("a", "The directory can't be read (Permission denied).")]


def test_a_log_directory_that_does_not_exist_is_told(tmp_path):
    (problem,) = found(tmp_path / "none").problems
    assert problem.text == f"{tmp_path / 'none'} does not exist yet. It is looked for again."


def test_a_log_directory_that_is_a_file_is_told(tmp_path):
    touch(tmp_path / "f")
    (problem,) = found(tmp_path / "f").problems
    assert problem.text == f"{tmp_path / 'f'} is a file, not a directory. Give --logdir the directory that holds it."


def test_a_log_directory_elsewhere_is_told():
    (problem,) = found("s3://bucket/runs").problems
    assert problem.text == "s3://bucket/runs is not on this machine's file system, where alone these tabs can read."


def test_an_empty_log_directory_is_no_problem(tmp_path):
    assert found(tmp_path) == found(tmp_path)
    assert not found(tmp_path).files
    assert not found(tmp_path).problems


def test_a_name_that_is_no_unicode_is_shown_as_text(tmp_path):
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")
    with open(os.fsencode(tmp_path) + b"/\xff/events.out.tfevents.1", "wb"):
        pass
    (file,) = found(tmp_path).files
    assert file.run == "\\xff"
    assert os.path.exists(file.path)


def test_a_link_to_itself_hides_nothing(tmp_path):
    touch(tmp_path / "a/events.out.tfevents.1")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert [file.run for file in found(tmp_path).files] == ["a"]


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """A walker, and a function that walks and says which runs there are and how many directories were listed anew."""
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or scandir(path))
    walker = Walker([Place(str(tmp_path))])

    def walk():
        listed.clear()
        return [file.run for file in walker.walk().files], len(listed)

    return walker, walk


def age(*paths, seconds=3600):
    for path in paths:
        os.utime(path, (os.stat(path).st_mtime - seconds,) * 2)


def test_a_second_walk_lists_only_what_changed(counted, tmp_path):
    _, walk = counted
    for name in "abc":
        touch(tmp_path / name / "tfevents")
    age(tmp_path, *(tmp_path / name for name in "abc"))
    assert walk() == (["a", "b", "c"], 4)
    assert walk() == (["a", "b", "c"], 0)
    touch(tmp_path / "b/more/tfevents")
    assert walk() == (["a", "b", "b/more", "c"], 2)


def test_a_directory_that_has_just_changed_is_listed_until_its_time_would_tell(counted, tmp_path):
    _, walk = counted
    touch(tmp_path / "a/tfevents")
    assert walk() == (["a"], 2)
    assert walk() == (["a"], 2)
    age(tmp_path, tmp_path / "a", seconds=10)
    assert walk() == (["a"], 2)
    assert walk() == (["a"], 0)


def test_a_file_system_without_times_is_listed_each_minute(counted, tmp_path, monkeypatch):
    _, walk = counted
    touch(tmp_path / "a/tfevents")
    age(tmp_path, tmp_path / "a")
    monkeypatch.setattr(discovering, "_identity_of", lambda status: (0, 0, 0, 0))
    walk()
    touch(tmp_path / "b/tfevents")
    age(tmp_path)
    assert walk() == (["a"], 0)
    monkeypatch.setattr(discovering, "_RELIST_S", -1)
    assert walk() == (["a", "b"], 3)


def test_a_run_that_appears_at_the_end_of_a_link_is_found(counted, tmp_path, tmp_path_factory):
    _, walk = counted
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (tmp_path / "a").symlink_to(elsewhere / "run")
    age(tmp_path)
    assert walk() == ([], 1)
    touch(elsewhere / "run/tfevents")
    assert walk() == (["a"], 2)


def test_a_directory_that_went_or_closed_is_missed_and_found_again(counted, tmp_path):
    _, walk = counted
    touch(tmp_path / "a/tfevents")
    age(tmp_path, tmp_path / "a")
    walk()
    (tmp_path / "a").rename(tmp_path / "b")
    assert walk()[0] == ["b"]
    (tmp_path / "b/tfevents").unlink()
    assert walk()[0] == []


def test_what_did_not_change_is_the_same_object(tmp_path):
    touch(tmp_path / "a/tfevents")
    walker = Walker([Place(str(tmp_path))])
    first = walker.walk()
    touch(tmp_path / "b/tfevents")
    second = walker.walk()
    assert first.files[0] is second.files[0]
    assert second == walker.walk()
    assert first != second


def test_places_that_overlap_keep_their_own_names(tmp_path):
    touch(tmp_path / "a/tfevents")
    walker = Walker([Place(str(tmp_path), "all"), Place(str(tmp_path / "a"), "one")])
    for _ in range(2):
        assert [file.run for file in walker.walk().files] == ["all/a", "one/."]


def test_a_place_or_a_busy_directory_that_changes_stirs(tmp_path):
    touch(tmp_path / "busy/tfevents")
    touch(tmp_path / "quiet/tfevents")
    age(tmp_path / "quiet")
    walker = Walker([Place(str(tmp_path))])
    walker.walk()
    assert not walker.stirs()
    touch(tmp_path / "busy/tfevents.2")
    assert walker.stirs()
    walker.walk()
    touch(tmp_path / "new/tfevents")
    assert walker.stirs()


def test_a_place_that_comes_to_be_stirs(tmp_path):
    walker = Walker([Place(str(tmp_path / "runs"))])
    walker.walk()
    assert not walker.stirs()
    (tmp_path / "runs").mkdir()
    assert walker.stirs()
