"""Tells what the values in an event are: our tables and messages, other writers' scalars, and the rest."""

from __future__ import annotations

from typing import Any, Literal

from google.protobuf.message import DecodeError

from zentracer_schema import Event, FormatError, decode_numeric
from zentracer_schema.messages import DATA_CLASS_SCALAR

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
    scalar = plugin == "scalars" or value.metadata.data_class == DATA_CLASS_SCALAR
    if kind == "tensor":
        return "scalar" if (scalar or not plugin) and scalar_of(value) is not None else "tensor"
    if kind is None and plugin:  # only says what will come
        return "scalar" if scalar else "tensor"
    return "other"


def scalar_of(value: Any) -> float | None:
    """The number of a scalar in any of its spellings; None where the value holds no single number."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor") or len(value.tensor.tensor_shape.dim):
        return None
    try:
        return float(decode_numeric(value.tensor).item())
    except FormatError:
        return None
