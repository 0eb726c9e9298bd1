"""Following one file: torn, damaged, cut, replaced, and everything that is no file."""

import json
import os
import socket
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_store.tail import LARGEST_RECORD, Tail, Unreadable

PAYLOADS = st.lists(st.binary(max_size=200), min_size=1, max_size=12)


def records(*payloads):
    return b"".join(schema.frame(payload) for payload in payloads)


def everything(tail, most=1 << 20):
    """All that a tail has to give now: payloads, offsets, sentences about damage."""
    payloads, offsets, told = [], [], []
    while True:
        batch = tail.read(most)
        payloads += [payload for _, payload in batch.records]
        offsets += [offset for offset, _ in batch.records]
        told += [(damage.offset, damage.text) for damage in batch.damage]
        if not batch.more:
            return payloads, offsets, told


@settings(max_examples=60, deadline=None)
@given(PAYLOADS, st.data(), st.sampled_from([16, 64, 1000]))
def test_any_split_of_the_bytes_gives_every_record_once(tmp_path_factory, payloads, data, most):
    path = tmp_path_factory.mktemp("tail") / "f"
    whole = records(*payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    path.write_bytes(b"")
    tail, got = Tail(str(path)), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        with open(path, "ab") as file:
            file.write(whole[start:end])
        found, _, told = everything(tail, most)
        got += found
        assert told == []
        assert b"".join(schema.frame(payload) for payload in got) == whole[: tail.offset]
    assert got == payloads
    assert everything(tail, most)[0] == []


def test_offsets_are_those_of_the_records_in_the_file(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"one", b"", b"three"))
    assert everything(Tail(str(path)), most=16)[1] == [0, 19, 35]


@settings(max_examples=60, deadline=None)
@given(PAYLOADS, st.data())
def test_one_flipped_bit_costs_at_most_the_records_from_there_on(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("tail") / "f"
    whole = bytearray(records(*payloads))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(whole)
    got, _, told = everything(Tail(str(path)))
    ends, at = [], 0
    for payload in payloads:
        at += len(payload) + 16
        ends.append(at)
    before = sum(end <= place for end in ends)
    assert got[:before] == payloads[:before]
    assert got[before:] in ([], payloads[before + 1 :])
    last = before == len(payloads) - 1
    assert told or last


def test_a_record_whose_data_is_damaged_is_left_out_and_told(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second", b"third"))
    whole[21 + 12] ^= 1
    path.write_bytes(whole)
    assert everything(Tail(str(path))) == (
        [b"first", b"third"],
        [0, 43],
        [(21, "The record's data (6 bytes) is damaged and is skipped.")],
    )


def test_reading_stops_at_a_damaged_length_and_says_where(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second", b"third"))
    whole[21] ^= 1
    path.write_bytes(whole)
    tail = Tail(str(path))
    sentence = "The record's length is damaged. Reading stops here until the file changes."
    assert everything(tail) == ([b"first"], [0], [(21, sentence)])
    assert everything(tail) == ([], [], [])


def test_a_length_that_was_not_written_yet_is_read_when_it_is(tmp_path):
    path = tmp_path / "f"
    whole = records(b"first", b"second")
    # As a network file system shows pages that have not arrived.
    path.write_bytes(whole[:21] + bytes(len(whole) - 21))
    tail = Tail(str(path))
    assert everything(tail)[0] == [b"first"]
    path.write_bytes(whole)
    assert everything(tail) == ([b"second"], [21], [])


def test_damage_is_told_once_however_often_the_file_grows(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second"))
    whole[21] ^= 1
    path.write_bytes(whole)
    tail = Tail(str(path))
    assert len(everything(tail)[2]) == 1
    with open(path, "ab") as file:
        file.write(records(b"third"))
    assert everything(tail) == ([], [], [])


def test_a_last_record_with_a_wrong_checksum_is_waited_for(tmp_path):
    path = tmp_path / "f"
    whole = records(b"first", b"second")
    path.write_bytes(whole[:-4] + b"\0\0\0\0")
    tail = Tail(str(path))
    assert everything(tail) == ([b"first"], [0], [])
    path.write_bytes(whole)
    assert everything(tail) == ([b"second"], [21], [])


def test_no_memory_is_taken_for_bytes_that_are_not_there(tmp_path, monkeypatch):
    path = tmp_path / "f"
    length = struct.pack("<Q", 1 << 40)
    path.write_bytes(length + struct.pack("<I", schema.masked_crc(length)) + b"only this much")
    asked = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, count, offset: asked.append(count) or real(fd, count, offset))
    assert everything(Tail(str(path))) == ([], [], [])
    assert max(asked) <= 26


def test_a_record_over_the_limit_is_skipped_and_told(tmp_path):
    path = tmp_path / "f"
    length = struct.pack("<Q", LARGEST_RECORD + 1)
    header = length + struct.pack("<I", schema.masked_crc(length))
    with open(path, "wb") as file:
        file.write(records(b"first") + header)
        file.seek(LARGEST_RECORD + 1 + 4, os.SEEK_CUR)  # a hole: it takes no disk
        file.write(records(b"last"))
    payloads, _, told = everything(Tail(str(path)))
    assert payloads == [b"first", b"last"]
    assert told == [(21, "The record has 1,073,741,825 bytes, over the limit of 1 GiB, and is skipped.")]


def test_a_hole_of_a_terabyte_is_told_and_not_read(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    os.truncate(path, 1 << 40)
    payloads, _, told = everything(Tail(str(path)))
    assert payloads == [b"first"]
    assert [offset for offset, _ in told] == [21]


def test_a_file_that_shrank_is_read_anew(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first", b"second"))
    tail = Tail(str(path))
    everything(tail)
    path.write_bytes(records(b"other"))
    batch = tail.read()
    assert batch.restarted
    assert [payload for _, payload in batch.records] == [b"other"]
    assert [damage.text for damage in batch.damage] == [
        "The file shrank from 43 to 21 bytes while it was followed. It is read anew from its beginning."
    ]


@pytest.mark.parametrize("others", [(b"First", b"second", b"third"), (b"first", b"SECOND", b"third")])
def test_a_file_that_was_replaced_by_a_longer_one_is_read_anew(tmp_path, others):
    path = tmp_path / "f"
    path.write_bytes(records(b"first", b"second"))
    tail = Tail(str(path))
    everything(tail)
    (tmp_path / "g").write_bytes(records(*others))
    os.replace(tmp_path / "g", path)
    batch = tail.read()
    assert batch.restarted
    assert [payload for _, payload in batch.records] == list(others)
    assert "was replaced by another" in batch.damage[0].text


def test_a_copy_that_only_goes_on_is_not_read_again(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    tail = Tail(str(path))
    everything(tail)
    (tmp_path / "g").write_bytes(records(b"first", b"second"))  # as rsync does without --inplace
    os.replace(tmp_path / "g", path)
    assert everything(tail) == ([b"second"], [21], [])


def test_a_fifo_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "f")
    with pytest.raises(Unreadable, match=r"^The file is a FIFO, not a regular file, and is not read\.$"):
        Tail(str(tmp_path / "f")).read()


def test_a_device_is_refused(tmp_path):
    (tmp_path / "f").symlink_to("/dev/zero")
    with pytest.raises(Unreadable, match=r"^The file is a device, not a regular file"):
        Tail(str(tmp_path / "f")).read()


def test_a_socket_and_a_directory_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a socket's whole path may have 107 bytes
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("f")
        with pytest.raises(Unreadable, match="is a socket"):
            Tail(str(tmp_path / "f")).read()
    with pytest.raises(Unreadable, match="is a directory"):
        Tail(str(tmp_path)).read()


def test_a_missing_file_is_told_by_the_systems_words(tmp_path):
    with pytest.raises(Unreadable, match=r"^The file can't be read \(No such file or directory\)\.$"):
        Tail(str(tmp_path / "f")).read()


def test_a_quiet_file_is_not_opened(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    tail = Tail(str(path))
    everything(tail)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("opened"))
    assert everything(tail) == ([], [], [])


def test_no_descriptor_stays_open(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    before = len(os.listdir("/proc/self/fd"))
    tails = [Tail(str(path)) for _ in range(50)]
    for tail in tails:
        everything(tail)
    assert len(os.listdir("/proc/self/fd")) == before


def resumed(tail):
    return Tail.resume(tail.path, json.loads(json.dumps(tail.state())))


def test_a_resumed_tail_goes_on_where_it_stood_and_does_not_open_a_quiet_file(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    tail = Tail(str(path))
    everything(tail)
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", lambda *_: pytest.fail("opened"))
        assert everything(resumed(tail)) == ([], [], [])
    path.write_bytes(records(b"first", b"second"))
    assert everything(resumed(tail)) == ([b"second"], [21], [])


def test_a_resumed_tail_notices_a_replaced_file(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first", b"second"))
    tail = Tail(str(path))
    everything(tail)
    path.write_bytes(records(b"first", b"SECOND", b"third"))
    batch = resumed(tail).read()
    assert batch.restarted
    assert [payload for _, payload in batch.records] == [b"first", b"SECOND", b"third"]


def test_a_resumed_tail_tells_old_damage_once(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second"))
    whole[21] ^= 1
    path.write_bytes(whole)
    tail = Tail(str(path))
    assert len(everything(tail)[2]) == 1
    os.utime(path, (1, 1))
    assert everything(resumed(tail)) == ([], [], [])
