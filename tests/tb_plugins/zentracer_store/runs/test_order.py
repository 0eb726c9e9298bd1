"""The order of sessions, by clock and by what is known."""

from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.runs.order import in_order


def test_sessions_go_by_their_clocks_unless_more_is_known():
    assert in_order([3.0, 1.0, 2.0], [(), (), ()]) == [1, 2, 0]
    assert in_order([3.0, 1.0, 2.0], [(), {0}, {1}]) == [0, 1, 2]
    assert in_order([1.0, 1.0, 1.0], [{1}, {2}, ()]) == [2, 1, 0]
    assert in_order([], []) == []


@given(st.lists(st.tuples(st.floats(0, 9), st.sets(st.integers(0, 7))), max_size=8))
def test_each_is_there_once_and_behind_what_it_is_known_to_follow(sessions):
    # Known are only earlier numbers: no contradictions.
    behind = [{other for other in known if other < number} for number, (_, known) in enumerate(sessions)]
    order = in_order([wall for wall, _ in sessions], behind)
    assert sorted(order) == list(range(len(sessions)))
    for number, known in enumerate(behind):
        assert all(order.index(other) < order.index(number) for other in known)


def test_thousands_that_each_follow_the_one_before_keep_their_order():
    count = 5000
    behind = [{number + 1} if number + 1 < count else set() for number in range(count)]
    assert in_order([float(number) for number in range(count)], behind) == list(reversed(range(count)))


def test_contradictions_end_and_lose_nobody():
    assert sorted(in_order([1.0, 2.0, 3.0], [{1}, {2}, {0}])) == [0, 1, 2]
    assert in_order([1.0], [{0}]) == [0]
