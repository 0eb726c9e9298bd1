"""Takes records off the training thread: a bounded queue, one daemon thread, whole records to disk within a second."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from time import thread_time

from zentracer.guard import Guard
from zentracer.notice import tell
from zentracer.output import Job, Output

LINGER_S = 0.2
"""The thread gathers for this long before it writes: fewer wake-ups of a second thread beside the training."""

PATIENCE_S = 0.05
MOST_ITEMS = 4096
MOST_BYTES = 64 << 20
CLOSE_S = 10.0


@dataclass(frozen=True)
class _Item:
    job: Job
    size_bytes: int
    bulk: bool
    owner: str


class Sink:
    """Everything that one process records into one directory, of all its scopes.

    Small records are dropped only after `PATIENCE_S` of waiting for room, bulk ones at once and the oldest first.
    `crowded` asks for longer intervals before that happens.
    """

    def __init__(self, output: Output) -> None:
        self.output = output
        self.pid = os.getpid()
        self.guard = Guard()
        self.cpu_s: dict[str, float] = {}
        self.users = 0
        self._queue: deque[_Item] = deque()
        self._queued_bytes = 0
        self._dropped = 0
        # The first job is the thread's own: to begin the run's file.
        self._put = 1
        self._done = 0
        self._idle = False
        self._urgent = False
        self._stalled = False
        self._closing = False
        # Re-entrant: a garbage collection inside `put` may close another tracer on this very thread.
        self._changed = threading.Condition(threading.RLock())
        self._thread = threading.Thread(target=self._work, name="zentracer", daemon=True)

    def start(self) -> None:
        """Start the writer thread."""
        self._thread.start()

    @property
    def dropped(self) -> int:
        """Records that never reached the disk."""
        return self._dropped + self.output.lost + self.guard.failures

    @property
    def crowded(self) -> bool:
        """Whether the queue is over half full."""
        return len(self._queue) > MOST_ITEMS // 2 or self._queued_bytes > MOST_BYTES // 2

    def put(self, job: Job, size_bytes: int = 0, *, bulk: bool = False, owner: str = "") -> bool:
        """Queue a job; `size_bytes` is what it holds on to. False where it was dropped."""
        item = _Item(job, size_bytes, bulk, owner)
        with self._changed:
            if self._closing or (self._full(item) and not self._make_room(item)):
                self._dropped += 1
                return False
            self._queue.append(item)
            self._queued_bytes += size_bytes
            self._put += 1
            if self._idle or (self.crowded and not self._urgent):
                self._urgent = self._urgent or self.crowded
                self._changed.notify_all()
        return True

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything put so far is with the operating system, or dropped. False where time ran out."""
        with self._changed:
            target = self._put
            self._urgent = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._done >= target or self.ended, timeout_s)

    def close(self, *, wait: bool) -> None:
        """End after what is queued is written. `wait` for that, at most `CLOSE_S`."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if wait and threading.current_thread() is not self._thread:
            self._thread.join(CLOSE_S)
            if self._thread.is_alive():
                tell(f"{self.output.directory} is still being written after {CLOSE_S:g} s; the rest may be lost.")

    @property
    def ended(self) -> bool:
        """Whether everything is written and let go of."""
        return not self._thread.is_alive()

    def _full(self, item: _Item) -> bool:
        too_large = self._queued_bytes + item.size_bytes > MOST_BYTES
        return len(self._queue) >= MOST_ITEMS or (too_large and len(self._queue) > 0)

    def _make_room(self, item: _Item) -> bool:
        while self._full(item) and (oldest := next((i for i in self._queue if i.bulk), None)) is not None:
            self._queue.remove(oldest)
            self._queued_bytes -= oldest.size_bytes
            self._done += 1
            self._dropped += 1
        if self._full(item) and not item.bulk and not self._stalled and threading.current_thread() is not self._thread:
            self._urgent = True
            self._changed.notify_all()
            # Once per stall: a disk that hangs must not slow every step by this much.
            self._stalled = not self._changed.wait_for(lambda: not self._full(item), PATIENCE_S)
        return not self._full(item)

    def _work(self) -> None:
        batch = [_Item(Output.begin, 0, False, "")]
        ends = False
        while True:
            self._take(batch)
            with self._changed:
                self._done += len(batch)
                self._changed.notify_all()
            if ends:
                break
            with self._changed:
                self._idle = True
                self._changed.wait_for(lambda: self._queue or self._closing)
                self._idle = False
                self._changed.wait_for(lambda: self._urgent or self._closing, LINGER_S)
                batch = list(self._queue)
                self._queue.clear()
                self._queued_bytes = 0
                self._urgent = self._stalled = False
                ends = self._closing
            if ends:
                batch.append(_Item(Output.stop, 0, False, ""))
        self.output.close()
        if self.dropped:
            tell(f"{self.dropped} records for {self.output.directory} could not be written and were dropped.")

    def _take(self, batch: list[_Item]) -> None:
        began = thread_time()
        for item in batch:
            self.guard.run(item.job, self.output)
        self.guard.run(self.output.commit)
        share = (thread_time() - began) / max(1, len(batch))
        for item in batch:
            self.cpu_s[item.owner] = self.cpu_s.get(item.owner, 0.0) + share


_sinks: dict[str, Sink] = {}
# Closed without waiting: their threads still write, and hold their directory's lock.
_leaving: dict[str, Sink] = {}
_prepared = False


def open_sink(directory: Path, *, start_step: int, rank: int) -> Sink:
    """The sink of `directory` in this process, made where there is none. Give it back with `release_sink`.

    Raises:
        OSError: nothing can be written there.
    """
    global _prepared
    if not _prepared:
        _prepared = True
        os.register_at_fork(after_in_child=_forget)
        # A thread that is inside a framework when the interpreter goes down aborts the process.
        atexit.register(_wait_for_leaving)
    key = os.path.realpath(directory)
    sink = _sinks.get(key)
    if sink is None:
        _let_leave(key)
        output = Output(directory, start_step=start_step, rank=rank)
        output.open()
        sink = _sinks[key] = Sink(output)
        sink.start()
    sink.users += 1
    return sink


def is_recording(directory: Path) -> bool:
    """Whether this process has a sink for `directory`. Waits for one that is about to leave."""
    key = os.path.realpath(directory)
    _let_leave(key)
    return key in _sinks


def release_sink(sink: Sink, *, wait: bool) -> None:
    """Say that a tracer is done with `sink`; the last one ends it."""
    sink.users -= 1
    if sink.users == 0:
        for key, known in list(_sinks.items()):
            if known is sink:
                del _sinks[key]
                if not wait:
                    _leaving[key] = sink
        sink.close(wait=wait)


def _let_leave(key: str) -> None:
    for left, sink in list(_leaving.items()):
        if left == key:
            sink.close(wait=True)
        if left == key or sink.ended:
            del _leaving[left]


def _wait_for_leaving() -> None:
    while _leaving:
        _leaving.popitem()[1].close(wait=True)


def _forget() -> None:
    """In a forked child: the thread is gone, the lock is the parent's, and a lock inside a sink may stay held."""
    for sink in (*_sinks.values(), *_leaving.values()):
        sink.output.close()
    _sinks.clear()
    _leaving.clear()
