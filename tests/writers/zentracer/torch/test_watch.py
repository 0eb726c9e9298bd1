"""Beginning to record: wrong calls, what is said, and what is in the way."""

import copy
import gc
import io
import os
import pickle
import subprocess
import sys
import weakref

import pytest
import torch
from torch.amp.grad_scaler import GradScaler
from torch.nn.utils import clip_grad

import zentracer
import zentracer.torch as zt
from tests.writers.zentracer.reading import read_run
from tests.writers.zentracer.torch.models import Small, loss_of
from zentracer.notice import warn_without_tabs


def pair():
    model = Small()
    return model, torch.optim.SGD(model.parameters(), 0.1)


def train(model, optimizer, steps=3, start=0):
    for step in range(start, start + steps):
        optimizer.zero_grad()
        loss_of(model, step).backward()
        optimizer.step()


WRONG = {
    "not a module": (lambda m, o: {"model": [m]}, TypeError, "needs a torch.nn.Module, got a list"),
    "a class": (lambda m, o: {"model": Small}, TypeError, "needs a torch.nn.Module, got the class Small"),
    "not an optimizer": (lambda m, o: {"optimizer": m}, TypeError, "needs a torch.optim.Optimizer, .* got a Small"),
    "an optimizer class": (lambda m, o: {"optimizer": torch.optim.SGD}, TypeError, "got the class SGD"),
    "no optimizer": (lambda m, o: {"optimizer": []}, ValueError, "needs at least one optimizer, got none"),
    "the same twice": (lambda m, o: {"optimizer": [o, o]}, ValueError, "The same optimizer was given twice"),
    "of another model": (
        lambda m, o: {"model": Small()},
        ValueError,
        "The optimizer 'optimizer' shares no parameter with the model",
    ),
    "one of two of another": (
        lambda m, o: {"optimizer": {"a": o, "b": torch.optim.SGD(Small().parameters(), 0.1)}},
        ValueError,
        "The optimizer 'b' shares no parameter",
    ),
    "a negative interval": (lambda m, o: {"every": -1}, ValueError, "every= needs n >= 1, got -1"),
    "an interval of 0": (lambda m, o: {"every": {"parameters": 0}}, ValueError, "every= needs n >= 1, got 0"),
    "an interval of half": (lambda m, o: {"every": 0.5}, TypeError, "every= is a number of steps or a dict"),
    "an unknown kind": (lambda m, o: {"every": {"weather": 3}}, ValueError, "every= names weather, which this"),
    "a budget of 2": (lambda m, o: {"budget": 2}, ValueError, "budget= is the share .* 0 to 1, got 2"),
    "a budget below 0": (lambda m, o: {"budget": -0.1}, ValueError, "0 to 1, got -0.1"),
    "a budget of nan": (lambda m, o: {"budget": float("nan")}, ValueError, "0 to 1, got nan"),
    "a bad name": (lambda m, o: {"name": "a/b"}, ValueError, "Scope names hold .* got 'a/b'"),
    "a reserved name": (lambda m, o: {"name": "metrics"}, ValueError, "'metrics' is taken"),
    "a negative start": (lambda m, o: {"start_step": -3}, ValueError, "start_step= is the number .* got -3"),
    "a start of half": (lambda m, o: {"start_step": 0.5}, TypeError, "start_step= is a whole number, got 0.5"),
    "a step that is a number": (lambda m, o: {"step": 4}, TypeError, "step= is a function .* got 4"),
    "a step that says nothing": (lambda m, o: {"step": lambda: None}, ValueError, "must return a whole .* got None"),
    "both counts": (lambda m, o: {"step": lambda: 5, "start_step": 5}, ValueError, "either start_step= or step="),
    "another mode": (lambda m, o: {"mode": "sketch"}, ValueError, "mode='sketch' is not there yet"),
    "distributed": (lambda m, o: {"distributed": True}, ValueError, "distributed=True is not there yet"),
    "no logdir": (lambda m, o: {"logdir": None}, TypeError, "logdir= is the path of a directory, got None"),
    "an empty logdir": (lambda m, o: {"logdir": ""}, TypeError, "logdir= is the path of a directory, got ''"),
    "a logdir that can't be": (lambda m, o: {"logdir": "/proc/self/nothing"}, OSError, "Nothing can be written into"),
}


@pytest.mark.parametrize(("options", "error", "text"), WRONG.values(), ids=WRONG.keys())
def test_wrong_calls_raise_at_once_and_say_what_to_do(tmp_path, options, error, text):
    model, optimizer = pair()
    given = {"model": model, "optimizer": optimizer, "logdir": tmp_path / "run"} | options(model, optimizer)
    with pytest.raises(error, match=text):
        zt.watch(given.pop("model"), given.pop("optimizer"), **given)
    assert zentracer.current_tracer() is None
    assert not model._forward_pre_hooks


def test_a_logdir_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(NotADirectoryError, match=r"logdir= must be a directory, .*run is a file"):
        zt.watch(*pair(), logdir=tmp_path / "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_logdir_without_permission_is_refused(tmp_path):
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.raises(PermissionError, match=r"Nothing can be written into .*: Permission denied. Choose another"):
        zt.watch(*pair(), logdir=tmp_path / "run")


def test_the_command_to_look_at_it_is_printed(tmp_path, capsys):
    with zt.watch(*pair(), logdir=tmp_path / "my runs" / "a"):
        pass
    out = capsys.readouterr().out
    assert f"records into {tmp_path}/my runs/a/zentracer" in out
    assert f"tensorboard --logdir '{tmp_path}/my runs'" in out


def test_a_relative_logdir_of_one_part_is_shown_as_it_is(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with zt.watch(*pair(), logdir="logs"):
        pass
    assert capsys.readouterr().out.endswith("tensorboard --logdir logs\n")


def test_a_tensorboard_without_our_tabs_is_told(tmp_path, monkeypatch):
    found = tmp_path / "tensorboard-2.99.dist-info"
    found.mkdir()
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorboard\nVersion: 2.99\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.warns(
        zt.ZenTracerWarning, match=r"TensorBoard 2.99 in this environment does not have ZenTracer's tabs"
    ):
        warn_without_tabs()


def test_a_tensorboard_with_our_tabs_and_none_at_all_are_fine(tmp_path, monkeypatch):
    warn_without_tabs()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    warn_without_tabs()


def test_watching_the_same_again_returns_its_tracer(tmp_path):
    model, optimizer = pair()
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        assert zt.watch(model, optimizer, logdir=tmp_path) is tracer
        with pytest.warns(zt.ZenTracerWarning, match="already recorded .* the new settings are not applied"):
            assert zt.watch(model, optimizer, logdir=tmp_path, every=3) is tracer
    assert len(read_run(tmp_path).sessions) == 1


def test_a_cell_that_is_run_again_begins_a_session_and_says_so_once(tmp_path):
    model, optimizer = pair()
    first = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    train(model, optimizer)
    model, optimizer = pair()
    with pytest.warns(zt.ZenTracerWarning, match=r"already holds a session. .* start_step= .* name=") as told:
        second = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    assert len(told) == 1
    assert first.closed
    train(model, optimizer, steps=2)
    second.close()
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1, 2, 0, 1]
    assert run.marks == [(1, 0), (2, 2), (1, 0), (2, 1)]
    assert [session["continues"] for session in run.sessions] == [None, None]


def test_a_new_optimizer_for_a_watched_model_begins_a_session_too(tmp_path):
    """A cell that makes only the optimizer anew would otherwise record nothing."""
    model, optimizer = pair()
    first = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    again = torch.optim.SGD(model.parameters(), 0.1)
    with pytest.warns(zt.ZenTracerWarning, match="already holds a session"):
        second = zt.watch(model, again, logdir=tmp_path, every=1)
    assert first.closed
    train(model, again)
    second.close()
    assert len(read_run(tmp_path).parameters()) == 3


def test_earlier_sessions_in_the_logdir_are_told_unless_it_is_a_resume(tmp_path):
    zt.watch(*pair(), logdir=tmp_path).close()
    with pytest.warns(zt.ZenTracerWarning, match="already holds a session"):
        zt.watch(*pair(), logdir=tmp_path).close()
    zt.watch(*pair(), logdir=tmp_path, start_step=5).close()


def test_watching_the_model_elsewhere_closes_it_here(tmp_path):
    model, optimizer = pair()
    first = zt.watch(model, optimizer, logdir=tmp_path / "a")
    second = zt.watch(model, optimizer, logdir=tmp_path / "b")
    assert first.closed
    assert not second.closed
    second.close()


def test_models_side_by_side_share_a_file_and_need_names(tmp_path):
    one, two = pair(), pair()
    with (
        zt.watch(*one, logdir=tmp_path, every=1, name="one") as first,
        zt.watch(*two, logdir=tmp_path, every=1, name="two"),
    ):
        train(*one, steps=3)
        train(*two, steps=2)
        assert not first.closed
    run = read_run(tmp_path)
    assert len(run.files) == 1
    assert [table.step for table in run.parameters(scope="one")] == [0, 1, 2]
    assert [table.step for table in run.parameters(scope="two")] == [0, 1]
    assert run.marks == [(1, 0), (2, 2)]
    assert [list(session["scopes"]) for session in run.sessions] == [["one"], ["two"]]


def test_the_ambient_tracer_is_the_innermost_open_one(tmp_path):
    pairs = [pair() for _ in range(4)]
    assert zentracer.current_tracer() is None
    with zt.watch(*pairs[0], logdir=tmp_path / "a") as outer:
        assert zentracer.current_tracer() is outer
        with zt.watch(*pairs[1], logdir=tmp_path / "b") as inner:
            assert zentracer.current_tracer() is inner
        assert zentracer.current_tracer() is outer
        middle = zt.watch(*pairs[2], logdir=tmp_path / "c")
        last = zt.watch(*pairs[3], logdir=tmp_path / "d")
        middle.close()
        assert zentracer.current_tracer() is last
        last.close()
    assert zentracer.current_tracer() is None


@pytest.mark.parametrize("value", ["1", "true"])
def test_a_word_in_the_environment_switches_everything_off(tmp_path, monkeypatch, value):
    monkeypatch.setenv("ZENTRACER_DISABLED", value)
    model, optimizer = pair()
    with zt.watch(model, optimizer, logdir=tmp_path / "run") as tracer:
        train(model, optimizer)
        tracer.log(loss=1.0, split="train")
        assert tracer.flush()
        tracer.detach()
    assert tracer.closed
    assert not (tmp_path / "run").exists()
    assert not model._forward_pre_hooks


def test_zero_in_the_environment_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("ZENTRACER_DISABLED", "0")
    watched = pair()
    with zt.watch(*watched, logdir=tmp_path) as tracer:
        assert not tracer.closed


def test_detaching_takes_every_hook_off_and_keeps_what_was_recorded(tmp_path):
    model, optimizer = pair()
    norm, step = clip_grad._get_total_norm, GradScaler.step
    tracer = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    assert clip_grad._get_total_norm is not norm
    train(model, optimizer, steps=2)
    tracer.detach()
    assert not model._forward_pre_hooks
    assert not optimizer._optimizer_step_pre_hooks
    assert not optimizer._optimizer_step_post_hooks
    assert (clip_grad._get_total_norm, GradScaler.step) == (norm, step)
    train(model, optimizer, steps=2)
    tracer.log(loss=4.0)
    tracer.close()
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1]
    assert run.metric("loss") == [(1, 4.0)]


def test_a_closed_tracer_takes_any_call(tmp_path):
    tracer = zt.watch(*pair(), logdir=tmp_path)
    tracer.close()
    tracer.close()
    tracer.detach()
    tracer.log(loss=1.0)
    assert tracer.flush()


def test_a_watched_model_can_be_saved_and_copied(tmp_path):
    model, optimizer = pair()
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        train(model, optimizer, steps=1)
        copied = copy.deepcopy(model)
        copied_optimizer = copy.deepcopy(optimizer)
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        loaded = torch.load(file, weights_only=False)
        pickle.loads(pickle.dumps(optimizer))
        for other in (copied, loaded):
            loss_of(other, 0).backward()
        copied_optimizer.step()
        train(model, optimizer, steps=1)
        assert tracer.guard.failures == 0
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1]
    # Neither the copy's forward pass nor the loaded model's is one of the watched model's.
    assert [float(clock.columns["forward_calls"][0]) for clock in run.tables["clock"]] == [1, 2]


def test_hooks_do_nothing_where_their_tracer_is_not(tmp_path):
    model, optimizer = pair()
    with zt.watch(model, optimizer, logdir=tmp_path):
        content = pickle.dumps(model)
    other = pickle.loads(content)
    loss_of(other, 0).backward()


def test_a_model_that_is_dropped_closes_its_tracer(tmp_path):
    model, optimizer = pair()
    tracer = zt.watch(model, optimizer, logdir=tmp_path, every=1)
    train(model, optimizer, steps=2)
    gone = weakref.ref(model)
    del model, optimizer
    gc.collect()
    assert gone() is None
    assert tracer.closed
    assert zentracer.current_tracer() is None


SCRIPT = """
import torch, zentracer.torch as zt
from tests.writers.zentracer.torch.models import Small, loss_of
model = Small()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
tracer = zt.watch(model, optimizer, logdir={logdir!r}, every=1)
for step in range(3):
    loss = loss_of(model, step)
    loss.backward()
    optimizer.step()
    tracer.log(loss=loss)
{end}
"""


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "1 / 0"], ids=["end", "exit", "error"])
def test_a_script_that_just_ends_has_everything_on_disk(tmp_path, end):
    subprocess.run(
        [sys.executable, "-c", SCRIPT.format(logdir=str(tmp_path), end=end)],
        check=False,
        capture_output=True,
        timeout=120,
    )
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1, 2]
    assert [step for step, _ in run.metric("loss")] == [0, 1, 2]
    assert [row["step"] for row in run.pulse()] == [0, 1, 2]
    assert run.marks == [(1, 0), (2, 2)]


def test_the_session_record_says_what_is_watched_and_hides_secrets(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["train.py", "--api-key", "hush", "--lr=0.1"])
    model = Small()
    optimizer = torch.optim.AdamW(model.parameters(), 0.25, betas=(0.5, 0.9))
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        key = tracer.session_id
    (record,) = read_run(tmp_path).sessions
    assert record["id"] == key
    assert record["command"] == ["train.py", "--api-key", "***", "--lr=0.1"]
    assert record["framework"] == f"torch {torch.__version__}"
    assert (record["pid"], record["rank"], record["world_size"]) == (os.getpid(), 0, 1)
    scope = record["scopes"]["model"]
    assert scope["model"] == "Small"
    assert scope["parameters"] == sum(p.numel() for p in model.parameters())
    assert scope["tensors"] == 10
    assert scope["modules"]["hidden"] == "Linear"
    settings = scope["optimizers"]["optimizer"]
    assert settings["class"] == "AdamW"
    assert (settings["settings"]["lr"], settings["settings"]["betas"]) == (0.25, [0.5, 0.9])


def test_the_session_record_can_be_left_out(tmp_path):
    model, optimizer = pair()
    with zt.watch(model, optimizer, logdir=tmp_path, every=1, session=False):
        train(model, optimizer)
    run = read_run(tmp_path)
    assert run.sessions == []
    assert run.marks == [(1, 0), (2, 2)]


def test_an_optimizer_inside_a_wrapper_is_found(tmp_path):
    class Wrapper(torch.optim.Optimizer):
        """As Accelerate's: an optimizer by class, whose own `__init__` never ran."""

        def __init__(self, inner):
            self.optimizer = inner

    model, optimizer = pair()
    with zt.watch(model, Wrapper(optimizer), logdir=tmp_path, every=1):
        train(model, optimizer, steps=1)
    assert len(read_run(tmp_path).parameters()) == 1


def test_importing_zentracer_loads_no_framework_and_the_adapter_follows_on_demand():
    code = (
        "import sys, zentracer; assert 'torch' not in sys.modules;"
        "assert zentracer.torch.watch; assert 'torch' in sys.modules; assert 'tensorboard' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_closed_standard_output_is_no_error(tmp_path, monkeypatch):
    closed = open(os.devnull, "w")  # noqa: SIM115 it must be closed when it is written to
    closed.close()
    monkeypatch.setattr("sys.stdout", closed)
    model = Small()
    zt.watch(model, torch.optim.SGD(model.parameters(), 0.1), logdir=tmp_path).close()
