"""Arrays that grow, and groups of columns: against plain lists and loops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from zentracer_store import growing
from zentracer_store.groups import Groups, index_of


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
    assert max(block.nbytes for block in column._blocks) <= 1 << 10


def test_a_row_over_the_limit_has_a_block_of_its_own(monkeypatch):
    monkeypatch.setattr(growing, "_BLOCK_BYTES", 64)
    column = growing.Growing(np.float64, (100,))
    column.extend(np.ones((3, 100)))
    assert column.part(0, 3).tolist() == np.ones((3, 100)).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 59), min_size=1, max_size=40, unique=True), min_size=1, max_size=9))
def test_groups_reduce_as_a_loop_does(members):
    values = np.random.default_rng(0).normal(size=(5, 60)).astype(np.float32)
    groups = Groups(tuple(np.array(member) for member in members))
    for ufunc in (np.minimum, np.maximum, np.fmin):
        expected = [[ufunc.reduce(line[member]) for member in members] for line in values]
        assert groups.reduce(ufunc, values).tolist() == np.array(expected).tolist()
    expected = [[line[member].sum() for member in members] for line in values]
    assert np.allclose(groups.reduce(np.add, values), expected, atol=1e-5)


def test_evenly_spaced_numbers_become_a_slice():
    assert index_of([3, 5, 7]) == slice(3, 8, 2)
    assert index_of([4]) == slice(4, 5, 1)
    assert index_of([2, 1]).tolist() == [2, 1]
    assert index_of([]).tolist() == []
