"""Decides, tag by tag, where a summary value goes: a point, a table, a session record, or a place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from zentracer_schema import KINDS, FormatError, NewerFormatError, TableTag, decode_message, parse_tag
from zentracer_store.contents.sessions import Sessions
from zentracer_store.contents.tables import IN_COLUMNS, At, Tables, Tell
from zentracer_store.contents.tags import TagInfo, Tags
from zentracer_store.reading.decode import Sort, scalar_of, sort_of

MOST_TAGS = 100_000

Taker = Callable[[At, Any], None]
"""Takes a summary value of its tag."""


class Sink(Protocol):
    """Keeps what was taken."""

    def add_point(self, number: int, at: At, value: float) -> None:
        """Add a scalar to the tag of that number."""

    def add_record(self, number: int, at: At, *, counts: bool) -> None:
        """Note where a value of the tag of that number lies in the file. `counts`: its step is one of training."""

    def note_sessions(self) -> None:
        """Note that sessions begin here, where any do that are new."""


class Takers:
    """Takes the summary values of one file. How those of a tag are taken is decided at the first of them."""

    def __init__(self, tags: Tags, tables: Tables, sessions: Sessions, sink: Sink, tell: Tell) -> None:
        self._tags = tags
        self._tables = tables
        self._sessions = sessions
        self._sink = sink
        self._tell = tell
        self._takers: dict[str, Taker] = {}
        self._skipped: set[str] = set()

    def take(self, at: At, value: Any) -> None:
        """Take a value, or tell why not."""
        tag = value.tag
        taker = self._takers.get(tag) or self._new_taker(value)
        try:
            taker(at, value)
        except NewerFormatError as error:
            self.skip((tag,))
            self._tell(tag, "newer", f"{tag} is skipped. {error}")
        except FormatError as error:
            self._tell(tag, type(error).__name__, f"{error} Such records of {tag} are skipped.")

    @property
    def skipped(self) -> list[str]:
        """Tags of which no further values are taken: a later version wrote them."""
        return sorted(self._skipped)

    def skip(self, tags: Iterable[str]) -> None:
        """Take no further values of some tags."""
        self._skipped |= set(tags)
        self._takers |= dict.fromkeys(self._skipped, _pass_over)

    def number_of_scalar(self, value: Any) -> int:
        """The number under which a value's points stand; -1 where the file has too many tags."""
        number = self._first_number(value)
        if number is None:
            return -1
        return number if self._tags.all[number].sort == "scalar" else self._number_as("scalar", self._tags.all[number])

    def _first_number(self, value: Any) -> int | None:
        """The number under which the first values of a tag stand; None where the file has too many tags."""
        number = self._tags.first(value.tag)
        if number is None:
            if len(self._tags) >= MOST_TAGS:
                self._tell("", "tags", f"The file has over {MOST_TAGS:,} tags; the further ones are not read.")
                return None
            number = self._tags.add(_info_of(value))
            info = self._tags.all[number]
            if not info.ours and info.tag.startswith("zentracer/") and info.plugin.startswith("zentracer_"):
                text = f"{info.tag} is of a kind ({info.plugin}) that this version does not know"
                self._tell(info.tag, "kind", f"{text}: upgrade zentracer to see it.")
        return number

    def _new_taker(self, value: Any) -> Taker:
        """How to take the values of a tag that has no taker so far."""
        tag, number = value.tag, self._first_number(value)
        if number is None:
            return _pass_over
        ours = parse_tag(tag)
        taker = self._taker_of_ours(tag, ours, number) if ours is not None else self._taker_of_others(number)
        self._takers[tag] = taker
        return taker

    def _taker_of_others(self, number: int) -> Taker:
        info = self._tags.all[number]

        def take_scalar(at: At, value: Any) -> None:
            found = scalar_of(value)
            if found is not None:
                self._sink.add_point(number, at, found)
            elif value.WhichOneof("value") is not None:
                self._take_as(sort_of(value, value.metadata.plugin_data.plugin_name), info, at, value)

        def take(at: At, value: Any) -> None:
            sort = sort_of(value, value.metadata.plugin_data.plugin_name or info.plugin)
            if sort == info.sort:
                self._sink.add_record(number, at, counts=True)
            else:
                self._take_as(sort, info, at, value)

        return take_scalar if info.sort == "scalar" else take

    def _take_as(self, sort: Sort, info: TagInfo, at: At, value: Any) -> None:
        """Take a value of another sort than the first ones of its tag."""
        number, found = self._number_as(sort, info), scalar_of(value) if sort == "scalar" else None
        if found is None:
            self._sink.add_record(number, at, counts=True)
        else:
            self._sink.add_point(number, at, found)

    def _number_as(self, sort: Sort, info: TagInfo) -> int:
        """The number of a tag's values of another sort than its first. Other readers drop these."""
        number = self._tags.number(info.tag, sort)
        if number is None:
            number = self._tags.add(TagInfo(info.tag, sort, info.plugin, info.display_name, info.description))
            text = f"{info.tag} holds values of two sorts: what is {sort} and not {info.sort} is listed as"
            self._tell(info.tag, f"sort {sort}", f"{text} {self._tags.all[number].tag}.")
        return number

    def _taker_of_ours(self, tag: str, ours: TableTag, number: int) -> Taker:
        if KINDS[ours.kind].payload == "message":

            def take_message(at: At, value: Any) -> None:
                if ours.kind == "session":
                    self._take_session(ours.scope, at.wall, value)
                self._sink.add_record(number, at, counts=False)

            return take_message

        def take_table(at: At, value: Any) -> None:
            self._tables.take(tag, ours, at, value)
            self._sink.note_sessions()
            if ours.kind not in IN_COLUMNS:
                self._sink.add_record(number, at, counts=False)

        return take_table

    def _take_session(self, scope: str, wall: float, value: Any) -> None:
        record = decode_message(value.tensor)
        key = record.get("id")
        if not isinstance(key, str):
            raise FormatError("A session record has no id.")
        self._sessions.describe(key, wall, record, scope)
        self._sink.note_sessions()


def _info_of(value: Any) -> TagInfo:
    metadata, ours = value.metadata, parse_tag(value.tag)
    plugin = metadata.plugin_data.plugin_name
    sort = sort_of(value, plugin) if ours is None else KINDS[ours.kind].payload
    content = metadata.plugin_data.content
    return TagInfo(value.tag, sort, plugin, metadata.display_name, metadata.summary_description, content)


def _pass_over(at: At, value: Any) -> None:
    """Taker of tags whose values are not read."""
