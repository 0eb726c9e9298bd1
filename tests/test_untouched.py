"""The user's own logs are untouched: every point shows in TensorBoard's own tab, whatever our tracer does beside it."""

import subprocess
import sys
import time
from urllib.parse import quote

import pytest

from tests.tensorboard_server import MODES, Server, missing, tensorboard
from tests.user_training import HALF, STEPS, TAG, TRAININGS, user_value

pytestmark = pytest.mark.timeout(240)
PATIENCE_S = 60


def series(server: Server, run: str, tag: str = TAG) -> dict[int, float]:
    """What TensorBoard's own scalars route gives, by step; empty while it knows nothing of it."""
    answer = server.get(f"data/plugin/scalars/scalars?run={quote(run, safe='')}&tag={quote(tag, safe='')}")
    return {step: value for _, step, value in answer.json()} if answer.status == 200 else {}


def wait_for(server: Server, steps: int) -> dict[str, dict[int, float]]:
    """The user's series of each training, as soon as all have `steps` points, or else after a minute."""
    end = time.monotonic() + PATIENCE_S
    while True:
        shown = {name: series(server, name) for name in TRAININGS}
        if all(len(points) >= steps for points in shown.values()) or time.monotonic() > end:
            return shown
        time.sleep(0.2)  # TensorBoard gives no signal when it has reloaded


@pytest.fixture(scope="module", params=MODES)
def shown(request, tmp_path_factory):
    """What TensorBoard showed when each training was half its way, what at the end, and the server."""
    if reason := missing(request.param):
        pytest.skip(reason)
    logdir = tmp_path_factory.mktemp("runs")
    # Room enough that TensorBoard keeps every point of a series rather than a sample.
    flags = ["--logdir", str(logdir), "--samples_per_plugin", "scalars=100000", "--reload_interval", "1"]
    training = [sys.executable, "-m", "tests.user_training", str(logdir)]
    with (
        tensorboard(request.param, *flags) as server,
        subprocess.Popen(training, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert "half\n" in iter(process.stdout.readline, ""), "the training ended early"
        half = wait_for(server, HALF)
        process.communicate("go on\n")
        assert process.returncode == 0
        yield half, wait_for(server, STEPS), server


@pytest.mark.parametrize("name", TRAININGS)
def test_every_point_of_the_users_series_shows_while_files_grow(shown, name):
    assert shown[0][name] == {step: user_value(step) for step in range(HALF)}


@pytest.mark.parametrize("name", TRAININGS)
def test_every_point_of_the_users_series_shows_at_the_end(shown, name):
    assert shown[1][name] == {step: user_value(step) for step in range(STEPS)}


def test_our_plain_scalars_show_beside_them_in_a_run_of_their_own(shown):
    loss = series(shown[2], "same_directory/zentracer", "zentracer/model/metrics/loss")
    assert sorted(loss) == list(range(STEPS))
