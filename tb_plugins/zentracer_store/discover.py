"""Finds the runs under a log directory, and names them as TensorBoard does."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

FOLDED = ("zentracer", "train", "validation")
"""Sub-directories that belong to the trial above them: our own files, and the splits that Keras writes."""

MOST_DIRECTORIES = 200_000
"""Where a walk gives up: links that fan out would multiply it without end."""

_GRAIN_S = 3.0
"""The coarsest grain of a file system's times (2 s on FAT), and some."""

_RELIST_S = 60.0
_BUSY_S = 60.0
_MOST_STIRRING = 50

_TOO_MANY = "{} has more than {:,} directories; the rest is not looked into. Give --logdir one further down."
_OTHER_RANK = re.compile(r"rank_\d+\.")
_URI = re.compile(r"[a-zA-Z][0-9a-zA-Z.]*://")


@dataclass(frozen=True)
class Place:
    """A directory to look in. Run names inside begin with `name` where it is given."""

    path: str
    name: str | None = None


@dataclass(frozen=True)
class FoundFile:
    """One file of events: `run` is its directory's name, `trial` that of the trial it is folded into."""

    path: str
    run: str
    trial: str
    shown: str
    """Path as told to the user: relative to the log directory."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be looked into. `path` is as the user wrote it or relative to the log directory."""

    path: str
    text: str


@dataclass(frozen=True)
class Found:
    """What a walk saw. `problems` never keep the rest from being found."""

    files: tuple[FoundFile, ...]
    problems: tuple[Problem, ...]


def parse_places(logdir: str, logdir_spec: str = "") -> tuple[Place, ...]:
    """The directories that TensorBoard's `--logdir` or `--logdir_spec` names."""
    if logdir:
        return (Place(os.path.expanduser(logdir)),)
    places = []
    for part in filter(None, logdir_spec.split(",")):
        name, colon, path = part.partition(":")
        # "/a:b/c" is a path with a colon in it, not a name.
        if colon and not part.startswith("/") and not _URI.match(part):
            places.append(Place(os.path.expanduser(path), name))
        else:
            places.append(Place(os.path.expanduser(part)))
    return tuple(places)


def is_event_file(name: str) -> bool:
    """Whether a file's name says that it holds events. Files of ranks other than the first are read elsewhere."""
    return ("tfevents" in name or name.endswith(".ztrec")) and not _OTHER_RANK.match(name)


def discover(places: tuple[Place, ...]) -> Found:
    """Walk every place once."""
    return Walker(places).walk()


@dataclass
class _Listing:
    """What a directory held when it was last listed."""

    identity: tuple[int, int, int, int]
    listed: float
    settled: bool
    """Its times would tell of any change since. They do not where it changed within their own grain of being listed."""
    loose: bool
    """It holds links that lead nowhere: a directory may appear at their end without a trace here."""
    directories: tuple[str, ...]
    files: tuple[FoundFile, ...]


class Walker:
    """Walks places again and again, following links as TensorBoard does but never twice into one directory on a way.

    A directory is listed anew only where its times say that it changed, or after a minute, since not every file system
    keeps such times. So a walk over thousands of quiet runs is one `stat` for each. What did not change is the very
    same object as before.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = tuple(places)
        self._known: dict[tuple[Place, str], _Listing] = {}
        self._stirring: dict[str, tuple[int, int, int, int] | None] = {}

    def walk(self) -> Found:
        """All files there are now."""
        files: list[FoundFile] = []
        problems: list[Problem] = []
        before, self._known = self._known, {}
        self._stirring = {}
        for place in self._places:
            if problem := _unfit(place.path):
                problems.append(Problem(place.path, problem))
                self._stirring[place.path] = _identity(place.path)
                continue
            self._walk(place, before, files, problems)
        return Found(tuple(files), tuple(problems))

    def stirs(self) -> bool:
        """Whether a directory where there may well be news has changed since the walk: a place, or one busy lately.

        A few `stat`s, so that a run is found at once where a whole walk takes its time.
        """
        return any(_identity(path) != identity for path, identity in self._stirring.items())

    def _walk(
        self,
        place: Place,
        before: dict[tuple[Place, str], _Listing],
        files: list[FoundFile],
        problems: list[Problem],
    ) -> None:
        # Each entry carries the (device, inode) of the directories above it: a link to one of them is a loop.
        stack: list[tuple[str, frozenset[tuple[int, int]]]] = [("", frozenset())]
        seen, now, clock = 0, time.time(), time.monotonic()
        while stack:
            below, above = stack.pop()
            seen += 1
            if seen > MOST_DIRECTORIES:
                problems.append(Problem(place.path, _TOO_MANY.format(place.path, MOST_DIRECTORIES)))
                return
            path = os.path.join(place.path, below)
            listing = before.get((place, below))
            try:
                status = os.stat(path)
                if (status.st_dev, status.st_ino) in above:
                    continue
                if listing is None or _outdated(listing, status, clock):
                    listing = _list(place, below, path, status, listing, now, clock)
            except OSError as error:
                problems.append(Problem(text(below or "."), f"The directory can't be read ({error.strerror})."))
                continue
            self._known[place, below] = listing
            if not below or (now - status.st_mtime < _BUSY_S and len(self._stirring) < _MOST_STIRRING):
                self._stirring[path] = listing.identity
            files.extend(listing.files)
            if listing.directories:
                inside = above | {(status.st_dev, status.st_ino)}
                stack.extend((directory, inside) for directory in reversed(listing.directories))


def _unfit(path: str) -> str | None:
    if _URI.match(path):
        return f"{path} is not on this machine's file system, where alone these tabs can read."
    if not os.path.exists(path):
        return f"{path} does not exist yet. It is looked for again."
    if not os.path.isdir(path):
        return f"{path} is a file, not a directory. Give --logdir the directory that holds it."
    return None


def _identity_of(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def _identity(path: str) -> tuple[int, int, int, int] | None:
    try:
        return _identity_of(os.stat(path))
    except OSError:
        return None


def _outdated(listing: _Listing, status: os.stat_result, clock: float) -> bool:
    return (
        not listing.settled
        or listing.loose
        or listing.identity != _identity_of(status)
        or clock - listing.listed > _RELIST_S
    )


def _list(
    place: Place, below: str, path: str, status: os.stat_result, before: _Listing | None, now: float, clock: float
) -> _Listing:
    directories, files, loose = [], [], False
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if _is_directory(entry):
                directories.append(os.path.join(below, entry.name))
            elif is_event_file(entry.name):
                shown = text(os.path.join(below, entry.name))
                files.append(FoundFile(entry.path, _joined(place, below), _joined(place, fold(below)), shown))
            else:
                loose = loose or entry.is_symlink()
    found = (tuple(directories), tuple(files))
    if before is not None and found == (before.directories, before.files):
        found = (before.directories, before.files)
    return _Listing(_identity_of(status), clock, now - status.st_mtime > _GRAIN_S, loose, *found)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or through a directory that is closed to us
        return False


def fold(below: str) -> str:
    """The directory whose trial a run belongs to, relative to the place: `a/train` is part of `a`."""
    head, tail = os.path.split(below)
    return head if tail in FOLDED else below


def _joined(place: Place, below: str) -> str:
    name = below or "."
    return text(os.path.join(place.name, name) if place.name else name)


def text(name: str) -> str:
    """A file name as Unicode: bytes that are no UTF-8 become escapes, so that two names stay two."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
