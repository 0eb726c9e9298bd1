"""Reads the files of a run as TensorBoard's two loaders do, to know where they stop and what they see.

What the loaders do was observed on TensorBoard 2.20 and 2.21; a test holds it against real ones. *Python loader* is
what runs with `--load_fast=false` and where there is no data server; *data server* is what runs else.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, FormatError, parse_length
from zentracer_schema.messages import SESSION_START
from zentracer_store.contents.growing import Array
from zentracer_store.examining.facts import Fact, fact_of, fits
from zentracer_store.reading.decode import parse_event
from zentracer_store.reading.tail import Tail, Unreadable

_LARGEST_REREAD = 64 << 20
_VERSION, _TRUSTS_STARTS = "brain.Event:", 2


@dataclass(frozen=True)
class Stop:
    """Where a loader stops reading a file for good: so many of its values and marks stand before that."""

    values: int
    marks: int
    offset: int
    why: str


@dataclass(frozen=True)
class Mark:
    """A record that says how the Python loader treats others: one that starts a session at `step`, or, where that is
    None, one that tells the file's version: `new` ones trust session starts. `values` are those before it."""

    values: int
    step: int | None = None
    new: bool = False


@dataclass
class Replay:
    """The values of one file in its order: number of the tag in `tags`, and step.

    `back` are the values whose event's step is smaller than that of the event before, `fits` what the data server can
    take each for, `finite` those with a wall time that it takes.
    """

    tags: dict[str, Fact] = field(default_factory=dict)
    tag: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    step: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    back: Array = field(default_factory=lambda: np.zeros(0, bool))
    fits: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    finite: Array = field(default_factory=lambda: np.zeros(0, bool))
    marks: list[Mark] = field(default_factory=list)
    writer: str = ""
    first_wall: float = math.inf
    last_wall: float = -math.inf
    python: Stop | None = None
    server: Stop | None = None
    kills_python: int | None = None
    """Offset of a record that ends the Python loader's only thread."""


def replay(path: str) -> Replay:
    """Read a file to its end. What can't be read ends it early."""
    reader = _Reader(path)
    tail = Tail(path)
    try:
        while True:
            batch = tail.read()
            damaged = [(damage.offset, None) for damage in batch.damage if damage.lost]
            for offset, payload in sorted([*batch.records, *damaged], key=lambda record: record[0]):
                if payload is None:
                    reader.damage(offset)
                else:
                    reader.take(offset, payload)
            if not batch.more:
                break
    except Unreadable:
        pass
    return reader.done()


class _Reader:
    def __init__(self, path: str) -> None:
        self._path = path
        self._out = Replay()
        self._numbers: dict[str, int] = {}
        self._tag: list[int] = []
        self._step: list[int] = []
        self._back: list[bool] = []
        self._fits: list[int] = []
        self._infinite: list[int] = []
        self._last_step: int | None = None

    def done(self) -> Replay:
        out = self._out
        out.tag, out.step = np.array(self._tag, np.uint32), np.array(self._step, np.int64)
        out.back, out.fits = np.array(self._back, bool), np.array(self._fits, np.uint8)
        out.finite = np.ones(len(out.tag), bool)
        out.finite[self._infinite] = False
        return out

    def damage(self, offset: int) -> None:
        """Bytes that are no readable record: both loaders stop where the length is damaged, one at damaged data."""
        payload = _payload_at(self._path, offset)
        if payload is None:
            self._stop_python(offset, "the length of a record is damaged")
            self._stop_server(offset, "the length of a record is damaged")
            return
        self._stop_python(offset, "a record is damaged")
        try:
            self._take(offset, parse_event(payload))  # the data server does not look at the checksum
        except FormatError:
            self._stop_server(offset, "a record is damaged")

    def take(self, offset: int, payload: bytes) -> None:
        """One whole record."""
        try:
            event = parse_event(payload)
        except FormatError:
            self._stop_python(offset, "a record holds no event")
            self._stop_server(offset, "a record holds no event")
            if self._out.kills_python is None:
                self._out.kills_python = offset
            return
        self._take(offset, event)

    def _take(self, offset: int, event: Any) -> None:
        # A million events come through here, and every look at a field of one costs.
        out = self._out
        wall = event.wall_time
        if wall != wall:
            self._stop_server(offset, "a wall time is NaN")
        elif out.first_wall <= wall <= out.last_wall:
            pass
        elif math.isfinite(wall):
            out.first_wall, out.last_wall = min(wall, out.first_wall), max(wall, out.last_wall)
        before = len(self._tag)
        match event.WhichOneof("what"):
            case "summary":
                step = event.step
                back = self._last_step is not None and step < self._last_step
                self._last_step = step
                for value in event.summary.value:
                    self._add(value, step, back)
            case "session_log" if event.session_log.status == SESSION_START:
                out.marks.append(Mark(before, step=event.step))
            case "file_version":
                out.marks.append(Mark(before, new=_is_new(event.file_version)))
                out.writer = out.writer or event.source_metadata.writer
        if not math.isfinite(wall):
            self._infinite += range(before, len(self._tag))

    def _add(self, value: Any, step: int, back: bool) -> None:
        tag = value.tag
        number = self._numbers.get(tag)
        if number is None:
            number = self._numbers[tag] = len(self._numbers)
            self._out.tags[tag] = fact_of(value)
        self._tag.append(number)
        self._step.append(step)
        self._back.append(back)
        self._fits.append(fits(value))

    def _stop_python(self, offset: int, why: str) -> None:
        if self._out.python is None:
            self._out.python = Stop(len(self._tag), len(self._out.marks), offset, why)

    def _stop_server(self, offset: int, why: str) -> None:
        if self._out.server is None:
            self._out.server = Stop(len(self._tag), len(self._out.marks), offset, why)


def _is_new(version: str) -> bool:
    """Whether a file's version is 2 or later."""
    try:
        return version.startswith(_VERSION) and float(version.removeprefix(_VERSION)) >= _TRUSTS_STARTS
    except ValueError:
        return False


def _payload_at(path: str, offset: int) -> bytes | None:
    """The payload that a record's length marks off, whatever its checksum; None where the length is damaged."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        length = parse_length(os.pread(descriptor, HEADER_BYTES, offset))
        there = os.fstat(descriptor).st_size - offset - HEADER_BYTES - FOOTER_BYTES
        if length is None or length > min(there, _LARGEST_REREAD):
            return None
        return os.pread(descriptor, length, offset + HEADER_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
