"""What counts as an abnormal step."""

from math import inf, nan

import pytest

from zentracer.alarm import FEWEST, Alarm


def after(*pairs):
    alarm = Alarm()
    return [alarm.judge(*pair) for pair in pairs][-1]


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_what_is_not_finite_is_abnormal_at_once(value):
    assert after((value, 1.0)) == "not finite"
    assert after((1.0, value)) == "not finite"


def test_what_was_not_measured_is_not():
    assert not after((None, None))


def test_a_leap_above_the_median_is_abnormal():
    usual = [(1.0, 2.0)] * FEWEST
    assert after(*usual, (1.0, 17.0)) == "abnormal"
    assert after(*usual, (8.5, 2.0)) == "abnormal"
    assert not after(*usual, (7.9, 15.0))


def test_the_first_steps_are_nothing_to_compare_with():
    assert not after((1.0, 1.0), (1.0, 1e6))


def test_a_new_level_becomes_the_usual_one():
    alarm = Alarm()
    rung = [alarm.judge(None, 1.0 if step < 40 else 100.0) for step in range(120)]
    assert rung[40]
    assert not any(rung[80:])


def test_a_loss_below_zero_does_not_ring():
    assert not after(*[(-1.0, 1.0)] * 20, (-50.0, 1.0))
