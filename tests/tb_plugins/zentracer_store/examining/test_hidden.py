"""What is hidden of a run, and the sentences that say so."""

import pytest

from tests.logs import EVENTS, Log, write_run
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer_store.examining.hidden import Hidden, advice_on, hidden_in, sentence, short_of_descriptors
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
        ("unclassified", [("no data class", "both", 20), ("sampled", "python", 20)]),
        ("no_event", [("behind damage", "both", 13), ("ends loading", "python", 0)]),
        ("long", [("sampled", "python", 200), ("sampled", "server", 200)]),
        ("side_by_side", [("side by side", "python", 0)]),
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
            Hidden("ends loading", "python", "a", file="a/f", offset=1234),
            f"{PYTHON} stops loading every run, not only this one, at a record that holds no event (a/f, byte 1,234).",
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
            f"{SERVER} shows empty charts for 2 values: they are scalars of another type than float32.",
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
