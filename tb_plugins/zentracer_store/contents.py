"""Holds what has been read from one file: sessions, tables, scalars, and what was odd about it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from zentracer_schema import (
    FormatError,
    NewerFormatError,
    TableSpec,
    TableTag,
    decode_message,
    decode_table,
    parse_tag,
)
from zentracer_schema.messages import SESSION_START, SESSION_STOP
from zentracer_store.columns import Scalars, Segment
from zentracer_store.decode import Sort, parse_event, scalar_of, sort_of
from zentracer_store.sessions import Sessions

TABLES_READ = frozenset({"parameters", "activations", "clock", "pulse"})
"""Kinds of tables whose values are kept in memory. Of the others nothing is."""

TIME_KEYED = frozenset({"pulse"})
MOST_TAGS = 100_000

_PROCESS = re.compile(r"(?:events\.out\.tfevents|zentracer)\.\d+\.(.+\.\d+)\.\d+(?:\.ztrec)?")

Taker = Callable[[int, float, Any], None]
"""Takes a value of its tag: (step, wall time, the summary value)."""


@dataclass(frozen=True)
class Oddity:
    """Something a user should know about a file, as one sentence."""

    text: str
    offset: int | None = None
    wall: float | None = None


class FileContents:
    """What one file holds so far. Grows by `feed`; a file that is replaced gets a new one.

    `process` names the process that wrote it, as the file's name tells; `last_step` is the largest step.
    """

    def __init__(self, name: str) -> None:
        match = _PROCESS.fullmatch(name)
        self.process = match[1] if match else None
        self.sessions = Sessions()
        self.segments: list[Segment] = []
        self.scalars: dict[str, Scalars] = {}
        self.sorts: dict[str, Sort] = {}
        self.specs: dict[str, TableSpec] = {}
        self.oddities: list[Oddity] = []
        self.last_step: int | None = None
        self.last_wall: float | None = None
        self._takers: dict[str, Taker] = {}
        self._open: dict[str, Segment] = {}
        self._undescribed: dict[str, list[tuple[int, float, int, Any]]] = {}
        self._told: set[tuple[str, str]] = set()
        self._offset = 0

    def feed(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Take in whole records: (offset in the file, payload)."""
        for self._offset, payload in records:
            try:
                event = parse_event(payload)
            except FormatError as error:
                self._tell("", "event", str(error))
                continue
            wall = self._wall_of(event)
            if event.HasField("session_log"):
                self._mark(event.session_log.status, wall, event.step)
            for value in event.summary.value:
                taker = self._takers.get(value.tag) or self._new_taker(value)
                try:
                    taker(event.step, wall, value)
                except FormatError as error:
                    kind = type(error).__name__
                    self._tell(value.tag, kind, f"{error} Such records of {value.tag} are skipped.")
            self.last_wall = wall
        self._flush()

    def describe(self, specs: dict[str, TableSpec]) -> None:
        """Take in tables that came before their description, which another file of the run has."""
        for tag in self._undescribed.keys() & specs.keys():
            self._take_spec(tag, specs[tag])
        self._flush()

    @property
    def undescribed(self) -> frozenset[str]:
        """Tags whose tables wait for their description."""
        return frozenset(self._undescribed)

    def tell_undescribed(self) -> None:
        """Note as odd that tables wait for their description, once a tag."""
        for tag in self._undescribed:
            self._tell(tag, "undescribed", f"{tag} has no description so far: it shows once a file of the run has one.")

    def _wall_of(self, event: Any) -> float:
        wall: float = event.wall_time
        if not math.isfinite(wall):
            self._tell("", "wall", "A record has no finite wall time; that of the record before it is taken.")
            wall = 0.0 if self.last_wall is None else self.last_wall
        return wall

    def _mark(self, status: int, wall: float, step: int) -> None:
        if status == SESSION_START:
            self.sessions.start(wall, step)
        elif status == SESSION_STOP:
            self.sessions.stop()

    def _new_taker(self, value: Any) -> Taker:
        """How to take the values of a tag seen for the first time."""
        tag: str = value.tag
        if len(self._takers) >= MOST_TAGS:
            self._tell("", "tags", f"The file has over {MOST_TAGS:,} tags; the further ones are not read.")
            return _pass_over
        plugin = value.metadata.plugin_data.plugin_name
        ours = parse_tag(tag)
        taker: Taker = _pass_over
        if ours is not None:
            taker = self._taker_of_ours(tag, ours)
        elif tag.startswith("zentracer/") and plugin.startswith("zentracer_"):
            text = f"{tag} is of a kind ({plugin}) that this version does not know: upgrade zentracer to see it."
            self._tell(tag, "kind", text)
        else:
            self.sorts[tag] = sort_of(value, plugin)
            if self.sorts[tag] == "scalar":
                taker = self._taker_of_scalars(tag)
        self._takers[tag] = taker
        return taker

    def _taker_of_scalars(self, tag: str) -> Taker:
        points = self.scalars[tag] = Scalars()

        def take(step: int, wall: float, value: Any) -> None:
            number = scalar_of(value)
            if number is None:
                raise FormatError("A scalar tag has a value that is no single number.")
            points.append(step, wall, number)
            self._note_step(step)

        return take

    def _taker_of_ours(self, tag: str, ours: TableTag) -> Taker:
        if ours.kind == "session":
            return lambda step, wall, value: self._take_session(tag, ours.scope, wall, value)
        if ours.kind not in TABLES_READ:
            return _pass_over

        def take(step: int, wall: float, value: Any) -> None:
            content = value.metadata.plugin_data.content
            if content and tag not in self.specs:
                try:
                    self._take_spec(tag, _spec_of(content, ours))
                except NewerFormatError as error:
                    self._skip(tag, error)
                    return
            session = self.sessions.current(ours.scope)
            if tag in self.specs:
                self._add_table(tag, step, wall, session, value.tensor)
            else:
                self._undescribed.setdefault(tag, []).append((step, wall, session, value.tensor))

        return take

    def _take_spec(self, tag: str, spec: TableSpec) -> None:
        self.specs[tag] = spec
        for step, wall, session, tensor in self._undescribed.pop(tag, ()):
            self._add_table(tag, step, wall, session, tensor)

    def _add_table(self, tag: str, step: int, wall: float, session: int, tensor: Any) -> None:
        spec = self.specs[tag]
        table = decode_table(spec, tensor)
        segment = self._open.get(tag)
        if segment is not None and segment.session == session and step <= (last := segment.last_step):
            if step == last:
                self._tell(tag, "repeat", f"{tag} repeats step {step}; the first record of it counts.")
                return
            self._tell(tag, "back", f"The steps of {tag} go back from {last} to {step} without a new session.")
            session = self.sessions.go_back(spec.scope, wall, step)
        if segment is None or segment.session != session:
            if segment is not None:
                segment.flush()
            segment = self._open[tag] = Segment(spec, session)
            self.segments.append(segment)
        segment.append(step, wall, table)
        if spec.kind not in TIME_KEYED:
            self._note_step(step)

    def _take_session(self, tag: str, scope: str, wall: float, value: Any) -> None:
        try:
            record = decode_message(value.tensor)
        except NewerFormatError as error:
            self._skip(tag, error)
            return
        key = record.get("id")
        if not isinstance(key, str):
            raise FormatError("A session record has no id.")
        self.sessions.describe(key, wall, record, scope)

    def _note_step(self, step: int) -> None:
        self.last_step = step if self.last_step is None else max(step, self.last_step)

    def _skip(self, tag: str, error: NewerFormatError) -> None:
        self._takers[tag] = _pass_over
        self._tell(tag, "newer", f"{tag} is skipped. {error}")

    def _flush(self) -> None:
        for segment in self._open.values():
            segment.flush()

    def _tell(self, tag: str, about: str, text: str) -> None:
        """Note something odd, the first time that it is about this of a tag."""
        if (tag, about) not in self._told:
            self._told.add((tag, about))
            self.oddities.append(Oddity(text, self._offset, self.last_wall))


def _spec_of(content: bytes, ours: TableTag) -> TableSpec:
    spec = TableSpec.from_json(content)
    if (spec.scope, spec.kind) != (ours.scope, ours.kind):
        raise FormatError(f"The description says scope {spec.scope!r} and kind {spec.kind!r}.")
    return spec


def _pass_over(step: int, wall: float, value: Any) -> None:
    """Taker of tags whose values are not kept."""
