"""When full samples are taken, and what that may cost."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zentracer.schedule import FIRST_STEPS, FORCED_STEPS, LARGEST_STRETCH, LONGEST_INTERVAL, Schedule

SECONDS = st.floats(1e-4, 10.0)


def run(schedule, steps, *, step_s=0.1, sample_s=0.005, plain_s=1e-5, start=0, crowded=lambda step: False):
    """The sampled steps of a training whose steps all take and cost the same."""
    sampled = []
    for step in range(start, start + steps):
        due = schedule.due(step, crowded=crowded(step))
        if due:
            sampled.append(step)
        schedule.account(step_s, plain_s + (sample_s if due else 0.0))
    return sampled


@given(every=st.integers(1, 500), start=st.integers(0, 2000))
def test_every_takes_the_multiples_of_n_whatever_they_cost(every, start):
    sampled = run(Schedule(every=every), 1000, start=start, sample_s=5.0)
    assert sampled == [step for step in range(start, start + 1000) if step % every == 0]


def test_every_records_step_zero():
    assert Schedule(every=100).due(0)


@given(budget=st.floats(1e-3, 1.0), step_s=SECONDS, sample_s=SECONDS)
def test_a_run_begins_with_full_samples(budget, step_s, sample_s):
    sampled = run(Schedule(budget=budget), FIRST_STEPS, step_s=step_s, sample_s=sample_s)
    assert sampled == list(range(FIRST_STEPS))


@settings(deadline=None, max_examples=40)
@given(
    budget=st.floats(0.01, 0.2),
    cost=st.floats(0.001, 0.5),
    plain=st.floats(0.0, 0.2),
    step_s=st.floats(1e-3, 1.0),
    seed=st.integers(0, 99),
)
def test_over_a_run_the_budget_holds_once_the_first_samples_are_paid_off(budget, cost, plain, step_s, seed):
    """`cost` of a sample in steps; `plain` that of every step, as a share of the budget."""
    schedule = Schedule(budget=budget, seed=seed)
    steps = 3000
    first_debt = FIRST_STEPS * cost / budget
    sampled = run(schedule, steps, step_s=step_s, sample_s=cost * step_s, plain_s=plain * budget * step_s)
    spent = len(sampled) * cost + steps * plain * budget
    rare = steps * budget / 0.75  # samples that are taken however dear they are
    assert spent <= budget * max(steps, first_debt) + (rare + 2) * cost
    assert schedule.overhead == pytest.approx(spent / steps, rel=0.05)


@settings(deadline=None, max_examples=20)
@given(cost=st.floats(0.03, 0.3), seed=st.integers(0, 99))
def test_the_budget_is_also_used(cost, seed):
    sampled = run(Schedule(budget=0.02, seed=seed), 5_000, step_s=0.1, sample_s=cost * 0.1, plain_s=0.0)
    assert len(sampled) * cost / 5_000 > 0.7 * 0.02


@pytest.mark.parametrize(("budget", "longest"), [(0.02, 50), (0.1, 10), (1e-6, LONGEST_INTERVAL)])
def test_intervals_stay_below_one_over_the_budget_however_dear_a_sample_is(budget, longest):
    sampled = run(Schedule(budget=budget, seed=0), 5000, sample_s=1.0, plain_s=0.01)
    gaps = [b - a for a, b in itertools.pairwise(sampled)]
    assert max(gaps) <= 1.25 * longest
    assert sum(gaps) / len(gaps) > 0.6 * longest or longest == LONGEST_INTERVAL


def test_intervals_vary_so_that_no_period_is_aliased():
    sampled = run(Schedule(budget=0.02, seed=1), 5000, sample_s=0.02)
    gaps = {b - a for a, b in itertools.pairwise(sampled)}
    assert len(gaps) >= 4


def test_jitter_is_drawn_from_an_own_generator():
    random.seed(3)
    before = random.getstate()
    run(Schedule(), 500)
    assert random.getstate() == before


def test_a_pause_is_no_credit():
    """An evaluation of an hour must not be followed by an hour's worth of samples."""
    schedule = Schedule(budget=0.02, seed=0)
    run(schedule, 2000)
    schedule.due(2000)
    schedule.account(3600.0, 0.0)
    sampled = run(schedule, 100, start=2001)
    assert len(sampled) < 60


def test_trouble_forces_samples_on_the_next_steps():
    schedule = Schedule(budget=0.02, seed=0)
    run(schedule, 100, sample_s=0.05)
    schedule.force("abnormal")
    assert run(schedule, 3, start=100, sample_s=0.05) == [100, 101, 102]


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 99))
def test_trouble_without_end_stays_within_the_budget(seed):
    schedule = Schedule(budget=0.02, seed=seed)
    cost, steps = 0.005, 5_000
    sampled = 0
    for step in range(steps):
        due = schedule.due(step)
        sampled += due
        schedule.account(0.1, cost if due else 0.0)
        schedule.force("abnormal")
    assert sampled * cost <= 0.02 * steps * 0.1 + (FIRST_STEPS + 2 * FORCED_STEPS) * cost


def test_another_trouble_is_sampled_even_while_the_first_is_not_paid_off():
    schedule = Schedule(budget=1e-5, seed=0)
    run(schedule, 30)
    schedule.force("abnormal")
    assert run(schedule, 10, start=30) == [30, 31, 32]
    schedule.force("abnormal")
    assert run(schedule, 10, start=40) == []
    schedule.force("not finite")
    assert run(schedule, 10, start=50) == [50, 51, 52]


def test_trouble_does_not_change_a_fixed_spacing():
    schedule = Schedule(every=10)
    schedule.force("abnormal")
    assert run(schedule, 30) == [0, 10, 20]


def test_a_budget_of_nothing_takes_no_samples():
    schedule = Schedule(budget=0.0)
    schedule.force("abnormal")
    assert run(schedule, 100) == []


@pytest.mark.parametrize("options", [{"every": 1}, {"budget": 1.0}], ids=["every", "budget"])
def test_intervals_double_while_the_writer_is_crowded_and_shrink_after(options):
    schedule = Schedule(**options)
    sampled = run(schedule, 2000, crowded=lambda step: step < 500, sample_s=1e-6)
    gaps = [b - a for a, b in itertools.pairwise(sampled)]
    assert max(gaps) <= 1.25 * LARGEST_STRETCH
    assert len([step for step in sampled if step < 500]) < 30
    assert len([step for step in sampled if step >= 1000]) == 1000
