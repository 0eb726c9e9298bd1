"""Arrays that grow, and groups of columns: against plain lists and loops."""

import threading
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zentracer_store.contents import growing
from zentracer_store.pictures.groups import index_of


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 70), max_size=12), st.integers(0, 400), st.integers(0, 400), st.integers(1, 50))
def test_parts_are_those_of_a_list(lengths, first, last, step):
    column, plain = growing.Growing(np.int64, (2,)), []
    for length in lengths:
        values = np.arange(2 * length).reshape(length, 2) + len(plain)
        column.extend(values)
        plain += values.tolist()
    assert len(column) == len(plain)
    first, last = sorted((min(first, len(plain)), min(last, len(plain))))
    assert column.part(first, last, step).tolist() == plain[first:last:step]


def test_what_was_taken_stays_as_it_was_while_the_column_grows(monkeypatch):
    monkeypatch.setattr(growing, "_BLOCK_BYTES", 256)
    column = growing.Growing(np.float32)
    column.extend(np.arange(10, dtype=np.float32))
    taken = column.part(0, 10)
    for _ in range(50):
        column.extend(np.full(7, -1, np.float32))
    assert taken.tolist() == list(range(10))
    assert column.part(0, 10).tolist() == list(range(10))


def test_no_block_is_larger_than_the_limit(monkeypatch):
    monkeypatch.setattr(growing, "_BLOCK_BYTES", 1 << 10)
    column = growing.Growing(np.float32, (8,))
    for _ in range(40):
        column.extend(np.zeros((10, 8), np.float32))
    assert max(block.nbytes for block in column._layout[1]) <= 1 << 10


def test_a_row_over_the_limit_has_a_block_of_its_own(monkeypatch):
    monkeypatch.setattr(growing, "_BLOCK_BYTES", 64)
    column = growing.Growing(np.float64, (100,))
    column.extend(np.ones((3, 100)))
    assert column.part(0, 3).tolist() == np.ones((3, 100)).tolist()


@dataclass
class Kept:
    """Stored rows that count how often they are asked for."""

    rows: np.ndarray
    asked: int = 0

    def __len__(self):
        return len(self.rows)

    def values(self):
        self.asked += 1
        return self.rows


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=12), st.integers(0, 300), st.integers(1, 9))
def test_a_column_reads_the_same_whatever_of_it_is_stored(rounds, first, step):
    column, settled = growing.Growing(np.int32, (2,)), 0
    for grown, left in rounds:
        column.extend(np.arange(2 * grown).reshape(grown, 2) + 7 * len(column))
        plain, last = column.part(0, len(column)).tolist(), max(len(column) - left, settled)
        if last > settled:
            column.settle(settled, Kept(column.part(settled, last).copy()))
            settled = last
        assert len(column) == len(plain)
        assert column.part(0, len(column)).tolist() == plain
        first = min(first, len(plain))
        assert column.part(first, len(plain), step).tolist() == plain[first::step]
        assert column.bytes_in_memory >= 8 * (len(column) - settled)


def test_a_column_that_ends_early_takes_no_more_than_it_holds():
    column = growing.Growing(np.float64, (3,))
    column.extend(np.zeros((1, 3)))
    assert column.bytes_in_memory == 24
    for _ in range(100):
        column.extend(np.zeros((1, 3)))
    assert len(column._layout[1]) < 6


def test_what_is_settled_leaves_memory_and_is_asked_for_only_when_used():
    column = growing.Growing(np.float64)
    column.extend(np.arange(1000.0))
    stored = Kept(np.arange(1000.0))
    column.settle(0, stored)
    assert column.bytes_in_memory == 0
    column.extend(np.array([1000.0]))
    assert column.part(1000, 1001).tolist() == [1000.0]
    assert stored.asked == 0
    assert column.part(998, 1001).tolist() == [998.0, 999.0, 1000.0]
    assert stored.asked == 1


def test_a_larger_stored_block_takes_the_place_of_several():
    column = growing.Growing(np.int64)
    for number in range(3):
        column.extend(np.arange(10) + 10 * number)
        column.settle(10 * number, Kept(np.arange(10) + 10 * number))
    taken_in = Kept(np.arange(10, 30))
    column.settle(10, taken_in)
    assert column.part(0, 30).tolist() == list(range(30))
    assert taken_in.asked == 1


def test_a_column_is_made_of_stored_blocks():
    column = growing.Growing(np.int64, (), [Kept(np.arange(3)), Kept(np.arange(3, 5))])
    column.extend(np.array([5]))
    assert column.part(0, 6).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("first", "rows"), [(0, 6), (2, 2), (5, 1)])
def test_a_stored_block_that_does_not_fit_is_refused(first, rows):
    column = growing.Growing(np.int64)
    column.extend(np.arange(5))
    with pytest.raises(ValueError, match=rf"rows {first} to {first + rows} does not fit a column of 5 rows"):
        column.settle(first, Kept(np.arange(rows)))


def test_readers_see_the_same_while_blocks_settle():
    column, wrong, done = growing.Growing(np.int64), [], threading.Event()

    def read():
        while not done.is_set():
            count = len(column)
            if column.part(0, count).tolist() != list(range(count)):
                wrong.append(count)

    reader = threading.Thread(target=read)
    reader.start()
    settled = 0
    for number in range(300):
        column.extend(np.arange(len(column), len(column) + 20))
        if number % 3 == 0:
            column.settle(settled, Kept(column.part(settled, len(column) - 5).copy()))
            settled = len(column) - 5
    done.set()
    reader.join()
    assert wrong == []


def test_evenly_spaced_numbers_become_a_slice():
    assert index_of([3, 5, 7]) == slice(3, 8, 2)
    assert index_of([4]) == slice(4, 5, 1)
    assert index_of([2, 1]).tolist() == [2, 1]
    assert index_of([]).tolist() == []
