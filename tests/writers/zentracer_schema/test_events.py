"""Events of ours are what TensorBoard's contract asks for, and read back."""

import json
from dataclasses import replace

import numpy as np
import pytest

import zentracer_schema as schema
from zentracer_schema import FormatError, NewerFormatError, RowSpec, TableSpec

SPEC = TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, (RowSpec("a", shape=(2,)), RowSpec("b", shape=(3,))))


def test_a_file_begins_with_its_version():
    event = schema.Event.FromString(schema.file_version_event(12.5))
    assert (event.wall_time, event.file_version) == (12.5, "brain.Event:2")


def test_a_session_begins_at_its_step():
    event = schema.Event.FromString(schema.session_start_event(12.5, 400))
    assert (event.step, event.session_log.status) == (400, 1)


def test_a_session_ends_at_its_step():
    event = schema.Event.FromString(schema.session_stop_event(12.5, 400))
    assert (event.step, event.session_log.status) == (400, 2)


def test_scalars_say_what_they_are():
    event = schema.Event.FromString(schema.scalar_event(1.0, 3, {"a": 0.5, "b": float("nan")}))
    first, second = event.summary.value
    assert (event.step, first.tag, first.simple_value) == (3, "a", 0.5)
    assert (first.metadata.plugin_data.plugin_name, first.metadata.data_class) == ("scalars", 1)
    assert np.isnan(second.simple_value)


@pytest.mark.parametrize("with_spec", [True, False])
def test_a_table_carries_its_description_when_asked(with_spec):
    values = np.arange(44, dtype=np.float32).reshape(2, 22)
    event = schema.Event.FromString(schema.table_event(1.0, 3, SPEC, values, with_spec=with_spec))
    (value,) = event.summary.value
    assert value.tag == SPEC.tag
    assert (value.metadata.plugin_data.plugin_name, value.metadata.data_class) == ("zentracer_parameters", 2)
    assert value.metadata.plugin_data.content == (SPEC.json if with_spec else b"")
    assert (schema.decode_table(SPEC, value.tensor) == values).all()


@pytest.mark.parametrize("kind", sorted(schema.KINDS))
def test_every_kind_writes_and_reads(kind):
    if schema.KINDS[kind].payload == "message":
        event = schema.Event.FromString(schema.message_event(1.0, 3, kind, "model", {"words": "grüße", "n": [1, 2]}))
        (value,) = event.summary.value
        assert schema.decode_message(value.tensor) == {"words": "grüße", "n": [1, 2], "format": 1}
        assert TableSpec.from_json(value.metadata.plugin_data.content).kind == kind
    else:
        spec = replace(SPEC, kind=kind)
        event = schema.Event.FromString(schema.table_event(1.0, 3, spec, np.ones((2, 22), np.float32), with_spec=True))
        (value,) = event.summary.value
        assert (schema.decode_table(TableSpec.from_json(value.metadata.plugin_data.content), value.tensor) == 1).all()
    tag = schema.parse_tag(value.tag)
    assert tag is not None
    assert (tag.scope, tag.kind) == ("model", kind)
    assert value.metadata.plugin_data.plugin_name == f"zentracer_{kind}"


def test_a_message_with_odd_text_is_still_utf8():
    event = schema.Event.FromString(schema.message_event(1.0, 0, "session", "model", {"argv": "\udcff"}))
    assert schema.decode_message(event.summary.value[0].tensor)["argv"] == "\udcff"


def test_a_newer_message_is_told():
    tensor = schema.TensorProto(dtype=7, string_val=[json.dumps({"format": 3}).encode()])
    with pytest.raises(NewerFormatError, match="format 3"):
        schema.decode_message(tensor)


@pytest.mark.parametrize("texts", [[], [b"{}", b"{}"], [b"{"], [b"[]"], [b'{"format":null}'], [b"\xff"]])
def test_what_is_no_message_is_a_format_error(texts):
    with pytest.raises(FormatError):
        schema.decode_message(schema.TensorProto(dtype=7, string_val=texts))


def test_large_tables_and_bulk_kinds_leave_the_event_file():
    assert not schema.belongs_in_bulk(SPEC, 64 * 1024)
    assert schema.belongs_in_bulk(SPEC, 64 * 1024 + 1)
    assert schema.belongs_in_bulk(replace(SPEC, kind="histograms"), 10)
