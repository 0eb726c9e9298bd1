"""Finds where the numbers of a scalar event lie among its bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from zentracer_schema import Event, FormatError, parse_tag
from zentracer_store.reading.decode import parse_event, scalar_of, sort_of

WALL = 1
"""Where the wall time stands in an event that begins with it: 8 bytes behind the number of its field."""

STEP = 10
"""Where the step then stands, in as many bytes as it needs; a step of 0 is left out, with the number of its field."""

_STEP_FIELD = 0x10
_FLOAT, _DOUBLE = 1, 2  # DataType
_PROBE_WALL = 1234567.25


class Place(NamedTuple):
    """A value that lies in the event as it lies in memory: its first byte and its dtype, "<f4" or "<f8"."""

    at: int
    dtype: str


@dataclass(frozen=True)
class ScalarEvent:
    """An event that holds nothing but scalars. Any other bytes at these places make the same event of other numbers."""

    step_bytes: int
    places: tuple[Place, ...]
    values: tuple[Any, ...]
    """The summary values, as messages."""


def scalar_event_of(payload: bytes) -> ScalarEvent | None:
    """Where step and values lie in an event of scalars; None where it holds more, or in another order.

    What the bytes are taken for is put to the test: with other numbers in these places, protobuf must read just these.
    """
    try:
        event = parse_event(payload)
        step_bytes, places = _layout(payload)
    except (FormatError, _Unlike, IndexError):
        return None
    values = tuple(event.summary.value)
    found = ScalarEvent(step_bytes, places, values)
    return found if len(values) == len(places) and all(map(_is_scalar, values)) and _proven(payload, found) else None


class _Unlike(Exception):
    """The bytes are not laid out as those of a scalar event."""


def _is_scalar(value: Any) -> bool:
    plain = value.HasField("simple_value")
    described = value.metadata.plugin_data.plugin_name == "scalars"
    return (plain or described) and sort_of(value, "scalars") == "scalar" and parse_tag(value.tag) is None


def _layout(payload: bytes) -> tuple[int, tuple[Place, ...]]:
    if payload[0] != 0x09:
        raise _Unlike
    at, step_bytes = WALL + 8, 0
    if payload[at] == _STEP_FIELD:
        _, end = _varint(payload, STEP)
        at, step_bytes = end, end - STEP
    fields = list(_fields(payload, at, len(payload)))
    if [number for number, _, _, _ in fields] != [5]:
        raise _Unlike
    _, _, start, end = fields[0]
    return step_bytes, tuple(_place(payload, first, last) for _, _, first, last in _members(payload, start, end, 1))


def _place(payload: bytes, start: int, end: int) -> Place:
    """Where the number of a summary value lies, whose message is at `start` to `end`."""
    found = None
    for number, wire, first, last in _fields(payload, start, end):
        if number == 2 and wire == 5 and found is None:
            found = Place(first, "<f4")
        elif number == 8 and wire == 2 and found is None:
            found = _place_in_tensor(payload, first, last)
        elif number not in (1, 7, 9):
            raise _Unlike
    if found is None:
        raise _Unlike
    return found


def _place_in_tensor(payload: bytes, start: int, end: int) -> Place:
    dtype, found = 0, None
    for number, wire, first, last in _fields(payload, start, end):
        if number == 1 and wire == 0:
            dtype, _ = _varint(payload, first)
        elif number in (4, 5, 6) and wire in (1, 2, 5) and found is None:
            found = Place(first, {4: "<f4", 8: "<f8"}.get(last - first, ""))
        elif number not in (2, 3):
            raise _Unlike
    if found is None or found.dtype != {_FLOAT: "<f4", _DOUBLE: "<f8"}.get(dtype):
        raise _Unlike
    return found


def _proven(payload: bytes, found: ScalarEvent) -> bool:
    other = bytearray(payload)
    struct.pack_into("<d", other, WALL, _PROBE_WALL)
    step = 0
    if found.step_bytes:
        step = 1 if found.step_bytes == 1 else 1 << 7 * (found.step_bytes - 1)
        other[STEP : STEP + found.step_bytes] = [*[0x80] * (found.step_bytes - 1), 1]
    numbers = [float(7 + place) for place in range(len(found.places))]
    for (at, dtype), number in zip(found.places, numbers, strict=True):
        struct.pack_into("<f" if dtype == "<f4" else "<d", other, at, number)
    event = Event.FromString(bytes(other))
    if (event.wall_time, event.step & (1 << 64) - 1) != (_PROBE_WALL, step & (1 << 64) - 1):
        return False
    if [scalar_of(value) for value in event.summary.value] != numbers:
        return False
    return all(_same(*pair) for pair in zip(_numbers(payload, found), map(scalar_of, found.values), strict=True))


def _numbers(payload: bytes, found: ScalarEvent) -> Iterator[float]:
    for at, dtype in found.places:
        yield struct.unpack_from("<f" if dtype == "<f4" else "<d", payload, at)[0]


def _same(one: float, other: float | None) -> bool:
    return one == other or (other is not None and math.isnan(one) and math.isnan(other))


def _members(payload: bytes, start: int, end: int, number: int) -> Iterator[tuple[int, int, int, int]]:
    for field in _fields(payload, start, end):
        if field[:2] != (number, 2):
            raise _Unlike
        yield field


def _fields(payload: bytes, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of a message: number, wire type, first byte of the content and the byte behind it."""
    at = start
    while at < end:
        key, at = _varint(payload, at)
        wire = key & 7
        first = at
        if wire == 0:
            _, at = _varint(payload, at)
        elif wire == 1:
            at += 8
        elif wire == 2:
            length, first = _varint(payload, at)
            at = first + length
        elif wire == 5:
            at += 4
        else:
            raise _Unlike
        if at > end:
            raise _Unlike
        yield key >> 3, wire, first, at


def _varint(payload: bytes, at: int) -> tuple[int, int]:
    """The number at `at` and the place behind it."""
    value = shift = 0
    while True:
        byte = payload[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise _Unlike
