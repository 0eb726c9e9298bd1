"""Reads the tensors of any writer: every type of number that numpy can hold, and strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from zentracer_schema import FormatError
from zentracer_store.contents.growing import Array

MOST_REPEATED = 1 << 20
"""Entries that one value may stand for: a tensor of one repeated number takes more memory than its record has bytes."""

_STRING, _BFLOAT16 = 7, 14

# DataType of TensorFlow's types.proto -> numpy's type, and the field of single values
_TYPES = {
    1: ("<f4", "float_val"),
    2: ("<f8", "double_val"),
    3: ("<i4", "int_val"),
    4: ("<u1", "int_val"),
    5: ("<i2", "int_val"),
    6: ("<i1", "int_val"),
    8: ("<c8", "scomplex_val"),
    9: ("<i8", "int64_val"),
    10: ("?", "bool_val"),
    11: ("<i1", "int_val"),  # quantized types hold whole numbers
    12: ("<u1", "int_val"),
    13: ("<i4", "int_val"),
    _BFLOAT16: ("<u2", "half_val"),
    15: ("<i2", "int_val"),
    16: ("<u2", "int_val"),
    17: ("<u2", "int_val"),
    18: ("<c16", "dcomplex_val"),
    19: ("<f2", "half_val"),
    22: ("<u4", "uint32_val"),
    23: ("<u8", "uint64_val"),
}


def array_of(tensor: Any) -> Array:
    """The numbers of a tensor in its shape; bfloat16 as float32.

    Raises:
        FormatError: it holds no numbers, or not as many as its shape says.
    """
    if tensor.dtype not in _TYPES:
        raise FormatError(f"A tensor of data type {tensor.dtype} holds no numbers that this version reads.")
    shape, count = _shape(tensor)
    dtype, values = _values(tensor, count)
    if len(values) != count:
        if not len(values) or len(values) > count or count > MOST_REPEATED:
            raise FormatError(f"A tensor {shape} of {dtype.name} holds {len(values)} values.")
        # The last value stands for all that follow.
        values = np.concatenate((values, np.repeat(values[-1:], count - len(values))))
    array: Array = values.reshape(shape)
    return _widened(array) if tensor.dtype == _BFLOAT16 else array


def strings_of(tensor: Any) -> Array:
    """The byte strings of a tensor in its shape, an array of objects.

    Raises:
        FormatError: it holds no strings, or not as many as its shape says.
    """
    if tensor.dtype != _STRING:
        raise FormatError(f"A tensor of data type {tensor.dtype} holds no strings.")
    shape, count = _shape(tensor)
    if len(tensor.string_val) != count:
        raise FormatError(f"A tensor {shape} of strings holds {len(tensor.string_val)}.")
    strings = np.empty(count, object)
    strings[:] = list(tensor.string_val)
    return strings.reshape(shape)


def _shape(tensor: Any) -> tuple[tuple[int, ...], int]:
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if len(shape) > 32 or any(side < 0 for side in shape):
        raise FormatError(f"A tensor has the shape {shape}.")
    count = 1
    for side in shape:  # Python's numbers do not overflow, so a shape made to wrap around is caught
        count *= side
    return shape, count


def _values(tensor: Any, count: int) -> tuple[np.dtype[Any], Array]:
    name, field = _TYPES[tensor.dtype]
    dtype = np.dtype(name)
    if tensor.tensor_content:
        if len(tensor.tensor_content) != count * dtype.itemsize:
            raise FormatError(
                f"A tensor of {count:,} entries of {dtype.name} holds {len(tensor.tensor_content):,} bytes."
            )
        return dtype, np.frombuffer(tensor.tensor_content, dtype)
    values = getattr(tensor, field)
    if dtype.kind == "c":
        parts = np.asarray(values, np.dtype(f"<f{dtype.itemsize // 2}"))
        return dtype, parts[: len(parts) // 2 * 2].view(dtype)
    if field == "half_val":  # the bits of each, in the lower half of an integer
        return dtype, np.asarray(values, np.int32).astype("<u2").view(dtype)
    wide = np.asarray(values)
    return dtype, wide.astype(dtype) if len(wide) else np.empty(0, dtype)


def _widened(bits: Array) -> Array:
    """bfloat16 as float32, whose upper half it is."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
