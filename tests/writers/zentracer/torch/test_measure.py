"""The two ways to the same numbers, on the host and without a look at any value."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.writers.zentracer.torch.oracle import _moments
from zentracer.torch.batch import make_batches
from zentracer.torch.reduce import FLAGS, MOMENTS, masked, nonzeros, norms, spread
from zentracer.torch.sketch import BUCKETS, make_signs, sketch, unit
from zentracer.torch.small import SmallStatistics
from zentracer.torch.statistics import MEASURED, Statistics

SIZES = [(3,), (40, 25), (1024,), (1025,), (60, 80), (60, 80), (5, 7, 11, 13), (70_001,)]


def members(dtype=torch.float32, scale=1.0):
    torch.manual_seed(0)
    found = []
    for row, shape in enumerate(SIZES):
        parameter = torch.nn.Parameter((torch.randn(shape) * scale).to(dtype))
        parameter.grad = (torch.randn(shape) * scale).to(dtype)
        found.append((row, parameter, True))
    found[2][1].grad = None
    found.append((len(SIZES), torch.nn.Parameter(torch.randn(60, 80).to(dtype)), False))
    return found


def measured(statistics, parameters, step):
    """One update of `-0.1` times something that depends on `step`; returns column -> values in the order of rows."""
    with torch.no_grad():
        statistics.before()
        for row, parameter, owned in parameters:
            if owned:
                torch.manual_seed(100 * step + row)
                parameter.add_(torch.randn(parameter.shape).to(parameter.dtype) * 0.1 * parameter.abs().amax())
        found = statistics.after().to(torch.float64).numpy()
    return {name: found[place][np.argsort(statistics.rows)] for place, name in enumerate(MEASURED)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("spoil", [False, True])
def test_a_device_that_nobody_may_look_at_gives_the_same_numbers(dtype, spoil):
    both = []
    for look in (True, False):
        parameters = members(dtype)
        if spoil:
            with torch.no_grad():
                for _, parameter, _ in parameters:
                    parameter.view(-1)[:2] = torch.tensor([float("nan"), float("inf")])
                    if parameter.grad is not None:
                        parameter.grad.view(-1)[1] = float("-inf")
        statistics = Statistics(parameters, snapshots=True, look=look)
        both.append([measured(statistics, parameters, step) for step in range(2)])
    owned = np.array([True] * len(SIZES) + [False])
    has_gradient = owned & (np.arange(len(owned)) != 2)
    for host, device in zip(*both, strict=True):
        for name in MEASURED:
            rows = owned if name.startswith("update") else has_gradient if name.startswith("gradient") else slice(None)
            assert device[name][rows] == pytest.approx(host[name][rows], rel=2e-5, abs=1e-6, nan_ok=True), name


def test_small_tensors_by_segments_give_the_same_numbers():
    both = []
    for make in (Statistics, SmallStatistics):
        parameters = [(row, p, owned) for row, (_, p, owned) in enumerate(members()) if p.numel() <= 1024]
        statistics = make(parameters, snapshots=True)
        both.append([measured(statistics, parameters, step) for step in range(2)])
    with_gradient = [0, 1]
    for one, other in zip(*both, strict=True):
        for name in MEASURED:
            rows = with_gradient if name.startswith("gradient") else slice(None)
            assert other[name][rows] == pytest.approx(one[name][rows], rel=1e-5, abs=1e-6, nan_ok=True), name


@pytest.mark.parametrize("snapshots", [True, False])
def test_without_a_copy_of_the_weights_everything_but_the_update_is_measured(snapshots):
    for parameters in (members(), [m for m in members() if m[1].numel() <= 1024]):
        statistics = (Statistics if len(parameters) > 4 else SmallStatistics)(parameters, snapshots=snapshots)
        found = measured(statistics, parameters, 0)
        assert (found["weight_norm"] > 0).all()
        assert (found["update_norm"][0] > 0) == snapshots


entries = st.lists(
    st.one_of(st.floats(width=32), st.sampled_from([0.0, float("nan"), float("inf"), float("-inf"), 1e-40, 3e38])),
    min_size=1,
    max_size=50,
)


@settings(deadline=None)
@given(entries)
def test_masked_moments_of_any_numbers(values):
    x = torch.tensor([values], dtype=torch.float32)
    truth = _moments(x.double().numpy().ravel())
    found = dict(zip(MOMENTS, masked(x)[:, 0].tolist(), strict=True))
    size = max(abs(truth["min"]), abs(truth["max"])) if not np.isnan(truth["min"]) else 0.0
    with np.errstate(over="ignore"):
        assert found["norm"] == pytest.approx(float(np.float32(truth["norm"])), rel=1e-5, abs=1e-44, nan_ok=True)
    for name, key in (("mean", "mean"), ("std", "std"), ("low", "min"), ("high", "max")):
        assert found[name] == pytest.approx(truth[key], rel=1e-5, abs=2e-6 * size + 1e-44, nan_ok=True)
    n = len(values)
    assert found["zeros"] == truth["zero_fraction"] * n
    assert [found["nan"], found["pinf"], found["ninf"]] == pytest.approx(
        [truth[f"{key}_fraction"] * n for key in ("nan", "pinf", "ninf")]
    )


def test_a_long_row_is_masked_piece_by_piece():
    x = torch.randn(1, (1 << 21) + 3)
    x[0, ::1000] = float("nan")
    x[0, 5] = 300.0
    truth = _moments(x.double().numpy().ravel())
    found = dict(zip(MOMENTS, masked(x)[:, 0].tolist(), strict=True))
    assert found["norm"] == pytest.approx(truth["norm"], rel=1e-6)
    assert found["std"] == pytest.approx(truth["std"], rel=1e-6)
    assert found["high"] == 300.0


@pytest.mark.parametrize("n", [1, 4096, 4097, 5000, FLAGS, FLAGS + 1, 3 * FLAGS + 5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_plain_sums_of_any_length(n, dtype):
    x = torch.randn(2, n).to(dtype)
    x[0, ::7] = 0.0
    assert norms(x).double().numpy() == pytest.approx(x.double().norm(dim=1).numpy(), rel=3e-6)
    assert nonzeros(x, np.empty(FLAGS, np.bool_)).tolist() == torch.count_nonzero(x, dim=1).tolist()
    for rows in (x, x[:1]):
        total, low, high = spread(rows)
        assert total.double().numpy() == pytest.approx(rows.double().sum(1).numpy(), rel=1e-5, abs=1e-3)
        assert low.tolist() == rows.double().amin(1).tolist()
        assert high.tolist() == rows.double().amax(1).tolist()


def cosines(dimension, seed, likeness, shape=None):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape or dimension, generator=generator)
    y = likeness * x + (1 - likeness**2) ** 0.5 * torch.randn(shape or dimension, generator=generator)
    signs, work = make_signs(torch.device("cpu"), torch.float32), torch.empty(1 << 20)
    pair = torch.stack([x.ravel(), y.ravel()])
    a, b = unit(sketch(pair, signs, work))
    return float(a @ b), float(torch.nn.functional.cosine_similarity(x.ravel(), y.ravel(), 0))


def test_a_sketch_keeps_the_angle_within_its_error():
    errors = [
        abs(found - truth)
        for seed in range(20)
        for likeness in (0.0, 0.5, 0.95)
        for found, truth in [cosines((300, 1024), seed, likeness)]
    ]
    assert np.median(errors) < 0.03
    assert max(errors) < 0.15


def test_a_sketch_keeps_the_angle_of_gradients_that_are_nearly_of_rank_one():
    """As gradients of linear layers are; a few random projections are wrong by a third there."""
    errors = []
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        u, v, w = (torch.randn(1024, generator=generator) for _ in range(3))
        x, y = torch.outer(u, v), torch.outer(u, 0.5 * v + w)
        pair = torch.stack([x.ravel(), y.ravel()])
        a, b = unit(sketch(pair, make_signs(torch.device("cpu"), torch.float32), torch.empty(1 << 20)))
        errors.append(abs(float(a @ b) - float(torch.nn.functional.cosine_similarity(x.ravel(), y.ravel(), 0))))
    assert np.median(errors) < 0.05
    assert max(errors) < 0.15


@pytest.mark.parametrize("n", [1025, 5000, (1 << 21) + 77])
def test_both_ways_to_a_sketch_give_the_same(n):
    x = torch.randn(2, n).to(torch.bfloat16)
    signs, work = make_signs(torch.device("cpu"), torch.float32), torch.empty(1 << 20)
    assert torch.allclose(sketch(x, signs, work), sketch(x.float(), signs, work), rtol=1e-4, atol=1e-3)


def test_few_entries_are_their_own_sketch():
    x = torch.randn(3, 700)
    found = sketch(x, None, torch.empty(2100))
    assert torch.equal(found[:, :700], x)
    assert not found[:, 700:].any()


def test_signs_are_the_same_in_every_run_and_leave_the_random_stream_alone():
    before = torch.get_rng_state()
    one = make_signs(torch.device("cpu"), torch.float32)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one, make_signs(torch.device("cpu"), torch.float32))
    assert set(one.unique().tolist()) == {-1.0, 1.0}
    assert abs(float(one.mean())) < 0.01


def test_tiny_and_huge_sketches_come_to_length_one_and_zero_to_nan():
    found = unit(torch.tensor([[1e-30] * BUCKETS, [1e30] * BUCKETS, [0.0] * BUCKETS]))
    assert found.norm(dim=1)[:2].tolist() == pytest.approx([1.0, 1.0], rel=1e-5)
    assert found[2].isnan().all()


def test_parameters_of_one_size_share_a_batch_and_large_ones_stay_alone():
    def parameters(*sizes):
        return [(row, torch.zeros(size), row != 2) for row, size in enumerate(sizes)]

    batches = make_batches(parameters(10, 20, 10, 10, 5000, 5000), snapshots=True, stack_limit=100)
    assert [(batch.rows, batch.owned, batch.snapshot is not None) for batch in batches] == [
        ((0, 3), True, True),
        ((1,), True, True),
        ((2,), False, False),
        ((4,), True, True),
        ((5,), True, True),
    ]
