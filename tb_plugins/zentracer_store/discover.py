"""Finds the runs under a log directory, and names them as TensorBoard does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

FOLDED = ("zentracer", "train", "validation")
"""Sub-directories that belong to the trial above them: our own files, and the splits that Keras writes."""

MOST_DIRECTORIES = 200_000
"""Where a walk gives up: links that fan out would multiply it without end."""

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
    """Walk every place, following links as TensorBoard does but never twice into one directory on the same way."""
    files: list[FoundFile] = []
    problems: list[Problem] = []
    for place in places:
        if problem := _unfit(place.path):
            problems.append(Problem(place.path, problem))
            continue
        files.extend(_walk(place, problems))
    return Found(tuple(files), tuple(problems))


def _unfit(path: str) -> str | None:
    if _URI.match(path):
        return f"{path} is not on this machine's file system, where alone these tabs can read."
    if not os.path.exists(path):
        return f"{path} does not exist yet. It is looked for again."
    if not os.path.isdir(path):
        return f"{path} is a file, not a directory. Give --logdir the directory that holds it."
    return None


def _walk(place: Place, problems: list[Problem]) -> Iterator[FoundFile]:
    # Each entry carries the (device, inode) of the directories above it: a link to one of them is a loop.
    stack: list[tuple[str, frozenset[tuple[int, int]]]] = [("", frozenset())]
    seen = 0
    while stack:
        below, above = stack.pop()
        seen += 1
        if seen > MOST_DIRECTORIES:
            problems.append(Problem(place.path, _TOO_MANY.format(place.path, MOST_DIRECTORIES)))
            return
        path = os.path.join(place.path, below)
        try:
            status = os.stat(path)
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(text(below or "."), f"The directory can't be read ({error.strerror})."))
            continue
        inode = (status.st_dev, status.st_ino)
        if inode in above:
            continue
        directories = []
        for entry in entries:
            if entry.is_dir():
                directories.append((os.path.join(below, entry.name), above | {inode}))
            elif is_event_file(entry.name):
                run = _joined(place, below)
                trial = _joined(place, fold(below))
                yield FoundFile(entry.path, run, trial, text(os.path.join(below, entry.name)))
        stack.extend(reversed(directories))


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
