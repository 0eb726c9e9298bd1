"""Where the steps of sessions stand to each other."""

import pytest

from zentracer_store.runs.spans import NEVER, Reach, cuts_of, offsets_of


def test_a_session_overwrites_from_where_it_or_a_later_one_begins():
    assert cuts_of([0, 500, 300, 900]) == [300, 300, 900, NEVER]
    assert cuts_of([]) == []


@pytest.mark.parametrize(
    ("sessions", "offsets"),
    [
        ([Reach(0, 0, 99)], [0]),
        ([Reach(0, 0, 99), Reach(0, 0, 49)], [0, 100]),
        # The counter began again, though its first sample is later.
        ([Reach(0, 0, 99), Reach(0, 10, 49)], [0, 100]),
        # A session that goes on moves with the one that it goes on from.
        ([Reach(0, 0, 99), Reach(50, 50, 80), Reach(0, 0, 9), Reach(5, 5, 20)], [0, 0, 81, 81]),
        ([Reach(0, 0, 9), Reach(0, 0, 9), Reach(0, 0, 9)], [0, 10, 20]),
        # Twice from the same checkpoint, by its writer's word: nothing began again.
        ([Reach(500, 500, 599, 500), Reach(500, 510, 599, 500)], [0, 0]),
        # Nobody told: a counter is taken to begin at 0 ...
        ([Reach(10, 10, 100), Reach(10, 10, 50)], [0, 101]),
        # ... and never moves what lies below into what was there.
        ([Reach(0, 0, 9), Reach(-5, -5, 0)], [0, 15]),
    ],
)
def test_sessions_whose_counter_began_again_are_laid_one_behind_the_other(sessions, offsets):
    assert offsets_of(sessions) == offsets
