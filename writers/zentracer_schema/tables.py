"""Turns the values of a table into one tensor, and back."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zentracer_schema.messages import TensorProto
from zentracer_schema.specs import FormatError, TableSpec

Table = NDArray[Any] | Mapping[str, NDArray[Any]]

LARGEST_ROWS = 1_000_000

# numpy name -> DataType of TensorFlow's types.proto
DATA_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_ALIGNMENT = 8


def _little_endian(dtype: str) -> np.dtype[Any]:
    return np.dtype(dtype).newbyteorder("<")


def _shape_column(spec: TableSpec, name: str, length: int, values: NDArray[Any], rows: int) -> NDArray[Any]:
    if values.size != rows * length:
        raise ValueError(
            f"Column {name!r} of {spec.kind} holds {values.size} values, {rows} rows of {length} were expected."
        )
    return values.reshape(rows, length)


def encode_table(spec: TableSpec, table: Table) -> Any:
    """A TensorProto of `table`: an array [rows, spec.width], or a dict of columns [rows] or [rows, length].

    Columns that share a dtype make one [rows, width] tensor of it. Otherwise the columns stand one after the other
    in a tensor of bytes, each beginning at a multiple of 8; before them stands the number of rows (u64) where the
    spec does not fix it, since padding would leave it in doubt.

    Raises:
        ValueError: the values do not fit the spec.
    """
    shared = spec.shared_dtype
    if shared is not None:
        if isinstance(table, np.ndarray):
            values = table
        else:
            values = np.hstack(
                [
                    _shape_column(spec, c.name, c.length, np.asarray(table[c.name]), len(table[c.name]))
                    for c in spec.columns
                ]
            )
        if values.ndim != 2 or values.shape[1] != spec.width or _rows_differ(spec, len(values)):
            raise ValueError(
                f"A {spec.kind} table of {_rows_words(spec)} x {spec.width} got values of shape {values.shape}."
            )
        return _tensor(shared, values.shape, np.ascontiguousarray(values, _little_endian(shared)).tobytes())
    if isinstance(table, np.ndarray):
        raise ValueError(f"A {spec.kind} table mixes dtypes: give a dict of columns, not one array.")
    rows = len(table[spec.columns[0].name])
    if _rows_differ(spec, rows):
        raise ValueError(f"A {spec.kind} table of {_rows_words(spec)} rows got {rows}.")
    parts = [] if spec.rows is not None else [struct.pack("<Q", rows)]
    for column in spec.columns:
        values = _shape_column(spec, column.name, column.length, np.asarray(table[column.name]), rows)
        data = np.ascontiguousarray(values, _little_endian(column.dtype)).tobytes()
        parts.append(data + bytes(-len(data) % _ALIGNMENT))
    content = b"".join(parts)
    return _tensor("uint8", (len(content),), content)


def decode_table(spec: TableSpec, tensor: Any) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """The values that `encode_table` encoded; views of the message's bytes, so read-only.

    An array [rows, spec.width] where the columns share a dtype, else a dict of columns, [rows] where their length is 1
    and [rows, length] where it is more.

    Raises:
        FormatError: type, shape or size is not what the spec says.
    """
    if not spec.columns:
        raise FormatError(f"A record of kind {spec.kind} is described without columns.")
    shared = spec.shared_dtype
    dtype = shared or "uint8"
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    content = tensor.tensor_content
    if tensor.dtype != DATA_TYPES[dtype]:
        raise FormatError(f"A {spec.kind} table should be {dtype}, its tensor has data type {tensor.dtype}.")
    if shared is not None:
        row_bytes = np.dtype(shared).itemsize * spec.width
        rows = len(content) // row_bytes
        if shape != (rows, spec.width) or len(content) != rows * row_bytes:
            raise FormatError(
                f"A {spec.kind} table {shape} with {len(content)} bytes is not rows of {spec.width} {shared}."
            )
        _check_rows(spec, rows)
        return np.frombuffer(content, _little_endian(shared)).reshape(rows, spec.width)
    if shape != (len(content),):
        raise FormatError(f"A {spec.kind} table of bytes has the shape {shape} and {len(content)} bytes.")
    offset = 0
    if spec.rows is not None:
        rows = len(spec.rows)
    elif len(content) >= _ALIGNMENT:
        (rows,) = struct.unpack_from("<Q", content)
        offset = _ALIGNMENT
    else:
        raise FormatError(f"A {spec.kind} table of {len(content)} bytes lacks its number of rows.")
    _check_rows(spec, rows)
    columns: dict[str, NDArray[Any]] = {}
    for column in spec.columns:
        item = _little_endian(column.dtype)
        size = rows * column.length * item.itemsize
        if offset + size > len(content):
            raise FormatError(f"A {spec.kind} table ends inside its column {column.name!r}.")
        values = np.frombuffer(content, item, rows * column.length, offset)
        columns[column.name] = values if column.length == 1 else values.reshape(rows, column.length)
        offset += size + -size % _ALIGNMENT
    if offset != len(content):
        raise FormatError(f"A {spec.kind} table has {len(content) - offset} bytes too many.")
    return columns


def decode_numeric(tensor: Any) -> NDArray[Any]:
    """The numbers of any writer's tensor, in its shape.

    Raises:
        FormatError: it holds no numbers, or not as many as its shape says.
    """
    name = next((name for name, number in DATA_TYPES.items() if number == tensor.dtype), None)
    if name is None or name == "string":
        raise FormatError(f"A tensor of data type {tensor.dtype} holds no numbers that this version reads.")
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if any(side < 0 for side in shape):
        raise FormatError(f"A tensor has the shape {shape}.")
    # Python integers do not overflow, so a shape made to wrap around is caught here.
    count = 1
    for side in shape:
        count *= side
    if tensor.tensor_content:
        item = _little_endian(name)
        if len(tensor.tensor_content) != count * item.itemsize:
            raise FormatError(f"A tensor {shape} of {name} holds {len(tensor.tensor_content)} bytes.")
        return np.frombuffer(tensor.tensor_content, item).reshape(shape)
    values = _typed_values(tensor, name)
    # One value stands for as many as the shape asks; only scalars are worth that here.
    if len(values) != count:
        raise FormatError(f"A tensor {shape} of {name} holds {len(values)} values.")
    return values.reshape(shape)


def _typed_values(tensor: Any, name: str) -> NDArray[Any]:
    if name == "float16":
        return np.asarray(tensor.half_val, np.uint16).view(np.float16)
    field = {
        "float32": tensor.float_val,
        "float64": tensor.double_val,
        "int64": tensor.int64_val,
        "uint32": tensor.uint32_val,
        "uint64": tensor.uint64_val,
        "bool": tensor.bool_val,
    }.get(name, tensor.int_val)
    return np.asarray(field, np.dtype(name))


def _tensor(dtype: str, shape: tuple[int, ...], content: bytes) -> Any:
    tensor = TensorProto(dtype=DATA_TYPES[dtype], tensor_content=content)
    for side in shape:
        tensor.tensor_shape.dim.add(size=side)
    return tensor


def _rows_differ(spec: TableSpec, rows: int) -> bool:
    return spec.rows is not None and rows != len(spec.rows)


def _rows_words(spec: TableSpec) -> str:
    return "any number of" if spec.rows is None else str(len(spec.rows))


def _check_rows(spec: TableSpec, rows: int) -> None:
    if rows > LARGEST_ROWS:
        raise FormatError(f"A {spec.kind} table has {rows:,} rows, at most {LARGEST_ROWS:,} are read.")
    if _rows_differ(spec, rows):
        raise FormatError(f"A {spec.kind} table has {rows} rows, its description {_rows_words(spec)}.")
