"""The directory of the cache: where it is, whether it is ours alone, and how much may lie in it."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from zentracer_store.caching.volumes import FORMAT

MOST_BYTES = 2 << 30
RECENT_S = 900.0
"""An entry that was used within so many seconds may be in use by another process, and stays."""

_RECOUNT = 32  # entries are counted anew when this part of the limit was written since

DIRECTORY = "ZENTRACER_CACHE_DIR"
BYTES = "ZENTRACER_CACHE_BYTES"
_ANEW = "logs are read anew at every start"
_INSTEAD = f"Set {DIRECTORY} to a directory of your own."


class Unusable(Exception):
    """Nothing can be kept in the directory; the message is a sentence."""


def default_root() -> Path:
    """Where the environment says that the cache is.

    Raises:
        Unusable: it says nothing, and the user has no home directory.
    """
    if chosen := os.environ.get(DIRECTORY):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The standard: a relative path is to be ignored.
    if os.path.isabs(base):
        return Path(base) / "zentracer"
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise Unusable(f"There is no home directory to cache in: {_ANEW}. {_INSTEAD}")
    return Path(home) / ".cache/zentracer"


def default_most_bytes() -> int:
    """How much the environment says that the cache may hold; 0 turns it off.

    Raises:
        Unusable: what the environment says is no number.
    """
    text = os.environ.get(BYTES, str(MOST_BYTES))
    try:
        return max(int(text), 0)
    except ValueError as error:
        raise Unusable(f"{BYTES} must be a number of bytes, got {text!r}: nothing is cached.") from error


@dataclass
class CacheDir:
    """One directory with an entry, itself a directory, for each event file.

    Entries lie in a sub-directory that names the format, so versions that know different formats leave each other's
    alone.
    """

    root: Path
    most_bytes: int
    _counted: int | None = field(default=None, init=False)
    _added: int = field(default=0, init=False)

    @cached_property
    def entries(self) -> Path:
        """The directory of the entries."""
        return self.root / f"v{FORMAT}"

    def prepare(self) -> None:
        """Make the directory where it is missing, and see that nobody else can write there.

        Raises:
            Unusable: it can't be made, or is not ours alone.
        """
        try:
            for path in (self.root, self.entries):
                try:
                    status = os.stat(path)
                except FileNotFoundError:
                    path.mkdir(mode=0o700, parents=True, exist_ok=True)
                    status = os.stat(path)
                self._check(path, status)
            if stat.S_IMODE(status.st_mode) != 0o700:
                os.chmod(self.entries, 0o700)
        except OSError as error:
            text = f"The cache directory {self.root} can't be used ({error.strerror}): {_ANEW}. {_INSTEAD}"
            raise Unusable(text) from error

    def make_room(self, size: int, used: Callable[[], Collection[str]]) -> bool:
        """Remove the entries used longest ago until `size` bytes more fit; says whether they do.

        Entries whose names `used` tells stay, and those that another process may be using.
        """
        if self._counted is None or self._added > self.most_bytes // _RECOUNT:
            self._counted, self._added = sum(entry.size for entry in self._all()), 0
        self._added += size
        if self._counted + self._added > self.most_bytes:
            self._evict(size, used())
        fits = self._counted + self._added <= self.most_bytes
        if not fits:
            self._added -= size
        return fits

    def _evict(self, size: int, used: Collection[str]) -> None:
        entries = sorted(self._all(), key=lambda entry: entry.used_at)
        total, recent = sum(entry.size for entry in entries), time.time() - RECENT_S
        for entry in entries:
            if total + size <= self.most_bytes:
                break
            if entry.path.name not in used and entry.used_at < recent:
                shutil.rmtree(entry.path, ignore_errors=True)
                total -= entry.size
        self._counted, self._added = total, size

    def _all(self) -> Iterator[_Entry]:
        """Entries of this format and of older ones, which only take up room."""
        for number in range(1, FORMAT + 1):
            with suppress(OSError):
                for path in (self.root / f"v{number}").iterdir():
                    # Other processes add and remove entries meanwhile.
                    with suppress(OSError):
                        yield _Entry(path, sum(_taken(file) for file in os.scandir(path)), path.stat().st_mtime)

    def _check(self, path: Path, status: os.stat_result) -> None:
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        if status.st_uid != os.geteuid():
            raise Unusable(f"The cache directory {self.root} belongs to another user: {_ANEW}. {_INSTEAD}")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Unusable(f"Other users can write to the cache directory {self.root}: {_ANEW}. {_INSTEAD}")


@dataclass(frozen=True)
class _Entry:
    path: Path
    size: int
    used_at: float


def _taken(file: os.DirEntry[str]) -> int:
    return file.stat(follow_symlinks=False).st_blocks * 512
