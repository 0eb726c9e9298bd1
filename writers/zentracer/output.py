"""Writes whole records to the files of one directory, and begins new files after an error."""

from __future__ import annotations

import errno
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import zentracer_schema as schema
from zentracer.descriptor import Descriptor
from zentracer.files import Stem, new_stem
from zentracer.lock import take_lock
from zentracer.notice import tell

DESCRIBE_EVERY_BYTES = 16 << 20
LOOK_EVERY_S = 1.0
LONGEST_PAUSE_S = 60.0


class _File:
    """One file and what is to be appended to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._described: dict[str, int] = {}
        self.size = 0
        self.records = 0
        self.head = 0
        self._descriptor: Descriptor | None = None
        self._pending = bytearray()
        self._ends: list[int] = []

    def add(self, payload: bytes) -> None:
        """Add a record to what is to be written."""
        self._pending += schema.frame(payload)
        self._ends.append(len(self._pending))

    def add_table(self, wall_time: float, step: int, spec: schema.TableSpec, table: schema.Table) -> None:
        """Add a table, with its description where it is the first of its tag here, or the last one is long ago."""
        position = self.size + len(self._pending)
        described = self._described.get(spec.tag)
        with_spec = described is None or position - described >= DESCRIBE_EVERY_BYTES
        self.add(schema.table_event(wall_time, step, spec, table, with_spec=with_spec))
        if with_spec:
            self._described[spec.tag] = position

    @property
    def pending(self) -> int:
        """Records that are not written yet."""
        return len(self._ends)

    def write(self) -> None:
        """Append all pending records in one write.

        Raises:
            OSError: not all could be written. `pending` then counts those that are not whole in the file.
        """
        if not self._ends:
            return
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = Descriptor(os.open(self.path, flags, 0o644))
        done = 0
        try:
            while done < len(self._pending):
                done += self._descriptor.write(memoryview(self._pending)[done:])
        finally:
            whole = bisect_right(self._ends, done)
            self.size += self._ends[whole - 1] if whole else 0
            self.records += whole
            self._ends = self._ends[whole:]
        self._pending = bytearray()

    @property
    def inode(self) -> int | None:
        """The inode that is written to; None before the first write."""
        return None if self._descriptor is None else self._descriptor.inode

    def close(self) -> None:
        if self._descriptor is not None:
            self._descriptor.close()
        self._descriptor = None


class Output:
    """The files that one process writes in one directory. Used by one thread, the sink's.

    `plain`: this process holds the directory's lock and writes the event file that TensorBoard reads; any other writes
    only `.ztrec`, without plain scalars. Records are gathered and go to disk with `commit`.
    """

    def __init__(self, directory: Path, *, start_step: int, rank: int) -> None:
        self.directory = directory
        self.lost = 0
        self.bytes = 0
        self.plain = False
        self._rank = rank
        self._lock: Descriptor | None = None
        self._files: dict[bool, _File] = {}
        self._stem: Stem | None = None
        self._start_step: int | None = start_step
        self._started_in: _File | None = None
        self._sessions: dict[str, Mapping[str, Any]] = {}
        self._latest: dict[str, int] = {}
        self._times: dict[str, int] = {}
        self._rows: dict[str, tuple[schema.TableSpec, list[Sequence[float]]]] = {}
        self._rows_until = 0.0
        self._blocked_until = 0.0
        self._pause_s = 1.0
        self._looked = 0.0
        self._told = False

    def open(self) -> None:
        """Make the directory and take its lock.

        Raises:
            OSError: nothing can be written there.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        if self._rank == 0:
            self._lock = take_lock(self.directory)
            self.plain = self._lock is not None
        if not self.plain and not os.access(self.directory, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.directory))

    # What jobs call: gather records.

    def table(self, wall_time: float, step: int, spec: schema.TableSpec, table: schema.Table) -> None:
        """One record of a table keyed by step."""
        self._latest[spec.scope] = max(step, self._latest.get(spec.scope, step))
        values = table.nbytes if isinstance(table, np.ndarray) else sum(part.nbytes for part in table.values())
        file = self._file(bulk=schema.belongs_in_bulk(spec, values))
        if file is not None:
            file.add_table(wall_time, step, spec, table)

    def row(self, wall_time: float, spec: schema.TableSpec, row: Sequence[float]) -> None:
        """One row of a table keyed by time; the rows of a commit make one record."""
        self._rows.setdefault(spec.tag, (spec, []))[1].append(row)
        self._rows_until = wall_time

    def scalars(self, wall_time: float, step: int, scope: str, values: Mapping[str, float]) -> None:
        """Plain scalars by tag. Left out by a process that does not write event files."""
        self._latest[scope] = max(step, self._latest.get(scope, step))
        if self.plain and values:
            file = self._file(bulk=False)
            if file is not None:
                file.add(schema.scalar_event(wall_time, step, values))

    def session(self, scope: str, record: Mapping[str, Any], step: int) -> None:
        """The session record of a scope; every file that is begun from now on repeats it."""
        self._sessions[scope] = record
        self._latest[scope] = step
        for bulk, file in list(self._files.items()):
            self._add_session(scope, file, bulk=bulk)

    def begin(self) -> None:
        """Begin the first file, so that a run shows before its first sample."""
        if not self._files:
            self._file(bulk=False)

    def stop(self) -> None:
        """Mark the orderly end of this process's writing."""
        for file in self._files.values():
            file.add(schema.session_stop_event(time.time(), max(self._latest.values(), default=0)))
            return

    # What the sink calls.

    def commit(self) -> None:
        """Write what was gathered. An error is told once; what it cost is added to `lost`."""
        self._gather_rows()
        before = sum(file.size for file in self._files.values())
        try:
            for file in self._files.values():
                file.write()
            self._look()
        except OSError as error:
            self.bytes += sum(file.size for file in self._files.values()) - before
            self._failed(error)
        else:
            self.bytes += sum(file.size for file in self._files.values()) - before
            if self._started_in in self._files.values():
                self._start_step = None
            if self._files:
                self._pause_s = 1.0

    def close(self) -> None:
        """Let go of files and lock."""
        for file in self._files.values():
            file.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _file(self, *, bulk: bool) -> _File | None:
        """The file for a record, begun where there is none; None, and a record lost, while writing is failing."""
        bulk = bulk or not self.plain
        if bulk in self._files:
            return self._files[bulk]
        if time.monotonic() < self._blocked_until:
            self.lost += 1
            return None
        if self._stem is None:
            self._stem = new_stem(self.directory, self._rank)
        file = self._files[bulk] = _File(self.directory / (self._stem.bulk if bulk else self._stem.events))
        file.add(schema.file_version_event(time.time()))
        if not bulk and self._start_step is not None:
            file.add(schema.session_start_event(time.time(), self._start_step))
            self._started_in = file
        for scope in self._sessions:
            self._add_session(scope, file, bulk=bulk)
        file.head = file.pending
        return file

    def _add_session(self, scope: str, file: _File, *, bulk: bool) -> None:
        event = schema.message_event(time.time(), self._latest[scope], "session", scope, self._sessions[scope])
        if bulk or len(event) <= schema.LARGEST_EVENT_BYTES:
            file.add(event)
        elif True not in self._files:
            self._file(bulk=True)

    def _gather_rows(self) -> None:
        for tag, (spec, rows) in self._rows.items():
            file = self._file(bulk=False)
            if file is None:
                continue
            # Milliseconds, raised by one where two records fall together: steps of a tag must grow.
            self._times[tag] = step = max(int(self._rows_until * 1000), self._times.get(tag, 0) + 1)
            file.add_table(self._rows_until, step, spec, np.asarray(rows, np.float64))
        self._rows = {}

    def _look(self) -> None:
        """Notice that a file was removed under us: writing to it would succeed, and be for nobody."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY_S:
            return
        self._looked = now
        for file in self._files.values():
            if file.inode is None:
                continue
            try:
                there = os.stat(file.path).st_ino == file.inode
            except FileNotFoundError:
                there = False
            if not there:
                raise FileNotFoundError(errno.ENOENT, "it was removed, with what had been recorded", str(file.path))

    def _failed(self, error: OSError) -> None:
        self.lost += sum(file.pending for file in self._files.values())
        if not self._told:
            self._told = True
            reason = error.strerror or str(error)
            tell(
                f"Writing to {self.directory} failed: {reason}. Training goes on; records are dropped and counted "
                "until a new file can be written."
            )
        for file in self._files.values():
            file.close()
            if file.records > file.head:
                # It stays, so its mark of the start counts; a later one would purge what it holds.
                self._start_step = None if file is self._started_in else self._start_step
            else:
                with suppress(OSError):
                    file.path.unlink()
        self._files = {}
        self._stem = None
        self._blocked_until = time.monotonic() + self._pause_s
        self._pause_s = min(LONGEST_PAUSE_S, 2 * self._pause_s)
        if isinstance(error, FileNotFoundError):
            self._blocked_until = 0.0
            self._restore_directory()

    def _restore_directory(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        try:
            self.open()
        except OSError:
            self._blocked_until = time.monotonic() + self._pause_s


Job = Callable[[Output], None]
"""What the training thread hands over: run by the sink's thread, it gathers records."""
