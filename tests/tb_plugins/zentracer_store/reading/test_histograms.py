"""Histograms of other writers, held against what TensorBoard makes of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard import data_compat
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.util import tensor_util

import zentracer_schema as schema
from zentracer_store.reading.histograms import histogram_of


def ours(value):
    return schema.Summary.FromString(Summary(value=[value]).SerializeToString()).value[0]


def theirs(value):
    return tensor_util.make_ndarray(data_compat.migrate_value(value).tensor)


def same(histogram, table):
    mine = np.stack([histogram.lefts, histogram.rights, histogram.counts], axis=1)
    return np.array_equal(mine.astype(np.float32), table.astype(np.float32))


@given(st.lists(st.integers(0, 5), max_size=8), st.data())
def test_the_older_spelling_gives_the_bins_that_tensorboard_shows(counts, data):
    limits = sorted(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(counts), max_size=len(counts))))
    value = Summary.Value(tag="h")
    value.histo.CopyFrom(HistogramProto(min=-1e6, max=1e6, num=sum(counts), bucket_limit=limits, bucket=counts))
    assert same(histogram_of(ours(value)), theirs(value))


@pytest.mark.parametrize("values", [[], [3.0], [3.0, 3.0], np.random.default_rng(0).normal(size=1000)])
def test_the_newer_spelling_is_taken_as_it_stands(values):
    value = histogram_pb("h", values).value[0]
    histogram = histogram_of(ours(value))
    assert same(histogram, theirs(value))
    assert histogram.counts.sum() == len(values)


def test_what_is_no_histogram_is_refused():
    with pytest.raises(schema.FormatError, match=r"^The value holds no histogram\.$"):
        histogram_of(schema.Summary.Value(tag="h", simple_value=1.0))
    value = schema.Summary.Value(tag="h")
    value.histo.bucket.append(1.0)
    with pytest.raises(schema.FormatError, match=r"^A histogram has 1 bins and 0 limits\.$"):
        histogram_of(value)
    value = ours(Summary.Value(tag="h", tensor=tensor_util.make_tensor_proto(np.zeros((2, 2)))))
    with pytest.raises(schema.FormatError) as error:
        histogram_of(value)
    assert str(error.value) == "A histogram is [bins, 3] numbers, the tensor is (2, 2) of float64."
