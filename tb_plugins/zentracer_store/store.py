"""Knows every run under a log directory, what has been read of it, and what was odd."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from zentracer_store.contents import FileContents
from zentracer_store.discover import FoundFile, Place, discover
from zentracer_store.follow import Follower
from zentracer_store.progress import Progress, Rate, progress_of
from zentracer_store.tail import READ_BYTES, Batch, Tail, Unreadable, unreadable
from zentracer_store.trial import Scope, Trial

LIVE_S = 60.0
"""A run whose files changed within this time, and which did not say that it ended, is live."""

_QUICK_WALK_S = 0.1
_WALK_SHARE = 10  # a walk that is not quick may take one part in so many of the time

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Oddity:
    """Something a user should know. `run` and `file` are None where it concerns the log directory itself."""

    run: str | None
    file: str | None
    offset: int | None
    text: str
    wall: float | None


@dataclass(frozen=True)
class RunInfo:
    """One run in the list. `state` is live, ended, waiting (nothing read yet) or reading."""

    name: str
    state: str
    nan: bool
    tables: bool
    last_step: int | None
    last_wall: float | None
    error: str | None


@dataclass(frozen=True)
class Counts:
    """What was found: tags are counted once however many runs have them, ours left out."""

    runs: int
    files: int
    bytes: int
    unreadable: int
    scalar_tags: int
    histogram_tags: int
    other_tags: int


@dataclass(frozen=True)
class Catalogue:
    """All runs at one moment."""

    generation: int
    runs: tuple[RunInfo, ...]
    oddities: tuple[Oddity, ...]
    counts: Counts
    progress: Progress


@dataclass
class _Followed:
    found: FoundFile
    tail: Tail
    contents: FileContents
    changed: float = 0.0
    """When the file was last written to."""
    finished: bool = False
    error: str | None = None
    oddities: list[Oddity] = field(default_factory=list)
    told: int = 0


class Store:
    """The runs under some places. Safe to ask from any thread; `look` is for one thread at a time.

    Nothing is read before someone asks. `close` ends the thread that asking starts.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = tuple(places)
        self._lock = threading.Lock()
        self._looking = threading.Lock()
        self._files: dict[str, _Followed] = {}
        self._trials: dict[str, Trial] = {}
        self._problems: tuple[Oddity, ...] = ()
        self._generation = 0
        self._wanted: str | None = None
        self._rate = Rate()
        self._walked = False
        self._walk_at = 0.0
        self._follower = Follower(self.look)

    def ask(self, run: str | None = None) -> None:
        """Note that someone is looking, at `run`, which is then read before others."""
        if run is not None:
            self._wanted = run
        self._follower.ask()

    def close(self) -> None:
        """End the thread that follows the files."""
        self._follower.close()

    def look(self) -> bool:
        """Look once for new files and records, and read until all that is there is read. Says if there was anything."""
        with self._looking:
            changed = self._walk()
            waiting, first = self._changed_files(), None
            while waiting:
                if first != self._wanted:
                    first = self._wanted
                    waiting.sort(key=lambda file: file.found.trial == first)
                changed = self._read(waiting.pop()) or changed
            self._rate.rest()
            return changed

    def catalogue(self) -> Catalogue:
        """All runs, as far as they are read."""
        with self._lock:
            now = time.time()
            by_trial: dict[str, list[_Followed]] = {}
            for file in self._files.values():
                by_trial.setdefault(file.found.trial, []).append(file)
            runs = tuple(_run_info(self._trials[name], files, now) for name, files in sorted(by_trial.items()))
            oddities = [oddity for file in self._files.values() for oddity in file.oddities]
            oddities.sort(key=lambda oddity: oddity.wall or 0.0, reverse=True)
            return Catalogue(
                self._generation, runs, (*self._problems, *oddities), self._counts(len(runs)), self._progress()
            )

    def generation_of(self, run: str) -> int | None:
        """The generation of a run; None where there is no such run."""
        with self._lock:
            trial = self._trials.get(run)
            return None if trial is None else trial.generation

    def scopes(self, run: str) -> tuple[int, tuple[Scope, ...]] | None:
        """A run's generation and watched models; None where there is no such run."""
        with self._lock:
            trial = self._trials.get(run)
            return None if trial is None else (trial.generation, trial.scopes())

    def contents(self, run: str) -> dict[str, FileContents]:
        """What each file of a run holds, by path relative to the log directory."""
        with self._lock:
            return {f.found.shown: f.contents for f in self._files.values() if f.found.trial == run}

    def _walk(self) -> bool:
        now = time.monotonic()
        if self._walked and now < self._walk_at:
            return False
        found = discover(self.places)
        took = time.monotonic() - now
        self._walk_at = 0.0 if took < _QUICK_WALK_S else time.monotonic() + (_WALK_SHARE - 1) * took
        problems = tuple(Oddity(None, problem.path, None, problem.text, None) for problem in found.problems)
        files = {file.path: file for file in found.files}
        with self._lock:
            changed = not self._walked or problems != self._problems
            for problem in problems:
                if problem not in self._problems:
                    logger.warning("%s", problem.text)
            self._problems = problems
            self._walked = True
            for path in [path for path in self._files if path not in files]:
                self._drop(path)
                changed = True
            for path, file in files.items():
                if path not in self._files:
                    self._add(file)
                    changed = True
            if changed:
                self._generation += 1
            return changed

    def _add(self, file: FoundFile) -> None:
        contents = FileContents(os.path.basename(file.path))
        self._files[file.path] = _Followed(file, Tail(file.path), contents)
        trial = self._trials.setdefault(file.trial, Trial(file.trial))
        trial.files[file.path] = contents

    def _drop(self, path: str) -> None:
        file = self._files.pop(path)
        trial = self._trials[file.found.trial]
        del trial.files[path]
        if trial.files:
            trial.changed(self._generation + 1)
        else:
            del self._trials[file.found.trial]

    def _changed_files(self) -> list[_Followed]:
        """The files that are not as they were when last read, oldest first."""
        changed = []
        for file in self._files.values():
            try:
                status = os.stat(file.found.path)
            except OSError as error:
                self._fail(file, unreadable(error))
                continue
            if file.tail.differs(status):
                file.changed = status.st_mtime
                changed.append(file)
        return sorted(changed, key=lambda file: file.changed)

    def _read(self, file: _Followed) -> bool:
        """Read a file as far as it goes; says whether it brought anything."""
        brought = False
        while True:
            try:
                batch = file.tail.read(READ_BYTES)
                brought = self._take(file, batch) or brought
            except Unreadable as error:
                return self._fail(file, str(error)) or brought
            except Exception as error:  # a defect of ours must hide neither the other runs nor itself
                logger.exception("Reading %s failed.", file.found.path)
                return self._fail(file, f"ZenTracer failed on this file ({type(error).__name__}); the log says more.")
            if not batch.more:
                return brought

    def _take(self, file: _Followed, batch: Batch) -> bool:
        with self._lock:
            trial = self._trials[file.found.trial]
            if batch.restarted:
                file.contents = trial.files[file.found.path] = FileContents(os.path.basename(file.found.path))
                file.told = 0
            file.contents.feed(batch.records)
            file.finished, file.error = not batch.more, None
            news = bool(batch.records or batch.damage or batch.restarted)
            if news:
                self._generation += 1
                trial.changed(self._generation)
            for damage in batch.damage:
                self._tell(file, damage.text, damage.offset, file.contents.last_wall)
            for oddity in file.contents.oddities[file.told :]:
                self._tell(file, oddity.text, oddity.offset, oddity.wall)
            file.told = len(file.contents.oddities)
            self._rate.read(sum(len(payload) for _, payload in batch.records), time.monotonic())
            return news

    def _fail(self, file: _Followed, text: str) -> bool:
        """Note that a file can't be read; says whether that is news."""
        with self._lock:
            news = file.error != text
            file.finished, file.error = True, text
            if news:
                self._generation += 1
                self._trials[file.found.trial].generation = self._generation
                self._tell(file, text, None, None)
            return news

    def _tell(self, file: _Followed, text: str, offset: int | None, wall: float | None) -> None:
        file.oddities.append(Oddity(file.found.trial, file.found.shown, offset, text, wall))
        at = "" if offset is None else f" at byte {offset}"
        logger.warning("Run %s, file %s%s: %s", file.found.trial, file.found.shown, at, text)

    def _progress(self) -> Progress:
        files = self._files.values()
        return progress_of(
            files=sum(file.finished for file in files),
            files_total=len(files),
            done=sum(file.tail.offset for file in files),
            total=sum(file.tail.size for file in files),
            rate=self._rate.at(time.monotonic()),
            walked=self._walked,
        )

    def _counts(self, runs: int) -> Counts:
        sorts: dict[str, str] = {}
        for file in self._files.values():
            sorts |= file.contents.sorts
        foreign = [sort for tag, sort in sorts.items() if not tag.startswith("zentracer/")]
        return Counts(
            runs=runs,
            files=len(self._files),
            bytes=sum(file.tail.size for file in self._files.values()),
            unreadable=sum(file.error is not None for file in self._files.values()),
            scalar_tags=foreign.count("scalar"),
            histogram_tags=foreign.count("histogram"),
            other_tags=foreign.count("other"),
        )


def _run_info(trial: Trial, files: Sequence[_Followed], now: float) -> RunInfo:
    return RunInfo(
        name=trial.name,
        state=_state(trial, files, now),
        nan=trial.has_nan,
        tables=trial.has_tables,
        last_step=trial.last_step,
        last_wall=trial.last_wall,
        error=next((f"{file.found.shown}: {file.error}" for file in files if file.error is not None), None),
    )


def _state(trial: Trial, files: Sequence[_Followed], now: float) -> str:
    if not all(file.finished for file in files):
        return "reading" if any(file.tail.offset for file in files) else "waiting"
    if trial.ended or all(now - file.changed > LIVE_S for file in files):
        return "ended"
    return "live"
