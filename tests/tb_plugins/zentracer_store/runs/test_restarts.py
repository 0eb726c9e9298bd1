"""Restarts that no mark tells of."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.runs.restarts import MOST_RESTARTS, SURE, restarts_in


def restarts(*points):
    """Rows at which writing began anew; points are (tag, step)."""
    tags, steps = zip(*points, strict=True) if points else ((), ())
    return restarts_in(np.array(tags, np.uint32), np.array(steps, np.int64))


def of_one_tag(*steps):
    return restarts(*((0, step) for step in steps))


def slow_restarts(points):
    """By the book, point for point."""
    found, began = [], 0
    for row, (tag, step) in enumerate(points):
        own = [at for at in range(row) if points[at][0] == tag]
        if not own or step >= points[own[-1]][1]:
            continue
        peak = points[own[-1]][1]
        following = [s for t, s in points[row:] if t == tag][:SURE]
        below = len(following) == SURE and following == sorted(following) and following[-1] <= peak
        repeated = any(points[at][1] == step for at in own)
        if (repeated or below) and own[-1] >= began:
            began = row
            found.append(row)
    return found


def test_steps_that_rise_or_repeat_are_no_restart():
    assert of_one_tag() == []
    assert of_one_tag(3, 3, 3, 4, 5, 5) == []


def test_a_step_recorded_before_is_a_restart_when_steps_go_back_to_it():
    assert of_one_tag(0, 10, 20, 30, 20, 30, 40) == [4]
    assert of_one_tag(0, 10, 20, 10) == [3]


def test_steps_that_stay_below_where_they_fell_from_are_a_restart():
    assert of_one_tag(0, 97, 203, 305, 100, 198, 301) == [4]
    assert of_one_tag(0, 97, 203, 305, 100, 198) == []


def test_workers_that_mix_their_steps_lose_nothing():
    assert of_one_tag(5, 4, 7, 6, 9, 8, 11, 10) == []
    assert of_one_tag(100, 50, 101, 51, 102, 52, 103, 53) == []


def test_one_restart_stands_for_all_tags():
    assert restarts((0, 0), (1, 0), (0, 1), (1, 1), (0, 0), (1, 0), (0, 1), (1, 1)) == [4]


def test_a_tag_that_goes_back_alone_is_a_restart_too():
    first = [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert restarts(*first, (0, 2), (1, 0), (0, 3), (1, 1)) == [5]


def test_a_counter_that_begins_anew_for_ever_is_left_as_it_is():
    assert len(of_one_tag(*[0, 1] * (MOST_RESTARTS + 1))) == MOST_RESTARTS
    assert of_one_tag(*[0, 1] * (MOST_RESTARTS + 2)) == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), max_size=30))
def test_restarts_are_where_the_book_says(points):
    assert restarts(*points) == slow_restarts(points)
