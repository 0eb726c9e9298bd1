"""Tables keep every bit of their values, whatever their columns' types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_schema import ColumnSpec, FormatError, RowSpec, TableSpec

WIDTHS = {"float16": 2, "float32": 4, "float64": 8, "uint8": 1, "uint32": 4, "uint64": 8, "int32": 4, "int64": 8}


def rows(count):
    return tuple(RowSpec(f"row{index}") for index in range(count))


@given(
    st.lists(st.tuples(st.sampled_from(sorted(WIDTHS)), st.integers(1, 5)), min_size=1, max_size=5),
    st.integers(0, 7),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_every_bit_reads_back(columns, count, fixed_rows, seed):
    spec = TableSpec(
        "delta",
        "model",
        tuple(ColumnSpec(f"c{i}", dtype=dtype, length=length) for i, (dtype, length) in enumerate(columns)),
        rows(count) if fixed_rows else None,
    )
    generator = np.random.default_rng(seed)
    table = {
        c.name: np.frombuffer(generator.bytes(count * c.length * WIDTHS[c.dtype]), c.dtype).reshape(count, c.length)
        for c in spec.columns
    }
    tensor = schema.TensorProto.FromString(schema.encode_table(spec, table).SerializeToString())
    decoded = schema.decode_table(spec, tensor)
    if isinstance(decoded, dict):
        for column in spec.columns:
            assert decoded[column.name].tobytes() == table[column.name].tobytes()
    else:
        assert decoded.tobytes() == np.hstack([table[column.name] for column in spec.columns]).tobytes()


def test_a_table_of_one_dtype_is_a_plain_tensor_that_tensorboard_reads():
    tensor_util = pytest.importorskip("tensorboard.util.tensor_util")
    tensor_pb2 = pytest.importorskip("tensorboard.compat.proto.tensor_pb2")
    spec = TableSpec("parameters", "model", (ColumnSpec("a"), ColumnSpec("b")), rows(3))
    values = np.array([[1, np.nan], [np.inf, -0.0], [1e-45, 3e38]], np.float32)
    tensor = tensor_pb2.TensorProto.FromString(schema.encode_table(spec, values).SerializeToString())
    assert tensor_util.make_ndarray(tensor).tobytes() == values.tobytes()


def test_mixed_columns_stand_one_after_the_other_at_multiples_of_8():
    columns = (ColumnSpec("a", dtype="uint8"), ColumnSpec("b", dtype="float16", length=2))
    table = {"a": np.array([1, 2, 3]), "b": np.ones((3, 2))}
    expected = bytes([1, 2, 3, 0, 0, 0, 0, 0]) + b"\x00\x3c" * 6 + bytes(4)
    fixed = schema.encode_table(TableSpec("delta", "model", columns, rows(3)), table)
    assert fixed.tensor_content == expected
    varying = schema.encode_table(TableSpec("delta", "model", columns), table)
    assert varying.tensor_content == (3).to_bytes(8, "little") + expected


def test_values_that_do_not_fit_are_refused():
    spec = TableSpec("parameters", "model", (ColumnSpec("a"), ColumnSpec("b")), rows(3))
    with pytest.raises(ValueError, match=r"table of 3 x 2 got values of shape \(2, 2\)"):
        schema.encode_table(spec, np.zeros((2, 2)))
    mixed = TableSpec("delta", "model", (ColumnSpec("a", dtype="uint8"), ColumnSpec("b", length=2)), rows(3))
    with pytest.raises(ValueError, match="mixes dtypes: give a dict"):
        schema.encode_table(mixed, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="table of 3 rows got 2"):
        schema.encode_table(mixed, {"a": np.zeros(2), "b": np.zeros((2, 2))})
    with pytest.raises(ValueError, match="Column 'b' of delta holds 3 values, 3 rows of 2 were expected"):
        schema.encode_table(mixed, {"a": np.zeros(3), "b": np.zeros(3)})


def tensor_of(spec, table):
    return schema.TensorProto.FromString(schema.encode_table(spec, table).SerializeToString())


def test_a_tensor_that_is_not_what_the_description_says_is_a_format_error():
    spec = TableSpec("parameters", "model", (ColumnSpec("a"), ColumnSpec("b")), rows(3))
    good = tensor_of(spec, np.zeros((3, 2), np.float32))
    for change, words in (
        (lambda t: setattr(t, "dtype", 2), "should be float32, its tensor has data type 2"),
        (lambda t: setattr(t, "tensor_content", bytes(16)), "with 16 bytes is not rows of 2 float32"),
        (lambda t: setattr(t.tensor_shape.dim[0], "size", 2**62), "is not rows of 2 float32"),
        (lambda t: t.tensor_shape.dim.add(size=1), "is not rows of 2 float32"),
    ):
        tensor = schema.TensorProto.FromString(good.SerializeToString())
        change(tensor)
        with pytest.raises(FormatError, match=words):
            schema.decode_table(spec, tensor)
    with pytest.raises(FormatError, match="has 3 rows, its description 2"):
        schema.decode_table(TableSpec("parameters", "model", spec.columns, rows(2)), good)
    with pytest.raises(FormatError, match="described without columns"):
        schema.decode_table(TableSpec("parameters", "model", ()), good)


@given(st.binary(max_size=120), st.booleans())
def test_bytes_of_mixed_columns_are_a_table_or_a_format_error(content, count_first):
    spec = TableSpec("delta", "model", (ColumnSpec("a", dtype="uint8"), ColumnSpec("b", dtype="float64", length=2)))
    if count_first:
        content = (len(content) // 24).to_bytes(8, "little") + content
    tensor = schema.TensorProto(dtype=4, tensor_content=content)
    tensor.tensor_shape.dim.add(size=len(content))
    try:
        decoded = schema.decode_table(spec, tensor)
    except FormatError:
        return
    assert len(decoded["a"]) == len(decoded["b"]) == int.from_bytes(content[:8], "little")
    assert len(schema.encode_table(spec, decoded).tensor_content) == len(content)


def test_numbers_of_other_writers_are_read_in_every_encoding():
    tensor_util = pytest.importorskip("tensorboard.util.tensor_util")
    for dtype in (
        np.float16,
        np.float32,
        np.float64,
        np.int8,
        np.int32,
        np.int64,
        np.uint8,
        np.uint32,
        np.uint64,
        bool,
    ):
        for values in (np.array(1, dtype), np.array([[1, 0], [1, 1]], dtype)):
            tensor = schema.TensorProto.FromString(tensor_util.make_tensor_proto(values).SerializeToString())
            decoded = schema.decode_numeric(tensor)
            assert decoded.dtype == values.dtype
            assert decoded.tolist() == values.tolist()


def test_a_tensor_without_numbers_is_a_format_error():
    with pytest.raises(FormatError, match="data type 7 holds no numbers"):
        schema.decode_numeric(schema.TensorProto(dtype=7, string_val=[b"text"]))
    lying = schema.TensorProto(dtype=1, float_val=[1.0])
    lying.tensor_shape.dim.add(size=2**40)
    with pytest.raises(FormatError, match="holds 1 values"):
        schema.decode_numeric(lying)
    lying.tensor_shape.dim.add(size=-1)
    with pytest.raises(FormatError, match="has the shape"):
        schema.decode_numeric(lying)
