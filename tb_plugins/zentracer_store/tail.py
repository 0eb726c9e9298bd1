"""Reads the records of one growing file, from where it stopped the last time."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, footer_ok, parse_length
from zentracer_store.records import Records

LARGEST_RECORD = 1 << 30
READ_BYTES = 2 << 20
"""Bytes asked of the file at a time. A longer record is read whole, once all of it is there."""

_HEAD = 256
_JUNCTION = 16


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that hold no readable record: where, and a sentence that says what was done about it."""

    offset: int
    text: str


@dataclass
class Batch:
    """What one look at a file brought. With `restarted`, everything read from the file before is void."""

    records: Records = field(default_factory=Records)
    damage: list[Damage] = field(default_factory=list)
    restarted: bool = False
    more: bool = False
    """More whole records may be had at once."""


class Unreadable(Exception):
    """The file can't be read at all now; the message is a sentence."""


class Tail:
    """Position in one file, and what it looked like there.

    Holds no descriptor: a thousand quiet runs cost none. A record that is not whole yet is waited for; one whose data
    does not match its checksum is left out; where a record's length does not match its own checksum reading stops
    until the file changes.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.size = 0
        self._seen: tuple[int, int, int] | None = None
        self._head = b""
        self._junction = b""
        self._told = -1

    def state(self) -> dict[str, Any]:
        """Where it stands and what the file looked like there, as JSON can hold it."""
        return {
            "offset": self.offset,
            "size": self.size,
            "told": self._told,
            "seen": self._seen,
            "head": self._head.hex(),
            "junction": self._junction.hex(),
        }

    @classmethod
    def resume(cls, path: str, state: Mapping[str, Any]) -> Tail:
        """A tail that goes on where `state` was taken, and finds out if the file is another one since."""
        tail = cls(path)
        tail.offset, tail.size, tail._told = state["offset"], state["size"], state["told"]
        tail._seen = None if state["seen"] is None else tuple(state["seen"])
        tail._head, tail._junction = bytes.fromhex(state["head"]), bytes.fromhex(state["junction"])
        return tail

    def differs(self, status: os.stat_result) -> bool:
        """Whether the file is not as it was when it was last read to its end."""
        return _identity(status) != self._seen

    def read(self, most: int = READ_BYTES) -> Batch:
        """The whole records after the last one, about `most` bytes of them.

        Raises:
            Unreadable: the file is gone, is no regular file, or the system refuses it.
        """
        try:
            return self._read(most)
        except OSError as error:
            self._seen = None
            raise Unreadable(unreadable(error)) from error

    def _read(self, most: int) -> Batch:
        status = os.stat(self.path)
        _check_regular(status)
        if not self.differs(status):
            return Batch()
        # Without O_NONBLOCK, a FIFO put there in this instant would hold us up for ever.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            _check_regular(status)
            batch = Batch()
            if self._was_replaced(descriptor, status.st_size):
                batch.restarted = True
                batch.damage.append(self._restart(status.st_size))
            self.size = status.st_size
            self._take(descriptor, most, batch)
            self._remember(descriptor)
        finally:
            os.close(descriptor)
        self._seen = None if batch.more else _identity(status)
        return batch

    def _was_replaced(self, descriptor: int, size: int) -> bool:
        if size < self.offset:
            return True
        start = max(self.offset - _JUNCTION, 0)
        return (
            os.pread(descriptor, len(self._head), 0) != self._head
            or os.pread(descriptor, len(self._junction), start) != self._junction
        )

    def _restart(self, size: int) -> Damage:
        what = f"shrank from {self.offset:,} to {size:,} bytes" if size < self.offset else "was replaced by another"
        self.offset = 0
        self._told = -1
        return Damage(0, f"The file {what} while it was followed. It is read anew from its beginning.")

    def _remember(self, descriptor: int) -> None:
        self._head = os.pread(descriptor, min(_HEAD, self.offset), 0)
        start = max(self.offset - _JUNCTION, 0)
        self._junction = os.pread(descriptor, self.offset - start, start)

    def _take(self, descriptor: int, most: int, batch: Batch) -> None:
        data = os.pread(descriptor, min(most, self.size - self.offset), self.offset)
        found: list[tuple[int, bytes]] = []
        at = 0  # position in `data`; self.offset is that of `data` in the file
        while at + HEADER_BYTES <= len(data):
            length = parse_length(data[at : at + HEADER_BYTES])
            where = self.offset + at
            if length is None:
                self._tell(batch, where, "The record's length is damaged. Reading stops here until the file changes.")
                break
            end = at + HEADER_BYTES + length + FOOTER_BYTES
            if self.offset + end > self.size:
                break  # not all of it is written yet
            if length > LARGEST_RECORD:
                self._tell(batch, where, f"The record has {length:,} bytes, over the limit of 1 GiB, and is skipped.")
                at = end
                batch.more = True
                break
            if end > len(data):
                if at:
                    batch.more = True
                    break
                data = os.pread(descriptor, end, self.offset)
                if len(data) < end:
                    break  # shrank meanwhile; the next look finds out
            payload = data[at + HEADER_BYTES : end - FOOTER_BYTES]
            if footer_ok(payload, data[end - FOOTER_BYTES : end]):
                found.append((where, payload))
            elif self.offset + end == self.size:
                break  # the last record: its bytes may still be on their way
            else:
                self._tell(batch, where, f"The record's data ({length:,} bytes) is damaged and is skipped.")
            at = end
        else:
            batch.more = at > 0 and self.offset + len(data) < self.size
        self.offset += at
        batch.records = Records.of(found)

    def _tell(self, batch: Batch, where: int, text: str) -> None:
        if where > self._told:
            self._told = where
            batch.damage.append(Damage(where, text))


def unreadable(error: OSError) -> str:
    """The sentence for a file that the system refuses."""
    return f"The file can't be read ({error.strerror})."


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a directory"}
        name = kind.get(stat.S_IFMT(status.st_mode), "a device")
        raise Unreadable(f"The file is {name}, not a regular file, and is not read.")
