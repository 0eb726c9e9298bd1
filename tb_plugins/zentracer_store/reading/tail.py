"""Reads the records of one growing file, from where it stopped the last time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, parse_length
from zentracer_store.reading.checksums import footers_ok
from zentracer_store.reading.fingerprint import Fingerprint
from zentracer_store.reading.frames import Scan, scan
from zentracer_store.reading.records import Records
from zentracer_store.reading.resync import MOST_SEARCHED, Search, data_after
from zentracer_store.reading.strangers import stranger

LARGEST_RECORD = 1 << 30
READ_BYTES = 4 << 20
"""Bytes asked of the file at a time. A longer record is read whole, once all of it is there."""

QUIET_S = 60.0
"""A file that did not change for so long is not being written: what it lacks will hardly come."""

HOLE_S = 10.0
"""A hole in a file that changed within this time is waited for: a network file system shows pages out of order."""

_HEAD = 256
_JUNCTION = 16
_BARE = 100  # bytes of a file that holds its version and nothing else
_NOTHING_LOST = frozenset({"torn", "empty", "bare"})
_MARKER = ".profile-empty"  # by a file of this name, which is meant to be bare, TensorFlow's profiler marks a run


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that hold no readable record: where, and a sentence that says what was done about it.

    With `lost` there was something in them; else they are not there, or not yet.
    """

    offset: int
    text: str
    lost: bool = field(default=True, compare=False)


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
    does not match its checksum is left out; where a record's length does not match its own checksum the next readable
    record is looked for. No more memory is taken than the file has bytes, whatever a length says.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.size = 0
        self._seen: tuple[int, int, int] | None = None
        self._due: float | None = None  # the time at which the file is quiet, if it lacks something
        self._known: tuple[int, int, int] | None = None  # as `_seen`, but of the last read whatever that left
        self._head = b""
        self._junction = b""
        self._fingerprint = Fingerprint()
        self._told: set[tuple[int, str]] = set()
        self._search = Search()  # for a record behind what stands at `offset`

    def state(self) -> dict[str, Any]:
        """Where it stands and what the file looked like there, as JSON can hold it."""
        return {
            "offset": self.offset,
            "size": self.size,
            "told": sorted(self._told),
            "search": asdict(self._search),
            "seen": self._seen,
            "due": self._due,
            "known": self._known,
            "head": self._head.hex(),
            "junction": self._junction.hex(),
            "fingerprint": asdict(self._fingerprint),
        }

    @classmethod
    def resume(cls, path: str, state: Mapping[str, Any]) -> Tail:
        """A tail that goes on where `state` was taken, and finds out if the file is another one since."""
        tail = cls(path)
        tail.offset, tail.size, tail._search = state["offset"], state["size"], Search(**state["search"])
        tail._told = {(where, about) for where, about in state["told"]}
        tail._seen = None if state["seen"] is None else tuple(state["seen"])
        tail._known = None if state["known"] is None else tuple(state["known"])
        tail._due = state["due"]
        tail._head, tail._junction = bytes.fromhex(state["head"]), bytes.fromhex(state["junction"])
        tail._fingerprint = Fingerprint(**state["fingerprint"])
        return tail

    def differs(self, status: os.stat_result) -> bool:
        """Whether the file is not as it was when it was last read to its end, or what it lacks is not to be waited for
        any longer."""
        return _identity(status) != self._seen or (self._due is not None and time.time() > self._due)

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
        with _opened(self.path) as (descriptor, status):
            batch = Batch()
            if self._was_replaced(descriptor, status):
                batch.restarted = True
                batch.damage.append(self._restart(status.st_size))
            self.size = status.st_size
            age = abs(time.time() - status.st_mtime)
            waits = self._take(descriptor, most, batch, age)
            self._remember(descriptor, status)
        self._seen = None if batch.more or waits else _identity(status)
        self._due = status.st_mtime + QUIET_S if self.offset < self.size and age <= QUIET_S else None
        return batch

    def goes_on(self) -> bool:
        """Whether the file is still the one that was read, perhaps grown; False, too, where it can't be read."""
        try:
            if _identity(os.stat(self.path)) == self._seen:
                return True
            with _opened(self.path) as (descriptor, status):
                return not self._was_replaced(descriptor, status)
        except (OSError, Unreadable):
            return False

    def _was_replaced(self, descriptor: int, status: os.stat_result) -> bool:
        start = max(self.offset - _JUNCTION, 0)
        return (
            status.st_size < self.offset
            or os.pread(descriptor, len(self._head), 0) != self._head
            or os.pread(descriptor, len(self._junction), start) != self._junction
            or (self._is_suspect(status) and not self._fingerprint.matches(descriptor))
        )

    def _is_suspect(self, status: os.stat_result) -> bool:
        """Whether the file did more than grow: it is another one by that name, or was written to and is no longer."""
        if self._known is None:
            return False
        inode, size, changed = self._known
        return status.st_ino != inode or (status.st_size <= size and status.st_mtime_ns != changed)

    def _restart(self, size: int) -> Damage:
        what = f"shrank from {self.offset:,} to {size:,} bytes" if size < self.offset else "was replaced by another"
        self.offset, self._search, self._fingerprint = 0, Search(), Fingerprint()
        self._told.clear()
        return Damage(0, f"The file {what} while it was followed. It is read anew from its beginning.", False)

    def _remember(self, descriptor: int, status: os.stat_result) -> None:
        self._head = os.pread(descriptor, min(_HEAD, self.offset), 0)
        start = max(self.offset - _JUNCTION, 0)
        self._junction = os.pread(descriptor, self.offset - start, start)
        self._fingerprint.extend(descriptor, self.offset)
        self._known = _identity(status)

    def _take(self, descriptor: int, most: int, batch: Batch, age: float) -> bool:
        """Read on. Says whether to look again though the file does not change."""
        data, found = self._look(descriptor, most)
        begin = self.offset
        self._keep(data, found, batch)
        at_end = self.offset - begin == found.end
        if self.offset > begin:
            self._search.passed(self.offset - begin)
        if not at_end:  # its last record is not to be trusted, and may still be on its way
            if not found.damaged:
                text = "The data of the last record does not match its checksum. It is waited for."
                return self._wait(descriptor, batch, age, text)
            batch.more = self.offset > begin
            return False if batch.more else self._step_over(descriptor, batch, age, self.offset + HEADER_BYTES)
        if found.damaged:
            batch.more = self.offset > begin
            return False if batch.more else self._step_over(descriptor, batch, age, self.offset + 1)
        if found.length is not None:
            return self._await(found.length, descriptor, batch, age)
        batch.more = self.offset > begin and begin + len(data) < self.size
        if self.offset < self.size and not batch.more and age > QUIET_S:
            self._tell(batch, self.offset, "torn", self._torn())
        self._tell_bare(found, batch, age)
        return False

    def _look(self, descriptor: int, most: int) -> tuple[bytes, Scan]:
        """Bytes from here on and the records in them, with a view to the header behind these."""
        data = os.pread(descriptor, min(most, self.size - self.offset), self.offset)
        found = scan(data)
        if not len(found.starts) and found.length is not None:
            whole = HEADER_BYTES + found.length + FOOTER_BYTES
            if self.offset + whole <= self.size and found.length <= LARGEST_RECORD:
                data = os.pread(descriptor, whole, self.offset)
                found = scan(data)
        if found.length is None and not found.damaged:
            behind = os.pread(descriptor, HEADER_BYTES, self.offset + found.end)
            if len(behind) == HEADER_BYTES and parse_length(behind) is None:
                found = replace(found, damaged=True)
        return data, found

    def _keep(self, data: bytes, found: Scan, batch: Batch) -> None:
        """Hand over the records whose data is sound and tell of the others, up to a last one that is in doubt."""
        ok = footers_ok(data, found.starts, found.lengths)
        count, end = len(ok), found.end
        # Too few bytes behind it for a header that would bear out where it ends.
        last = self.offset + end + HEADER_BYTES > self.size
        doubtful = count > 0 and not ok[-1] and (found.damaged or last)
        if doubtful:
            count -= 1
            end = int(found.starts[-1]) - HEADER_BYTES
        for place in np.flatnonzero(~ok[:count]).tolist():
            where = self.offset + int(found.starts[place]) - HEADER_BYTES
            length = int(found.lengths[place])
            self._tell(batch, where, "data", f"The record's data ({length:,} bytes) is damaged and is skipped.")
        starts, lengths = found.starts[:count][ok[:count]], found.lengths[:count][ok[:count]]
        batch.records = Records(data, self.offset + starts - HEADER_BYTES, starts, lengths)
        self.offset += end

    def _await(self, length: int, descriptor: int, batch: Batch, age: float) -> bool:
        """What to do about a record that was not read whole. Says whether to look again though nothing changes."""
        whole = HEADER_BYTES + length + FOOTER_BYTES
        if self.offset + whole > self.size:
            return self._wait(descriptor, batch, age, self._torn())
        if length > LARGEST_RECORD:
            text = f"The record has {length:,} bytes, over the limit of 1 GiB, and is skipped."
            self._tell(batch, self.offset, "large", text)
            self.offset += whole
        batch.more = True
        return False

    def _wait(self, descriptor: int, batch: Batch, age: float, text: str) -> bool:
        """What to do about a last record that is not whole or not sound: wait for the rest of it while the file is
        written, then go to a record behind its header, or tell that there is none."""
        if age <= QUIET_S:
            return False
        begin = self.offset
        paused = self._search_from(begin + HEADER_BYTES, descriptor, batch, age)
        if self.offset == begin and not paused and not self._search.given_up:
            self._tell(batch, begin, "torn", text)
        return paused

    def _step_over(self, descriptor: int, batch: Batch, age: float, start: int) -> bool:
        """Go to the next record behind bytes that are none, which begin here."""
        where, begin = self.offset, os.pread(descriptor, _HEAD, self.offset)
        if where == 0 and (sentence := stranger(begin)):
            self._tell(batch, 0, "stranger", sentence)
            return False
        if not any(begin[:HEADER_BYTES]):
            data = data_after(descriptor, where, self.size)
            if data is None or data == self.size:
                self._tell(batch, where, "zeros", f"From here on the file holds zeros, {self.size - where:,} so far.")
                return False
            if age < HOLE_S:
                return True
            start = max(start, data - HEADER_BYTES)  # a length may begin with zeros
        paused = self._search_from(start, descriptor, batch, age)
        if self.offset == where and not paused and not self._search.given_up:
            self._tell_not_found(batch, min(self.size, start + MOST_SEARCHED))
        return paused

    def _search_from(self, start: int, descriptor: int, batch: Batch, age: float) -> bool:
        """Go to the next record that begins at `start` or behind it, if there is one. Says whether to look again."""
        where, search = self.offset, self._search
        search.to = max(search.to, start)
        last = min(self.size, start + MOST_SEARCHED)
        at = None if search.given_up else search.find(descriptor, last, self.size, quiet=age > QUIET_S)
        if at is not None:
            self.offset = at
            search.passed(at - where)
            batch.more = True
            text = f"{at - where:,} bytes are no readable record and are skipped, up to byte {at:,}."
            self._tell(batch, where, "skipped", text)
        elif search.given_up:
            text = "What begins here is no readable record, and too much behind it only looks like one."
            self._tell(batch, where, "lost", f"{text} The rest, {self.size - where:,} bytes, is not read.")
        return search.paused

    def _tell_not_found(self, batch: Batch, last: int) -> None:
        """Tell that no record begins up to `last`, and whether one may yet come there."""
        where = self.offset
        if last < self.size and self._search.to + HEADER_BYTES > last:
            text = f"What begins here is no record, nor does one begin within {MOST_SEARCHED >> 20} MB. The rest, "
            self._tell(batch, where, "lost", f"{text}{self.size - where:,} bytes, is not read.")
        else:
            text = "What begins here is no readable record. Reading goes on where the next one begins."
            self._tell(batch, where, "length", text)

    def _torn(self) -> str:
        return f"The last record is not whole ({self.size - self.offset:,} bytes of it are there). It is waited for."

    def _tell_bare(self, found: Scan, batch: Batch, age: float) -> None:
        if age > QUIET_S and self.offset == self.size:
            if not self.size:
                self._tell(batch, 0, "empty", "The file is empty.")
            elif self._is_bare(found, batch) and not self.path.endswith(_MARKER):
                self._tell(batch, 0, "bare", "The file says its version and holds nothing else.")

    def _is_bare(self, found: Scan, batch: Batch) -> bool:
        return self.size < _BARE and len(found.starts) == 1 and b"brain.Event" in batch.records.data

    def _tell(self, batch: Batch, where: int, about: str, text: str) -> None:
        if (where, about) not in self._told:
            self._told = {told for told in self._told if told[0] >= self.offset} | {(where, about)}
            batch.damage.append(Damage(where, text, about not in _NOTHING_LOST))


def unreadable(error: OSError) -> str:
    """The sentence for a file that the system refuses."""
    return f"The file can't be read ({error.strerror})."


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def _opened(path: str) -> Iterator[tuple[int, os.stat_result]]:
    """A descriptor of a regular file, and what the system says of it."""
    # Without O_NONBLOCK, a FIFO put there in this instant would hold us up for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        _check_regular(status)
        yield descriptor, status
    finally:
        os.close(descriptor)


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a directory"}
        name = kind.get(stat.S_IFMT(status.st_mode), "a device")
        raise Unreadable(f"The file is {name}, not a regular file, and is not read.")
