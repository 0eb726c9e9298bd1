"""The demo trains, shows and stops as it says."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import psutil
import pytest
import torch

from demo_runs import __main__ as demo
from demo_runs.digits import DigitNet
from demo_runs.text import CONTEXT, CharacterTransformer, library_text

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The logdir of all runs with --quick, and what was printed."""
    logdir = tmp_path_factory.mktemp("runs")
    command = [sys.executable, "-m", "demo_runs", "--quick", "--logdir", str(logdir)]
    return logdir, subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", demo.RUNS)
def test_every_run_leaves_event_files_of_ours(quick, name):
    assert list((quick[0] / name / "zentracer").glob("*.tfevents.*"))


@pytest.mark.parametrize("name", demo.RUNS)
def test_progress_ends_at_the_last_step(quick, name):
    steps = demo.RUNS[name]
    assert re.search(rf"^{name} +step {steps} of {steps} ", quick[1], flags=re.MULTILINE)


@pytest.mark.parametrize(("name", "least", "most"), [("digits/healthy", 0, 2.2), ("text/healthy", 0, 4)])
def test_the_healthy_ones_learn(quick, name, least, most):
    *_, last = re.findall(rf"^{name} .* loss (\S+)", quick[1], flags=re.MULTILINE)
    assert least < float(last) < most


def test_too_large_a_learning_rate_ends_in_nan(quick):
    *_, last = re.findall(r"^digits/too_large .* loss (\S+)", quick[1], flags=re.MULTILINE)
    assert last == "nan"


def test_a_finished_run_is_not_trained_again(quick):
    command = [sys.executable, "-m", "demo_runs", "--quick", "--logdir", str(quick[0])]
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert again.splitlines() == [f"{name:18} is there already" for name in demo.RUNS]


def test_a_failing_training_ends_the_demo_with_its_name(tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/digits").write_text("a file where a directory should be")
    monkeypatch.setattr(demo, "RUNS", {"digits/healthy": 5})
    with pytest.raises(SystemExit, match="Training digits/healthy ended with exit status 1; its message is above."):
        demo.train_all(tmp_path / "runs", quick=True)


def test_another_port_is_taken_when_the_usual_one_is_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert demo.free_port(port) != port
    assert demo.free_port(port) == port


def test_the_page_is_up_while_training_goes_on_and_ctrl_c_stops_all(tmp_path):
    command = [sys.executable, "-u", "-m", "demo_runs", "--quick", "--serve", "--logdir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        for line in process.stdout:
            if address := re.search(r"http://localhost:\d+/", line):
                break
        assert urllib.request.urlopen(address[0]).status == 200
        assert not (tmp_path / "digits/healthy" / demo.FINISHED).exists(), "training was to go on meanwhile"
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.stdout.read().endswith("Stopped.\n")
        assert process.wait() == 0
    gone, alive = psutil.wait_procs(children, timeout=10)
    assert gone
    assert alive == []


def test_the_text_is_the_standard_librarys():
    text = library_text(2000)
    assert text.shape == (2000,)
    assert bytes(text.tolist()).decode("ascii").startswith('"""')


def test_models_give_a_score_for_each_class():
    assert DigitNet()(torch.zeros(3, 1, 8, 8)).shape == (3, 10)
    assert CharacterTransformer()(torch.zeros(2, CONTEXT, dtype=torch.long)).shape == (2, CONTEXT, 128)
