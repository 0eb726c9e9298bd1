"""Disks that fill up, directories that go away, memory that runs out: training goes on, and what was lost is told."""

import re
import shutil
import subprocess

import pytest

from tests.writers.zentracer.reading import events_of, files_of, read_run
from tests.writers.zentracer.torch.scripts import run


def a_small_disk(size):
    """The command before a command that gets a disk of `size` at the path given as its first argument."""
    unshare = shutil.which("unshare")
    script = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    if unshare is None:
        return None
    probe = subprocess.run([unshare, "-Urm", "sh", "-c", script, "/mnt", "true"], capture_output=True, check=False)
    return (unshare, "-Urm", "sh", "-c", script) if probe.returncode == 0 else None


def steps_by_file(logdir):
    return [
        [event.step for event in events_of(path) for value in event.summary.value if "/clock/" in value.tag]
        for path in files_of(logdir)
    ]


FILLED = """
import shutil
disk, out = sys.argv[1:]
with open(f"{disk}/filler", "wb") as filler:
    filler.write(bytes(200 << 10))
tracer = watch(f"{disk}/run")
sink = tracer._sink
made = 0
while not sink.dropped:
    train(1)
    made += 1
    tracer.flush()
say("full", made)
train(5)
os.unlink(f"{disk}/filler")
deadline = time.monotonic() + 60
while len([name for name in os.listdir(f"{disk}/run/zentracer") if "tfevents" in name]) < 2:
    assert time.monotonic() < deadline
    train(1)
    made += 1
    tracer.flush()
train(3)
tracer.close()
say("made", made + 8, "failures", tracer.guard.failures, "dropped", sink.dropped)
shutil.copytree(f"{disk}/run", out)
"""


def test_a_full_disk_costs_records_but_no_training_and_recording_goes_on_in_a_new_file(tmp_path):
    disk = a_small_disk("256k")
    if disk is None:
        pytest.skip("no small disk can be made here")
    (tmp_path / "disk").mkdir()
    out, err = run(FILLED, tmp_path / "disk", tmp_path / "run", under=(*disk, str(tmp_path / "disk")))
    full = int(re.search(r"full (\d+)", out)[1])
    made, failures, dropped = map(int, re.search(r"made (\d+) failures (\d+) dropped (\d+)", out).groups())
    assert failures == 0
    assert dropped > 0
    first, second = steps_by_file(tmp_path / "run")
    assert first == list(range(len(first)))
    assert 5 < len(first) <= full
    assert second[-3:] == [made - 3, made - 2, made - 1]
    # A file begun after an error carries no START, and repeats session and descriptions.
    found = read_run(tmp_path / "run")
    assert [status for status, _ in found.marks] == [1, 2]
    assert len({session["id"] for session in found.sessions}) == 1
    assert len(found.sessions) == 2
    assert len(re.findall("Writing to .*zentracer failed: No space left on device", err)) == 1
    assert len(re.findall(rf"{dropped} records for .* were dropped", err)) == 1


LIMITED = """
import resource
logdir = sys.argv[1]
tracer = watch(logdir)
train(3)
tracer.flush()
(name,) = [name for name in os.listdir(f"{logdir}/zentracer") if "tfevents" in name]
size = os.path.getsize(f"{logdir}/zentracer/{name}")
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 700, hard))  # in the middle of a record
train(2)
tracer.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
train(2)
tracer.close()
say("failures", tracer.guard.failures)
"""


def test_a_record_that_is_cut_off_is_never_appended_to(tmp_path):
    out, err = run(LIMITED, tmp_path)
    assert "failures 0" in out
    assert "failed: File too large" in err
    paths = files_of(tmp_path)
    whole = b"".join(path.read_bytes() for path in paths[:1])
    assert len(whole) > sum(12 + 4 + event.ByteSize() for event in events_of(paths[0]))  # it ends in a torn record
    assert steps_by_file(tmp_path)[0][:3] == [0, 1, 2]


REMOVED = """
import shutil
logdir = sys.argv[1]
tracer = watch(logdir)
train(2)
tracer.flush()
shutil.rmtree(logdir)
deadline = time.monotonic() + 60
while not os.path.isdir(f"{logdir}/zentracer"):
    assert time.monotonic() < deadline
    train(1)
    tracer.flush()
made = tracer.step
train(2)
tracer.close()
say("made", made, "failures", tracer.guard.failures)
"""


def test_a_logdir_that_is_removed_is_told_and_made_anew(tmp_path):
    out, err = run(REMOVED, tmp_path / "run")
    made, failures = map(int, re.search(r"made (\d+) failures (\d+)", out).groups())
    assert failures == 0
    assert len(re.findall("Writing to .*zentracer failed: it was removed, with what had been recorded", err)) == 1
    (steps,) = steps_by_file(tmp_path / "run")
    assert steps[-2:] == [made, made + 1]
    assert read_run(tmp_path / "run").sessions


STARVED = """
import resource
from torch import nn
model = nn.ParameterDict({"large": nn.Parameter(torch.zeros(30_000_000)), "small": nn.Parameter(torch.ones(2000))})
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model["large"].grad, model["small"].grad = torch.zeros(30_000_000), torch.ones(2000)
tracer = watch.__globals__["zt"].watch(model, optimizer, logdir=sys.argv[1], every=1, mode="exact")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20), hard))  # the copy would take 120 MB
for _ in range(3):
    optimizer.step()
tracer.close()
say("failures", tracer.guard.failures)
"""


def test_where_memory_runs_out_updates_are_no_longer_measured_and_the_rest_goes_on(tmp_path):
    out, err = run(STARVED, tmp_path)
    assert "failures 0" in out
    assert "Memory ran out while sampling optimizer. Updates are not measured from here on" in err
    run_ = read_run(tmp_path)
    rows = [table.row("small") for table in run_.parameters()]
    assert len(rows) == 2
    assert all(row["update_norm"] != row["update_norm"] for row in rows)
    assert rows[0]["gradient_norm"] == pytest.approx(2000**0.5)
    assert [row["step"] for row in run_.pulse()] == [0, 1, 2]


MOVED = """
logdir, other = sys.argv[1:]
os.chdir(logdir)
tracer = watch("run")
train(3)
assert tracer.flush()
os.chdir(other)
time.sleep(1.1)  # longer than what lies between two looks at the files
train(3)
assert tracer.flush()
assert watch(f"{logdir}/run") is tracer
tracer.close()
"""


def test_a_relative_logdir_stays_where_it_was_when_the_script_moves(tmp_path):
    (tmp_path / "other").mkdir()
    _, err = run(MOVED, tmp_path, tmp_path / "other")
    assert "failed" not in err
    assert list((tmp_path / "other").iterdir()) == []
    assert [table.step for table in read_run(tmp_path / "run").parameters()] == list(range(6))


CLOSED = """
logdir, mine = sys.argv[1:]
tracer = watch(logdir)
train(3)
tracer.flush()
os.closerange(3, 64)
files = [open(f"{mine}/{number}", "w") for number in range(12)]
train(3)
lost = tracer.flush()
deadline = time.monotonic() + 60
written = False
while not written:
    assert time.monotonic() < deadline
    train(1)
    written = tracer.flush()
tracer.close()
for file in files:
    file.close()
say(lost)
"""


def test_a_closed_descriptor_is_told_and_never_writes_into_a_file_of_the_users(tmp_path):
    (tmp_path / "mine").mkdir()
    out, err = run(CLOSED, tmp_path / "run", tmp_path / "mine")
    assert out.split()[-1] == "False"
    assert "something in this process closed its descriptor. Training goes on" in err
    assert [path.stat().st_size for path in (tmp_path / "mine").iterdir()] == [0] * 12
    steps = [table.step for table in read_run(tmp_path / "run").parameters()]
    assert steps[:3] == [0, 1, 2]
    assert steps[-1] > 5
