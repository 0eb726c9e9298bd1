"""Follows the files of a run as TensorBoard's two loaders do, to know which values they drop.

What the loaders do was observed on TensorBoard 2.20 and 2.21; a test holds it against real ones. *Python loader* is
what runs with `--load_fast=false` and where there is no data server; *data server* is what runs else.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from zentracer_schema import (
    DATA_TYPES,
    FOOTER_BYTES,
    HEADER_BYTES,
    FormatError,
    parse_length,
)
from zentracer_schema.messages import DATA_CLASS_BLOB_SEQUENCE, DATA_CLASS_SCALAR, SESSION_START
from zentracer_store.contents.growing import Array
from zentracer_store.reading.decode import parse_event
from zentracer_store.reading.tail import Tail, Unreadable

_LARGEST_REREAD = 64 << 20
_OWN_PLUGINS = frozenset(
    {"scalars", "images", "audio", "histograms", "text", "hparams", "pr_curves", "graphs", "mesh", "custom_scalars"}
    | {"graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model", "npmi"}
)
"""Plugins whose values TensorBoard shows although their data class was not said."""

_PYTHON_KEEPS = {"scalars": 1000, "histograms": 500, "pr_curves": 100}
_PYTHON_KEEPS_OTHERS = 10
_SERVER_KEEPS_SCALARS, _SERVER_KEEPS_TENSORS, _SERVER_KEEPS_BLOBS = 1000, 100, 10
_BLOBS = frozenset({"images", "audio", "graphs", "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model"})
_OLD_FIELDS = {"simple_value": "scalars", "histo": "histograms", "image": "images", "audio": "audio"}
"""The plugin that TensorBoard files values of older writers under."""


@dataclass(frozen=True)
class Fact:
    """What a tag's first value tells of it. `dtype` is None where the value is no tensor."""

    plugin: str
    data_class: int
    dtype: int | None
    rank: int

    @property
    def is_scalar(self) -> bool:
        """Whether TensorBoard takes the tag for scalars."""
        return self.plugin == "scalars" or self.data_class == DATA_CLASS_SCALAR

    @property
    def needs_class(self) -> bool:
        """Whether no TensorBoard shows the tag, since nothing says what class of data it holds."""
        return self.dtype is not None and not self.data_class and bool(self.plugin) and self.plugin not in _OWN_PLUGINS

    @property
    def is_wide_scalar(self) -> bool:
        """Whether the tag holds scalars that the data server does not take: other than float32."""
        return self.is_scalar and self.dtype is not None and self.dtype != DATA_TYPES["float32"]

    @property
    def most_in_python(self) -> int:
        """Values of the tag that the Python loader keeps, unless told otherwise."""
        return _PYTHON_KEEPS.get(self.plugin, _PYTHON_KEEPS_OTHERS)

    @property
    def most_in_server(self) -> int:
        """Values of the tag that the data server keeps, unless told otherwise."""
        if self.is_scalar:
            return _SERVER_KEEPS_SCALARS
        blobs = self.plugin in _BLOBS or self.data_class == DATA_CLASS_BLOB_SEQUENCE
        return _SERVER_KEEPS_BLOBS if blobs else _SERVER_KEEPS_TENSORS


@dataclass(frozen=True)
class Stop:
    """Where a loader stops reading a file for good: so many of its values and session starts stand before that."""

    values: int
    restarts: int
    offset: int
    why: str


@dataclass
class Replay:
    """The values of one file in its order: number of the tag in `tags`, and step.

    `restarts` are (values before it, step) of each session start; `back` the values whose event's step is smaller
    than that of the event before. `version` counts the values before the first record that tells a version.
    """

    tags: dict[str, Fact] = field(default_factory=dict)
    tag: Array = field(default_factory=lambda: np.zeros(0, np.uint32))
    step: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    back: Array = field(default_factory=lambda: np.zeros(0, bool))
    restarts: list[tuple[int, int]] = field(default_factory=list)
    version: int | None = None
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
        self._last_step: int | None = None

    def done(self) -> Replay:
        out = self._out
        out.tag, out.step = np.array(self._tag, np.uint32), np.array(self._step, np.int64)
        out.back = np.array(self._back, bool)
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
        match event.WhichOneof("what"):
            case "summary":
                step = event.step
                back = self._last_step is not None and step < self._last_step
                self._last_step = step
                for value in event.summary.value:
                    self._add(value, step, back)
            case "session_log" if event.session_log.status == SESSION_START:
                out.restarts.append((len(self._tag), event.step))
            case "file_version":
                out.version = len(self._tag) if out.version is None else out.version
                out.writer = out.writer or event.source_metadata.writer

    def _add(self, value: Any, step: int, back: bool) -> None:
        tag = value.tag
        number = self._numbers.get(tag)
        if number is None:
            number = self._numbers[tag] = len(self._numbers)
            metadata = value.metadata
            tensor = value.tensor if value.HasField("tensor") else None
            self._out.tags[tag] = Fact(
                _OLD_FIELDS.get(value.WhichOneof("value"), metadata.plugin_data.plugin_name),
                metadata.data_class,
                None if tensor is None else tensor.dtype,
                0 if tensor is None else len(tensor.tensor_shape.dim),
            )
        self._tag.append(number)
        self._step.append(step)
        self._back.append(back)

    def _stop_python(self, offset: int, why: str) -> None:
        if self._out.python is None:
            self._out.python = Stop(len(self._tag), len(self._out.restarts), offset, why)

    def _stop_server(self, offset: int, why: str) -> None:
        if self._out.server is None:
            self._out.server = Stop(len(self._tag), len(self._out.restarts), offset, why)


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


@dataclass(frozen=True)
class Values:
    """The values of a run in the order in which a loader reads them, up to where it stops in each file."""

    tags: tuple[str, ...]
    tag: Array
    step: Array
    back: Array
    restarts: tuple[tuple[int, int], ...]
    version: int | None


def values_of(files: Sequence[Replay], stops: Sequence[Stop | None]) -> Values:
    """The files of a run, in the order of their names, as one stream."""
    numbers: dict[str, int] = {}
    tag, step, back = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    restarts: list[tuple[int, int]] = []
    version = None
    before = 0
    for file, stop in zip(files, stops, strict=True):
        count = len(file.tag) if stop is None else stop.values
        renumber = np.array([numbers.setdefault(name, len(numbers)) for name in file.tags], np.int64)
        tag.append(renumber[file.tag[:count]] if count else np.zeros(0, np.int64))
        step.append(file.step[:count])
        back.append(file.back[:count])
        restarts += [(before + at, first) for at, first in file.restarts[: stop.restarts if stop else None]]
        if version is None and file.version is not None and file.version <= count:
            version = before + file.version
        before += count
    joined = [np.concatenate(parts) for parts in (tag, step, back)]
    return Values(tuple(numbers), joined[0], joined[1], joined[2], tuple(restarts), version)


def kept_by_python(values: Values) -> Array:
    """Which values the Python loader still has at the end, before it draws its sample.

    Every session start but the first purges what has its step or a later one. In files without a version, an event
    whose step goes back does so for its own tags.
    """
    kept = np.ones(len(values.step), bool)
    # A value goes if any later restart, but the first of all, begins at its step or before.
    if len(values.restarts) > 1:
        places = np.array([place for place, _ in values.restarts[1:]])
        lowest = np.minimum.accumulate(np.array([step for _, step in values.restarts[1:]])[::-1])[::-1]
        behind = np.searchsorted(places, np.arange(len(kept)), "right")
        later = behind < len(places)
        kept[later] = values.step[later] < lowest[behind[later]]
    unversioned = len(kept) if values.version is None else values.version
    purging = values.back.copy()
    purging[unversioned:] = False
    for number in np.unique(values.tag[purging]):
        places = np.flatnonzero(values.tag == number)
        steps = np.where(purging[places], values.step[places], np.iinfo(np.int64).max)
        after = np.append(np.minimum.accumulate(steps[::-1])[::-1][1:], np.iinfo(np.int64).max)
        kept[places] &= values.step[places] < after
    return kept


def kept_by_server(values: Values) -> Array:
    """Which values the data server still has at the end, before it draws its sample.

    Every value takes away those of its tag that have its step or a later one.
    """
    order = np.argsort(values.tag, kind="stable")
    kept = np.ones(len(order), bool)
    bounds = np.flatnonzero(np.diff(values.tag[order], prepend=-1, append=-1))
    for lo, hi in pairwise(bounds):
        places = order[lo:hi]
        steps = values.step[places]
        kept[places[:-1]] = steps[:-1] < np.minimum.accumulate(steps[::-1])[::-1][1:]
    return kept


def count_by_tag(values: Values, chosen: Array) -> dict[str, int]:
    """How many of the chosen values each tag has."""
    counts = np.bincount(values.tag[chosen], minlength=len(values.tags))
    found: dict[str, int] = defaultdict(int)
    found.update({name: int(count) for name, count in zip(values.tags, counts, strict=True) if count})
    return found
