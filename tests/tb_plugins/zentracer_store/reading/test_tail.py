"""Following one file: torn, damaged, cut, replaced, and everything that is no file."""

import bz2
import gzip
import json
import lzma
import os
import random
import socket
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_store.reading.tail import LARGEST_RECORD, QUIET_S, Tail, Unreadable

PAYLOADS = st.lists(st.binary(max_size=200), min_size=1, max_size=12)


def records(*payloads):
    return b"".join(schema.frame(payload) for payload in payloads)


def header(length):
    """The header of a record of that length."""
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", schema.masked_crc(packed))


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
def test_one_flipped_bit_costs_one_record(tmp_path_factory, payloads, data):
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
    assert got[before:] == payloads[before + 1 :]
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


def test_behind_a_damaged_length_reading_goes_on_with_the_next_record(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second", b"third", b"fourth"))
    whole[21] ^= 1
    path.write_bytes(whole)
    sentence = "22 bytes are no readable record and are skipped, up to byte 43."
    assert everything(Tail(str(path))) == ([b"first", b"third", b"fourth"], [0, 43, 64], [(21, sentence)])


def test_a_length_that_was_not_written_yet_is_read_when_it_is(tmp_path):
    path = tmp_path / "f"
    whole = records(b"first", b"second")
    # As a network file system shows pages that have not arrived.
    path.write_bytes(whole[:21] + bytes(len(whole) - 21))
    tail = Tail(str(path))
    assert everything(tail)[0] == [b"first"]
    path.write_bytes(whole)
    assert everything(tail) == ([b"second"], [21], [])


def test_where_no_record_follows_damage_reading_goes_on_once_one_does(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(b"first", b"second"))
    whole[21] ^= 1
    path.write_bytes(whole)
    tail = Tail(str(path))
    sentence = "What begins here is no readable record. Reading goes on where the next one begins."
    assert everything(tail) == ([b"first"], [0], [(21, sentence)])
    assert everything(tail) == ([], [], [])
    third = records(b"third")
    with open(path, "ab") as file:
        file.write(third[:-1])
    assert everything(tail) == ([], [], [])
    with open(path, "ab") as file:
        file.write(third[-1:])
    sentence = "22 bytes are no readable record and are skipped, up to byte 43."
    assert everything(tail) == ([b"third"], [43], [(21, sentence)])


def test_a_record_that_was_cut_short_in_the_middle_costs_none_behind_it(tmp_path):
    path = tmp_path / "f"
    cut = records(b"x" * 500)[:100]  # a writer died here, another one went on
    path.write_bytes(records(b"first") + cut + records(*[b"y" * 90] * 9))
    payloads, _, told = everything(Tail(str(path)))
    assert payloads == [b"first"] + [b"y" * 90] * 9
    assert told == [(21, "100 bytes are no readable record and are skipped, up to byte 121.")]


@pytest.mark.parametrize("behind", [0, 1, 5, 11, 12, 13])
def test_a_record_that_was_cut_short_costs_none_behind_it_whenever_it_is_looked_at(tmp_path, behind):
    path = tmp_path / "f"
    cut = records(b"x" * 200)
    begin, rest = records(b"first"), cut[:60] + records(*[b"y" * 24] * 9)
    path.write_bytes((begin + rest)[: len(begin + cut) + behind])
    tail = Tail(str(path))
    payloads, _, _ = everything(tail)
    path.write_bytes(begin + rest)
    assert payloads + everything(tail)[0] == [b"first"] + [b"y" * 24] * 9


def test_a_length_whose_checksum_matches_by_chance_is_no_record(tmp_path):
    path = tmp_path / "f"
    bad, decoy = bytearray(records(b"bad")), records(b"decoy" * 4)[:30]
    bad[0] ^= 1
    path.write_bytes(records(b"first") + bad + decoy + records(b"last"))
    payloads, _, told = everything(Tail(str(path)))
    assert payloads == [b"first", b"last"]
    assert told == [(21, "49 bytes are no readable record and are skipped, up to byte 70.")]


def test_the_search_for_a_record_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("zentracer_store.reading.tail.MOST_SEARCHED", 1 << 20)
    path = tmp_path / "f"
    noise = random.Random(1).randbytes((1 << 20) + 5000)
    path.write_bytes(records(b"first") + noise + records(b"last"))
    tail = Tail(str(path))
    sentence = "What begins here is no record, nor does one begin within 1 MB. The rest, 1,053,596 bytes, is not read."
    assert everything(tail) == ([b"first"], [0], [(21, sentence)])
    asked = []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, count, offset: asked.append(count) or real(fd, count, offset))
    with open(path, "ab") as file:
        file.write(records(b"more"))
    assert everything(tail, 4096) == ([], [], [])
    assert sum(asked) < 10_000  # what was searched once is not searched again


def test_many_headers_that_are_none_cost_a_bounded_search_over_several_looks(tmp_path, monkeypatch):
    monkeypatch.setattr("zentracer_store.reading.resync.SPENT_AT_ONCE", 1 << 20)
    monkeypatch.setattr("zentracer_store.reading.resync.MOST_SPENT", 4 << 20)
    path = tmp_path / "f"
    claims = 500_000
    path.write_bytes(records(b"first") + b"\xff" * 12 + header(claims) * 1000 + b"\xee" * claims + records(b"last"))
    tail, asked, looks, told = Tail(str(path)), [], 0, []
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, count, offset: asked.append(count) or real(fd, count, offset))
    while tail.differs(os.stat(path)):
        looks += 1
        told += everything(tail)[2]
    size = path.stat().st_size
    text = "What begins here is no readable record, and too much behind it only looks like one."
    assert told == [(21, f"{text} The rest, {size - 21:,} bytes, is not read.")]
    assert 3 <= looks <= 5
    assert sum(asked) < (4 << 20) + claims + 4 * looks * size  # and not a thousand times what they claim
    with open(path, "ab") as file:
        file.write(b"more")
    assert everything(tail) == ([], [], [])


def test_a_search_that_was_interrupted_finds_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr("zentracer_store.reading.resync.SPENT_AT_ONCE", 1 << 20)
    path = tmp_path / "f"
    path.write_bytes(b"\xff" * 12 + header(500_000) * 10 + records(b"found") + b"\xee" * 500_000)
    tail, payloads = Tail(str(path)), []
    while tail.differs(os.stat(path)):
        tail = resumed(tail)
        payloads += everything(tail)[0]
    assert payloads == [b"found"]


def test_a_record_behind_damage_that_is_longer_than_what_is_there_yet_is_read_once_it_is_whole(tmp_path):
    path = tmp_path / "f"
    bad, long = bytearray(records(b"bad")), records(b"x" * 5000)
    bad[0] ^= 1
    path.write_bytes(bad + long[:100])
    tail = Tail(str(path))
    assert everything(tail)[0] == []
    path.write_bytes(bad + long + records(b"last"))
    assert everything(tail)[0] == [b"x" * 5000, b"last"]


@settings(max_examples=80, deadline=None)
@given(PAYLOADS, st.binary(min_size=1, max_size=300), PAYLOADS, st.sampled_from([16, 64, 1000]))
def test_any_bytes_between_records_cost_no_record(tmp_path_factory, before, noise, behind, most):
    path = tmp_path_factory.mktemp("tail") / "f"
    path.write_bytes(records(*before) + b"\xff" * 12 + noise + records(*behind))
    os.utime(path, (1, 1))
    payloads, _, told = everything(Tail(str(path)), most)
    assert payloads == before + behind
    assert len(told) == 1


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=4000), st.sampled_from([16, 64, 1000]))
def test_bytes_that_are_no_records_give_none_and_reading_ends(tmp_path_factory, noise, most):
    path = tmp_path_factory.mktemp("tail") / "f"
    path.write_bytes(noise)
    assert everything(Tail(str(path)), most)[0] == []


def old(path):
    """A file that nobody has written to for long."""
    os.utime(path, (1, 1))
    return Tail(str(path))


def test_a_hole_between_records_is_jumped_over(tmp_path):
    path = tmp_path / "f"
    with open(path, "wb") as file:
        file.write(records(b"first"))
        file.seek(1 << 40)
        file.write(records(b"last" * 64))  # its length begins with a zero
    payloads, offsets, told = everything(old(path))
    assert payloads == [b"first", b"last" * 64]
    assert offsets == [0, 1 << 40]
    assert told == [
        (21, "1,099,511,627,755 bytes are no readable record and are skipped, up to byte 1,099,511,627,776.")
    ]


def test_a_hole_in_a_file_that_is_written_may_still_be_filled(tmp_path):
    path = tmp_path / "f"
    whole = records(b"first", b"second", b"third")
    path.write_bytes(whole[:21] + bytes(22) + whole[43:])
    tail = Tail(str(path))
    assert everything(tail) == ([b"first"], [0], [])
    assert tail.differs(os.stat(path))
    with open(path, "r+b") as file:
        file.write(whole)
    assert everything(tail) == ([b"second", b"third"], [21, 43], [])


def test_zeros_without_end_are_told_and_waited_for(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first") + bytes(100))
    tail = old(path)
    assert everything(tail) == ([b"first"], [0], [(21, "From here on the file holds zeros, 100 so far.")])


def test_a_torn_record_is_told_where_nobody_writes_any_more(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first", b"second")[:-3])
    assert everything(Tail(str(path))) == ([b"first"], [0], [])
    sentence = "The last record is not whole (19 bytes of it are there). It is waited for."
    tail = old(path)
    assert everything(tail) == ([b"first"], [0], [(21, sentence)])
    path.write_bytes(records(b"first", b"second"))
    assert everything(tail) == ([b"second"], [21], [])


def test_a_last_record_with_a_wrong_checksum_is_told_where_nobody_writes_any_more(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(b"first", b"second")[:-1] + b"!")
    assert everything(Tail(str(path))) == ([b"first"], [0], [])
    sentence = "The data of the last record does not match its checksum. It is waited for."
    assert everything(old(path)) == ([b"first"], [0], [(21, sentence)])


@pytest.mark.parametrize("cut", [records(b"x" * 5000)[:100], header(1 << 40), header(1 << 62) + b"x" * 50])
def test_behind_a_last_record_that_never_became_whole_reading_goes_on_once_nobody_writes(tmp_path, cut):
    path = tmp_path / "f"
    path.write_bytes(records(b"first") + cut + records(b"second", b"third"))
    assert everything(Tail(str(path))) == ([b"first"], [0], [])
    end = 21 + len(cut)
    sentence = f"{len(cut)} bytes are no readable record and are skipped, up to byte {end}."
    tail = old(path)
    assert everything(tail) == ([b"first", b"second", b"third"], [0, end, end + 22], [(21, sentence)])
    with open(path, "ab") as file:
        file.write(records(b"y" * 6000, b"last"))  # beyond where the one that was cut short claims to end
    assert everything(tail)[0] == [b"y" * 6000, b"last"]


def test_behind_a_last_record_with_a_wrong_checksum_reading_goes_on_once_nobody_writes(tmp_path):
    path = tmp_path / "f"
    whole = records(b"first") + records(b"x" * 64)[:36] + records(b"second", b"third")
    path.write_bytes(whole + bytes(21 + 80 - len(whole)))  # as many bytes as it claims
    payloads, _, told = everything(old(path))
    assert payloads == [b"first", b"second", b"third"]
    assert told[0] == (21, "36 bytes are no readable record and are skipped, up to byte 57.")


def test_behind_damage_and_a_record_that_never_became_whole_reading_goes_on_once_nobody_writes(tmp_path):
    path = tmp_path / "f"
    bad = bytearray(records(b"bad"))
    bad[0] ^= 1
    path.write_bytes(bad + header(5000) + header(6000) + records(b"last"))
    assert everything(Tail(str(path)))[0] == []
    payloads, _, told = everything(old(path))
    assert payloads == [b"last"]
    assert told == [(0, "43 bytes are no readable record and are skipped, up to byte 43.")]


def test_a_record_that_nothing_was_found_behind_is_read_once_it_is_whole_after_all(tmp_path):
    path = tmp_path / "f"
    bad, whole = bytearray(records(b"bad")), records(b"x" * 500, b"last")
    bad[0] ^= 1
    for before in (b"", bytes(bad)):
        path.write_bytes(before + whole[:100])
        tail = old(path)
        assert everything(tail)[0] == []
        path.write_bytes(before + whole)
        assert everything(resumed(tail))[0] == [b"x" * 500, b"last"]


def test_a_file_that_lacks_something_is_looked_at_again_when_it_is_quiet(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(records(b"first") + header(5000) + records(b"last"))
    tail = Tail(str(path))
    assert everything(tail)[0] == [b"first"]
    status = os.stat(path)
    assert not tail.differs(status)
    later = status.st_mtime + QUIET_S + 1
    monkeypatch.setattr("time.time", lambda: later)
    assert resumed(tail).differs(status)
    assert everything(tail)[0] == [b"last"]
    assert not tail.differs(status)


def test_an_empty_file_is_told_once_it_is_old(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"")
    assert everything(Tail(str(path))) == ([], [], [])
    assert everything(old(path)) == ([], [], [(0, "The file is empty.")])


def test_a_file_that_says_its_version_only_is_told_once_it_is_old(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(schema.file_version_event(1.0)))
    assert everything(Tail(str(path)))[2] == []
    assert everything(old(path))[2] == [(0, "The file says its version and holds nothing else.")]
    marker = path.rename(tmp_path / "events.out.tfevents.1700000000.host.profile-empty")
    assert everything(old(marker))[2] == []  # as TensorFlow's profiler means it


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n",
            "The file is a pointer of Git LFS, not its content: `git lfs pull` fetches that.",
        ),
        (gzip.compress(records(b"first")), "The file is compressed with gzip: unpack it to have it read."),
        (bz2.compress(records(b"first")), "The file is compressed with bzip2: unpack it to have it read."),
        (lzma.compress(records(b"first")), "The file is compressed with xz: unpack it to have it read."),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "The file is compressed with zstd: unpack it to have it read."),
        (b"PK\x03\x04" + bytes(20), "The file is a zip archive: unpack it to have it read."),
        (b"step,loss\n0,1.5\n1,1.4\n", "The file holds text, no records of events."),
    ],
    ids=["lfs", "gzip", "bzip2", "xz", "zstd", "zip", "text"],
)
def test_a_file_of_another_sort_is_told_as_what_it_is(tmp_path, content, sentence):
    path = tmp_path / "f"
    path.write_bytes(content)
    tail = Tail(str(path))
    assert everything(tail) == ([], [], [(0, sentence)])
    path.write_bytes(records(b"first"))
    assert everything(tail)[0] == [b"first"]


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


ALIKE = [b"%03d" % number for number in range(100)]
OTHER = [*ALIKE[:50], b"xyz", *ALIKE[51:]]  # begins and ends like the other, and is as long


@pytest.mark.parametrize("behind", [[], [b"more"]])
def test_another_file_that_begins_and_ends_alike_is_read_anew(tmp_path, behind):
    path = tmp_path / "f"
    path.write_bytes(records(*ALIKE))
    tail = Tail(str(path))
    everything(tail)
    (tmp_path / "g").write_bytes(records(*OTHER, *behind))
    os.replace(tmp_path / "g", path)
    assert resumed(tail).goes_on() is False
    batch = tail.read()
    assert batch.restarted
    assert [payload for _, payload in batch.records] == OTHER + behind
    assert tail.goes_on()


def test_a_file_that_was_written_over_in_its_place_is_read_anew(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(*ALIKE))
    tail = Tail(str(path))
    everything(tail)
    path.write_bytes(records(*OTHER))
    os.utime(path, (1, 1))
    assert not tail.goes_on()
    assert [payload for _, payload in tail.read().records] == OTHER


def test_a_damaged_record_that_was_repaired_is_read(tmp_path):
    path = tmp_path / "f"
    whole = bytearray(records(*ALIKE))
    whole[50 * 19 + 12] ^= 1
    path.write_bytes(whole)
    tail = Tail(str(path))
    assert everything(tail)[0] == ALIKE[:50] + ALIKE[51:]
    path.write_bytes(records(*ALIKE))
    os.utime(path, (1, 1))
    assert everything(tail)[0] == ALIKE


def test_a_file_that_was_only_touched_or_copied_is_not_read_again(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(records(*ALIKE))
    tail = Tail(str(path))
    everything(tail)
    os.utime(path, (1, 1))
    assert everything(resumed(tail))[0] == everything(tail)[0] == []
    (tmp_path / "g").write_bytes(records(*ALIKE))
    os.replace(tmp_path / "g", path)
    assert tail.goes_on()
    assert everything(tail) == ([], [], [])


@pytest.mark.parametrize("how", ["gone", "fifo"])
def test_a_file_that_cannot_be_read_any_more_does_not_go_on(tmp_path, how):
    path = tmp_path / "f"
    path.write_bytes(records(b"first"))
    tail = Tail(str(path))
    everything(tail)
    path.unlink()
    if how == "fifo":
        os.mkfifo(path)
    assert not tail.goes_on()


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
