"""Reduction to cells, on samples too many or too extreme for the quick way."""

import math

import numpy as np
import pytest

from zentracer_store.pictures.bins import Bins, missing_of
from zentracer_store.pictures.cells import Samples, cells_of
from zentracer_store.runs.tracks import Gaps


def one_cell(values, log=True, **more):
    values = np.asarray(values, np.float32).reshape(-1, 1)
    bins = Bins(np.array([0]), np.array([len(values)]), np.array([False]), np.array([0], np.uint32))
    return cells_of(Samples(values, **more), bins, log=log)


@pytest.mark.parametrize("samples", [1, 2, 24, 25, 300, 5000])
@pytest.mark.parametrize("scale", [1e-38, 1e-14, 1.0, 1e12, 1e38])
def test_the_mean_of_logarithms_holds_for_any_number_and_size_of_values(samples, scale):
    values = np.random.default_rng(samples).uniform(0.5, 1.5, samples) * scale
    cells = one_cell(values)
    assert cells.mean[0, 0] == pytest.approx(np.log10(values.astype(np.float32)).mean(dtype=np.float64), abs=2e-5)
    assert cells.used[0, 0] == samples


@pytest.mark.parametrize("samples", [1, 2, 300, 100_000])
def test_the_plain_mean_keeps_its_digits_over_many_samples(samples):
    values = np.random.default_rng(0).normal(1000, 1, samples).astype(np.float32)
    assert one_cell(values, log=False).mean[0, 0] == pytest.approx(values.mean(dtype=np.float64), rel=1e-6)


@pytest.mark.parametrize("samples", [10, 400, 3_000_000])
def test_marks_are_counted_exactly_among_many_samples(samples):
    values = np.ones(samples, np.float32)
    values[:5] = [0, math.nan, math.inf, -math.inf, -1]
    cells = one_cell(values)
    counted = {name: int(marks[0, 0]) for name, marks in cells.marks.items()}
    assert counted == {"zeros": 1, "missing": 1, "pinf": 1, "ninf": 1}  # of a column in which NaN means nothing bad
    assert (cells.min[0, 0], cells.max[0, 0], cells.used[0, 0]) == (-1, 1, samples - 5)


def test_values_of_a_linear_column_that_sum_to_infinity_have_a_mean():
    cells = one_cell([3e38] * 10, log=False)
    assert cells.mean[0, 0] == np.float32(3e38)


def test_a_sample_without_the_column_is_missing_whatever_its_status():
    cells = one_cell([math.nan, 1.0], lacking=np.array([True, False]), explained=0)
    assert {name: int(marks[0, 0]) for name, marks in cells.marks.items()} == {"missing": 1}


def test_missing_samples_add_up_over_any_cells():
    gaps = Gaps(np.array([10, 40]), np.array([30.0, 45.0]), np.array([4, 1]))
    for width in (1, 2, 3, 7):
        edges = np.linspace(0, 60, width + 1)
        assert missing_of(gaps, edges).sum() >= 5
    assert missing_of(gaps, np.array([0, 60])).tolist() == [5]
    assert missing_of(gaps, np.array([0, 10, 20, 30, 40, 50, 60])).tolist() == [0, 2, 2, 0, 1, 0]
    assert missing_of(gaps, np.array([11, 12, 13, 14])).tolist() == [1, 1, 1]
