"""Tells what the values in an event are: our tables and messages, other writers' scalars, and the rest."""

from __future__ import annotations

from typing import Any, Literal

from google.protobuf.message import DecodeError

from zentracer_schema import Event, FormatError
from zentracer_schema.messages import DATA_CLASS_SCALAR
from zentracer_store.reading.tensors import array_of

Sort = Literal[
    "scalar", "histogram", "text", "image", "audio", "hparams", "graph", "tensor", "table", "message", "other"
]

_BY_PLUGIN: dict[str, Sort] = {
    "histograms": "histogram",
    "text": "text",
    "images": "image",
    "audio": "audio",
    "hparams": "hparams",
    "graphs": "graph",
    "graph_run_metadata": "graph",
    "graph_run_metadata_graph": "graph",
    "graph_keras_model": "graph",
}
"""What a plugin's tensors are, by the name under which TensorBoard's own plugins file theirs."""

_FLOAT = 1  # DataType

_BY_FIELD: dict[str, Sort] = {"simple_value": "scalar", "histo": "histogram", "image": "image", "audio": "audio"}


def parse_event(payload: bytes) -> Any:
    """The event that a record holds.

    Raises:
        FormatError: the bytes are no event.
    """
    try:
        return Event.FromString(payload)
    except DecodeError as error:
        raise FormatError(f"The record ({len(payload):,} bytes) is no event and is skipped.") from error


def sort_of(value: Any, plugin: str) -> Sort:
    """What a summary value is. `plugin` is the plugin name that the tag's first value in the file gave."""
    kind = value.WhichOneof("value")
    if kind in _BY_FIELD:
        return _BY_FIELD[kind]
    if plugin in _BY_PLUGIN:
        return _BY_PLUGIN[plugin]
    if kind == "tensor":
        plain = not plugin or plugin == "scalars" or value.metadata.data_class == DATA_CLASS_SCALAR
        return "scalar" if plain and scalar_of(value) is not None else "tensor"
    if kind is None and plugin:  # only says what will come
        return "scalar" if _described_as_scalar(value) else "tensor"
    return "other"


def scalar_of(value: Any) -> float | None:
    """The number of a scalar in any of its spellings; None where the value holds no single number."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor"):
        return None
    tensor = value.tensor
    if len(tensor.tensor_shape.dim) and not _described_as_scalar(value):
        return None
    if tensor.dtype == _FLOAT and len(tensor.float_val) == 1 and not (tensor.tensor_shape.dim or tensor.tensor_content):
        return float(tensor.float_val[0])  # as nearly all are
    try:
        number = array_of(tensor)
    except FormatError:
        return None
    return float(number.item()) if number.size == 1 and number.dtype.kind != "c" else None


def _described_as_scalar(value: Any) -> bool:
    metadata = value.metadata
    return bool(metadata.plugin_data.plugin_name == "scalars" or metadata.data_class == DATA_CLASS_SCALAR)
