"""Fingerprints: the same however a file grew, another where its bytes are others, and cheap for large files."""

import os

import pytest

from zentracer_store.reading import fingerprint
from zentracer_store.reading.fingerprint import Fingerprint


@pytest.fixture
def small(monkeypatch):
    """Limits at which a small file is a large one."""
    monkeypatch.setattr(fingerprint, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(fingerprint, "_PIECE_BYTES", 10)
    monkeypatch.setattr(fingerprint, "_MOST_PIECES", 8)
    monkeypatch.setattr(fingerprint, "_BLOCK", 300)


@pytest.fixture
def file(tmp_path):
    """A file of 50,000 bytes, open for reading and writing."""
    descriptor = os.open(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    os.write(descriptor, os.urandom(50_000))
    yield descriptor
    os.close(descriptor)


def taken(file, *ends):
    found = Fingerprint(stride=fingerprint.WHOLE_BYTES)
    for end in ends:
        found.extend(file, end)
    return found


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("end", [0, 1, 999, 1000, 1009, 1010, 8000, 9000, 16_500, 50_000])
def test_it_is_the_same_however_the_file_grew(file, end):
    once = taken(file, end)
    assert once == taken(file, *range(0, end, 137), end)
    assert once.matches(file)
    assert len(once.pieces) <= 8


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("place", [0, 500, 999, 8000, 8009, 48_000])
def test_a_changed_byte_at_the_beginning_or_in_a_piece_is_noticed(file, place):
    found = taken(file, 50_000)
    assert found.stride == 8000
    (byte,) = os.pread(file, 1, place)
    os.pwrite(file, bytes([byte ^ 1]), place)
    assert not found.matches(file)


def test_what_comes_behind_does_not_matter(file):
    found = taken(file, 40_000)
    os.pwrite(file, b"x" * 20_000, 40_000)
    assert found.matches(file)


def test_a_file_of_a_terabyte_is_not_read_whole(file, monkeypatch):
    os.truncate(file, 1 << 40)
    asked = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, count, offset: asked.append(count) or real(fd, count, offset))
    assert taken(file, 1 << 40).matches(file)
    assert sum(asked) < 40 << 20
