"""Records are TensorFlow's, and every CRC agrees with the definition."""

import struct

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_schema import crc


@given(st.binary(max_size=40_000))
def test_every_crc_equals_the_definition(data):
    expected = crc.by_bytes(data)
    assert crc.by_numpy(data) == expected
    assert schema.crc32c(data) == expected
    assert google_crc32c.value(data) == expected


def test_the_numpy_crc_takes_lengths_around_its_lanes():
    for size in (8 * 1024 - 1, 8 * 1024, 8 * 1024 + 1, 100_003):
        data = bytes(index * 7 & 255 for index in range(size))
        assert crc.by_numpy(data) == google_crc32c.value(data)


def test_the_check_value_of_crc32c():
    assert schema.crc32c(b"123456789") == 0xE3069283  # RFC 3720, appendix B.4 and the catalogues of CRCs


def test_without_google_crc32c_numpy_takes_over(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "google_crc32c", None)
    assert crc.fastest() is crc.by_numpy


@given(st.binary(max_size=2_000))
def test_a_frame_reads_back(payload):
    record = schema.frame(payload)
    assert schema.parse_length(record[: schema.HEADER_BYTES]) == len(payload)
    assert record[schema.HEADER_BYTES : -schema.FOOTER_BYTES] == payload
    assert schema.footer_ok(payload, record[-schema.FOOTER_BYTES :])


def test_a_frame_is_what_tensorboards_writer_writes(tmp_path):
    record_writer = pytest.importorskip("tensorboard.summary.writer.record_writer")
    with open(tmp_path / "records", "wb") as file:
        writer = record_writer.RecordWriter(file)
        for payload in (b"", b"one", bytes(range(256)) * 50):
            writer.write(payload)
        writer.flush()
    expected = b"".join(schema.frame(payload) for payload in (b"", b"one", bytes(range(256)) * 50))
    assert (tmp_path / "records").read_bytes() == expected


@given(st.integers(0, 11), st.integers(1, 255))
def test_a_changed_header_is_refused(position, change):
    header = bytearray(schema.frame(b"payload")[: schema.HEADER_BYTES])
    header[position] ^= change
    assert schema.parse_length(header) is None


@given(st.integers(0, 6), st.integers(1, 255))
def test_a_changed_payload_is_refused(position, change):
    record = schema.frame(b"payload")
    payload = bytearray(b"payload")
    payload[position] ^= change
    assert not schema.footer_ok(payload, record[-schema.FOOTER_BYTES :])


def test_a_length_of_64_bits_is_read_whole():
    length = struct.pack("<Q", 2**63 + 5)
    assert schema.parse_length(length + struct.pack("<I", schema.masked_crc(length))) == 2**63 + 5
