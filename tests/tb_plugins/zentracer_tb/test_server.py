"""Our tab in real TensorBoard processes, in each of the three server modes."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import zentracer_tb
from tests.logs import EVENTS, begin, parameters, table, write_run, write_scalars
from tests.tb_plugins.zentracer_tb.reading import unpack
from tests.tensorboard_server import MODES, missing, tensorboard

BASE = "data/plugin/zentracer_weights/"
PATIENCE_S = 60

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module", params=MODES)
def mode(request):
    if reason := missing(request.param):
        pytest.skip(reason)
    return request.param


def until(server, is_so, path=BASE + "runs"):
    """The answer of a route as soon as `is_so` holds for it. Nothing signals that another process has read a file."""
    end = time.monotonic() + PATIENCE_S
    while True:
        answer = server.get(path)
        content = json.loads(answer.body)
        if answer.status == 200 and is_so(content):
            return content
        assert time.monotonic() < end, content
        time.sleep(0.1)


@contextmanager
def listening(server, path=BASE + "stream"):
    """An open stream, and a function for its next event: its name and its content."""
    with urllib.request.urlopen(server.url + path, timeout=PATIENCE_S) as lines:
        assert lines.headers["Content-Type"] == "text/event-stream; charset=utf-8"

        def following():
            name, data = lines.readline(), lines.readline()
            if name.startswith(b":"):
                return following()
            assert lines.readline() == b"\n"
            return name.decode().removeprefix("event: ").strip(), json.loads(data.decode().removeprefix("data: "))

        yield following


def all_read(content):
    return content["progress"]["done"] and content["runs"]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    logdir = tmp_path_factory.mktemp("runs")
    write_run(logdir / "a", steps=range(20))
    write_scalars(logdir / "plain", {"loss": [1.0, 0.5]})
    (logdir / "bad").mkdir()
    os.mkfifo(logdir / "bad/pipe.fifo")  # not named as an event file: the readers of TensorBoard wait for ever on one
    (logdir / "bad" / EVENTS).write_bytes(b"this is no event file at all")
    return logdir


@pytest.fixture(scope="module")
def server(mode, logdir):
    with tensorboard(mode, "--logdir", str(logdir)) as server:
        yield server


def test_the_tab_is_listed_as_active(server):
    listing = server.get("data/plugins_listing").json()["zentracer_weights"]
    assert (listing["enabled"], listing["tab_name"]) == (True, "Weights")
    assert listing["loading_mechanism"]["type"] == "IFRAME"


def test_the_tabs_page_loads_its_module(server):
    path = server.get("data/plugins_listing").json()["zentracer_weights"]["loading_mechanism"]["module_path"]
    answer = server.get(path.lstrip("/"))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "render" in answer.body.decode()


def test_runs_and_cells_are_served(server):
    content = until(server, all_read)
    assert [run["name"] for run in content["runs"]] == ["a", "bad", "plain"]
    header, arrays = unpack(server.get(BASE + "cells?run=a&column=update_ratio").body)
    assert (header["run"], header["samples"], arrays["mean"].shape) == ("a", 20, (2, 20))


def test_a_bad_file_is_told_and_hides_nothing(server):
    content = until(server, all_read)
    (oddity,) = content["oddities"]
    assert (oddity["run"], oddity["file"], oddity["offset"]) == ("bad", f"bad/{EVENTS}", 0)


def test_answers_are_not_sent_twice(server):
    until(server, all_read)
    first = server.get(BASE + "run?run=a")
    assert server.get(BASE + "run?run=a", headers={"If-None-Match": first.headers["ETag"]}).status == 304


def test_the_security_checks_of_tensorboard_have_nothing_to_say(server):
    for path in ("runs", "run?run=a", "cells?run=a&column=update_ratio", "steps?run=a", "static/none.js"):
        server.get(BASE + path)
    assert "In 3.0, this warning will become an error" not in server.log


def test_other_methods_are_refused(server):
    assert server.get(BASE + "runs", method="POST").status == 405


def test_the_tab_works_below_an_experiment(server):
    until(server, all_read, path="experiment/foo/" + BASE + "runs")
    with listening(server, "experiment/foo/" + BASE + "stream") as following:
        name, stand = following()
    assert (name, set(stand)) == ("hello", {"server", "generation"})


def test_a_browser_that_left_makes_room_for_the_next(server):
    with ExitStack() as eight:
        for _ in range(8):
            listen_when_there_is_room(server, eight)
        assert server.get(BASE + "stream").status == 503
    with ExitStack() as another:
        listen_when_there_is_room(server, another)


def listen_when_there_is_room(server, stack):
    """Nothing signals that the server has noticed who left."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            following = stack.enter_context(listening(server))
        except urllib.error.HTTPError as error:
            error.close()
            assert time.monotonic() < end
            time.sleep(0.1)
        else:
            assert following()[0] == "hello"
            return


def test_runs_are_found_when_they_come_and_followed_while_they_grow(mode, tmp_path):
    logdir, spec = tmp_path / "runs", parameters(["w"])
    with tensorboard(mode, "--logdir", str(logdir), prefix="/tb/x") as server:
        content = until(server, lambda content: content["progress"]["done"])
        told = [oddity["text"] for oddity in content["oddities"]]
        assert told == [f"{logdir} does not exist yet. It is looked for again."]
        log = begin(logdir / "a").table(0, spec, table(1)).append()
        content = until(server, all_read)
        assert content["oddities"] == []
        with listening(server) as following:
            assert following()[0] == "hello"
            log.table(1, spec, table(1)).append()
            assert "a" in following()[1]["runs"]
        until(server, lambda content: content["runs"][0]["last_step"] == 1)
        write_run(logdir / "later")
        until(server, lambda content: [run["name"] for run in content["runs"]] == ["a", "later"])


def test_logdir_spec_is_read_with_its_names(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b/c")
    spec = f"one:{tmp_path / 'a'},two:{tmp_path / 'b'}"
    with tensorboard("python-no-tf", "--logdir_spec", spec) as server:
        content = until(server, all_read)
        assert [run["name"] for run in content["runs"]] == ["one/.", "two/c"]
        assert content["logdir"] == spec


def test_a_data_provider_elsewhere_is_told(tmp_path):
    with tensorboard("python-no-tf", "--grpc_data_provider", "localhost:1", ready=BASE + "runs") as server:
        content = server.get(BASE + "runs").json()
    assert "--grpc_data_provider=localhost:1" in content["problem"]
    assert content["runs"] == []


@pytest.fixture
def broken_package(tmp_path):
    """PYTHONPATH that puts in front of ours a package whose part of this name fails, as a broken install does."""

    def make(module, source):
        package = tmp_path / "broken/zentracer_tb"
        package.mkdir(parents=True)
        ours = Path(zentracer_tb.__file__).parent
        for path in ours.glob("*.py"):
            (package / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
        (package / f"{module}.py").write_text(source)
        return {"PYTHONPATH": str(package.parent)}

    return make


def test_a_plugin_that_fails_to_load_costs_its_tab_only(tmp_path, broken_package):
    env = broken_package("weights", "raise ImportError('numpy is not what it was')")
    with tensorboard("python-no-tf", "--logdir", str(tmp_path), env=env) as server:
        listing = server.get("data/plugins_listing").json()
        assert "scalars" in listing
        assert "zentracer_weights" not in listing
        assert "numpy is not what it was" in server.log


def test_flags_that_cannot_be_fixed_cost_nothing(tmp_path, broken_package):
    import zentracer_tb.loaders as loaders

    source = Path(loaders.__file__).read_text(encoding="utf-8")
    failing = source.replace("samples = flags.samples_per_plugin", "raise RuntimeError('no such flag')")
    assert failing != source
    with tensorboard("python-no-tf", "--logdir", str(tmp_path), env=broken_package("loaders", failing)) as server:
        assert "zentracer_weights" in server.get("data/plugins_listing").json()
        assert "ZenTracer could not set --samples_per_plugin (no such flag)" in server.log


def test_the_helper_prints_its_port_and_ends_with_standard_input(tmp_path):
    write_run(tmp_path / "a")
    command = [sys.executable, "tests/tensorboard_server.py", "python-no-tf", str(tmp_path), "--reload_interval", "1"]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        word, port = process.stdout.readline().split()
        assert (word, int(port) > 0) == ("PORT", True)
        process.stdin.close()
        assert process.wait(30) == 0
