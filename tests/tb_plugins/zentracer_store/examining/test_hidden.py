"""What is hidden of a run, and the sentences that say so."""

import os

import pytest

from tests.logs import EVENTS, Log, write_run
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer_store.examining.hidden import NAME, RECORD, Hidden, advice_on, sentence
from zentracer_store.examining.losses import ended_by_name, hidden_in, short_of_descriptors
from zentracer_store.examining.replay import replay

PYTHON, SERVER = "TensorBoard's Python loader", "TensorBoard's data server"


def hidden(run, write):
    write(run)
    files = sorted(path for path in run.rglob("*") if "tfevents" in path.name)
    return hidden_in("a", [(f"a/{path.name}", replay(str(path))) for path in files])


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("whole", []),
        ("floats", []),
        ("damaged_data", [("behind damage", "python", 13)]),
        ("damaged_event", [("behind damage", "both", 12)]),
        ("damaged_length", [("behind damage", "both", 12)]),
        ("nan_wall", [("behind damage", "server", 13)]),
        ("restarted", [("overwritten", "both", 4)]),
        ("restarted_in_another_file", [("overwritten", "both", 4)]),
        ("began_anew", [("overwritten", "both", 10), ("purged", "python", 10)]),
        ("went_back", [("replaced", "server", 4)]),
        ("went_back_without_a_version", [("overwritten", "both", 4)]),
        ("repeated", [("replaced", "server", 19)]),
        ("doubles", [("not float32", "server", 20)]),
        ("unclassified", [("no data class", "both", 20), ("sampled", "python", 10)]),
        ("no_event", [("behind damage", "both", 13), ("ends loading", "python", 0)]),
        ("long", [("sampled", "python", 200), ("sampled", "server", 200)]),
        ("side_by_side", [("side by side", "python", 0)]),
        ("doubles_later", [("not float32", "server", 20)]),
        ("lone_entries", [("not float32", "server", 20)]),
        ("pairs", [("not float32", "server", 1), ("not single", "python", 20)]),
        ("no_entry", [("not float32", "server", 1), ("not single", "python", 20)]),
        ("infinite_wall", [("wall time", "server", 2)]),
        ("mixed_classes", [("another class", "server", 1)]),
        ("went_back_in_an_old_version", [("overwritten", "both", 4)]),
        ("version_that_changes", [("overwritten", "both", 2), ("replaced", "server", 4)]),
        ("long_and_restarted", [("overwritten", "both", 900)]),
        ("long_and_damaged", [("behind damage", "python", 1193), ("sampled", "server", 200)]),
        (
            "long_and_late_doubles",
            [("not float32", "server", 150), ("sampled", "python", 200), ("sampled", "server", 50)],
        ),
    ],
)
def test_each_case_is_found_and_nothing_else(tmp_path, case, found):
    assert [(one.kind, one.reader, one.values) for one in hidden(tmp_path, getattr(hiding_logs, case))] == found


def test_tables_of_ours_are_not_missed(tmp_path):
    assert hidden(tmp_path, lambda run: write_run(run, steps=range(50))) == []


def test_files_that_follow_each_other_are_not_side_by_side(tmp_path):
    def write(run):
        hiding_logs.points(hiding_logs.log_in(run), range(10)).append()
        hiding_logs.points(Log(run / hiding_logs.SECOND, hiding_logs.WALL + 50).version(), range(10, 20)).append()

    assert hidden(tmp_path, write) == []


def test_the_values_behind_damage_are_named_with_place_and_reason(tmp_path):
    (one,) = hidden(tmp_path, hiding_logs.damaged_length)
    assert one == Hidden(
        "behind damage", "both", "a", ("loss",), 12, f"a/{EVENTS}", one.offset, "the length of a record is damaged"
    )
    data = next(tmp_path.iterdir()).read_bytes()
    assert data[one.offset : one.offset + 12] != data[: one.offset][-12:]
    assert sentence([one]) == (
        "TensorBoard never shows 12 values: it stops reading a file at the first damage that stops it "
        f"(the length of a record is damaged: a/{EVENTS}, byte {one.offset:,})."
    )


def test_a_data_server_runs_out_of_descriptors():
    assert short_of_descriptors(960, 960) == []
    (one,) = short_of_descriptors(1500, 960)
    assert sentence([one]) == (
        "TensorBoard's data server loses the runs of about 540 files without a word: there are 1,500 event files, "
        "and a process started here can hold about 960 open."
    )


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (
            Hidden("behind damage", "python", "a", ("loss",), 1),
            f"{PYTHON} never shows 1 value: it stops reading a file at the first damage that stops it.",
        ),
        (
            Hidden("ends loading", "python", "a", file="a/f", offset=1234, why=RECORD),
            f"{PYTHON} stops loading every run, not only this one, at a record that holds no event (a/f, byte 1,234).",
        ),
        (
            Hidden("ends loading", "python", "a", file="a/f", why=NAME),
            f"{PYTHON} stops loading every run, not only this one, at a path that is not UTF-8 (a/f).",
        ),
        (
            Hidden("overwritten", "both", "a", ("loss",), 2000),
            "TensorBoard drops 2,000 values at steps that a later session of the run wrote anew.",
        ),
        (
            Hidden("purged", "python", "a", ("loss",), 2),
            f"{PYTHON} drops 2 values: a later session of the run began at or before their steps.",
        ),
        (
            Hidden("replaced", "server", "a", ("loss",), 2),
            f"{SERVER} drops 2 values: their tag has a later value at the same step or a smaller one.",
        ),
        (
            Hidden("not float32", "server", "a", ("loss",), 2),
            f"{SERVER} leaves out 2 values: of scalars it takes single numbers of type float32 only.",
        ),
        (
            Hidden("wall time", "server", "a", ("loss",), 2),
            f"{SERVER} leaves out 2 values: their wall time is infinite.",
        ),
        (
            Hidden("another class", "server", "a", ("loss",), 2),
            f"{SERVER} leaves out 2 values: they are of another class of data than their tag's first value says.",
        ),
        (
            Hidden("not single", "python", "a", ("loss",), 2),
            f"{PYTHON} shows nothing of 2 values: a scalar of their tag is not a single number.",
        ),
        (
            Hidden("no data class", "both", "a", ("loss",), 2),
            "TensorBoard shows nothing of 2 values: their tags do not say what class of data they hold.",
        ),
        (
            Hidden("sampled", "python", "a", ("loss",), 2),
            f"{PYTHON} leaves out 2 values at random: it keeps a sample of each tag.",
        ),
        (
            Hidden("side by side", "python", "a"),
            f"{PYTHON} follows one growing file a directory: of files beside it, new values wait for a restart.",
        ),
    ],
)
def test_every_sentence_reads_well(one, text):
    assert sentence([one]) == text
    assert advice_on(one.kind).endswith(".")


def test_several_of_a_kind_are_one_sentence_with_their_sum():
    both = [Hidden("replaced", "server", run, ("loss",), 2) for run in "ab"]
    assert "drops 4 values" in sentence(both)
    damaged = [Hidden("behind damage", "both", run, ("loss",), 2, "f", 0, "a record is damaged") for run in "ab"]
    assert sentence(damaged).endswith("the first damage that stops it.")


def test_several_ends_are_named_together():
    ends = [Hidden("ends loading", "python", "a", file="f", offset=1, why=RECORD)]
    ends.append(Hidden("ends loading", "python", "b", file="g", why=NAME))
    assert sentence(ends) == (
        f"{PYTHON} stops loading every run, not only this one, at a record that holds no event and "
        "at a path that is not UTF-8."
    )


@pytest.mark.parametrize("path", [b"a\xff/f", b"a/f\xff"])
def test_a_path_that_is_not_utf8_ends_the_python_loader(path):
    found = ended_by_name("a", [("a/ok", "a/ok"), (os.fsdecode(path), "shown")])
    assert found == [Hidden("ends loading", "python", "a", file="shown", why=NAME)]
    assert ended_by_name("a", [("ä/f", "ä/f")]) == []


def test_tables_of_ours_behind_damage_are_not_missed(tmp_path):
    def write(run):
        hiding_logs.change(write_run(run, steps=range(20)), 8, 12 + 3)

    assert hidden(tmp_path, write) == []
