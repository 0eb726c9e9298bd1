"""The command `zentracer` as such: help, wrong use, pipes that close, packages that are missing."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest

from tests.logs import write_scalars
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer.cli.trouble import counted, printable, size

ROOT = Path(__file__).parents[4]


def test_the_package_installs_the_command():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, name = scripts["zentracer"].partition(":")
    assert callable(getattr(import_module(module), name))


def test_help_lists_the_commands(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "export" in out
    assert "doctor" in out


def test_the_version_is_that_of_the_package(command):
    assert command("--version")[1] == f"zentracer {metadata.version('zentracer')}\n"


def test_without_a_command_the_usage_is_told(command):
    status, _, error = command()
    assert status == 2
    assert "usage: zentracer" in error


@pytest.mark.parametrize("name", ["export", "doctor"])
def test_every_command_says_what_it_takes_and_how_it_ends(command, name):
    status, out, _ = command(name, "--help")
    assert status == 0
    assert "LOGDIR" in out
    assert "exit status: 0" in out


@pytest.mark.parametrize("arguments", [["doctor"], ["export", "--to", "csv"]])
def test_a_directory_that_is_not_there_is_no_traceback(command, tmp_path, arguments):
    name, *more = arguments
    assert command(name, tmp_path / "nowhere", *more) == (
        2,
        "",
        f"zentracer: {tmp_path}/nowhere is not there. Give the directory that holds the logs.\n",
    )
    file = write_scalars(tmp_path, {"loss": [1.0]})
    assert command(name, file, *more)[2] == f"zentracer: {file} is a file. Give the directory that holds it.\n"


def test_it_runs_as_a_module(tmp_path):
    write_scalars(tmp_path, {"loss": [1.0]})
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "zentracer.cli", "doctor", tmp_path], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing is damaged." in done.stdout


def test_a_reader_that_has_seen_enough_is_no_trouble(tmp_path):
    for number in range(3000):
        os.makedirs(tmp_path / f"run{number}")
        (tmp_path / f"run{number}/events.out.tfevents.1").touch()
    command = [sys.executable, "-m", "zentracer.cli", "doctor", "--all", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


SHELL = "{} -m zentracer.cli {} {} {}"


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_an_export_needs_no_streams(tmp_path, streams):
    write_scalars(tmp_path / "runs", {"loss": [1.0]})
    more = f"--to csv --out {tmp_path}/out"
    line = SHELL.format(sys.executable, "export", tmp_path / "runs", f"{more} {streams}")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out/kind=scalars/run=./part-0.csv").exists()


@pytest.mark.parametrize(("name", "more", "status"), [("doctor", "", 2), ("export", "--to csv", 0)])
def test_a_full_output_is_told(tmp_path, name, more, status):
    write_scalars(tmp_path / "runs", {"loss": [1.0]})
    line = f"cd {tmp_path} && {SHELL.format(sys.executable, name, 'runs', more)} >/dev/full"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    assert done.stderr == "zentracer: Not all could be printed (No space left on device).\n"
    assert done.returncode == status


def test_help_that_cannot_be_printed_is_no_traceback():
    line = SHELL.format(sys.executable, "--help", "", ">/dev/full")
    assert subprocess.run(["sh", "-c", line], capture_output=True, text=True).stderr == ""


def test_names_of_any_alphabet_are_printed_where_only_ascii_can_be(tmp_path):
    write_scalars(tmp_path / "übung", {"loss": [1.0]})
    command = [sys.executable, "-m", "zentracer.cli", "doctor", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xfcbung: 1 scalar tag" in done.stdout


def test_a_damaged_log_gives_its_status_though_nobody_reads_on(tmp_path):
    hiding_logs.damaged_data(tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "zentracer.cli", "doctor", tmp_path]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_what_the_command_line_says_cannot_move_the_cursor(command):
    assert command("doctor", "\x1b[2J")[2].startswith("zentracer: \\x1b[2J is not there.")
    assert "unrecognized arguments: --\\x1b[2J\n" in command("doctor", ".", "--\x1b[2J")[2]


@pytest.mark.parametrize("arguments", [["doctor"], ["export", "--to", "csv"]])
def test_an_empty_directory_name_is_told(command, arguments):
    name, *more = arguments
    assert command(name, "", *more)[::2] == (
        2,
        "zentracer: LOGDIR is empty. Give the directory that holds the logs.\n",
    )


def test_a_missing_package_is_named_with_what_to_install(tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; from zentracer.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "export", tmp_path, "--to", "parquet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "zentracer: zentracer export needs pyarrow, which is not installed here. "
        "Install it: pip install 'zentracer[tensorboard]'.\n"
    )


def test_the_doctor_needs_no_extra(tmp_path):
    code = "import sys; sys.modules['pyarrow'] = None; from zentracer.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, "doctor", tmp_path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_it_without_a_traceback(command, tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("zentracer_store.examining.doctor.examine", interrupted)
    assert command("doctor", tmp_path) == (130, "", "")


def test_names_cannot_move_the_cursor():
    assert printable("run\x1b[2J\r\n\u202e é") == "run\\x1b[2J\\r\\n\\u202e é"
    assert printable("a\udcff\ud800") == "a\\xff\\ud800"


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 KB"), (123_456, "123 KB"), (5e6, "5.0 MB"), (2.5e12, "2,500 GB")],
)
def test_sizes_are_told_as_people_say_them(count, words):
    assert size(count) == words


def test_counts_agree_with_their_nouns():
    assert [counted(n, "run") for n in (0, 1, 2000)] == ["0 runs", "1 run", "2,000 runs"]
