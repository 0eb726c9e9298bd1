"""What recording does to training: nothing. And what a loop logs beside it."""

import random
import time
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

import zentracer.torch as zt
from tests.writers.zentracer.reading import read_run
from tests.writers.zentracer.torch.models import Small, loss_of
from zentracer.schedule import FIRST_STEPS


def trained(logdir, kind, watched, dropout=False):
    """Train for 30 steps; returns every number that training could have changed."""
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)
    model = nn.Sequential(Small(), nn.Dropout(0.3)) if dropout else Small()
    if kind == "bf16":
        model = model.to(torch.bfloat16)
    if kind == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2, fused=kind == "fused")
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120, growth_interval=5, enabled=kind == "scaled")
    tracer = zt.watch(model, optimizer, logdir=logdir) if watched else None
    losses = []
    for step in range(30):
        optimizer.zero_grad()
        loss = loss_of(model, step)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if kind == "clipped":
            losses.append(clip_grad_norm_(model.parameters(), 0.1))
        scaler.step(optimizer)
        scaler.update()
        if tracer is not None:
            tracer.log(loss=loss, split="train")
        losses.append(loss.detach())
    if tracer is not None:
        assert tracer.guard.failures == 0
        tracer.close()
    state = [value for group in optimizer.state.values() for value in group.values() if isinstance(value, torch.Tensor)]
    return [
        *losses,
        *model.state_dict().values(),
        *state,
        *(p.grad for p in model.parameters()),
        torch.rand(3),
        torch.tensor([random.random(), np.random.rand()]),
        torch.tensor(scaler.get_scale()),
    ]


@pytest.mark.parametrize("kind", ["sgd", "adamw", "fused", "bf16", "clipped", "scaled"])
def test_training_is_the_same_bit_for_bit(tmp_path, kind):
    plain, recorded = trained(tmp_path, kind, False), trained(tmp_path, kind, True)
    assert len(plain) == len(recorded)
    for one, other in zip(plain, recorded, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one.ravel().view(torch.uint8), other.ravel().view(torch.uint8))


def test_random_numbers_inside_the_model_are_the_same_too(tmp_path):
    plain, recorded = trained(tmp_path, "sgd", False, dropout=True), trained(tmp_path, "sgd", True, dropout=True)
    assert all(torch.equal(one, other) for one, other in zip(plain, recorded, strict=True))


def test_the_graph_and_the_grad_mode_stay_as_they_are(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        loss = loss_of(model, 0)
        loss.backward()
        optimizer.step()
        assert torch.is_grad_enabled()
        assert all(p.requires_grad and p.is_leaf for p in model.parameters())
        assert all(p.grad.grad_fn is None for p in model.parameters())


def test_nothing_raises_into_training_even_where_warnings_are_errors(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer, warnings.catch_warnings():
        warnings.simplefilter("error")
        loss_of(model, 0).backward()
        del optimizer.param_groups[0]["params"]  # now nothing that we do can work
        tracer.call(tracer.on_step_begin, optimizer, (), {})
        tracer.log(loss=torch.ones(3))
    assert tracer.guard.failures == 1


def test_a_failure_of_ours_is_told_once_and_counted(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        params = optimizer.param_groups[0].pop("params")
        with pytest.warns(zt.ZenTracerWarning, match=r"Recording failed with KeyError \('params'\)") as told:
            tracer.call(tracer.on_step_begin, optimizer, (), {})
        tracer.call(tracer.on_step_begin, optimizer, (), {})
        optimizer.param_groups[0]["params"] = params
    assert len(told) == 1
    assert tracer.guard.failures == 2


def loop(tracer, model, optimizer, steps, **log):
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, step)
        loss.backward()
        if log.get("before"):
            tracer.log(loss=loss, split="train")
        optimizer.step()
        if not log.get("before"):
            tracer.log(loss=loss, split="train")
        yield step, float(loss.detach())


@pytest.mark.parametrize("before", [True, False], ids=["before the update", "after it"])
def test_a_loss_lands_on_the_step_that_it_was_computed_in(tmp_path, before):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        truth = dict(loop(tracer, model, optimizer, 8, before=before))
    run = read_run(tmp_path)
    assert dict(run.metric("train/loss")) == pytest.approx(truth)
    assert {row["step"]: row["loss"] for row in run.pulse()} == pytest.approx(truth)


def test_validation_between_updates_belongs_to_the_last_one(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        for step, _ in loop(tracer, model, optimizer, 6):
            if step % 3 == 2:
                model.eval()
                loss_of(model, 100 + step)
                tracer.log(accuracy=step / 10, split="validation")
                tracer.log(accuracy=step / 5, split="validation")
                model.train()
    run = read_run(tmp_path)
    assert dict(run.metric("validation/accuracy")) == pytest.approx({2: 0.4, 5: 1.0})
    # Passes in evaluation are no part of training.
    assert float(run.tables["clock"][-1].columns["forward_calls"][0]) == 6


def test_a_pass_without_gradients_is_no_training_even_in_train_mode(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        for step, _ in loop(tracer, model, optimizer, 3):
            with torch.no_grad():
                loss_of(model, 100 + step)
            tracer.log(accuracy=step / 10, split="validation")
    run = read_run(tmp_path)
    assert dict(run.metric("validation/accuracy")) == pytest.approx({0: 0.0, 1: 0.1, 2: 0.2})
    assert float(run.tables["clock"][-1].columns["forward_calls"][0]) == 3


def test_a_logged_tensor_may_be_changed_afterwards(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        total = torch.tensor(1.0)
        loss_of(model, 0).backward()
        optimizer.step()
        tracer.log(total=total, one=torch.ones(1, 1), number=np.float32(0.5), flag=True)
        total.add_(5.0)
    run = read_run(tmp_path)
    assert run.metric("total") == [(0, 1.0)]
    assert run.metric("one") == [(0, 1.0)]
    assert run.metric("number") == [(0, 0.5)]
    assert run.metric("flag") == [(0, 1.0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.ones(3), r"log\(loss=...\) takes one number, got a tensor of shape \(3,\). It is left out."),
        ("high", r"log\(loss=...\) takes one number, got a str. It is left out."),
        (None, r"log\(loss=...\) takes one number, got a NoneType. It is left out."),
        (10**400, r"log\(loss=...\) takes one number, got a int. It is left out."),
    ],
)
def test_what_is_no_number_is_told_once_and_left_out(tmp_path, value, text):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        with pytest.warns(zt.ZenTracerWarning, match=text):
            tracer.log(loss=value, right=2.0)
        tracer.log(loss=value)
        loss_of(model, 0).backward()
        optimizer.step()
    run = read_run(tmp_path)
    assert run.metric("right") == [(0, 2.0)]
    assert run.metric("loss") == []


def test_the_pulse_has_every_step_and_samples_are_spaced_to_the_budget(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.125)
    with zt.watch(model, optimizer, logdir=tmp_path, budget=0.001) as tracer:
        list(loop(tracer, model, optimizer, 60))
    run = read_run(tmp_path)
    assert [row["step"] for row in run.pulse()] == list(range(60))
    assert all(row["learning_rate/optimizer/0"] == 0.125 for row in run.pulse())
    assert all(row["gradient_norm"] > 0 for row in run.pulse())
    assert all(row["step_seconds"] > 0 for row in run.pulse())
    assert [table.step for table in run.parameters()] == list(range(FIRST_STEPS))
    assert [clock.step for clock in run.tables["clock"]] == list(range(FIRST_STEPS))
    overhead = float(run.tables["clock"][-1].columns["overhead"][0])
    assert 0 < overhead < 10
    assert run.scalars["zentracer/model/overhead_percent"][-1][1] == pytest.approx(100 * overhead, rel=1e-5)


def test_plain_scalars_are_medians_over_what_is_trained(tmp_path):
    model = Small()
    model.conv.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        list(loop(tracer, model, optimizer, 3))
    run = read_run(tmp_path)
    for name in ("update_ratio", "gradient_norm"):
        for table, (step, value) in zip(run.parameters(), run.scalars[f"zentracer/model/{name}"], strict=True):
            rows = [table.row(row.name) for row in table.spec.rows if row.trainable]
            found = [row[name] for row in rows if not np.isnan(row[name])]
            assert (step, value) == (table.step, pytest.approx(np.median(found)))
    assert len(run.scalars["zentracer/model/step_seconds"]) == 3
    seconds = run.scalars["zentracer/model/step_seconds"][-1][1]
    assert run.scalars["zentracer/model/samples_per_second"][-1][1] == pytest.approx(12 / seconds, rel=0.01)


def test_trouble_forces_full_samples(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with zt.watch(model, optimizer, logdir=tmp_path, budget=1e-4) as tracer:
        for step, _ in loop(tracer, model, optimizer, 60):
            if step == 40:
                tracer.log(loss=float("nan"), split="train")
    sampled = [table.step for table in read_run(tmp_path).parameters()]
    assert sampled[:FIRST_STEPS] == list(range(FIRST_STEPS))
    # Read one step late, so the sample comes after that.
    assert 42 in sampled
    assert len(sampled) <= FIRST_STEPS + 4


def test_a_step_function_gives_the_numbers(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    at = 100
    with zt.watch(model, optimizer, logdir=tmp_path, every=1, step=lambda: at) as tracer:
        for _, _ in loop(tracer, model, optimizer, 6):
            at += 10
    run = read_run(tmp_path)
    steps = [100, 110, 120, 130, 140, 150]
    assert [table.step for table in run.parameters()] == steps
    assert [step for step, _ in run.metric("train/loss")] == steps
    assert [float(clock.columns["user_step"][0]) for clock in run.tables["clock"]] == steps
    assert run.marks[0] == (1, 100)


def test_of_several_updates_in_one_step_of_the_user_the_last_is_recorded(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    at = 0
    with zt.watch(model, optimizer, logdir=tmp_path, every=1, step=lambda: at // 3) as tracer:
        norms = []
        for _, _ in loop(tracer, model, optimizer, 9):
            norms.append(float(model.out.weight.detach().norm()))
            at += 1
    tables = read_run(tmp_path).parameters()
    assert [table.step for table in tables] == [0, 1, 2]
    # Weights are those before the update, so after the one before it.
    assert [table.row("out.weight")["weight_norm"] for table in tables] == pytest.approx([norms[1], norms[4], norms[7]])
    assert [float(c.columns["updates"][0]) for c in read_run(tmp_path).tables["clock"]] == [3, 6, 9]


def test_a_step_function_that_goes_back_is_told_once_and_steps_only_grow(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    at = 0
    with zt.watch(model, optimizer, logdir=tmp_path, every=1, step=lambda: at % 4) as tracer:
        for _, _ in loop(tracer, model, optimizer, 4):
            at += 1
        loss_of(model, 4).backward()
        with pytest.warns(zt.ZenTracerWarning, match=r"step= went back from 3 to 0. .* grows over the whole run"):
            optimizer.step()
        for _, _ in loop(tracer, model, optimizer, 5):
            at += 1
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1, 2, 3]
    assert [step for step, _ in run.metric("train/loss")] == [0, 1, 2, 3]


def test_the_epoch_rides_in_the_clock(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        for step, _ in loop(tracer, model, optimizer, 4):
            tracer.log(epoch=step // 2)
    epochs = [float(clock.columns["epoch"][0]) for clock in read_run(tmp_path).tables["clock"]]
    assert np.isnan(epochs[0])
    assert epochs[1:] == [0, 0, 1]


def test_a_flush_puts_every_sample_on_disk(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        for step, _ in loop(tracer, model, optimizer, 5):
            assert tracer.flush()
            run = read_run(tmp_path)
            assert [table.step for table in run.parameters()] == list(range(step + 1))
            assert [row["step"] for row in run.pulse()] == list(range(step))


def test_the_parts_of_a_container_count_as_forward_passes(tmp_path):
    model = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.ModuleList([nn.Linear(4, 2)])})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        for step in range(3):
            loss = model["b"][0](model["a"](torch.randn(5, 4))).sum()
            tracer.log(loss=float(step))
            loss.backward()
            optimizer.step()
    assert read_run(tmp_path).metric("loss") == [(0, 0.0), (1, 1.0), (2, 2.0)]


def test_time_is_that_between_updates(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    ends = []
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        for _ in loop(tracer, model, optimizer, 10):
            ends.append(time.perf_counter())
    seconds = [row["step_seconds"] for row in read_run(tmp_path).pulse()]
    assert sum(seconds[1:]) == pytest.approx(ends[-1] - ends[0], rel=0.2)


def test_a_compiled_model_is_not_broken_apart(tmp_path):
    inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(inner.parameters(), 0.1)
    model = torch.compile(inner, backend="eager", fullgraph=True)  # raises where something can't be traced
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        for step in range(3):
            loss = model(torch.randn(4, 8)).sum()
            tracer.log(loss=float(step))
            loss.backward()
            optimizer.step()
    run = read_run(tmp_path)
    assert [row.name for row in run.parameters()[0].spec.rows] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert run.metric("loss") == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert float(run.tables["clock"][-1].columns["forward_calls"][0]) == 3


def test_numbers_without_a_name_and_odd_splits_are_told_and_the_rest_is_kept(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path) as tracer:
        with pytest.warns(zt.ZenTracerWarning, match=r"takes numbers by name, as in log\(loss=loss\)"):
            tracer.log(0.3, loss=0.5)
        with pytest.warns(zt.ZenTracerWarning, match="split= is a word such as 'train', got a int. It is left out"):
            tracer.log(accuracy=0.25, split=3)
        loss_of(model, 0).backward()
        optimizer.step()
    run = read_run(tmp_path)
    assert (run.metric("loss"), run.metric("accuracy")) == ([(0, 0.5)], [(0, 0.25)])


def test_an_empty_parameter_may_be_clipped(tmp_path):
    model = Small()
    model.empty = nn.Parameter(torch.ones(0, 3))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        (loss_of(model, 0) + model.empty.sum()).backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        assert tracer.guard.failures == 0
    (table,) = read_run(tmp_path).parameters()
    assert np.isfinite(table.columns["gradient_norm_before_clip"][:-1]).all()
