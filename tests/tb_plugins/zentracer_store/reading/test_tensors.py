"""Tensors of other writers: every type that TensorBoard's own code makes, and what no reader should trust."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.util import tensor_util

import zentracer_schema as schema
from zentracer_store.reading.tensors import MOST_REPEATED, array_of, strings_of

DTYPES = [
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bool", "complex64", "complex128"),
]


def ours(proto):
    return schema.TensorProto.FromString(proto.SerializeToString())


@given(st.data(), st.sampled_from(DTYPES))
def test_numbers_come_back_as_they_were_written(data, dtype):
    values = data.draw(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=4)))
    proto = tensor_util.make_tensor_proto(values)
    read = array_of(ours(proto))
    assert (read.dtype, read.shape) == (values.dtype, values.shape)
    assert read.tobytes() == values.tobytes()
    if dtype not in ("uint32", "uint64"):  # TensorBoard writes these and can't read them
        assert tensor_util.make_ndarray(proto).tobytes() == values.tobytes()


@pytest.mark.parametrize("values", [0.5, [1.0, -2.5, np.inf]])
def test_bfloat16_is_read_as_float32(values):
    values = torch.tensor(values, dtype=torch.bfloat16)
    bits = values.view(torch.int16).numpy().view(np.uint16)
    content = TensorProto(dtype=14, tensor_content=bits.tobytes())
    single = TensorProto(dtype=14, half_val=bits.reshape(-1).tolist())
    for proto in (content, single):
        for side in values.shape:
            proto.tensor_shape.dim.add(size=side)
        read = array_of(ours(proto))
        assert read.dtype == np.float32
        assert read.tolist() == values.tolist()


def test_the_last_value_stands_for_those_that_follow():
    proto = schema.TensorProto(dtype=1, float_val=[1.0, 2.0])
    proto.tensor_shape.dim.add(size=2)
    proto.tensor_shape.dim.add(size=2)
    assert array_of(proto).tolist() == [[1, 2], [2, 2]]


def shaped(dtype, *shape, **values):
    proto = schema.TensorProto(dtype=dtype, **values)
    for side in shape:
        proto.tensor_shape.dim.add(size=side)
    return proto


@pytest.mark.parametrize(
    ("proto", "sentence"),
    [
        (shaped(7, string_val=[b"a"]), "A tensor of data type 7 holds no numbers that this version reads."),
        (shaped(999), "A tensor of data type 999 holds no numbers that this version reads."),
        (shaped(1), "A tensor () of float32 holds 0 values."),
        (shaped(1, 2, float_val=[1, 2, 3]), "A tensor (2,) of float32 holds 3 values."),
        (shaped(1, -1, float_val=[1]), "A tensor has the shape (-1,)."),
        (shaped(1, *[1] * 33, float_val=[1]), f"A tensor has the shape {(1,) * 33}."),
        (shaped(1, 3, tensor_content=b"12345678"), "A tensor of 3 entries of float32 holds 8 bytes."),
        (shaped(8, scomplex_val=[1]), "A tensor () of complex64 holds 0 values."),
        (
            shaped(1, MOST_REPEATED + 1, float_val=[1]),
            "A tensor (1048577,) of float32 holds 1 values.",
        ),
        (
            shaped(1, 1 << 40, 1 << 40, float_val=[1]),
            "A tensor (1099511627776, 1099511627776) of float32 holds 1 values.",
        ),
    ],
)
def test_a_tensor_that_is_not_what_it_says_is_refused(proto, sentence):
    with pytest.raises(schema.FormatError) as error:
        array_of(proto)
    assert str(error.value) == sentence


def test_strings_come_back_in_their_shape():
    proto = tensor_util.make_tensor_proto([["a", "b"], ["c", "\xe9"]])
    assert strings_of(ours(proto)).tolist() == [[b"a", b"b"], [b"c", "\xe9".encode()]]


def test_strings_that_are_none_or_too_few_are_refused():
    with pytest.raises(schema.FormatError, match=r"^A tensor of data type 1 holds no strings\.$"):
        strings_of(shaped(1))
    with pytest.raises(schema.FormatError, match=r"^A tensor \(3,\) of strings holds 1\.$"):
        strings_of(shaped(7, 3, string_val=[b"a"]))
