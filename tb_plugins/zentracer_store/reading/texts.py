"""Reads text that was logged."""

from __future__ import annotations

from typing import Any

from zentracer_schema import FormatError
from zentracer_store.contents.growing import Array
from zentracer_store.reading.tensors import strings_of


def text_of(value: Any) -> Array:
    """The text of a summary value: str objects in the shape of its tensor, a single one mostly.

    Bytes that are no UTF-8 are shown as U+FFFD.

    Raises:
        FormatError: it holds no text.
    """
    if not value.HasField("tensor"):
        raise FormatError("The value holds no text.")
    texts = strings_of(value.tensor)
    flat = texts.reshape(-1)
    flat[:] = [raw.decode("utf-8", "replace") for raw in flat]
    return texts
