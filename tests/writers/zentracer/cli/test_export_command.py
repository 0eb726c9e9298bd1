"""`zentracer export`: what it writes, refuses and tells."""

import io
import json
import os
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from tests.logs import EVENTS, write_run, write_scalars
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer.cli.export import Teller, words
from zentracer_store.progress import Progress


@pytest.fixture
def logdir(tmp_path):
    """Two runs, one with tables."""
    write_scalars(tmp_path / "runs/a", {"train/loss": [1.0, 2.0], "lr": [0.1]})
    write_run(tmp_path / "runs/b", steps=range(3))
    return tmp_path / "runs"


def test_it_writes_and_says_what(command, logdir, tmp_path):
    status, out, error = command("export", logdir, "--to", "parquet", "--out", tmp_path / "out")
    assert (status, error) == (0, "")
    start = f"{tmp_path}/out: 3 scalars, 6 parameters of 2 runs, "
    assert out.startswith(start)
    assert out.endswith(" in 2 files.\n")
    assert pq.read_table(tmp_path / "out/kind=scalars/run=a/part-0.parquet").num_rows == 3


def test_by_default_it_writes_beside_where_one_stands(command, logdir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("export", "runs/", "--to", "csv")[0] == 0
    assert (tmp_path / "runs-csv/kind=scalars/run=a/part-0.csv").exists()


def test_it_replaces_an_export_only_by_force(command, logdir, tmp_path):
    arguments = ["export", logdir, "--to", "csv", "--out", tmp_path / "out"]
    assert command(*arguments)[0] == 0
    assert command(*arguments) == (
        2,
        "",
        f"zentracer: {tmp_path}/out holds an export already. Replace it with --force, or give another --out.\n",
    )
    assert command(*arguments, "--force")[0] == 0


def test_runs_tags_and_kinds_can_be_chosen(command, logdir, tmp_path):
    arguments = ["export", logdir, "--to", "csv", "--out", tmp_path / "out", "--run", "^a$", "--tag", "loss"]
    assert "2 scalars of 1 run," in command(*arguments)[1]
    arguments = ["export", logdir, "--to", "csv", "--out", tmp_path / "out", "--kind", "parameters", "--force"]
    assert "out: 6 parameters of 1 run," in command(*arguments)[1]


def test_where_nothing_matches_nothing_is_written(command, logdir, tmp_path):
    status, out, error = command("export", logdir, "--to", "csv", "--out", tmp_path / "out", "--run", "zzz")
    assert (status, out) == (2, "")
    assert error == (
        f"zentracer: Nothing to write was found under {logdir} that --run would take. Nothing was written.\n"
    )
    assert os.listdir(tmp_path) == ["runs"]


def test_where_nothing_matches_an_older_export_stays(command, logdir, tmp_path):
    arguments = ["export", logdir, "--to", "csv", "--out", tmp_path / "out"]
    assert command(*arguments)[0] == 0
    before = sorted(tmp_path.rglob("*"))
    status, _, error = command(*arguments, "--force", "--tag", "zzz", "--kind", "texts")
    assert status == 2
    assert " that --tag and --kind would take. Nothing was written." in error
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_directory_gives_no_export(command, tmp_path):
    (tmp_path / "runs").mkdir()
    assert command("export", tmp_path / "runs", "--to", "csv", "--out", tmp_path / "out") == (
        2,
        "",
        f"zentracer: Nothing to write was found under {tmp_path}/runs. Nothing was written.\n",
    )


def test_an_unknown_kind_and_a_broken_pattern_are_refused(command, logdir, tmp_path):
    status, _, error = command("export", logdir, "--to", "csv", "--kind", "scalar")
    assert status == 2
    assert error.startswith("zentracer: There is no kind 'scalar'. The kinds are scalars, ")
    status, _, error = command("export", logdir, "--to", "csv", "--run", "[")
    assert status == 2
    assert "argument --run: '[' is no regular expression (unterminated character set at position 0)" in error


def test_what_was_left_out_is_told_and_gives_status_1(command, tmp_path):
    hiding_logs.damaged_data(tmp_path / "runs/a")
    status, out, error = command("export", tmp_path / "runs", "--to", "csv", "--out", tmp_path / "out")
    assert status == 1
    assert "out: 19 scalars of 1 run," in out
    assert error.startswith(f"a/{EVENTS}, byte ")
    assert "is damaged and is skipped" in error


def test_of_many_that_are_alike_some_are_told_and_the_rest_counted(command, tmp_path):
    write_scalars(tmp_path / "runs", {"loss": [1.0]})
    for number in range(25):
        os.mkfifo(tmp_path / f"runs/events.out.tfevents.{number}")
    _, _, error = command("export", tmp_path / "runs", "--to", "csv", "--out", tmp_path / "out")
    lines = error.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 5 more like these; `zentracer doctor` lists them."


def test_a_shortened_name_is_told(command, tmp_path):
    name = "x" * 200 + "/" + "y" * 200
    write_scalars(tmp_path / "runs" / name, {"loss": [1.0]})
    _, _, error = command("export", tmp_path / "runs", "--to", "csv", "--out", tmp_path / "out")
    assert error == f"The run's name is too long for a folder and was shortened; _export.json has it whole: {name}\n"


def test_an_empty_place_is_refused(command, logdir):
    assert command("export", logdir, "--to", "csv", "--out", "") == (
        2,
        "",
        "zentracer: --out is empty. Give the directory to write.\n",
    )


def test_a_place_may_be_in_the_home_directory(command, logdir, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert command("export", logdir, "--to", "csv", "--out=~/out")[0] == 0
    assert (tmp_path / "out/_export.json").exists()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_that_are_not_utf8_are_no_trouble(command, logdir, tmp_path, form):
    odd = tmp_path / os.fsdecode(b"odd\xff")
    logdir.rename(odd)
    status, out, error = command("export", odd, "--to", form, "--out", tmp_path / os.fsdecode(b"out\xfe"))
    assert (status, error) == (0, "")
    assert out.startswith(f"{tmp_path}/out\\xfe: 3 scalars, ")
    (made,) = tmp_path.glob("out*/_export.json")
    assert json.loads(made.read_text())["logdir"] == f"{tmp_path}/odd\\xff"


def test_a_disk_that_refuses_is_told(command, logdir, tmp_path):
    status, _, error = command("export", logdir, "--to", "csv", "--out", "/proc/nowhere/out")
    assert status == 2
    assert error == (
        "zentracer: /proc/nowhere/out could not be written (No such file or directory). Nothing of it is left.\n"
    )


def progress(**more):
    told = {"files": 1, "files_total": 4, "bytes": 2_000_000, "bytes_total": 8_000_000}
    return Progress(**{**told, "bytes_per_second": None, "seconds_left": None, "done": False, **more})


def test_progress_in_words():
    assert words(progress()) == "1 of 4 files, 2.0 MB of 8.0 MB"
    assert (
        words(progress(bytes_per_second=1e6, seconds_left=6.2)) == "1 of 4 files, 2.0 MB of 8.0 MB, 1.0 MB/s, 6 s left"
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test sets."""
    now = [100.0]
    monkeypatch.setattr("zentracer.cli.export.time.monotonic", lambda: now[0])
    return now


def test_on_a_terminal_progress_stays_on_one_line(clock):
    stream = Terminal()
    teller = Teller(stream)
    for number in range(4):
        clock[0] += 0.06
        teller.tell(progress(files=number))
    teller.done()
    assert stream.getvalue() == (
        "\r\x1b[K1 of 4 files, 2.0 MB of 8.0 MB\r\x1b[K3 of 4 files, 2.0 MB of 8.0 MB\n"
    )  # fmt: skip


def test_elsewhere_progress_is_a_line_now_and_then(clock):
    stream = io.StringIO()
    teller = Teller(stream)
    for number in range(4):
        teller.tell(progress(files=number))
        clock[0] += 3
    teller.done()
    assert stream.getvalue() == "2 of 4 files, 2.0 MB of 8.0 MB\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing(logdir, tmp_path, number):
    code = """
import sys, time
import zentracer_store.exporting.export as export
def slow(*arguments):
    print("reading", flush=True)
    time.sleep(60)
export.read_run = slow
from zentracer.cli import main
sys.exit(main(sys.argv[1:]))
"""
    command = [sys.executable, "-c", code, "export", logdir, "--to", "csv", "--out", tmp_path / "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        assert any(name.startswith(".out.") for name in os.listdir(tmp_path))
        process.send_signal(number)
        assert process.stderr.read() == b""
    assert process.returncode == 128 + number
    assert os.listdir(tmp_path) == ["runs"]


def test_progress_that_nobody_reads_does_not_stop_the_work(logdir, tmp_path):
    code = (
        "import sys, zentracer.cli.export as e; e._TOLD_EVERY_S = 0; from zentracer.cli import main; sys.exit(main())"
    )
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", code, "export", logdir, "--to", "csv", "--out", tmp_path / "out"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing)
    os.close(writing)
    assert done.returncode == 0
    assert b"3 scalars" in done.stdout
    assert (tmp_path / "out/_export.json").exists()
