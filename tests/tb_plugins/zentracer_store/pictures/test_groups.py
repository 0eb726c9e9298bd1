"""Reductions in groups of columns against one column at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.pictures.groups import Groups, index_of


@st.composite
def groupings(draw):
    """Groups of some of up to 40 columns, in any order."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=5))
    columns = draw(st.permutations(range(sum(sizes)))) if draw(st.booleans()) else list(range(sum(sizes)))
    ends = np.cumsum(sizes)
    return Groups(tuple(np.split(np.array(columns), ends[:-1]))), sum(sizes)


@given(groupings(), st.integers(0, 3), st.integers(0, 99))
def test_reductions_and_sums_of_products_are_those_of_each_group(grouping, samples, seed):
    groups, columns = grouping
    values, weights = np.random.default_rng(seed).uniform(-1, 1, (2, samples, columns)).astype(np.float32)
    for number, member in enumerate(groups.members):
        for ufunc in (np.minimum, np.maximum, np.fmin):
            assert (groups.reduce(ufunc, values.T)[number] == ufunc.reduce(values[:, member], axis=1)).all()
        products = (values[:, member].astype(float) * weights[:, member]).sum(axis=1)
        assert groups.dot(values, weights)[:, number] == pytest.approx(products, abs=1e-5)
        row = weights[0] if samples else np.ones(columns, np.float32)
        assert groups.dot(values, row)[:, number] == pytest.approx(
            (values[:, member] * row[member]).sum(axis=1), abs=1e-5
        )


@given(st.lists(st.integers(0, 30), max_size=8))
def test_an_index_picks_the_same_whether_it_is_a_slice_or_not(numbers):
    values = np.arange(31)
    assert values[index_of(numbers)].tolist() == [values[number] for number in numbers]
