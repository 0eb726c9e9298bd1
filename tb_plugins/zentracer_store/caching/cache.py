"""Remembers between starts what was read of event files, and lets columns lie on disk meanwhile."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

from zentracer_schema import FormatError
from zentracer_store.caching.cachedir import BYTES, CacheDir, Unusable, default_most_bytes, default_root
from zentracer_store.caching.entry import FIRST, WRITING, Entry, name_of, rows_of
from zentracer_store.caching.shelf import Shelf
from zentracer_store.caching.volumes import Damaged, Volume, read_column, read_head, write_volume
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Array, Growing, Lost, Stored
from zentracer_store.reading.tail import Tail

LEAST_BYTES = 64 << 10
"""A shorter stretch of an event file is read again as fast as it is loaded, and is not saved."""

SAVE_BYTES = 64 << 20
"""When so much of an event file is new it is worth to be saved; of a short one already a smaller part."""

_PART = 16
_LARGEST_VOLUME = 128 << 20
_PAUSE_S = 60.0

logger = logging.getLogger(__name__)


class Saved(Enum):
    """What came of a wish to save."""

    SAVED = auto()
    NOTHING = auto()
    """There is too little that is new."""
    BUSY = auto()
    """Another process writes this entry now."""
    REFUSED = auto()
    """The cache is off, full, or its disk is in trouble: `Cache.problems` says so. The columns stay in memory."""
    STALE = auto()
    """Another process saved more, or what was saved is gone: `load`; where that gives nothing read from the start."""


@dataclass
class _Known:
    """What of some contents is saved."""

    contents: ref[FileContents]
    entry: Entry
    chain: list[Volume] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.chain[-1].end if self.chain else 0


class Cache:
    """The cached contents of event files, by path. Trouble with the disk raises nowhere; it is told in `problems`.

    By default the environment says where it is and how large. `load` and `save` of one path are for one thread at a
    time. Columns of contents that were loaded or saved are read from disk when used, which may raise `Lost`: then load
    again, and where that gives nothing read the file from its start.
    """

    def __init__(self, root: Path | None = None, most_bytes: int | None = None, shelf: Shelf | None = None) -> None:
        self.shelf = Shelf() if shelf is None else shelf
        self._root = root
        self._most_bytes = most_bytes
        self._directory: CacheDir | None = None
        self._known: dict[str, _Known] = {}
        self._problems: dict[str, str] = {}
        self._lock = threading.Lock()
        self._paused_until = 0.0

    @property
    def problems(self) -> tuple[str, ...]:
        """What hinders the cache, as sentences that say what follows from it. Each kind is told once."""
        return tuple(self._problems.values())

    @property
    def troubles(self) -> tuple[tuple[str, str], ...]:
        """The same, each with its kind, so that another process can `tell` it."""
        return tuple(self._problems.items())

    @property
    def usable(self) -> bool:
        """Whether anything can be kept."""
        return self._usable() is not None

    def where(self) -> dict[str, Any]:
        """What another process needs to know, as JSON can hold it, to make a cache of the same place and size."""
        return {"root": None if self._root is None else str(self._root), "most_bytes": self._most_bytes}

    def tell(self, kind: str, text: str) -> None:
        """Note what hinders the cache, once a kind."""
        with self._lock:
            if kind in self._problems:
                return
            self._problems[kind] = text
        logger.warning("%s", text)

    def load(self, path: str) -> tuple[Tail, FileContents] | None:
        """What is cached of an event file, and the position from which to read on; None where nothing fits it."""
        entry = self._entry(path)
        if entry is None:
            return None
        chain = entry.chain()
        if not chain:
            return None
        try:
            head = read_head(chain[-1])
            if not _goes_on(path, head["tail"]):
                entry.keep_only(())
                return None
            blocks = partial(self._column, entry, chain)
            contents = FileContents.restore({**head["contents"], "path": path}, blocks)
            tail = Tail.resume(path, head["tail"])
        except (FormatError, ArithmeticError, Damaged, LookupError, TypeError, ValueError) as error:
            # Written by another version, or damaged: the event file still has it all.
            logger.info("What is cached of %s can't be used: %r", path, error)
            entry.keep_only(())
            return None
        except Lost:
            return None
        entry.touch()
        self._known[path] = _Known(ref(contents), entry, chain)
        return tail, contents

    def save(self, path: str, tail: Tail, contents: FileContents, *, all_of_it: bool = False) -> Saved:
        """Keep what `contents` gained since they were saved or loaded, if it is much or `all_of_it` is wanted.

        It may be called after every read. `tail` must stand where `contents` end. Columns leave memory thereby.
        """
        known = self._known.get(path)
        if known is not None and known.contents() is not contents:
            known = None
        end = known.end if known else 0
        if tail.offset - end < (1 if all_of_it else max(LEAST_BYTES, min(end // _PART, SAVE_BYTES))):
            return Saved.NOTHING
        entry = known.entry if known else self._entry(path)
        if entry is None or time.monotonic() < self._paused_until:
            return Saved.REFUSED
        known = known or _Known(ref(contents), entry)
        try:
            os.makedirs(entry.directory, mode=0o700, exist_ok=True)
            with entry.lock(WRITING) as ours:
                return self._save(path, known, tail, contents) if ours else Saved.BUSY
        except Lost:
            return Saved.STALE
        except ImportError:
            text = "pyarrow is not installed, so what was read of the logs stays in memory and is read anew at the next"
            self.tell("pyarrow", f"{text} start: pip install 'zentracer[tensorboard]'.")
        except OSError as error:
            self._paused_until = time.monotonic() + _PAUSE_S
            text = (
                f"The cache in {entry.directory} can't be written ({error.strerror}): what was read of the logs stays"
            )
            self.tell("disk", f"{text} in memory, and is read anew at the next start.")
        return Saved.REFUSED

    def drop(self, path: str) -> None:
        """Remove what is cached of an event file, which was replaced by another."""
        self.forget(path)
        if (entry := self._entry(path)) is not None:
            entry.keep_only(())

    def forget(self, path: str) -> None:
        """Note that the contents of an event file are used no more. What is cached stays while there is room."""
        self._known.pop(path, None)

    def claim(self, path: str) -> Entry | None:
        """The entry of an event file, its directory made; None where the cache can't be used."""
        entry = self._entry(path)
        if entry is not None:
            with suppress(OSError):
                os.makedirs(entry.directory, mode=0o700, exist_ok=True)
                return entry
        return None

    def _save(self, path: str, known: _Known, tail: Tail, contents: FileContents) -> Saved:
        if _is_stale(known, path):
            return Saved.STALE
        columns = dict(contents.columns())
        chain, size = _behind(known.chain, columns)
        if not self._fits(size):
            return Saved.REFUSED
        firsts = rows_of(chain)
        start, after = (chain[-1].end, chain[-1].key) if chain else (0, FIRST)
        key, new = known.entry.new_path(start, tail.offset, after)
        volume = write_volume(
            new,
            log=known.entry.log,
            key=key,
            after=after,
            start=start,
            end=tail.offset,
            columns=[
                (name, first, column.part(first, len(column)))
                for name, column in columns.items()
                for first in (firsts.get(name, 0),)
            ],
            head={"tail": tail.state(), "contents": contents.head()},
        )
        for name, column in columns.items():
            if (stretch := volume.columns[name]).rows:
                column.settle(stretch.first, self._stored(known.entry, volume, name))
        known.chain = [*chain, volume]
        known.entry.keep_only(known.chain)
        known.entry.touch()
        self._known[path] = known
        return Saved.SAVED

    def _entry(self, path: str) -> Entry | None:
        """Where an event file's volumes are; None where the cache can't be used."""
        directory = self._usable()
        if directory is None:
            return None
        log = os.path.realpath(path)
        return Entry(str(directory.entries / name_of(log)), log)

    def _usable(self) -> CacheDir | None:
        try:
            if self._directory is None:
                most = default_most_bytes() if self._most_bytes is None else self._most_bytes
                self._directory = CacheDir(default_root() if self._root is None else self._root, most)
            if not self._directory.most_bytes:
                return None
            self._directory.prepare()
        except Unusable as error:
            self.tell("directory", str(error))
            return None
        return self._directory

    def _fits(self, size: int) -> bool:
        directory = self._directory
        if directory is None:
            return False
        if directory.make_room(size, self._in_use):
            return True
        text = (
            f"The cache in {directory.root} has reached its limit of {directory.most_bytes:,} bytes with what is in use"
        )
        text += ": what is read further of the logs stays in memory, and is read anew at the next start."
        self.tell("full", f"{text} Set {BYTES} to allow more.")
        return False

    def _in_use(self) -> set[str]:
        return {os.path.basename(known.entry.directory) for known in list(self._known.values()) if known.contents()}

    def _column(self, entry: Entry, chain: Sequence[Volume], name: str) -> Growing:
        last = chain[-1].columns[name]
        blocks = [
            self._stored(entry, volume, name)
            for volume in chain
            if name in volume.columns and volume.columns[name].rows
        ]
        return Growing(last.dtype, last.shape, blocks)

    def _stored(self, entry: Entry, volume: Volume, name: str) -> Stored:
        return self.shelf.place(volume.columns[name].rows, partial(_read, entry, volume, name))


def _read(entry: Entry, volume: Volume, name: str) -> Array:
    """The rows of a column. A damaged volume is removed, so that who loads again does not find it again.

    Raises:
        Lost: they are not to be had.
    """
    try:
        rows = read_column(volume, name)
    except Damaged:
        with suppress(OSError):
            os.unlink(volume.path)
        raise
    entry.touch()
    return rows


def _is_stale(known: _Known, path: str) -> bool:
    """Whether another process saved more, or what was saved is gone."""
    found = known.entry.chain()
    if [volume.key for volume in found] == [volume.key for volume in known.chain]:
        return False
    if found and found[-1].end > known.end:
        with suppress(Lost):
            return _goes_on(path, read_head(found[-1])["tail"])
    return not all(os.path.exists(volume.path) for volume in known.chain)


def _behind(chain: Sequence[Volume], columns: Mapping[str, Growing]) -> tuple[list[Volume], int]:
    """The volumes of a chain that the next one comes after, and its size. It takes in those that are not larger, so
    that there are few however often is saved, and a byte is seldom written again."""
    saved, left = rows_of(chain), list(chain)
    size = sum(_row_bytes(column) * (len(column) - saved.get(name, 0)) for name, column in columns.items())
    while left and left[-1].size <= size <= _LARGEST_VOLUME - left[-1].size:
        size += left.pop().size
    return left, size


def _goes_on(path: str, state: Mapping[str, Any]) -> bool:
    """Whether the event file is the one, perhaps grown, that a tail's state describes."""
    try:
        return Tail.resume(path, state).goes_on()
    except (LookupError, TypeError, ValueError):  # written by another version
        return False


def _row_bytes(column: Growing) -> int:
    return column.dtype.itemsize * math.prod(column.shape)
