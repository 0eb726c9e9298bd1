"""Each statistic equals a slow computation in float64 from copies, for every way in which people make updates."""

import gc

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils import clip_grad_value_ as clip_by_value

import zentracer.torch as zt
import zentracer_schema as schema
from tests.writers.zentracer.reading import read_run
from tests.writers.zentracer.torch.models import Small, Tied, batch, loss_of
from tests.writers.zentracer.torch.oracle import Witness, check, expected

Status = schema.Status


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def tables_and_updates(logdir, witness, optimizer="optimizer", scope="model"):
    tables = read_run(logdir).parameters(optimizer, scope)
    assert len(tables) == len(witness.updates)
    return list(zip(tables, witness.updates, [None, *witness.updates[:-1]], strict=True))


def check_all(logdir, witness, **which):
    for table, update, last in tables_and_updates(logdir, witness, **which):
        check(table, update, last)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, 1e-2),
    "fused adam": lambda p: torch.optim.Adam(p, 1e-2, fused=True),
    "foreach rmsprop": lambda p: torch.optim.RMSprop(p, 1e-2, foreach=True),
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS.keys())
def test_plain_steps(tmp_path, make):
    model = Small()
    optimizer = make(model.parameters())
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(6):
            optimizer.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()
    check_all(tmp_path, witness)
    assert [table.step for table in read_run(tmp_path).parameters()] == list(range(6))


def test_gradient_accumulation(tmp_path):
    model = Small()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(12):
            (loss_of(model, step) / 3).backward()
            if step % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    check_all(tmp_path, witness)
    clocks = read_run(tmp_path).tables["clock"]
    assert [float(clock.columns["forward_calls"][0]) for clock in clocks] == [3.0, 6.0, 9.0, 12.0]
    assert [float(clock.columns["samples"][0]) for clock in clocks] == [36.0, 72.0, 108.0, 144.0]


CLIPPERS = {
    "imported by name": clip_grad_norm_,
    "by the package": lambda *args: torch.nn.utils.clip_grad_norm_(*args),
    "by its module": lambda *args: torch.nn.utils.clip_grad.clip_grad_norm_(*args),
}


@pytest.mark.parametrize("clip", CLIPPERS.values(), ids=CLIPPERS.keys())
def test_clipping_by_norm_is_seen_before_and_after(tmp_path, clip):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    totals = []
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(4):
            optimizer.zero_grad()
            loss_of(model, step).backward()
            witness.before_clipping()
            totals.append(float(clip(model.parameters(), 0.05)))
            optimizer.step()
    check_all(tmp_path, witness)
    run = read_run(tmp_path)
    assert all(table.row("out.weight")["status"] == Status.SAMPLED for table in run.parameters())
    assert [row["gradient_norm_before_clip"] for row in run.pulse()] == pytest.approx(totals, rel=1e-6)
    assert [row["gradient_norm"] for row in run.pulse()] == pytest.approx([0.05] * 4, rel=1e-4)


def test_clipping_part_of_the_gradients_leaves_the_others_unseen(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(3):
            optimizer.zero_grad()
            loss_of(model, step).backward()
            witness.before_clipping()
            whole = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            for name in list(witness.clipping):
                if not name.startswith("out"):
                    del witness.clipping[name]
            clip_grad_norm_(model.out.parameters(), 0.01, norm_type=float("inf"))
            optimizer.step()
    check_all(tmp_path, witness)
    run = read_run(tmp_path)
    assert run.parameters()[0].row("conv.weight")["status"] == Status.SAMPLED | Status.UNSEEN
    assert run.parameters()[0].row("out.bias")["status"] == Status.SAMPLED
    assert run.pulse()[-1]["gradient_norm_before_clip"] == pytest.approx(float(whole), rel=1e-5)


def test_a_gradient_clipped_twice_keeps_its_first_norm(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        loss_of(model, 0).backward()
        witness.before_clipping()
        clip_grad_norm_(model.parameters(), 0.1)
        clip_grad_norm_(model.parameters(), 0.01)
        optimizer.step()
    check_all(tmp_path, witness)


def test_gradients_that_were_clipped_but_never_applied_are_forgotten(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        loss_of(model, 0).backward()
        clip_grad_norm_(model.parameters(), 0.1)
        optimizer.zero_grad()  # the loop thought better of it
        loss_of(model, 1).backward()
        optimizer.step()
    run = read_run(tmp_path)
    assert np.isnan(run.parameters()[0].row("out.weight")["gradient_norm_before_clip"])
    assert np.isnan(run.pulse()[0]["gradient_norm_before_clip"])


@pytest.mark.parametrize("by_hand", [False, True], ids=["clip_grad_value_", "hand-written"])
def test_other_clipping_is_measured_after_and_unseen_before(tmp_path, by_hand):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(3):
            optimizer.zero_grad()
            loss_of(model, step).backward()
            if by_hand:
                for p in model.parameters():
                    p.grad.mul_(0.5)
            else:
                clip_by_value(model.parameters(), 1e-3)
            optimizer.step()
    check_all(tmp_path, witness)
    row = read_run(tmp_path).parameters()[-1].row("out.weight")
    assert row["status"] == Status.SAMPLED | Status.UNSEEN
    assert np.isnan(row["gradient_norm_before_clip"])


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("unscale", [False, True], ids=["in step", "unscale_"])
def test_a_gradient_scaler_is_undone_and_its_skips_are_no_steps(tmp_path, fused, unscale):
    model = Small()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=100)
    witness = Witness(model, optimizer)
    truth = []
    with zt.watch(model, optimizer, logdir=tmp_path, every=1) as tracer:
        for step in range(7):
            optimizer.zero_grad()
            loss = loss_of(model, step)
            tracer.log(loss=loss)
            scaler.scale(loss * (float("inf") if step in (2, 3) else 1.0)).backward()
            if unscale:
                scaler.unscale_(optimizer)
                witness.before_clipping()
                clip_grad_norm_(model.parameters(), 0.5)
            truth.append(scaler.get_scale())
            scaler.step(optimizer)
            scaler.update()
    made = [step for step in range(7) if step not in (2, 3)]
    if fused:
        # A fused optimizer is called although it will skip, and with gradients that are still scaled.
        witness.updates = [witness.updates[step] for step in made]
    for update, step in zip(witness.updates, made, strict=True):
        if fused and not unscale:
            update.gradients = {name: g / truth[step] for name, g in update.gradients.items()}
    check_all(tmp_path, witness)
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == [0, 1, 2, 3, 4]
    assert [row["step"] for row in run.pulse()] == [0, 1, 2, 2, 2, 3, 4]
    assert [row["found_inf"] for row in run.pulse()] == [0, 0, 1, 1, 0, 0, 0]
    assert [row["loss_scale"] for row in run.pulse()] == truth
    assert float(run.tables["clock"][-1].columns["skipped_updates"][0]) == 2
    assert float(run.tables["clock"][-1].columns["updates"][0]) == 5


def test_a_scaler_that_is_switched_off_changes_nothing(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        scaler.scale(loss_of(model, 0)).backward()
        scaler.step(optimizer)
        scaler.update()
    (row,) = read_run(tmp_path).pulse()
    assert np.isnan(row["found_inf"])
    assert np.isnan(row["loss_scale"])


def test_two_models_train_each_other_and_leave_gradients_behind(tmp_path):
    """As in a GAN: the discriminator's parameters hold gradients of the generator's loss when the latter steps."""
    generator, discriminator = nn.Linear(40, 60), nn.Sequential(nn.Linear(60, 50), nn.ReLU(), nn.Linear(50, 1))
    both = nn.ModuleDict({"g": generator, "d": discriminator})
    d_opt = torch.optim.Adam(discriminator.parameters(), 1e-2)
    g_opt = torch.optim.Adam(generator.parameters(), 1e-2)
    witnesses = {"d": Witness(both, d_opt), "g": Witness(both, g_opt)}
    with zt.watch(both, {"d": d_opt, "g": g_opt}, logdir=tmp_path, every=1):
        for _ in range(4):
            d_opt.zero_grad()
            noise = torch.randn(8, 40)
            (discriminator(generator(noise).detach()).mean() - discriminator(torch.randn(8, 60)).mean()).backward()
            d_opt.step()
            g_opt.zero_grad()
            (-discriminator(generator(noise)).mean()).backward()
            g_opt.step()
    run = read_run(tmp_path)
    assert [row.name for row in run.parameters("d")[0].spec.rows] == [
        "d.0.weight",
        "d.0.bias",
        "d.2.weight",
        "d.2.bias",
    ]
    assert [row.name for row in run.parameters("g")[0].spec.rows] == ["g.weight", "g.bias"]
    assert [table.step for table in run.parameters("d")] == [0, 1, 2, 3]
    # The generator steps after the discriminator, so by then one more of its updates is completed.
    assert [table.step for table in run.parameters("g")] == [1, 2, 3, 4]
    for name, witness in witnesses.items():
        for table, update, last in tables_and_updates(tmp_path, witness, optimizer=name):
            check(table, update, last)


def test_of_several_updates_of_another_optimizer_in_a_step_the_last_is_recorded(tmp_path):
    model = nn.Sequential(nn.Linear(30, 40), nn.Linear(40, 5))
    first = torch.optim.SGD(model[0].parameters(), 0.1)
    second = torch.optim.SGD(model[1].parameters(), 0.1)
    witness = Witness(model, second)
    with zt.watch(model, [first, second], logdir=tmp_path, every=1):
        for _ in range(3):
            for _ in range(4):
                second.zero_grad()
                model(torch.randn(6, 30)).square().mean().backward()
                second.step()
            first.zero_grad()
            model(torch.randn(6, 30)).square().mean().backward()
            first.step()
    run = read_run(tmp_path)
    tables = run.parameters("optimizer_1")
    assert [table.step for table in tables] == [0, 1, 2]
    for number, table in enumerate(tables):
        check(table, witness.updates[4 * number + 3], witness.updates[4 * number + 2])
    assert [float(clock.columns["updates"][0]) for clock in run.tables["clock"]] == [1, 2, 3]


def test_groups_that_are_added_later_join_the_table(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD([{"params": model.out.parameters()}], 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(6):
            if step == 3:
                optimizer.add_param_group({"params": model.conv.parameters(), "lr": 0.01})
            model.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()
    run = read_run(tmp_path)
    early, late = run.parameters()[0], run.parameters()[-1]
    groups = {row.name: (row.optimizer, row.group) for row in late.spec.rows}
    assert groups["out.weight"] == ("optimizer", 0)
    assert groups["conv.weight"] == ("optimizer", 1)
    assert groups["norm.weight"] == ("", 0)
    assert early.spec.tag != late.spec.tag
    assert early.row("conv.weight")["status"] == Status.SAMPLED | Status.UNUSED
    for table, update, last in tables_and_updates(tmp_path, witness):
        check(table, update, last if table.step not in (0, 3) else None, rows=["out.weight", "out.bias"])
    check(late, witness.updates[-1], witness.updates[-2], rows=["conv.weight", "conv.bias"])
    assert list(run.pulse()[-1])[-2:] == ["learning_rate/optimizer/0", "learning_rate/optimizer/1"]
    assert run.pulse()[-1]["learning_rate/optimizer/1"] == 0.01


def test_tied_parameters_are_one_row_with_their_other_name(tmp_path):
    model = Tied()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for _ in range(4):
            optimizer.zero_grad()
            tokens = torch.randint(0, 50, (7, 9))
            nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
            optimizer.step()
    check_all(tmp_path, witness)
    rows = read_run(tmp_path).parameters()[0].spec.rows
    assert [(row.name, row.aliases) for row in rows] == [
        ("embedding.weight", ("head.weight",)),
        ("mix.weight", ()),
        ("mix.bias", ()),
    ]


def test_frozen_and_unused_parameters_say_so_and_have_not_moved(tmp_path):
    model = Small()
    model.conv.requires_grad_(False)
    optimizer = torch.optim.SGD([*model.out.parameters(), *model.norm.parameters()], 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(3):
            model.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()
    for table, update, last in tables_and_updates(tmp_path, witness):
        check(table, update, last)
        assert table.row("conv.weight")["status"] == Status.SAMPLED | Status.FROZEN
        assert table.row("hidden.weight")["status"] == Status.SAMPLED | Status.UNUSED
        for name in ("conv.weight", "hidden.weight"):
            assert table.row(name)["update_norm"] == 0.0
            assert table.row(name)["unchanged_fraction"] == 1.0
            assert np.isnan(table.row(name)["gradient_norm"])
    frozen = next(row for row in table.spec.rows if row.name == "conv.weight")
    assert not frozen.trainable
    assert frozen.optimizer == ""


def test_a_parameter_that_no_optimizer_owns_but_that_changes_in_the_step_is_unseen(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.out.parameters(), 0.1)

    def sneak(*_):
        with torch.no_grad():
            model.hidden.weight.add_(1.0)

    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        optimizer.register_step_pre_hook(sneak)
        loss_of(model, 0).backward()
        optimizer.step()
    row = read_run(tmp_path).parameters()[0].row("hidden.weight")
    assert row["status"] == Status.SAMPLED | Status.UNUSED | Status.UNSEEN
    assert np.isnan(row["update_norm"])
    assert np.isnan(row["unchanged_fraction"])


def test_what_is_thawed_later_becomes_a_row_like_the_others(tmp_path):
    model = Small()
    model.conv.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(4):
            if step == 2:
                model.conv.requires_grad_(True)
            optimizer.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()
    for table, update, last in tables_and_updates(tmp_path, witness):
        check(table, update, None if table.step in (0, 2) else last)
        frozen = table.step < 2
        assert bool(int(table.row("conv.weight")["status"]) & Status.FROZEN) == frozen


def test_what_is_thawed_but_given_to_no_optimizer_is_unused(tmp_path):
    model = Small()
    model.conv.requires_grad_(False)
    optimizer = torch.optim.SGD(model.out.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for _ in range(2):
            loss_of(model, 0).backward()
            optimizer.step()
            model.conv.requires_grad_(True)
    before, after = (table.row("conv.weight")["status"] for table in read_run(tmp_path).parameters())
    assert (before, after) == (Status.SAMPLED | Status.FROZEN, Status.SAMPLED | Status.UNUSED)


def test_an_optimizer_that_is_gone_is_missed_by_none(tmp_path):
    model = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})
    first = torch.optim.SGD(model["a"].parameters(), 0.1)
    second = torch.optim.SGD(model["b"].parameters(), 0.1)
    with zt.watch(model, [first, second], logdir=tmp_path, every=1) as tracer:
        del second
        gc.collect()
        for _ in range(2):
            model["a"](torch.randn(3, 4)).sum().backward()
            first.step()
        assert tracer.guard.failures == 0
    assert len(read_run(tmp_path).parameters("optimizer_0")) == 2


def test_a_parameter_without_gradient_in_a_step_says_so_and_remembers_its_last_one(tmp_path):
    model = nn.ModuleDict({"a": nn.Linear(40, 40), "b": nn.Linear(40, 40)})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(3):
            optimizer.zero_grad()
            torch.manual_seed(7)
            x = model["a"](torch.randn(5, 40))
            (x if step == 1 else model["b"](x)).square().mean().backward()
            optimizer.step()
    middle, end = read_run(tmp_path).parameters()[1:]
    assert middle.row("b.weight")["status"] == Status.SAMPLED | Status.NO_GRADIENT
    assert np.isnan(middle.row("b.weight")["gradient_norm"])
    assert middle.row("b.weight")["update_norm"] == 0.0
    truth = expected(witness.updates[2], "b.weight", witness.updates[0])["gradient_cosine"]
    assert end.row("b.weight")["gradient_cosine"] == pytest.approx(truth, abs=0.15)
    assert end.row("b.bias")["gradient_cosine"] == pytest.approx(
        expected(witness.updates[2], "b.bias", witness.updates[0])["gradient_cosine"], abs=1e-6
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_other_number_formats_are_measured_as_exactly(tmp_path, dtype):
    model = Small().to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3 if dtype is not torch.float16 else 1e-2, eps=1e-4)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(4):
            optimizer.zero_grad()
            loss_of(model, step).backward()
            optimizer.step()
    check_all(tmp_path, witness)
    rows = read_run(tmp_path).parameters()[-1]
    assert rows.spec.rows[0].dtype == str(dtype).removeprefix("torch.")
    if dtype is torch.bfloat16:
        # The finding that half precision is watched for: weights too coarse for their updates.
        assert rows.row("norm.weight")["unchanged_fraction"] > 0.5


@pytest.mark.parametrize("large", [False, True])
def test_entries_that_are_not_finite_are_counted_and_left_out(tmp_path, large):
    shape = (70, 50) if large else (9, 50)
    model = nn.Module()
    model.weight = nn.Parameter(torch.randn(shape))
    model.gone = nn.Parameter(torch.full(shape, float("nan")))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with torch.no_grad():
        model.weight[0, :3] = torch.tensor([float("nan"), float("inf"), float("-inf")])
        model.weight[1, :4] = 0.0
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(3):
            model.weight.grad = torch.randn(shape)
            model.weight.grad[3, :5] = torch.tensor([float("inf"), float("nan"), float("nan"), float("-inf"), 0.0])
            model.gone.grad = torch.full(shape, float("inf") if step else 0.0)
            optimizer.step()
    check_all(tmp_path, witness)
    row = read_run(tmp_path).parameters()[0].row("weight")
    n = model.weight.numel()
    assert row["weight_nan_fraction"] == pytest.approx(1 / n)
    assert row["weight_zero_fraction"] == pytest.approx(4 / n)
    assert row["gradient_nan_fraction"] == pytest.approx(2 / n)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e20, 1e30])
@pytest.mark.parametrize("numel", [100, 5000])
def test_squares_neither_overflow_nor_vanish(tmp_path, size, numel):
    model = nn.Module()
    model.weight = nn.Parameter(torch.randn(numel) * size)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for _ in range(3):
            model.weight.grad = torch.randn(numel) * size
            optimizer.step()
    check_all(tmp_path, witness)


def test_spreads_are_right_where_the_mean_is_far_larger(tmp_path):
    model = nn.ParameterDict(
        {
            "narrow": nn.Parameter(1.0 + 1e-4 * torch.randn(5000)),
            "constant": nn.Parameter(torch.full((3000,), 0.1)),
            "small": nn.Parameter(1.0 + 1e-4 * torch.randn(500)),
        }
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        optimizer.step()
    (table,) = read_run(tmp_path).parameters()
    check(table, witness.updates[0], rows=["narrow", "small"])
    assert table.row("constant")["weight_std"] < 1e-8


def test_norms_of_large_tensors_are_right_where_float32_sums_are_not(tmp_path):
    model = nn.ParameterDict({"weight": nn.Parameter(torch.full((3_000_001,), 0.1))})
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for _ in range(2):
            model["weight"].grad = torch.full((3_000_001,), 0.3)
            optimizer.step()
    check_all(tmp_path, witness)
    truth = 0.3 * 3_000_001**0.5
    assert [row["gradient_norm"] for row in read_run(tmp_path).pulse()] == pytest.approx([truth] * 2, rel=1e-5)


def test_weights_of_zero_have_no_update_ratio(tmp_path):
    model = nn.ParameterDict({"weight": nn.Parameter(torch.zeros(20))})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for _ in range(2):
            model["weight"].grad = torch.ones(20)
            optimizer.step()
    first, second = (table.row("weight") for table in read_run(tmp_path).parameters())
    assert np.isnan(first["update_ratio"])
    assert first["status"] == Status.SAMPLED | Status.UNDEFINED_RATIO | Status.UNSEEN
    assert second["update_ratio"] == pytest.approx(1.0)


def test_memory_formats_do_not_matter(tmp_path):
    model = Small().to(memory_format=torch.channels_last)
    model.hidden.weight = nn.Parameter(torch.randn(40, 150).t())
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    witness = Witness(model, optimizer)
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        for step in range(4):
            optimizer.zero_grad()
            x, y = batch(step)
            nn.functional.cross_entropy(model(x.to(memory_format=torch.channels_last)), y).backward()
            optimizer.step()
    check_all(tmp_path, witness)


def test_sparse_and_complex_parameters_are_told_and_stay_empty(tmp_path):
    model = nn.Module()
    model.table = nn.Embedding(60, 30, sparse=True)
    model.phase = nn.Parameter(torch.randn(40, dtype=torch.complex64))
    model.real = nn.Parameter(torch.randn(40))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    told = pytest.warns(zt.ZenTracerWarning, match=r"1 of 3 parameters are sparse, complex, .* phase \(complex64\)")
    with zt.watch(model, optimizer, logdir=tmp_path, every=1):
        (model.table(torch.tensor([1, 2])).sum() + model.phase.abs().sum() + model.real.sum()).backward()
        with told:
            optimizer.step()
    (table,) = read_run(tmp_path).parameters()
    assert table.row("phase")["status"] == Status.SAMPLED | Status.UNSEEN
    assert np.isnan(table.row("phase")["weight_norm"])
    assert int(table.row("table.weight")["status"]) & Status.UNSEEN
    assert np.isnan(table.row("table.weight")["gradient_norm"])
    assert table.row("table.weight")["weight_norm"] > 0
    assert table.row("real")["gradient_norm"] == pytest.approx(40**0.5)


def test_a_resume_counts_on_from_its_step(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    witness = Witness(model, optimizer)
    for start in (0, 3):
        with zt.watch(model, optimizer, logdir=tmp_path, every=1, start_step=start):
            for step in range(start, start + 3):
                optimizer.zero_grad()
                loss_of(model, step).backward()
                optimizer.step()
    for table, update, last in tables_and_updates(tmp_path, witness):
        check(table, update, last if table.step not in (0, 3) else None)
    run = read_run(tmp_path)
    assert [table.step for table in run.parameters()] == list(range(6))
    assert [float(clock.columns["updates"][0]) for clock in run.tables["clock"]] == [1, 2, 3, 4, 5, 6]
    assert run.marks == [(1, 0), (2, 2), (1, 3), (2, 5)]
    assert run.sessions[1]["continues"] == run.sessions[0]["id"]
    assert [session["scopes"]["model"]["start_step"] for session in run.sessions] == [0, 3]


def test_closures_leave_the_gradient_columns_empty_and_say_so(tmp_path):
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(model, 0)
        loss.backward()
        return loss

    with (
        pytest.warns(zt.ZenTracerWarning, match=r"step\(closure\) computes gradients inside the step"),
        zt.watch(model, optimizer, logdir=tmp_path, every=1),
    ):
        optimizer.step(closure)
    (table,) = read_run(tmp_path).parameters()
    row = table.row("out.weight")
    assert int(row["status"]) & Status.UNSEEN
    assert np.isnan(row["gradient_norm"])
    assert row["update_norm"] > 0
