"""Has event files read by processes of their own, so that the server's threads stay free."""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from zentracer_store.caching.cache import Cache

MOST_WORKERS = 4

_QUEUE_BYTES = 32 << 20
_QUEUE_FILES = 64  # given to a worker at a time: small files cost more than their reading if they are given one by one
_WORTH_BYTES = 16 << 20  # of work for each further process: to start one takes as long as to read some MB
_WAIT_S = 5.0
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Report:
    """How far one event file is.

    `offset` bytes are read. `saved`: more of it is in the cache than at the report before. `done`: no more will come;
    what the cache lacks is to be read in another way. `problem` is a sentence, where the file can't be read.
    """

    path: str
    offset: int
    size: int
    bytes_per_s: float | None
    saved: bool
    done: bool
    problem: str | None = None


@dataclass
class _File:
    path: str
    size: int
    offset: int = 0
    bytes_per_s: float | None = None
    deaths: int = 0

    def report(self, *, saved: bool = False, done: bool = False, problem: str | None = None) -> Report:
        return Report(self.path, self.offset, self.size, self.bytes_per_s, saved, done, problem)


@dataclass(eq=False)
class _Worker:
    """One process, and the files that it was given, in the order in which it reads them."""

    process: subprocess.Popen[bytes]
    files: deque[_File] = field(default_factory=deque)
    text: bytes = b""
    ready: bool = False

    @property
    def wants(self) -> bool:
        """Whether it should be given more."""
        return len(self.files) < _QUEUE_FILES and sum(file.size - file.offset for file in self.files) < _QUEUE_BYTES

    @property
    def output(self) -> int:
        """The descriptor on which it tells."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def tell(self, **what: Any) -> None:
        """Send a line. Whether it has died shows where its output ends."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(what).encode() + b"\n")


class Ingest:
    """Workers that read event files into a cache. For one thread.

    `start` gives files, `poll` tells how far they are; then load what the cache has. Processes are started when there
    is work and end when there is none, or when the server does.
    """

    def __init__(self, cache: Cache, workers: int | None = None) -> None:
        self._cache = cache
        self._most = min(MOST_WORKERS, os.cpu_count() or 1) if workers is None else workers
        self._waiting: deque[_File] = deque()
        self._workers: list[_Worker] = []
        self._ready: list[Report] = []
        self._selector = selectors.DefaultSelector()
        self._unfit = False

    @property
    def busy(self) -> set[str]:
        """The paths that are not done."""
        return {file.path for file in self._waiting} | {f.path for worker in self._workers for f in worker.files}

    def start(self, files: Iterable[tuple[str, int]]) -> None:
        """Have these files read, given as path and size, in this order, after those that wait already."""
        busy = self.busy
        self._waiting += [_File(path, size) for path, size in files if path not in busy]
        self._give()

    def prefer(self, paths: Collection[str]) -> None:
        """Read these of the files that wait before the others."""
        self._waiting = deque(sorted(self._waiting, key=lambda file: file.path not in paths))

    def poll(self, timeout_s: float = 0.0) -> list[Report]:
        """What has come since the last time; waits until there is something, but no longer than `timeout_s`."""
        if self._workers and not self._ready:
            for key, _ in self._selector.select(timeout_s):
                self._hear(key.data)
        self._give()
        reports, self._ready = self._ready, []
        return reports

    def close(self) -> None:
        """End the processes. What they saved stays."""
        self._waiting.clear()
        for worker in list(self._workers):
            self._end(worker)
        self._selector.close()

    def _give(self) -> None:
        """Give waiting files to workers, of which there are as many as the work is worth."""
        while self._waiting:
            worker = min((one for one in self._workers if one.wants), key=lambda one: len(one.files), default=None)
            if (worker is None or worker.files) and len(self._workers) < self._worth():
                worker = self._begin() or worker
            if worker is None:
                break
            file = self._waiting.popleft()
            worker.files.append(file)
            worker.tell(path=file.path)
        if self._unfit or not self._workers:  # no process can be had
            self._ready += [file.report(done=True) for file in self._waiting]
            self._waiting.clear()
        for worker in [worker for worker in self._workers if not worker.files]:
            self._end(worker)

    def _worth(self) -> int:
        work = sum(file.size - file.offset for file in self._waiting)
        return 0 if self._unfit or not self._cache.usable else min(self._most, 1 + work // _WORTH_BYTES)

    def _begin(self) -> _Worker | None:
        """A new process; None where there can be none."""
        try:
            process = subprocess.Popen(
                # -P: a file in the working directory that is called as a module of ours or of Python is not imported.
                [sys.executable, "-P", "-m", "zentracer_store.caching.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **_ONE_THREAD},
            )
        except OSError as error:
            self._give_up(error.strerror or type(error).__name__)
            return None
        worker = _Worker(process)
        worker.tell(**self._cache.where())
        self._selector.register(worker.output, selectors.EVENT_READ, worker)
        self._workers.append(worker)
        return worker

    def _hear(self, worker: _Worker) -> None:
        """Take in what a worker says, or that it has died."""
        said = os.read(worker.output, 1 << 16)
        *lines, worker.text = (worker.text + said).split(b"\n")
        for line in lines:
            # What does not begin so is no word of the worker's: something that Python runs at its start printed it.
            if line.startswith(b"{"):
                self._take(worker, json.loads(line))
        if not said:
            self._bury(worker)

    def _take(self, worker: _Worker, said: dict[str, Any]) -> None:
        if "path" not in said:
            worker.ready = True
            return
        file = worker.files[0]
        if "offset" in said:
            file.offset, file.bytes_per_s = said["offset"], said["bytes_per_s"]
            self._ready.append(file.report(saved=said["saved"]))
        else:
            worker.files.popleft()
            for kind, text in said["troubles"]:
                self._cache.tell(kind, text)
            self._ready.append(file.report(done=True, problem=said["problem"]))

    def _bury(self, worker: _Worker) -> None:
        """A worker died, of the file that it was reading or by chance: that file gets another try, then is left."""
        files = list(worker.files)
        status = self._end(worker)
        if not worker.ready:
            self._give_up(f"exit status {status}")
        elif files:
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            files[0].deaths += 1
            logger.warning("The process that read %s died (%s).", files[0].path, how)
            if files[0].deaths > 1:
                memory = ", which often means that memory ran out" if status == -signal.SIGKILL else ""
                text = f"Reading this file ended its process twice ({how}{memory}): it is read as far as it was saved."
                self._ready.append(files.pop(0).report(saved=True, done=True, problem=text))
        self._waiting.extendleft(reversed(files))

    def _give_up(self, why: str) -> None:
        self._unfit = True
        self._cache.tell("workers", f"No process that reads logs can be started ({why}): the server reads them itself.")

    def _end(self, worker: _Worker) -> int:
        """End a process; its exit status."""
        self._workers.remove(worker)
        self._selector.unregister(worker.output)
        process = worker.process
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            return process.wait(_WAIT_S)
        except subprocess.TimeoutExpired:  # the system holds it in a read that does not end: a lost mount
            return -signal.SIGKILL
