"""What is cached of one event file: a chain of volumes, each of which goes on where the one before it ends."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from zentracer_store.caching.volumes import HEAD, TEMPORARY, Volume, open_volume
from zentracer_store.contents.growing import Lost

FIRST = "0"
"""What the first volume of a chain comes after."""

WRITING = "writing"
READING = "reading"
"""Names of locks: of the process that writes a volume, of the worker that reads the event file."""

_NAME = re.compile(r"([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)-([0-9a-f]+)\.arrow")


def name_of(log: str) -> str:
    """The name of the entry of an event file, given its real path."""
    return hashlib.sha256(os.fsencode(log)).hexdigest()[:24]


@dataclass(frozen=True)
class Entry:
    """The directory with the volumes of the event file `log`.

    Several processes may write here. A volume names itself and the one that it comes after by random keys, so what one
    process wrote is never taken for the continuation of what another did.
    """

    directory: str
    log: str

    def chain(self) -> list[Volume]:
        """The volumes that together reach furthest from the beginning of the event file. Damaged ones are left out."""
        links = self._links()
        while True:
            volumes: list[Volume] = []
            for link in _furthest(links):
                volume = self._open(link, volumes)
                if volume is None:
                    links.remove(link)
                    break
                volumes.append(volume)
            else:
                return volumes

    def reach(self) -> int:
        """How far in the event file the volumes reach, as their names say."""
        best = _furthest(self._links())
        return best[-1].end if best else 0

    def new_path(self, start: int, end: int, after: str) -> tuple[str, str]:
        """Key and path for a volume to be written."""
        key = os.urandom(8).hex()
        return key, os.path.join(self.directory, f"{start:x}-{end:x}-{key}-{after}.arrow")

    def keep_only(self, volumes: Collection[Volume]) -> None:
        """Remove every other volume, and what an interrupted process left. For who holds the lock `WRITING`."""
        kept = {os.path.basename(volume.path) for volume in volumes}
        for name in self._names():
            if name not in kept and (_NAME.fullmatch(name) or name.endswith(TEMPORARY)):
                with suppress(OSError):
                    os.unlink(os.path.join(self.directory, name))

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Hold a lock between processes for the time of a `with`, unless another has it: says which. Never waits.

        Raises:
            OSError: the directory is gone, or can't be written.
        """
        descriptor = os.open(os.path.join(self.directory, name), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            yield _locked(descriptor)
        finally:
            os.close(descriptor)

    def touch(self) -> None:
        """Note that the entry is in use."""
        with suppress(OSError):
            os.utime(self.directory)

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.directory)
        except OSError:
            return []

    def _links(self) -> list[_Link]:
        links = []
        for name in self._names():
            if match := _NAME.fullmatch(name):
                links.append(_Link(name, int(match[1], 16), int(match[2], 16), match[3], match[4]))
        return links

    def _open(self, link: _Link, before: Sequence[Volume]) -> Volume | None:
        """The volume, unless it is damaged or does not go on where those before it end."""
        try:
            volume = open_volume(os.path.join(self.directory, link.name))
        except Lost:
            return None
        told = (volume.log, volume.start, volume.end, volume.key, volume.after)
        if told != (self.log, link.start, link.end, link.key, link.after):
            return None
        rows = rows_of(before)
        fits = all(column.first == rows.pop(name, 0) for name, column in volume.columns.items() if name != HEAD)
        return volume if fits and not rows else None


def rows_of(chain: Sequence[Volume]) -> dict[str, int]:
    """How many rows of each column the volumes of a chain hold."""
    if not chain:
        return {}
    return {name: column.first + column.rows for name, column in chain[-1].columns.items() if name != HEAD}


@dataclass(frozen=True)
class _Link:
    name: str
    start: int
    end: int
    key: str
    after: str


_Place = tuple[str, int]
"""Where a volume may go on: the key of the one before it, and that one's end."""


def _furthest(links: Sequence[_Link]) -> list[_Link]:
    """The chain that reaches furthest; of two that reach equally far, the one of fewer links but for those without
    bytes, which add rows that were described late."""
    onward: dict[_Place, list[_Link]] = {}
    for link in links:
        onward.setdefault((link.after, link.start), []).append(link)
    ranks: dict[_Place, tuple[int, int]] = {(FIRST, 0): (0, 0)}  # links without bytes, and all links below 0
    came_by: dict[_Place, _Link] = {}
    passed: set[_Place] = set()
    for place in _places(onward):
        passed.add(place)
        late, fewer = ranks[place]
        for link in onward.get(place, ()):
            there, rank = (link.key, link.end), (late + (link.start == link.end), fewer - 1)
            if there not in passed and (there not in ranks or rank > ranks[there]):
                ranks[there], came_by[there] = rank, link
    best = max(ranks, key=lambda place: (place[1], *ranks[place]))
    chain = []
    while best in came_by:
        chain.append(came_by[best])
        best = (chain[-1].after, chain[-1].start)
    return chain[::-1]


def _places(onward: Mapping[_Place, Sequence[_Link]]) -> list[_Place]:
    """Every place that a chain comes to, each before those that it leads to, unless these lead back to it."""
    left: list[_Place] = []
    seen: set[_Place] = set()
    waiting = [((FIRST, 0), False)]
    while waiting:
        place, leads_nowhere_else = waiting.pop()
        if leads_nowhere_else:
            left.append(place)
        elif place not in seen:
            seen.add(place)
            waiting.append((place, True))
            waiting += [((link.key, link.end), False) for link in onward.get(place, ())]
    return left[::-1]


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks. Volumes of two writers do not mix, so all it costs is work done twice.
        return True
    return True
