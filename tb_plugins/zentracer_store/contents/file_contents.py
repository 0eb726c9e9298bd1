"""Holds what has been read from one file: every point and record in columns, sessions, and what was odd about it."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from zentracer_schema import FormatError, TableSpec
from zentracer_schema.messages import SESSION_START, SESSION_STOP
from zentracer_store.contents.columns import Frame, Segment
from zentracer_store.contents.growing import Array, Growing
from zentracer_store.contents.sessions import Sessions
from zentracer_store.contents.tables import At, Tables
from zentracer_store.contents.tags import TagInfo, Tags
from zentracer_store.contents.takers import Takers
from zentracer_store.contents.weave import Loose, weave
from zentracer_store.reading.bulk import Bulk, Found, Layout
from zentracer_store.reading.decode import parse_event
from zentracer_store.reading.records import Records

MOST_ODDITIES = 100
"""Of one file: so many places of damage, and so many records that are odd."""

_MORE = "There is more like this in the file, which is not listed."
_LARGE_BATCH = 1 << 20

_PROCESS = re.compile(r"(?:events\.out\.tfevents|zentracer)\.\d+\.(.+\.\d+)\.\d+(?:\.ztrec)?")
_POINTS = {"tag": "u4", "step": "i8", "wall": "f8", "value": "f8"}
_RECORDS = {"tag": "u4", "step": "i8", "wall": "f8", "offset": "i8", "length": "i8", "place": "u4"}
_GRAPHS = {"graph_def": "<graph_def>", "meta_graph_def": "<meta_graph_def>", "tagged_run_metadata": "<run_metadata>"}


@dataclass(frozen=True)
class Oddity:
    """Something a user should know about a file, as one sentence."""

    text: str
    offset: int | None = None
    wall: float | None = None


class FileContents:
    """What one file holds so far, all of it in file order. Grows by `feed`; a file that is replaced gets a new one.

    `points` are the scalars of any writer. `records` index what is kept in no column: a value is read again by
    `fetch.read_value`. `segments` are our tables. `process` names the process that wrote the file, as its name tells;
    `last_step` is the largest step. `marks` say where sessions begin: (points before, records before, session).
    """

    def __init__(self, path: str) -> None:
        match = _PROCESS.fullmatch(os.path.basename(path))
        self.path = path
        self.process = match[1] if match else None
        self.sessions = Sessions()
        self.marks: list[tuple[int, int, int]] = []
        self.points = Frame(_POINTS)
        self.records = Frame(_RECORDS)
        self.oddities: list[Oddity] = []
        self.last_step: int | None = None
        self.last_wall: float | None = None
        self._tags = Tags()
        self._tables = Tables(path, self.sessions, self._tell, self._note_step)
        self._takers = Takers(self._tags, self._tables, self.sessions, self, self._tell)
        self._told: set[tuple[str, str]] = set()
        self._noted: dict[str, int] = {}
        self._sessions_noted = 1
        self._bulk = Bulk()
        # While records are taken in: the one at hand, and what has no place in the columns yet.
        self._offset = self._row = 0
        self._loose: list[Loose] = []
        self._unplaced: list[tuple[int, int, int, int]] = []

    @property
    def tags(self) -> list[TagInfo]:
        """Every tag; `tag` in `points` and `records` is the place in this list."""
        return self._tags.all

    @property
    def specs(self) -> dict[str, TableSpec]:
        """Descriptions of our tables, by tag."""
        return self._tables.specs

    @property
    def segments(self) -> list[Segment]:
        """Our tables, one segment for each description and session."""
        return self._tables.segments

    @property
    def undescribed(self) -> frozenset[str]:
        """Tags of our tables whose description is not in this file so far."""
        return self._tables.undescribed

    def feed(self, records: Records) -> None:
        """Take in whole records, those that follow in the file."""
        if not len(records):
            return
        found, rest = self._bulk.find(records)
        order: list[tuple[int, Layout | None, int]] = [(row, None, 0) for row in rest.tolist()]
        for part in found:
            unnumbered = part.layout.unnumbered(part.rows, part.templates)
            order += [(row, part.layout, template) for row, template in unnumbered]
        if len(order) > len(rest):
            order.sort(key=itemgetter(0))
        self._take_in_order(records, order, _walls(len(records), found))
        self._weave(len(records), found)
        self.records.flush()
        self._tables.flush()
        if records.size < _LARGE_BATCH:  # of a thousand small files, none need keep what it learned
            self._bulk = Bulk()

    def describe(self, specs: Mapping[str, TableSpec]) -> None:
        """Take in descriptions of tables, which another file of the run has."""
        self._tables.describe(specs)
        for session in range(self._sessions_noted, len(self.sessions.all)):
            self.marks.append((len(self.points), len(self.records), session))
        self._sessions_noted = len(self.sessions.all)

    def note_damage(self, text: str, offset: int) -> None:
        """Note that bytes of the file hold no readable record."""
        self._note("bytes", text, offset)

    def tell_undescribed(self) -> None:
        """Note as odd that tables wait for their description, once a tag."""
        for tag in sorted(self.undescribed):
            self._tell(tag, "undescribed", f"{tag} has no description so far: it shows once a file of the run has one.")

    def points_of(self, tag: str) -> tuple[Array, Array, Array]:
        """Steps (int64), wall times and values (float64) of a scalar tag, in file order."""
        number = self._tags.number(tag, "scalar")
        count = 0 if number is None else len(self.points)
        rows = np.flatnonzero(self.points.column("tag", 0, count) == number)
        steps, walls, values = (self.points.column(name, 0, count)[rows] for name in ("step", "wall", "value"))
        return steps, walls, values

    def session_of_points(self) -> Array:
        """The session that each point belongs to, by its number."""
        return _spread([(points, session) for points, _, session in self.marks], len(self.points))

    def session_of_records(self) -> Array:
        """The session that each record belongs to, by its number."""
        return _spread([(records, session) for _, records, session in self.marks], len(self.records))

    def columns(self) -> Iterator[tuple[str, Growing]]:
        """Everything that grows by the row, each column under a name that stays."""
        for prefix, frame in (("points", self.points), ("records", self.records)):
            for name, column in frame.growing():
                yield f"{prefix}.{name}", column
        yield from self._tables.growing()

    def head(self) -> dict[str, Any]:
        """The rest, as JSON can hold it."""
        return {
            "path": self.path,
            "sessions": self.sessions.head(),
            "marks": self.marks,
            "tags": self._tags.head(),
            "tables": self._tables.head(self._contents()),
            "oddities": [astuple(oddity) for oddity in self.oddities],
            "told": sorted(self._told),
            "noted": self._noted,
            "skipped": self._takers.skipped,
            "last_step": self.last_step,
            "last_wall": self.last_wall,
        }

    @classmethod
    def restore(cls, head: Mapping[str, Any], column: Callable[[str], Growing]) -> FileContents:
        """The contents whose `head` and `columns` were saved; it goes on growing."""
        contents = cls(head["path"])
        contents.sessions.restore(head["sessions"])
        contents._sessions_noted = len(contents.sessions.all)
        contents.marks = [(points, records, session) for points, records, session in head["marks"]]
        contents._tags.restore(head["tags"])
        for prefix, frame in (("points", contents.points), ("records", contents.records)):
            frame.restore({name: column(f"{prefix}.{name}") for name, _ in frame.growing()})
        contents._tables.restore(head["tables"], contents._contents(), column)
        contents.oddities = [Oddity(*oddity) for oddity in head["oddities"]]
        contents._told = {(tag, about) for tag, about in head["told"]}
        contents._noted = dict(head["noted"])
        contents._takers.skip(head["skipped"])
        contents.last_step, contents.last_wall = head["last_step"], head["last_wall"]
        return contents

    def _contents(self) -> dict[str, bytes]:
        return {info.tag: info.content for info in self.tags if info.ours}

    def _take_in_order(self, records: Records, order: list[tuple[int, Layout | None, int]], walls: Array) -> None:
        """Parse records, and number the tags of others at their first one.

        `walls` are the wall times of all records, NaN where not known so far.
        """
        offsets, starts = records.offsets.tolist(), records.starts.tolist()
        lengths, data = records.lengths.tolist(), records.data
        parsed = -1  # the last record that was
        for row, layout, template in order:
            self._row, self._offset = row, offsets[row]
            if row and row - 1 != parsed:
                self.last_wall = float(walls[row - 1])
            if layout is None:
                self._parse(data[starts[row] : starts[row] + lengths[row]])
                parsed = row
            else:
                layout.numbers[template][:] = [
                    self._takers.number_of_scalar(value) for value in layout.new.pop(template)
                ]
        if parsed != len(records) - 1:
            self.last_wall = float(walls[-1])

    def _weave(self, count: int, found: list[Found]) -> None:
        """Let the points be seen that were found in bulk, and those that were parsed, in the order of the file."""
        before = len(self.points)
        woven = weave(count, found, self._loose)
        self.points.extend(*woven[:4])
        if len(woven.steps) > len(self._loose):
            self._note_step(int(woven.steps.max()))
        self.marks += [
            (before + int(woven.bulk_before[row]) + loose, place, session)
            for row, loose, place, session in self._unplaced
        ]
        self._loose, self._unplaced = [], []

    def _parse(self, payload: bytes) -> None:
        try:
            event = parse_event(payload)
        except FormatError as error:
            self._tell("", "event", str(error))
            return
        wall = self._wall_of(event)
        self._take(event, wall, len(payload))
        self.last_wall = wall

    def _take(self, event: Any, wall: float, length: int) -> None:
        what = event.WhichOneof("what")
        if what == "summary":
            for place, value in enumerate(event.summary.value):
                self._takers.take(At(event.step, wall, self._offset, length, place), value)
        elif what == "session_log":
            self._mark(event.session_log.status, wall, event.step)
        elif what in _GRAPHS:
            tag = _GRAPHS[what]
            number = self._tags.number(tag, "graph")
            number = self._tags.add(TagInfo(tag, "graph")) if number is None else number
            self.records.append(number, event.step, wall, self._offset, length, 0)

    def _wall_of(self, event: Any) -> float:
        wall: float = event.wall_time
        if not math.isfinite(wall):
            self._tell("", "wall", "A record has no finite wall time; that of the record before it is taken.")
            wall = 0.0 if self.last_wall is None else self.last_wall
        return wall

    def _mark(self, status: int, wall: float, step: int) -> None:
        if status == SESSION_START:
            self.sessions.start(wall, step)
            self.note_sessions()
        elif status == SESSION_STOP:
            self.sessions.stop()

    def note_sessions(self) -> None:
        """Note where in the columns the sessions begin that are new."""
        for session in range(self._sessions_noted, len(self.sessions.all)):
            self._unplaced.append((self._row, len(self._loose), self.records.expected, session))
        self._sessions_noted = len(self.sessions.all)

    def add_point(self, number: int, at: At, value: float) -> None:
        """Add a scalar that was parsed; for the takers."""
        self._loose.append(Loose(self._row, number, at.step, at.wall, value))
        self._note_step(at.step)

    def add_record(self, number: int, at: At, *, counts: bool) -> None:
        """Note where a value lies. `counts`: its step is one of training."""
        self.records.append(number, *at)
        if counts:
            self._note_step(at.step)

    def _note_step(self, step: int) -> None:
        self.last_step = step if self.last_step is None else max(step, self.last_step)

    def _note(self, sort: str, text: str, offset: int) -> None:
        """A file that is odd throughout is not told record by record, but what is odd in one way hides no other."""
        before = self._noted.get(sort, 0)
        self._noted[sort] = before + 1
        if before <= MOST_ODDITIES:
            self.oddities.append(Oddity(text if before < MOST_ODDITIES else _MORE, offset, self.last_wall))

    def _tell(self, tag: str, about: str, text: str) -> None:
        """Note something odd, the first time that it is about this of a tag."""
        if (tag, about) not in self._told:
            self._told.add((tag, about))
            self._note("records", text, self._offset)


def _walls(count: int, found: list[Found]) -> Array:
    """The wall time of each record that was found in bulk, NaN of the others."""
    walls = np.full(count, np.nan)
    for part in found:
        walls[part.rows] = part.walls
    return walls


def _spread(starts: list[tuple[int, int]], count: int) -> Array:
    """Session numbers of `count` rows, from the rows at which sessions other than the first begin."""
    numbers = np.array([0, *(session for _, session in starts)], np.uint32)
    ends = np.array([*(row for row, _ in starts), count]).clip(max=count)
    return np.repeat(numbers, np.diff(ends, prepend=0))
