"""What the log reader must hold to on any bytes. Each target takes a fuzzer's bytes and makes a log of them.

`python -m tests.fuzz` runs them for long, by atheris where it is installed; a bounded run is among the tests.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Callable, Iterator

import numpy as np

import zentracer_schema as schema
from tests.logs import EVENTS, parameters, table
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading import bulk
from zentracer_store.reading.records import Records
from zentracer_store.reading.tail import Tail

SPEC = parameters(["w"])
PAYLOADS = (
    schema.file_version_event(1.0),
    schema.session_start_event(1.0, 3),
    schema.session_stop_event(1.0, 3),
    schema.scalar_event(1.0, 5, {"loss": 0.5}),
    schema.scalar_event(2.0, 500, {"loss": 0.5, "rate": 1.0}),
    schema.Event(wall_time=3.0, step=7, summary={"value": [{"tag": "a", "simple_value": 2.0}]}).SerializeToString(),
    schema.table_event(1.0, 5, SPEC, table(1), with_spec=True),
    schema.table_event(1.0, 6, SPEC, table(1), with_spec=False),
    schema.message_event(1.0, 0, "session", "model", {"id": "one"}),
)
MOST_BYTES = 4096


class Script:
    """Reads a fuzzer's bytes as instructions; behind their end there are zeros."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def __iter__(self) -> Iterator[int]:
        """One instruction after the other."""
        while self.at < len(self.data):
            yield self.byte()

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at].ljust(count, b"\0")


def file_of(data: bytes) -> bytes:
    """A file of sound records, cut ones, damaged ones, holes, lengths that lie, and anything."""
    script, made = Script(data), bytearray()
    for instruction in script:
        payload = script.take(script.byte())
        match instruction % 7:
            case 0 | 1:
                made += schema.frame(payload)
            case 2:
                whole = schema.frame(payload)
                made += whole[: script.byte() % (len(whole) + 1)]
            case 3:
                whole = bytearray(schema.frame(payload))
                whole[script.byte() % len(whole)] ^= 1 << script.byte() % 8
                made += whole
            case 4:
                made += bytes(len(payload))
            case 5:
                length = script.take(8)
                made += length + struct.pack("<I", schema.masked_crc(length)) + payload
            case 6:
                made += payload
        if len(made) > MOST_BYTES:
            break
    return bytes(made)


def check_framing(data: bytes) -> None:
    """Reading ends, gives records that are there, in order, and the same whatever is asked for at a time."""
    content = file_of(data)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "f")
        with open(path, "wb") as file:
            file.write(content)
        os.utime(path, (1, 1))
        answers = [_read(path, content, most) for most in (16, 100, 1 << 20)]
    assert answers[0] == answers[1] == answers[2]
    assert set(_sound_from_the_start(content)) <= set(answers[0])


def _read(path: str, content: bytes, most: int) -> list[tuple[int, bytes]]:
    tail, found, before = Tail(path), [], -1
    while True:
        batch = tail.read(most)
        found += list(batch.records)
        if not batch.more:
            break
        assert tail.offset > before, "reading does not get on"
        before = tail.offset
    end = 0
    for offset, payload in found:
        assert offset >= end
        whole = schema.frame(payload)
        end = offset + len(whole)
        assert content[offset:end] == whole
    return found


def _sound_from_the_start(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The records up to the first damage."""
    at = 0
    while at + 16 <= len(content):
        length = schema.parse_length(content[at : at + 12])
        if length is None or at + 16 + length > len(content):
            return
        payload = content[at + 12 : at + 12 + length]
        if not schema.footer_ok(payload, content[at + 12 + length : at + 16 + length]):
            return
        yield at, payload
        at += 16 + length


def payloads_of(data: bytes) -> list[bytes]:
    """Payloads of events, sound ones and changed ones, many of them alike but for their numbers."""
    script = Script(data)
    made = [PAYLOADS[3]]
    for instruction in script:
        last = bytearray(made[-1])
        match instruction % 5:
            case 0:
                made.append(PAYLOADS[script.byte() % len(PAYLOADS)])
            case 1:
                for number in range(script.byte() % 20):
                    made.append(bytes(last[:-4]) + struct.pack("<f", number))
            case 2:
                if last:
                    last[script.byte() % len(last)] = script.byte()
                made += [bytes(last)] * (1 + script.byte() % 8)
            case 3:
                if len(last) >= 9:
                    last[1:9] = script.take(8)
                made += [bytes(last)] * (1 + script.byte() % 8)
            case 4:
                made.append(script.take(script.byte()))
        if len(made) > 400:
            break
    return made


class _Parser(bulk.Bulk):
    """Leaves all records to the parser."""

    def find(self, records: Records) -> tuple[list[bulk.Found], bulk.Array]:
        return [], np.arange(len(records))


def check_events(data: bytes) -> None:
    """Whatever the records hold, none fails, and taking scalars in bulk gives what parsing each gives."""
    payloads = payloads_of(data)
    fast, slow = FileContents(EVENTS), FileContents(EVENTS)
    slow._bulk = _Parser()
    for contents in (fast, slow):
        contents.feed(Records.of((100 * number, payload) for number, payload in enumerate(payloads)))
    assert fast.head() == slow.head()
    for (name, one), (_, other) in zip(fast.columns(), slow.columns(), strict=True):
        assert one.part(0, len(one)).tobytes() == other.part(0, len(other)).tobytes(), name


TARGETS: dict[str, Callable[[bytes], None]] = {"framing": check_framing, "events": check_events}
