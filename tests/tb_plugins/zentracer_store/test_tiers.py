"""How often each file is looked at."""

import pytest

from zentracer_store import tiers
from zentracer_store.tiers import FEW, GROWS_S, LONG_LAP_S, MOST, Tiers


class Clock:
    """A clock that goes on only when it is told to."""

    now = 1000.0

    def monotonic(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(tiers, "time", clock)
    return clock


def looks(some, clock, seconds, every=0.1):
    """How often each path was due within so many seconds of looking each tenth of one."""
    counts = {}
    for _ in range(round(seconds / every)):
        clock.wait(every)
        for path in some.due():
            counts[path] = counts.get(path, 0) + 1
    return counts


def test_what_grows_is_looked_at_each_time_and_what_rests_in_turns(clock):
    some = Tiers()
    some.changed("grows")
    for number in range(100):
        some.changed(f"rests{number}", GROWS_S)
    counts = looks(some, clock, 20)
    assert counts.pop("grows") == 200
    assert len(counts) == 100
    assert all(9 <= count <= 11 for count in counts.values())


def test_what_no_longer_grows_comes_to_rest_and_back(clock):
    some = Tiers()
    some.changed("a")
    looks(some, clock, GROWS_S)
    assert looks(some, clock, 20)["a"] <= 10
    some.changed("a")
    assert looks(some, clock, 1)["a"] == 10


def test_a_file_that_is_found_long_after_it_changed_rests_from_its_first_look_on(clock):
    some = Tiers()
    some.changed("a")
    assert some.due() == ["a"]
    some.changed("a", 10 * GROWS_S)
    assert some.due() == []


def test_a_time_ahead_of_ours_is_now(clock):
    some = Tiers()
    some.changed("a", -1e9)
    assert looks(some, clock, GROWS_S + 2.1)["a"] <= GROWS_S * 10 + 2


def test_what_is_gone_is_not_looked_at(clock):
    some = Tiers()
    some.changed("grew")
    some.changed("rested", GROWS_S)
    looks(some, clock, 1)
    some.gone("grew")
    some.gone("rested")
    some.gone("never was")
    assert looks(some, clock, 5) == {}


@pytest.mark.parametrize(
    ("count", "rate"), [(1, 0.5), (100, 50), (1000, FEW), (2000, FEW), (20_000, 2000), (100_000, MOST)]
)
def test_the_more_there_are_the_longer_a_lap_takes(clock, count, rate):
    some = Tiers()
    for number in range(count):
        some.changed(str(number), GROWS_S)
    assert sum(looks(some, clock, LONG_LAP_S).values()) == pytest.approx(rate * LONG_LAP_S, abs=1)


def test_a_long_pause_is_made_up_by_one_lap_at_most(clock):
    some = Tiers()
    for number in range(100):
        some.changed(str(number), GROWS_S)
    clock.wait(3600)
    assert len(some.due()) == 100
