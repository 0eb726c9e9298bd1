"""Points out files that hold the same bytes, in two runs or in one: a log that was copied is no second experiment."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

MOST_BYTES = 64 << 20
"""Read in one look, unless it is told otherwise."""

_END_BYTES = 4 << 10
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Candidate:
    """A file of a run, and how it is named to users."""

    run: str
    path: str
    shown: str


@dataclass(frozen=True)
class Twin:
    """A file that is the same as one before it. `text` says so."""

    file: Candidate
    first: Candidate
    text: str


@dataclass
class _Known:
    """What was read of a file so far: its ends, and all of it up to `done`."""

    ends: bytes | None = None
    digest: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    done: int = 0


_Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change: a file that is not as it was has another."""

_Found = tuple[_Identity, Candidate]


class Twins:
    """Finds files with the same bytes, a bounded part of the work in each look.

    Only files of the same size are read: first their ends, then, where these are the same too, all of them.
    """

    def __init__(self) -> None:
        self._known: dict[_Identity, _Known] = {}
        self._left = 0

    @property
    def more(self) -> bool:
        """Whether the last look ended before everything was compared."""
        return self._left <= 0

    def look(self, files: Iterable[Candidate], most: int = MOST_BYTES) -> list[Twin]:
        """The files that are the same as an earlier one of `files`, as far as it is known. Reads about `most` bytes."""
        self._left = most
        known, self._known = self._known, {}
        alike: dict[int, list[_Found]] = {}
        for file in files:
            identity = _identity(file.path)
            if identity is not None:
                self._known[identity] = known.get(identity) or _Known()
                alike.setdefault(identity[2], []).append((identity, file))
        groups = list(alike.values())
        for told in (self._ends, self._digest):
            groups = [part for group in groups if len(group) > 1 for part in _parted(group, told)]
        return [_twin(group[0], other) for group in groups for other in group[1:]]

    def _ends(self, identity: _Identity, path: str) -> bytes | None:
        """The first and last bytes of a file; None where they are not known yet."""
        known = self._known[identity]
        if known.ends is None:
            first = self._read(path, 0, _END_BYTES)
            last = self._read(path, max(identity[2] - _END_BYTES, 0), _END_BYTES)
            known.ends = None if first is None or last is None else first + last
        return known.ends

    def _digest(self, identity: _Identity, path: str) -> bytes | None:
        """A digest of the whole file; None where it is not known yet."""
        known = self._known[identity]
        while known.done < identity[2]:
            piece = self._read(path, known.done, min(_PIECE_BYTES, identity[2] - known.done))
            if not piece:
                return None
            known.digest.update(piece)
            known.done += len(piece)
        return known.digest.digest()

    def _read(self, path: str, offset: int, count: int) -> bytes | None:
        if self._left <= 0:
            return None
        self._left -= count
        try:
            # Without O_NONBLOCK, a FIFO put there in this instant would hold us up for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                return os.pread(descriptor, count, offset)
            finally:
                os.close(descriptor)
        except OSError:
            return None  # who reads its records tells of that


def _parted(group: Sequence[_Found], told: Callable[[_Identity, str], bytes | None]) -> list[list[_Found]]:
    """A group by what is told of its files, without those of which nothing is."""
    if len({identity[:2] for identity, _ in group}) == 1:
        return [list(group)]  # links to one file
    parts: dict[bytes, list[_Found]] = {}
    for identity, file in group:
        key = told(identity, file.path)
        if key is not None:
            parts.setdefault(key, []).append((identity, file))
    return list(parts.values())


def _twin(first: _Found, other: _Found) -> Twin:
    where = "this run" if first[1].run == other[1].run else f"run {first[1].run}"
    what = "is a link to the same file" if first[0][:2] == other[0][:2] else "holds the same bytes"
    return Twin(other[1], first[1], f"The file {what} as {first[1].shown} of {where}.")


def _identity(path: str) -> _Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or not status.st_size:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
