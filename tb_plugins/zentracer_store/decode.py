"""Tells what the values in an event are: our tables and messages, other writers' scalars, and the rest."""

from __future__ import annotations

from typing import Any, Literal

from google.protobuf.message import DecodeError

from zentracer_schema import Event, FormatError, decode_numeric

Sort = Literal["scalar", "histogram", "other"]


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
    match value.WhichOneof("value"):
        case "simple_value":
            return "scalar"
        case "histo":
            return "histogram"
        case "tensor":
            if plugin == "histograms":
                return "histogram"
            if plugin in ("", "scalars") and scalar_of(value) is not None:
                return "scalar"
    return "other"


def scalar_of(value: Any) -> float | None:
    """The number of a scalar in any of its spellings; None where the value holds no single number."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if len(value.tensor.tensor_shape.dim):
        return None
    try:
        return float(decode_numeric(value.tensor).item())
    except FormatError:
        return None
