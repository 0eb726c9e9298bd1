"""Several processes on one run, forks, and processes that are killed."""

import json
import os
import re

import pytest
import torch

import zentracer.torch as zt
from tests.writers.zentracer.reading import events_of, files_of, read_run
from tests.writers.zentracer.torch.models import Small, loss_of
from tests.writers.zentracer.torch.scripts import run, start, wait_for

HOLDER = """
tracer = watch(sys.argv[1])
train(2)
tracer.flush()
say("ready")
sys.stdin.readline()
train(1)
tracer.close()
"""


def train(model, optimizer, steps):
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(model, step).backward()
        optimizer.step()


def steps_of(path):
    return [event.step for event in events_of(path) for value in event.summary.value if "/parameters/" in value.tag]


def test_a_second_process_adds_ztrec_files_without_plain_scalars_and_says_so(tmp_path):
    holder = start(HOLDER, tmp_path)
    wait_for(holder, "ready")
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with pytest.warns(zt.ZenTracerWarning, match=r"Another process records into .* no plain scalars") as told:
        tracer = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    assert len(told) == 1
    train(model, optimizer, 3)
    tracer.log(loss=1.0)
    tracer.close()
    holder.communicate("go on\n", timeout=120)
    events, bulk = files_of(tmp_path)
    assert bulk.suffix == ".ztrec"
    assert steps_of(events) == [0, 1, 2]
    assert steps_of(bulk) == [0, 1, 2]
    assert all("/metrics/" not in value.tag for event in events_of(bulk) for value in event.summary.value)
    ids = {session["id"] for session in read_run(tmp_path).sessions}
    assert len(ids) == 2


def test_the_next_process_writes_event_files_again_also_after_a_kill(tmp_path):
    holder = start(HOLDER, tmp_path)
    wait_for(holder, "ready")
    holder.kill()
    holder.communicate()
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1, start_step=2) as tracer:
        assert tracer.writes_plain_scalars
        train(model, optimizer, 1)
    assert [steps_of(path) for path in files_of(tmp_path)] == [[0, 1], [2]]
    assert read_run(tmp_path).marks == [(1, 0), (1, 2), (2, 2)]


FORKING = """
tracer = watch(sys.argv[1])
train(2)
child = os.fork()
if child == 0:
    tracer.log(loss=1.0)
    if sys.argv[2] == "trains":
        train(2)
    if sys.argv[2] == "closes":
        tracer.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
train(2)
tracer.close()
"""


@pytest.mark.parametrize("child", ["ends", "closes"])
def test_a_forked_child_that_does_not_train_writes_nothing(tmp_path, child):
    run(FORKING, tmp_path, child)
    (path,) = files_of(tmp_path)
    assert steps_of(path) == [0, 1, 2, 3]
    found = read_run(tmp_path)
    assert found.marks == [(1, 0), (2, 3)]
    assert [row["step"] for row in found.pulse()] == [0, 1, 2, 3]
    assert found.metric("loss") == []


def test_a_forked_child_that_trains_has_a_session_of_its_own_in_ztrec(tmp_path):
    _, err = run(FORKING, tmp_path, "trains")
    assert len(re.findall("This forked process trains a watched model; it records into", err)) == 1
    events, bulk = files_of(tmp_path)
    assert steps_of(events) == [0, 1, 2, 3]
    assert steps_of(bulk) == [2, 3]
    parent, child = read_run(tmp_path).sessions
    assert child["continues"] == parent["id"]
    assert child["pid"] != parent["pid"]
    assert child["scopes"]["model"]["start_step"] == 2


LOADING = """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        tracer.log(loss=1.0)
        return torch.zeros(1)

tracer = watch(sys.argv[1])
for _ in torch.utils.data.DataLoader(Data(), batch_size=6, num_workers=2, multiprocessing_context="fork"):
    train(1)
tracer.close()
"""


def test_workers_of_a_data_loader_write_nothing(tmp_path):
    run(LOADING, tmp_path)
    (path,) = files_of(tmp_path)
    assert steps_of(path) == [0, 1, 2, 3]
    assert read_run(tmp_path).metric("loss") == []


# One process imports PyTorch and forks; each child trains and reports a step once the flush after it has returned,
# until it is killed at a random moment.
KILLED = """
import random, signal
tries = int(sys.argv[2])
for number in range(tries):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        tracer = watch(f"{sys.argv[1]}/{number}")
        step = 0
        while True:
            train(1)
            tracer.log(loss=float(step))
            tracer.flush()
            os.write(write, step.to_bytes(4, "little"))
            step += 1
    os.close(write)
    os.read(read, 4)
    time.sleep(random.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    reported = 0
    while word := os.read(read, 4):
        reported = int.from_bytes(word, "little")
    os.close(read)
    say("killed", number, reported)
"""


def test_every_step_whose_flush_had_returned_survives_a_kill(tmp_path):
    out, _ = run(KILLED, tmp_path, 50)
    killed = re.findall(r"killed (\d+) (\d+)", out)
    assert len(killed) == 50
    for number, reported in killed:
        found = read_run(tmp_path / number)
        steps = [table.step for table in found.parameters()]
        assert steps == list(range(len(steps)))
        assert len(steps) > int(reported)
        assert [row["step"] for row in found.pulse()][: int(reported)] == list(range(int(reported)))
        assert found.sessions
    # The kills came at different moments.
    assert len({reported for _, reported in killed}) > 3


def test_two_ranks_share_a_logdir(tmp_path, monkeypatch):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        train(model, optimizer, 2)
    (path,) = files_of(tmp_path)
    assert path.name.startswith("rank_0001.")
    (record,) = read_run(tmp_path).sessions
    assert (record["rank"], record["world_size"]) == (1, 2)


def test_the_lock_names_the_process(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path):
        assert json.loads((tmp_path / "zentracer" / "zentracer.lock").read_text())["pid"] == os.getpid()
