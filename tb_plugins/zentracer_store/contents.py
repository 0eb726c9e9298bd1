"""Holds what has been read from one file: sessions, tables, scalars, and what was odd about it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zentracer_schema import (
    KINDS,
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

TABLES_READ = frozenset({"parameters", "activations", "clock", "pulse"})
"""Kinds whose values are kept in memory. Of the others only the tags are noted."""

MOST_TAGS = 100_000

_PROCESS = re.compile(r"(?:events\.out\.tfevents|zentracer)\.\d+\.(.+\.\d+)\.\d+(?:\.ztrec)?")


@dataclass
class Session:
    """One stretch of writing: from the start of a process, a resume or a new tracer to the next of these.

    `id` is None where the writer kept no session record. `start_steps` and `record["scopes"]` are by scope.
    """

    id: str | None = None
    continues: str | None = None
    wall: float | None = None
    start_step: int | None = None
    record: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    ended: bool = False

    def start_of(self, scope: str) -> int | None:
        """The step at which the writer says that `scope` began."""
        told = self.facts(scope).get("start_step")
        return told if isinstance(told, int) and abs(told) < 1 << 62 else self.start_step

    def facts(self, scope: str) -> dict[str, Any]:
        """What the session record says of one watched model."""
        return _dict(_dict(self.record.get("scopes")).get(scope))


@dataclass(frozen=True)
class Oddity:
    """Something a user should know about a file, as one sentence."""

    text: str
    offset: int | None = None
    wall: float | None = None


class FileContents:
    """What one file holds so far. Grows by `feed`; a file that is replaced gets a new one."""

    def __init__(self, name: str) -> None:
        match = _PROCESS.fullmatch(name)
        self.process = match[1] if match else None
        self.sessions = [Session()]
        self.segments: list[Segment] = []
        self.scalars: dict[str, Scalars] = {}
        self.sorts: dict[str, Sort] = {}
        self.kinds: set[str] = set()
        self.specs: dict[str, TableSpec] = {}
        self.oddities: list[Oddity] = []
        self.last_step: int | None = None
        self.last_wall: float | None = None
        self._session_of: dict[str, int] = {}
        self._open: dict[str, Segment] = {}
        self._undescribed: dict[str, list[tuple[int, float, int, Any]]] = {}
        self._takers: dict[str, Callable[[int, float, int, Any], None]] = {}
        self._told: set[tuple[str, str]] = set()
        self._offset = 0

    def feed(self, records: Iterable[tuple[int, bytes]]) -> None:
        """Take in whole records: (offset in the file, payload)."""
        for offset, payload in records:
            self._offset = offset
            try:
                event = parse_event(payload)
            except FormatError as error:
                self._tell("", str(error))
                continue
            wall, step = self._wall_of(event), event.step
            if event.HasField("session_log"):
                self._mark(event.session_log.status, wall, step)
            for value in event.summary.value:
                tag = value.tag
                taker = self._takers.get(tag)
                if taker is None:
                    taker = self._new_taker(tag, value)
                try:
                    taker(step, wall, offset, value)
                except FormatError as error:
                    self._tell(tag, f"{error} Such records of {tag} are skipped.", once=type(error).__name__)
            self.last_wall = wall
        for segment in self._open.values():
            segment.flush()

    def describe(self, specs: dict[str, TableSpec]) -> None:
        """Take in tables that came before their description, which another file of the run has."""
        for tag in self._undescribed.keys() & specs.keys():
            self.specs[tag] = specs[tag]
            for step, wall, session, tensor in self._undescribed.pop(tag):
                self._add_table(tag, step, wall, session, tensor)
        for segment in self._open.values():
            segment.flush()

    @property
    def undescribed(self) -> frozenset[str]:
        """Tags whose tables wait for their description."""
        return frozenset(self._undescribed)

    def _wall_of(self, event: Any) -> float:
        wall: float = event.wall_time
        if not math.isfinite(wall):
            self._tell("", "A record has no finite wall time; that of the record before it is taken.", once="wall")
            wall = 0.0 if self.last_wall is None else self.last_wall
        return wall

    def _mark(self, status: int, wall: float, step: int) -> None:
        if status == SESSION_START:
            self.sessions.append(Session(wall=wall, start_step=step))
            self._session_of.clear()
            self._open.clear()
        elif status == SESSION_STOP:
            self.sessions[-1].ended = True

    def _new_taker(self, tag: str, value: Any) -> Callable[[int, float, int, Any], None]:
        """How to take the values of a tag seen for the first time."""
        if len(self._takers) >= MOST_TAGS:
            self._tell("", f"The file has over {MOST_TAGS:,} tags; the further ones are not read.", once="tags")
            return _pass_over
        plugin = value.metadata.plugin_data.plugin_name
        ours = parse_tag(tag)
        taker: Callable[[int, float, int, Any], None]
        if ours is not None:
            self.kinds.add(ours.kind)
            taker = self._taker_of_ours(tag, ours)
        elif tag.startswith("zentracer/") and plugin.startswith("zentracer_"):
            self._tell(tag, f"{tag} is of a kind ({plugin}) that this version does not know: upgrade zentracer.")
            taker = _pass_over
        else:
            self.sorts[tag] = sort = sort_of(value, plugin)
            if sort == "scalar":
                self.scalars[tag] = Scalars()
                taker = self._taker_of_scalars(self.scalars[tag])
            else:
                taker = _pass_over
        self._takers[tag] = taker
        return taker

    def _taker_of_scalars(self, into: Scalars) -> Callable[[int, float, int, Any], None]:
        steps, walls, values = into.steps, into.walls, into.values

        def take(step: int, wall: float, offset: int, value: Any) -> None:
            number = scalar_of(value)
            if number is None:
                raise FormatError("A scalar tag has a value that is no single number.")
            steps.append(step)
            walls.append(wall)
            values.append(number)
            self._note_step(step)

        return take

    def _taker_of_ours(self, tag: str, ours: TableTag) -> Callable[[int, float, int, Any], None]:
        if ours.kind == "session":
            return lambda step, wall, offset, value: self._take_session(tag, ours.scope, wall, value)
        if KINDS[ours.kind].payload != "table" or ours.kind not in TABLES_READ:
            return _pass_over

        def take(step: int, wall: float, offset: int, value: Any) -> None:
            content = value.metadata.plugin_data.content
            if content and tag not in self.specs:
                self._take_spec(tag, ours, content)
            session = self._session_of.setdefault(ours.scope, len(self.sessions) - 1)
            self.sessions[session].used.add(ours.scope)
            if tag in self.specs:
                self._add_table(tag, step, wall, session, value.tensor)
            elif self._takers[tag] is take:
                self._undescribed.setdefault(tag, []).append((step, wall, session, value.tensor))

        return take

    def _take_spec(self, tag: str, ours: TableTag, content: bytes) -> None:
        try:
            spec = TableSpec.from_json(content)
            if (spec.scope, spec.kind) != (ours.scope, ours.kind):
                raise FormatError(f"The description says scope {spec.scope!r} and kind {spec.kind!r}.")
        except NewerFormatError as error:
            self._takers[tag] = _pass_over
            self._tell(tag, f"{tag} is skipped. {error}")
            return
        self.specs[tag] = spec
        for step, wall, session, tensor in self._undescribed.pop(tag, ()):
            self._add_table(tag, step, wall, session, tensor)

    def _add_table(self, tag: str, step: int, wall: float, session: int, tensor: Any) -> None:
        spec = self.specs[tag]
        table = decode_table(spec, tensor)
        segment = self._open.get(tag)
        if segment is None or segment.session != session:
            segment = self._opened(tag, spec, session)
        elif segment.last_step is not None and step <= segment.last_step:
            if step == segment.last_step:
                self._tell(tag, f"{tag} repeats step {step}; the first record of it counts.", once="repeat")
                return
            # Steps that go back without a mark: the writer resumed, or was handed an earlier state.
            self.sessions.append(Session(wall=wall, start_step=step, continues=self.sessions[session].id))
            self._session_of[spec.scope] = session = len(self.sessions) - 1
            self.sessions[session].used.add(spec.scope)
            self._tell(tag, f"The steps of {tag} go back from {segment.last_step} to {step} without a new session.")
            segment = self._opened(tag, spec, session)
        segment.append(step, wall, table)
        if not KINDS[spec.kind].time_keyed:
            self._note_step(step)

    def _note_step(self, step: int) -> None:
        self.last_step = step if self.last_step is None else max(step, self.last_step)

    def _opened(self, tag: str, spec: TableSpec, session: int) -> Segment:
        if tag in self._open:
            self._open[tag].flush()
        segment = self._open[tag] = Segment(spec, session)
        self.segments.append(segment)
        return segment

    def _take_session(self, tag: str, scope: str, wall: float, value: Any) -> None:
        try:
            record = decode_message(value.tensor)
        except NewerFormatError as error:
            self._tell(tag, f"{tag} is skipped. {error}")
            return
        key = record.get("id")
        if not isinstance(key, str):
            raise FormatError("A session record has no id.")
        continues = record.get("continues")
        index = next((i for i, session in enumerate(self.sessions) if session.id == key), None)
        scopes = _dict(record.get("scopes")).keys() or {scope}
        if index is None:
            index = len(self.sessions) - 1
            if self.sessions[index].id is not None or self.sessions[index].used & scopes:
                self.sessions.append(Session(wall=wall))
                index += 1
        session = self.sessions[index]
        session.id = key
        session.continues = continues if isinstance(continues, str) else None
        session.wall = wall if session.wall is None else session.wall
        known = _dict(session.record.get("scopes"))
        session.record = {**session.record, **record, "scopes": {**known, **_dict(record.get("scopes"))}}
        for name in scopes:
            self._session_of[name] = index

    def _tell(self, tag: str, text: str, once: str | None = None) -> None:
        key = (tag, once or text)
        if key not in self._told:
            self._told.add(key)
            self.oddities.append(Oddity(text, self._offset, self.last_wall))


def _pass_over(step: int, wall: float, offset: int, value: Any) -> None:
    """Taker of tags whose values are not kept."""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
