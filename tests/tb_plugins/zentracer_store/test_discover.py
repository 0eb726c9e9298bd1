"""Finding runs as TensorBoard finds and names them."""

import os

import pytest
from tensorboard.backend.event_processing import data_ingester, io_wrapper

from tests.logs import write_run, write_scalars
from zentracer_store.discover import Place, discover, parse_places


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
