"""Records in a stretch of bytes and their checksums, held against the schema package one record at a time."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_store.reading import checksums
from zentracer_store.reading.checksums import LONGEST, footers_ok, masked
from zentracer_store.reading.frames import scan


def slow(data):
    """Start and length of each whole record, where they end, and the length of what follows."""
    found, at = [], 0
    while at + 12 <= len(data):
        length = schema.parse_length(data[at : at + 12])
        if length is None:
            return found, at, None, True
        if at + 16 + length > len(data):
            return found, at, length, False
        found.append((at + 12, length))
        at += 16 + length
    return found, at, None, False


def framed(payloads):
    return b"".join(schema.frame(payload) for payload in payloads)


@given(st.lists(st.binary(max_size=30), max_size=12), st.binary(max_size=40), st.booleans())
def test_a_scan_finds_the_records_that_stepping_through_finds(payloads, behind, torn):
    data = framed(payloads) + (schema.frame(behind)[:-1] if torn else behind)
    found = scan(data)
    pairs = list(zip(found.starts.tolist(), found.lengths.tolist(), strict=True))
    assert (pairs, found.end, found.length, found.damaged) == slow(data)


@given(st.integers(0, 1 << 32), st.integers(0, 20))
def test_checksums_by_columns_are_those_of_each_row(seed, length):
    rows = np.frombuffer(random.Random(seed).randbytes(7 * length), np.uint8).reshape(7, length)
    sums = checksums.checksums(rows)
    assert sums.tolist() == [schema.crc32c(row.tobytes()) for row in rows]
    assert masked(sums).tolist() == [schema.masked_crc(row.tobytes()) for row in rows]


def test_the_longest_rows_are_summed_up_too_and_longer_ones_refused():
    rows = np.random.default_rng(0).integers(0, 256, (3, LONGEST), np.uint8)
    assert checksums.checksums(rows).tolist() == [schema.crc32c(row.tobytes()) for row in rows]
    with pytest.raises(ValueError, match=r"^Rows of at most 512 bytes are summed up by columns, got 513\.$"):
        checksums.checksums(np.zeros((1, LONGEST + 1), np.uint8))


@pytest.mark.parametrize("block", [100, 1 << 20])
def test_footers_are_checked_whatever_the_records_lengths(monkeypatch, block):
    monkeypatch.setattr("zentracer_store.reading.checksums._BLOCK_BYTES", block)
    maker = random.Random(5)
    sizes = [maker.choice([0, 1, 40, 41, LONGEST, LONGEST + 1, 3000]) for _ in range(400)]
    data = bytearray(framed([maker.randbytes(size) for size in sizes]))
    found = scan(bytes(data))
    for _ in range(60):
        place = maker.randrange(len(sizes))
        start = int(found.starts[place])
        data[maker.randrange(start, start + sizes[place] + 4)] ^= 1 << maker.randrange(8)
    expected = [
        schema.footer_ok(data[start : start + size], data[start + size : start + size + 4])
        for start, size in zip(found.starts.tolist(), sizes, strict=True)
    ]
    assert footers_ok(bytes(data), found.starts, found.lengths).tolist() == expected
    assert 0 < sum(expected) < len(sizes)
