"""How often the background thread looks."""

import threading
import time

import pytest

from zentracer_store import follow
from zentracer_store.follow import Follower, WalkPace
from zentracer_store.progress import Rate, progress_of


@pytest.fixture
def looks(monkeypatch):
    """A follower, and a semaphore that it raises with each look; 10 ms stand for a second, 100 ms for idleness."""
    monkeypatch.setattr(follow, "EAGER_S", 0.01)
    monkeypatch.setattr(follow, "RECENT_S", 0.1)
    monkeypatch.setattr(follow, "IDLE_S", 60.0)
    looked = threading.Semaphore(0)
    follower = Follower(lambda: bool(looked.release()))
    yield follower, looked
    follower.close()


def test_it_looks_again_and_again_while_someone_asks(looks):
    follower, looked = looks
    for _ in range(5):
        follower.ask()
        assert looked.acquire(timeout=5)


def test_it_slows_down_when_nobody_asks_and_wakes_when_someone_does(looks):
    follower, looked = looks
    follower.ask()
    while looked.acquire(timeout=1):
        pass  # until there was no look for a second
    follower.ask()
    assert looked.acquire(timeout=5)


def test_closing_ends_it_at_once_even_while_it_is_idle(looks):
    follower, looked = looks
    follower.ask()
    assert looked.acquire(timeout=5)
    began = time.monotonic()
    follower.close()
    assert time.monotonic() - began < 5
    follower.ask()
    assert not looked.acquire(timeout=0.2) or not looked.acquire(timeout=0.2)


def test_a_look_that_fails_is_logged_and_tried_again(monkeypatch, caplog):
    monkeypatch.setattr(follow, "EAGER_S", 0.01)
    looked = threading.Semaphore(0)
    follower = Follower(lambda: looked.release() or 1 / 0)
    follower.ask()
    assert looked.acquire(timeout=5)
    assert looked.acquire(timeout=5)
    follower.close()
    assert caplog.messages[0] == "Looking at the log directory failed. It is tried again."


@pytest.mark.parametrize(
    ("took", "sooner", "next_walk"),
    [(0.001, 0.01, 1.0), (0.02, 0.2, 8.0), (0.1, 1.0, 10.0), (1.0, 10.0, 20.0)],
)
def test_walks_are_spaced_by_what_they_cost(monkeypatch, took, sooner, next_walk):
    now = 1000.0
    monkeypatch.setattr(follow.time, "monotonic", lambda: now)
    pace = WalkPace()
    assert pace.due(lambda: False)
    pace.took(took)
    for wait, without_news, with_news in (
        (0.99 * sooner, False, False),
        (sooner, False, True),
        (next_walk, True, True),
    ):
        now = 1000.0 + wait + 1e-9
        assert pace.due(lambda: False) is without_news
        assert pace.due(lambda: True) is with_news


def test_the_rate_is_told_once_it_is_steady():
    rate = Rate()
    assert rate.at(0.0) is None
    rate.read(100, now=0.0)
    assert rate.at(0.5) is None
    rate.read(300, now=1.0)
    assert rate.at(2.0) == 200
    rate.rest()
    assert rate.at(3.0) is None


def test_time_left_comes_from_the_rate_and_is_untold_without_one():
    some = progress_of(files=1, files_total=2, done=100, total=500, rate=200.0, walked=True)
    assert (some.seconds_left, some.bytes_per_second, some.done) == (2.0, 200.0, False)
    assert progress_of(files=1, files_total=2, done=100, total=500, rate=None, walked=True).seconds_left is None
    done = progress_of(files=2, files_total=2, done=500, total=500, rate=200.0, walked=True)
    assert (done.seconds_left, done.bytes_per_second, done.done) == (None, None, True)
    assert not progress_of(files=0, files_total=0, done=0, total=0, rate=None, walked=False).done
