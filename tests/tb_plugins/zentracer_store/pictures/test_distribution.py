"""Distributions that are put together from tiles, against the values themselves."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.pictures.cells import Cells
from zentracer_store.pictures.distribution import BINS, answer_of, spread_of

FLOATS = st.floats(width=32, allow_infinity=False) | st.sampled_from([0.0, 1.0, 1.0000001, -3e38, 3e38, 1e-40])

LOGARITHMS = st.floats(-46, 39, width=32)


def cells_with(mean, used, count=1, **marks):
    mean = np.asarray(mean, np.float32)
    used = np.where(np.isnan(mean), 0, used).astype(np.uint32)
    status = np.zeros(mean.shape, np.uint8)
    return Cells(mean, mean, mean, np.full((len(mean), 1), count, np.uint32), used, status, marks)


@st.composite
def tiles(draw, numbers):
    """Means of a few cells, how many values are in each, and which of the cells are shown."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 3)))
    values = draw(st.lists(numbers, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    used = draw(st.integers(1, 5))
    first = draw(st.integers(0, shape[0] - 1))
    return np.array(values, np.float32).reshape(shape), used, slice(first, draw(st.integers(first + 1, shape[0])))


@given(st.lists(tiles(FLOATS), min_size=1, max_size=4))
def test_linear_bins_hold_each_value_between_their_edges(parts):
    answer = answer_of([(spread_of(cells_with(mean, used), log=False), some) for mean, used, some in parts])
    values = np.concatenate([np.repeat(mean[some].ravel(), used) for mean, used, some in parts]).astype(np.float64)
    values = values[~np.isnan(values)]
    low, high, bins = answer["low"], answer["high"], answer["bins"]
    assert 1 <= bins <= BINS
    assert len(answer["counts"]) == bins
    if not len(values):
        assert answer["counts"] == [0]
        return
    width = (high - low) / bins
    assert math.frexp(width)[0] == 0.5  # a power of two, so that tiles fit together
    assert low <= values.min() < low + width
    assert high - width <= values.max() < high
    place = np.floor(values / width) - round(low / width)
    assert answer["counts"] == np.bincount(place.astype(int), minlength=bins).tolist()


@given(st.lists(tiles(LOGARITHMS), min_size=1, max_size=4))
def test_log_bins_are_always_the_same_and_their_ends_collect_what_lies_outside(parts):
    answer = answer_of([(spread_of(cells_with(mean, used), log=True), some) for mean, used, some in parts])
    values = np.concatenate([np.repeat(mean[some].ravel(), used) for mean, used, some in parts])
    values = values[~np.isnan(values)]
    place = np.clip(((values - np.float32(-12)) * np.float32(20)), 0, 359).astype(int)
    assert (answer["low"], answer["high"], answer["bins"]) == (-12, 6, 360)
    assert answer["counts"] == np.bincount(place, minlength=360).tolist()


def test_marks_of_repeated_samples_count_only_where_they_are_missing():
    marks = {"nan": np.array([[1], [2]], np.uint32), "missing": np.array([[3], [4]], np.uint32)}
    repeated = spread_of(cells_with([[math.nan], [1.0]], 1, count=0, **marks), log=False)
    answer = answer_of([(repeated, slice(0, 2)), (repeated, slice(1, 2))])
    assert (answer["nan"], answer["missing"], answer["zeros"]) == (0, 11, 0)
    assert answer["counts"] == [0]
