"""`zentracer.read`: every point in Arrow tables, and from there in data frames."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import zentracer
from tests.logs import EVENTS, Log, write_run, write_scalars


@pytest.fixture
def log(tmp_path):
    """A run with tables, and the splits of one with scalars."""
    write_run(tmp_path / "a", steps=range(4), update_ratio=lambda step: step / 8)
    write_scalars(tmp_path / "a/train", {"loss": [3.0, 2.0, 1.0], "lr": [0.1]})
    write_scalars(tmp_path / "b", {"loss": [9.0]})
    return zentracer.read(tmp_path)


def test_runs_have_the_names_that_tensorboard_shows(log):
    assert log.runs == ["a/train", "a/zentracer", "b"]


def test_every_point_of_every_run_is_there(log):
    table = log.scalars()
    assert table.column_names == ["run", "tag", "step", "wall_time", "session", "superseded", "value"]
    rows = [(row["run"], row["tag"], row["step"], row["value"]) for row in table.to_pylist()]
    assert rows == [
        *(("a/train", "loss", step, 3.0 - step) for step in range(3)),
        ("a/train", "lr", 0, pytest.approx(0.1)),
        ("b", "loss", 0, 9.0),
    ]


def test_a_trial_stands_for_what_is_part_of_it(log):
    assert log.scalars("a").num_rows == 4
    assert log.scalars("a/train").num_rows == 4
    assert log.table("parameters", "a").num_rows == 8


def test_a_name_matches_itself_only_and_a_pattern_anywhere(log):
    assert log.scalars(tag="loss").num_rows == 4
    assert log.scalars(tag="l").num_rows == 0
    assert log.scalars(tag=re.compile("^l")).num_rows == 5
    assert log.scalars(run=re.compile("a|b"), tag="loss").num_rows == 4


def test_tables_have_a_column_a_statistic_and_are_data_frames(log):
    frame = log.table("parameters", run="a").to_pandas()
    assert frame.pivot(index="step", columns="row", values="update_ratio")["a.bias"].tolist() == [0, 0.125, 0.25, 0.375]
    assert frame["update_ratio"].dtype == np.float32
    assert set(frame["run"]) == {"a/zentracer"}


def test_a_scope_can_be_chosen(log):
    assert log.table(scope="model").num_rows == 8
    assert log.table(scope="mode").num_rows == 0
    assert log.table(scope=re.compile("mod")).num_rows == 8


def test_what_a_later_session_wrote_anew_is_marked(tmp_path):
    points = Log(tmp_path / EVENTS).version().start(0).scalars(0, loss=1.0).scalars(1, loss=2.0)
    points.start(1).scalars(1, loss=3.0).append()
    table = zentracer.read(str(tmp_path)).scalars()
    assert [(row["step"], row["value"], row["superseded"]) for row in table.to_pylist()] == [
        (0, 1.0, False),
        (1, 2.0, True),
        (1, 3.0, False),
    ]


def test_where_there_is_nothing_the_table_is_empty_and_has_its_columns(tmp_path):
    log = zentracer.read(tmp_path)
    assert log.runs == []
    assert log.scalars().num_rows == 0
    assert log.scalars().column_names[-1] == "value"
    assert "step" in log.table("pulse").column_names


def test_a_run_that_is_not_there_is_an_error(log):
    with pytest.raises(LookupError, match=r"No run under .* is called 'zzz'\."):
        log.scalars("zzz")
    with pytest.raises(LookupError, match=r"No run under .* is called 'q\+'\."):
        log.scalars(re.compile("q+"))


def test_an_unknown_kind_is_an_error(log):
    with pytest.raises(ValueError, match=r"There is no kind 'weights'. The kinds are scalars, .*parameters"):
        log.table("weights")


def test_a_directory_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere is no directory. Give the directory that holds the logs."):
        zentracer.read(tmp_path / "nowhere")


@pytest.mark.parametrize("logdir", [None, 5, b"runs", ["runs"]])
def test_a_directory_that_is_no_path_is_an_error(logdir):
    with pytest.raises(TypeError, match=r"logdir is a path, not .*\. Give the directory that holds the logs\."):
        zentracer.read(logdir)


@pytest.mark.parametrize("name", [5, b"a", ["a"], re.compile(b"a")])
def test_a_name_that_is_no_text_is_an_error(log, name):
    for given in ({"run": name}, {"tag": name}):
        with pytest.raises(TypeError, match=r"A name is text or a compiled pattern of text, not .*\."):
            log.scalars(**given)
    with pytest.raises(TypeError, match="A name is text"):
        log.table(scope=name)


def test_a_directory_whose_name_is_not_utf8_can_be_read(tmp_path):
    odd = tmp_path / os.fsdecode(b"odd\xff")
    write_scalars(odd / "a", {"loss": [1.0]})
    assert zentracer.read(odd).scalars("a").num_rows == 1


def test_oddities_are_sentences(tmp_path):
    path = write_scalars(tmp_path / "a", {"loss": [1.0, 2.0, 3.0]})
    data = bytearray(path.read_bytes())
    data[-60] ^= 1
    path.write_bytes(data)
    (text,) = zentracer.read(tmp_path).oddities("a")
    assert text.startswith(f"a/{EVENTS}, byte ")
    assert text.endswith("is damaged and is skipped.")


def test_a_missing_package_is_named_with_what_to_install(tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; import zentracer; zentracer.read(sys.argv[1]).scalars()"
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "zentracer.missing.MissingPackage: zentracer.read needs pyarrow, which is not installed here. "
        "Install it: pip install 'zentracer[tensorboard]'."
    )


def test_the_function_stays_one_when_its_module_is_imported():
    import zentracer.read

    assert callable(zentracer.read)
