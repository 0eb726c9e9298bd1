"""Numbers the tags of a file and says of each what it is."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, NamedTuple

from zentracer_store.reading.decode import Sort


class TagInfo(NamedTuple):
    """One tag, as its first value in the file describes it. `content` is what its plugin keeps with it.

    `source` is the tag in the file where `tag` is another name: a tag that holds values of two sorts is two tags here.
    """

    tag: str
    sort: Sort
    plugin: str = ""
    display_name: str = ""
    description: str = ""
    content: bytes = b""
    source: str | None = None

    @property
    def ours(self) -> bool:
        """Whether the tag holds tables or messages of ours."""
        return self.sort in ("table", "message")


class Tags:
    """The tags of a file in the order in which they appear; a tag's number is its place in `all`."""

    def __init__(self) -> None:
        self.all: list[TagInfo] = []
        self._numbers: dict[tuple[str, Sort], int] = {}
        self._first: dict[str, int] = {}
        self._names: set[str] = set()

    def __len__(self) -> int:
        return len(self.all)

    def first(self, tag: str) -> int | None:
        """The number under which the first values of a tag stand."""
        return self._first.get(tag)

    def number(self, tag: str, sort: Sort) -> int | None:
        """The number under which a tag's values of one sort stand."""
        return self._numbers.get((tag, sort))

    def add(self, info: TagInfo) -> int:
        """Number a tag, or a further sort of values that a known tag turns out to hold."""
        source = info.tag
        if source in self._first or source in self._names:
            info = info._replace(tag=self._unused(f"{source} ({info.sort})"), source=source)
        return self._append(info)

    def head(self) -> list[list[Any]]:
        """All of it as JSON can hold it."""
        return [[*info[:5], b64encode(info.content).decode(), info.source] for info in self.all]

    def restore(self, head: list[list[Any]]) -> None:
        """Take over the tags that `head` told."""
        for tag, sort, plugin, name, description, content, source in head:
            self._append(TagInfo(tag, sort, plugin, name, description, b64decode(content) if content else b"", source))

    def _append(self, info: TagInfo) -> int:
        number, source = len(self.all), info.tag if info.source is None else info.source
        self._first.setdefault(source, number)
        self._numbers[source, info.sort] = number
        self._names.add(info.tag)
        self.all.append(info)
        return number

    def _unused(self, name: str) -> str:
        while name in self._names:
            name += "'"
        return name
