"""What is done to logs and to the cache while real TensorBoards serve them: told, and nothing hangs or goes missing."""

import os
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.logs import EVENTS, write_run
from tests.tensorboard_server import MODES, missing, tensorboard

ROWS = [f"layer{number}.weight" for number in range(40)]
TAB = "data/plugin/zentracer_weights"


@pytest.fixture(params=MODES)
def mode(request):
    if reason := missing(request.param):
        pytest.skip(reason)
    return request.param


def until(server, wanted, seconds=30):
    """The list of runs as soon as it is as wanted."""
    end = time.monotonic() + seconds
    while True:
        listed = server.get(f"{TAB}/runs").json()
        if listed["progress"]["done"] and wanted(listed):
            return listed
        assert time.monotonic() < end, listed
        time.sleep(0.2)


def cells(server, run):
    return server.get(f"{TAB}/cells?run={quote(run)}&scope=model&column=weight_norm")


def test_cached_columns_that_vanish_while_they_are_served_are_read_again(tmp_path, mode):
    write_run(tmp_path / "runs/a", steps=range(300), rows=ROWS)
    write_run(tmp_path / "runs/b", steps=range(10))
    cache = tmp_path / "cache"
    flags = ("--logdir", str(tmp_path / "runs"))
    env = {"ZENTRACER_CACHE_DIR": str(cache)}
    with tensorboard(mode, *flags, env=env) as server:
        until(server, lambda listed: len(listed["runs"]) == 2)
        whole = cells(server, "a")
        # What is read is shown before it is saved.
        until(server, lambda listed: any(path.stat().st_size for path in cache.rglob("*.arrow")))
    assert whole.status == 200
    with tensorboard(mode, *flags, env=env) as server:
        until(server, lambda listed: len(listed["runs"]) == 2)
        for path in cache.rglob("*.arrow"):
            os.truncate(path, path.stat().st_size // 2)
        refused = cells(server, "a")
        assert refused.status == 503
        assert refused.json()["error"].startswith("The cached file ")
        assert refused.json()["error"].endswith(" It is read again from its log.")
        until(server, lambda listed: cells(server, "a").status == 200)
        assert cells(server, "a").body[-1000:] == whole.body[-1000:]
        assert cells(server, "b").status == 200


def test_a_fifo_a_hole_and_a_pointer_take_nothing_down(tmp_path, mode):
    runs = tmp_path / "runs"
    write_run(runs / "good", steps=range(10))
    for name in ("fifo", "hole", "pointer"):
        (runs / name).mkdir()
    os.mkfifo(runs / "fifo/zentracer.1.host.1.0.ztrec")  # under a name that only we read: TensorBoard hangs on it
    hole = write_run(runs / "hole", steps=range(10))
    size = hole.stat().st_size
    os.truncate(hole, 1 << 40)
    Path(runs / "pointer/events.out.tfevents.1").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    )
    with tensorboard(mode, "--logdir", str(runs), env={"ZENTRACER_CACHE_DIR": str(tmp_path / "cache")}) as server:
        listed = until(server, lambda listed: len(listed["runs"]) == 4)
        assert cells(server, "good").status == 200
        assert cells(server, "hole").status == 200
        told = {oddity["file"]: oddity for oddity in listed["oddities"]}
    assert "FIFO" in told["fifo/zentracer.1.host.1.0.ztrec"]["text"]
    assert told[f"hole/zentracer/{EVENTS}"]["offset"] == size
    assert "zeros" in told[f"hole/zentracer/{EVENTS}"]["text"]
    assert "LFS" in told["pointer/events.out.tfevents.1"]["text"]
