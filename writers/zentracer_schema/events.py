"""Writes the payloads of event records: versions, session marks, scalars, tables and messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zentracer_schema.kinds import KINDS, LARGEST_EVENT_BYTES
from zentracer_schema.messages import (
    DATA_CLASS_SCALAR,
    DATA_CLASS_TENSOR,
    SESSION_START,
    SESSION_STOP,
    Event,
    SessionLog,
)
from zentracer_schema.specs import FORMAT, FormatError, NewerFormatError, TableSpec
from zentracer_schema.tables import DATA_TYPES, Table, encode_table

FILE_VERSION = "brain.Event:2"


def file_version_event(wall_time: float) -> bytes:
    """The first record of an event file. TensorBoard purges by `SessionLog` only in files that begin with it."""
    return _serialized(Event(wall_time=wall_time, file_version=FILE_VERSION))


def session_start_event(wall_time: float, step: int) -> bytes:
    """The mark of a process that starts or resumes at `step`: later records win over earlier ones from there on."""
    return _serialized(Event(wall_time=wall_time, step=step, session_log=SessionLog(status=SESSION_START)))


def session_stop_event(wall_time: float, step: int) -> bytes:
    """The mark of a process that has written all it had to."""
    return _serialized(Event(wall_time=wall_time, step=step, session_log=SessionLog(status=SESSION_STOP)))


def scalar_event(wall_time: float, step: int, values: Mapping[str, float]) -> bytes:
    """Plain scalars, one summary value a tag, as any TensorBoard reader shows them."""
    event = Event(wall_time=wall_time, step=step)
    for tag, number in values.items():
        value = event.summary.value.add(tag=tag, simple_value=number)
        value.metadata.plugin_data.plugin_name = "scalars"
        value.metadata.data_class = DATA_CLASS_SCALAR
    return _serialized(event)


def table_event(wall_time: float, step: int, spec: TableSpec, table: Table, *, with_spec: bool) -> bytes:
    """One table; `with_spec` attaches its description, as the first record of each tag in each file must."""
    event = Event(wall_time=wall_time, step=step)
    value = event.summary.value.add(tag=spec.tag, tensor=encode_table(spec, table))
    value.metadata.plugin_data.plugin_name = KINDS[spec.kind].plugin_name
    value.metadata.data_class = DATA_CLASS_TENSOR
    if with_spec:
        value.metadata.plugin_data.content = spec.json
    return _serialized(event)


def message_spec(kind: str, scope: str) -> TableSpec:
    """The description of a kind whose payload is a message: no columns, no rows."""
    return TableSpec(kind=kind, scope=scope, columns=())


def message_event(wall_time: float, step: int, kind: str, scope: str, content: Mapping[str, Any]) -> bytes:
    """One message: a JSON object as the only element of a [1] string tensor, with its `format`."""
    spec = message_spec(kind, scope)
    event = Event(wall_time=wall_time, step=step)
    value = event.summary.value.add(tag=spec.tag)
    value.metadata.plugin_data.plugin_name = KINDS[kind].plugin_name
    value.metadata.plugin_data.content = spec.json
    value.metadata.data_class = DATA_CLASS_TENSOR
    value.tensor.dtype = DATA_TYPES["string"]
    value.tensor.tensor_shape.dim.add(size=1)
    text = json.dumps(dict(content) | {"format": FORMAT}, separators=(",", ":"), ensure_ascii=False)
    value.tensor.string_val.append(text.encode("utf-8", "backslashreplace"))
    return _serialized(event)


def decode_message(tensor: Any) -> dict[str, Any]:
    """The JSON object that `message_event` wrote.

    Raises:
        NewerFormatError: a later version wrote it.
        FormatError: it is not such a message.
    """
    try:
        (text,) = tensor.string_val
        content = json.loads(text)
        version = content["format"]
        if not isinstance(version, int):
            raise TypeError(version)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"A message of ours is not readable ({error}).") from error
    if version > FORMAT:
        raise NewerFormatError(version)
    return dict(content)


def belongs_in_bulk(spec: TableSpec, payload_bytes: int) -> bool:
    """Whether a record of `payload_bytes` (its values, without the description) goes to `.ztrec`."""
    return KINDS[spec.kind].bulk or payload_bytes > LARGEST_EVENT_BYTES


def _serialized(event: Any) -> bytes:
    data: bytes = event.SerializeToString()
    return data
