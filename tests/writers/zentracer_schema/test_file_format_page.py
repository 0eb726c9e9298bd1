"""A reader written from docs/file-format.md alone, without our package or protobuf, reads what we write."""

import json
import re
import struct
from pathlib import Path

import numpy as np

import zentracer_schema as schema

PAGE = (Path(__file__).parents[3] / "docs/file-format.md").read_text("utf-8")


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) % 2**32


def records(data):
    while data:
        length, length_crc = struct.unpack_from("<QI", data)
        payload = data[12 : 12 + length]
        assert crc(data[:8]) == length_crc
        assert crc(payload) == struct.unpack_from("<I", data, 12 + length)[0]
        yield payload
        data = data[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def message(data):
    """Field number -> list of raw values."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        match key & 7:
            case 0:
                value, at = varint(data, at)
            case 1:
                value, at = data[at : at + 8], at + 8
            case 5:
                value, at = data[at : at + 4], at + 4
            case 2:
                size, at = varint(data, at)
                value, at = data[at : at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def test_a_stranger_reads_a_table():
    spec = schema.TableSpec(
        "parameters",
        "model",
        schema.PARAMETER_COLUMNS,
        (schema.RowSpec("a.weight", shape=(2, 3)), schema.RowSpec("a.bias", shape=(2,))),
    )
    values = np.arange(44, dtype=np.float32).reshape(2, 22)
    file = b"".join(
        schema.frame(payload)
        for payload in (
            schema.file_version_event(1.5),
            schema.session_start_event(1.5, 0),
            schema.table_event(2.5, 17, spec, values, with_spec=True),
            schema.message_event(2.5, 17, "session", "model", {"id": "x"}),
        )
    )
    version, start, table, session = (message(payload) for payload in records(file))
    assert version[3] == [b"brain.Event:2"]
    assert message(start[7][0])[1] == [1]
    assert struct.unpack("<d", table[1][0]) == (2.5,)
    assert table[2] == [17]

    value = message(message(table[5][0])[1][0])
    tag = value[1][0].decode()
    scope, kind, digest = re.fullmatch(r"zentracer/([^/]+)/([a-z]+)/([0-9a-f]{8})", tag).groups()
    plugin = message(message(value[9][0])[1][0])
    assert (scope, kind, plugin[1]) == ("model", "parameters", [b"zentracer_parameters"])
    description = json.loads(plugin[2][0])
    assert __import__("hashlib").sha256(plugin[2][0]).hexdigest()[:8] == digest
    assert [row["name"] for row in description["rows"]] == ["a.weight", "a.bias"]
    tensor = message(value[8][0])
    read = np.frombuffer(tensor[4][0], "<f4").reshape(2, len(description["columns"]))
    assert tensor[1] == [1]
    assert (read == values).all()

    text = message(message(message(session[5][0])[1][0])[8][0])[8][0]
    assert json.loads(text) == {"id": "x", "format": 1}


def test_the_page_names_every_kind_column_and_status_bit():
    for kind in schema.KINDS:
        assert f"`{kind}`" in PAGE
    for status in schema.Status:
        assert re.search(rf"\b{status.value} {status.name.lower().replace('_', '.')}", PAGE), status
    for column in (*schema.CLOCK_COLUMNS, *schema.pulse_columns([])):
        assert f"`{column.name}`" in PAGE
    for column in schema.PARAMETER_COLUMNS:
        assert f"`{column.name}`" in PAGE or column.name.split("_", 1)[1] in PAGE
