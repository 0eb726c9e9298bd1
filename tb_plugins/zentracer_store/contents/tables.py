"""Takes in the tables of ours that one file holds: their descriptions, and a segment of columns for each session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from zentracer_schema import KINDS, FormatError, TableSpec, TableTag, decode_table
from zentracer_store.contents.columns import Segment
from zentracer_store.contents.growing import Growing
from zentracer_store.contents.sessions import MOST_RESTARTS, Sessions
from zentracer_store.reading.fetch import Moved, read_value

IN_COLUMNS = frozenset({"parameters", "activations", "clock", "pulse", "phases", "devices", "channels"})
"""Kinds of tables whose values become columns. The others are bulk: they stay in the file, indexed by offset."""

_COUNTS_TOLD = (1_000, 1_000_000, 1_000_000_000)

Tell = Callable[[str, str, str], None]
"""Notes something odd, once: (tag, what it is about, sentence)."""


class At(NamedTuple):
    """Where a value stands: the step and wall time of its event, its record in the file, its place in the event."""

    step: int
    wall: float
    offset: int
    length: int
    place: int


class _Waiting(NamedTuple):
    """A table that came before its description. It is read again once that is there."""

    at: At
    session: int


class Tables:
    """The tables of one file. `note_step` is told the step of each that is not keyed by time."""

    def __init__(self, path: str, sessions: Sessions, tell: Tell, note_step: Callable[[int], None]) -> None:
        self.specs: dict[str, TableSpec] = {}
        self.segments: list[Segment] = []
        self._path = path
        self._sessions = sessions
        self._tell = tell
        self._note_step = note_step
        self._open: dict[str, Segment] = {}
        self._undescribed: dict[str, list[_Waiting]] = {}
        self._left_out: Counter[str] = Counter()

    @property
    def undescribed(self) -> frozenset[str]:
        """Tags whose description this file has not told so far."""
        return frozenset(self._undescribed)

    def describe(self, specs: Mapping[str, TableSpec]) -> None:
        """Take in descriptions that another file of the run has."""
        for tag in self._undescribed.keys() & specs.keys():
            self._take_spec(tag, specs[tag])
        self.flush()

    def take(self, tag: str, ours: TableTag, at: At, value: Any) -> None:
        """Take in one record of a table.

        Raises:
            NewerFormatError: a later version wrote it.
            FormatError: it is not what its description says, or that is nonsense.
        """
        content = value.metadata.plugin_data.content
        if content and tag not in self.specs:
            self._take_spec(tag, _spec_of(content, ours))
        known = tag in self.specs
        if not known:
            self._undescribed.setdefault(tag, [])
        if ours.kind not in IN_COLUMNS:
            return
        session = self._sessions.current(ours.scope)
        if known:
            self._add(tag, at, session, value.tensor)
        else:
            self._undescribed[tag].append(_Waiting(at, session))

    def flush(self) -> None:
        """Let everything that was taken in be seen."""
        for segment in self._open.values():
            segment.flush()

    def growing(self) -> Iterator[tuple[str, Growing]]:
        """Every column of every segment, by a name that stays."""
        for number, segment in enumerate(self.segments):
            for name, column in segment.growing():
                yield f"segment.{number}{name}", column

    def head(self, contents: Mapping[str, bytes]) -> dict[str, Any]:
        """What `restore` needs beside the columns. A description that `contents` has by its tag is not said twice."""
        return {
            "specs": {
                tag: None if contents.get(tag) == spec.json else spec.json.decode() for tag, spec in self.specs.items()
            },
            "segments": [{"tag": segment.spec.tag, **segment.head()} for segment in self.segments],
            "undescribed": {
                tag: [[*wait.at, wait.session] for wait in waiting] for tag, waiting in self._undescribed.items()
            },
            "left_out": self._left_out,
        }

    def restore(self, head: Mapping[str, Any], contents: Mapping[str, bytes], column: Callable[[str], Growing]) -> None:
        """Take over what was saved."""
        for tag, text in head["specs"].items():
            self.specs[tag] = TableSpec.from_json(contents[tag] if text is None else text.encode())
        for number, told in enumerate(head["segments"]):
            prefix = f"segment.{number}"
            segment = Segment.restore(self.specs[told["tag"]], told, partial(_prefixed, column, prefix))
            self.segments.append(segment)
            self._open[told["tag"]] = segment
        self._undescribed = {
            tag: [_Waiting(At(*place), session) for *place, session in waiting]
            for tag, waiting in head["undescribed"].items()
        }
        self._left_out = Counter(head["left_out"])

    def _take_spec(self, tag: str, spec: TableSpec) -> None:
        self.specs[tag] = spec
        for at, session in self._undescribed.pop(tag, ()):
            try:
                value = read_value(self._path, at.offset, at.length, at.place)
                self._add(tag, at, session, value.tensor)
            except (Moved, FormatError) as error:
                self._tell(tag, "waited", f"{tag} came before its description, and then: {error} It is left out.")

    def _add(self, tag: str, at: At, session: int, tensor: Any) -> None:
        spec, step = self.specs[tag], at.step
        table = decode_table(spec, tensor)
        segment = self._open.get(tag)
        if segment is not None and segment.session == session and step <= (last := segment.last_step):
            if step == last:
                self._tell(tag, "repeat", f"{tag} repeats step {step}; the first record of it counts.")
                return
            begun = self._sessions.go_back(spec.scope, at.wall, step)
            if begun is None:
                self._leave_out(tag)
                return
            session = begun
            self._tell(tag, "back", f"The steps of {tag} go back from {last} to {step} without a new session.")
        if segment is None or segment.session != session:
            if segment is not None:
                segment.flush()
            segment = self._open[tag] = Segment(spec, session)
            self.segments.append(segment)
        segment.append(step, at.wall, table)
        if not KINDS[spec.kind].time_keyed:
            self._note_step(step)

    def _leave_out(self, tag: str) -> None:
        """Tell that a record which goes back is left out: at the first of a tag, then how many when they are many."""
        self._left_out[tag] += 1
        count = self._left_out[tag]
        if count == 1:
            often = f"The steps of the file have gone back {MOST_RESTARTS:,} times without a new session"
            self._tell(tag, "left out", f"{often}: further records of {tag} that go back are left out.")
        elif count in _COUNTS_TOLD:
            self._tell(tag, f"left out {count}", f"{count:,} records of {tag} that go back are left out so far.")


def _prefixed(column: Callable[[str], Growing], prefix: str, name: str) -> Growing:
    return column(prefix + name)


def _spec_of(content: bytes, ours: TableTag) -> TableSpec:
    spec = TableSpec.from_json(content)
    if (spec.scope, spec.kind) != (ours.scope, ours.kind):
        raise FormatError(f"The description says scope {spec.scope!r} and kind {spec.kind!r}.")
    if spec.kind == "pulse" and spec.rows is not None:
        raise FormatError("The description of a pulse names rows; it has a row for each moment.")
    return spec
