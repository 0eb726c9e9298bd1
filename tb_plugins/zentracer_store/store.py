"""Knows every run under a log directory, what has been read of it, and what was odd."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Sequence

from zentracer_store.catalogue import Catalogue, Followed, Oddity, count, run_info
from zentracer_store.contents import FileContents
from zentracer_store.discover import Found, FoundFile, Place, Walker
from zentracer_store.follow import Follower, WalkPace
from zentracer_store.progress import Rate, progress_of
from zentracer_store.tail import READ_BYTES, Batch, Tail, Unreadable, unreadable
from zentracer_store.tiers import Tiers
from zentracer_store.trial import Scope, Trial

MOST_ODDITIES = 100
"""Of one file."""

logger = logging.getLogger(__name__)


class Store:
    """The runs under some places. Safe to ask from any thread; `look` is for one thread at a time.

    Nothing is read before someone asks. `close` ends the thread that asking starts.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = tuple(places)
        self._lock = threading.Condition(threading.Lock())
        """Held for what others may ask for; notified when it changes."""
        self._looking = threading.Lock()
        self._files: dict[str, Followed] = {}
        self._trials: dict[str, Trial] = {}
        self._problems: tuple[Oddity, ...] = ()
        self._generation = 0
        self._wanted: str | None = None
        self._rate = Rate()
        self._walker = Walker(self.places)
        self._walked: Found | None = None
        self._pace = WalkPace()
        self._tiers = Tiers()
        self._follower = Follower(self.glance)

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
            return self._read_all(list(self._files)) or changed

    def glance(self) -> bool:
        """Look where there is most likely news: `look` in small parts, for being called many times a second."""
        with self._looking:
            changed = self._pace.due(self._walker.stirs) and self._walk()
            wanted = self._trials.get(self._wanted or "")
            return self._read_all({*self._tiers.due(), *(wanted.files if wanted else ())}) or changed

    def _read_all(self, paths: Iterable[str]) -> bool:
        changed, first = False, None
        waiting = self._changed_files(paths)
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
            files = list(self._files.values())
            by_trial: dict[str, list[Followed]] = {}
            for file in files:
                by_trial.setdefault(file.found.trial, []).append(file)
            oddities = [oddity for file in files for oddity in file.oddities]
            oddities.sort(key=lambda oddity: oddity.wall or 0.0, reverse=True)
            progress = progress_of(
                files=sum(file.finished for file in files),
                files_total=len(files),
                done=sum(file.tail.offset for file in files),
                total=sum(file.size for file in files),
                rate=self._rate.at(time.monotonic()),
                walked=self._walked is not None,
            )
            return Catalogue(
                self._generation,
                tuple(run_info(self._trials[name], by_trial[name]) for name in sorted(by_trial)),
                (*self._problems, *oddities),
                count(files),
                progress,
            )

    @property
    def generation(self) -> int:
        """Rises with everything that is read, that comes or goes."""
        with self._lock:
            return self._generation

    def wait(self, generation: int, timeout_s: float) -> int:
        """The generation as soon as it is not this one any more, or after `timeout_s`."""
        with self._lock:
            self._lock.wait_for(lambda: self._generation != generation, timeout_s)
            return self._generation

    def changed_since(self, generation: int) -> dict[str, int]:
        """The runs that changed after `generation`, each with its own. Those that went are not among them."""
        with self._lock:
            return {name: run.generation for name, run in self._trials.items() if run.generation > generation}

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
        began = time.monotonic()
        found = self._walker.walk()
        self._pace.took(time.monotonic() - began)
        if found == self._walked:
            return False
        problems = tuple(Oddity(None, problem.path, None, problem.text, None) for problem in found.problems)
        files = {file.path: file for file in found.files}
        with self._lock:
            for problem in problems:
                if problem not in self._problems:
                    logger.warning("%s", problem.text)
            self._problems = problems
            self._walked = found
            for path in [path for path in self._files if path not in files]:
                self._drop(path)
            for path, file in files.items():
                if path not in self._files:
                    self._add(file)
            self._rise()
            return True

    def _rise(self) -> int:
        """Count a change and wake who waits for one. Needs the lock."""
        self._generation += 1
        self._lock.notify_all()
        return self._generation

    def _add(self, file: FoundFile) -> None:
        contents = FileContents(file.path)
        self._files[file.path] = Followed(file, Tail(file.path), contents)
        trial = self._trials.setdefault(file.trial, Trial(file.trial))
        trial.files[file.path] = contents
        self._tiers.changed(file.path)
        trial.changed(self._generation + 1)

    def _drop(self, path: str) -> None:
        file = self._files.pop(path)
        self._tiers.gone(path)
        trial = self._trials[file.found.trial]
        del trial.files[path]
        if trial.files:
            trial.changed(self._generation + 1)
        else:
            del self._trials[file.found.trial]

    def _changed_files(self, paths: Iterable[str]) -> list[Followed]:
        """Those of these files that are not as they were when last read, oldest first."""
        changed = []
        for path in paths:
            file = self._files[path]
            try:
                status = os.stat(file.found.path)
            except OSError as error:
                # A file that was just removed is no oddity, the next walk misses it; a link to nowhere is one.
                if not isinstance(error, FileNotFoundError) or os.path.islink(file.found.path):
                    self._fail(file, unreadable(error))
                continue
            if (file.size, file.changed) != (status.st_size, status.st_mtime):
                # The time on a file that is copied here may be long past while the file grows.
                self._tiers.changed(path, 0.0 if file.changed else time.time() - status.st_mtime)
                file.size, file.changed = status.st_size, status.st_mtime
            if file.tail.differs(status):
                changed.append(file)
        return sorted(changed, key=lambda file: file.changed)

    def _read(self, file: Followed) -> bool:
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

    def _take(self, file: Followed, batch: Batch) -> bool:
        with self._lock:
            trial = self._trials[file.found.trial]
            if batch.restarted:
                file.contents = trial.files[file.found.path] = FileContents(file.found.path)
                file.told, file.finished = 0, False
            file.contents.feed(batch.records)
            file.finished, file.error = file.finished or not batch.more, None
            news = bool(batch.records or batch.damage or batch.restarted)
            if news:
                trial.changed(self._rise())
            if not batch.more:
                file.contents.tell_undescribed()
            for damage in batch.damage:
                self._tell(file, damage.text, damage.offset, file.contents.last_wall)
            for oddity in file.contents.oddities[file.told :]:
                self._tell(file, oddity.text, oddity.offset, oddity.wall)
            file.told = len(file.contents.oddities)
            self._rate.read(batch.records.size, time.monotonic())
            return news

    def _fail(self, file: Followed, text: str) -> bool:
        """Note that a file can't be read; says whether that is news."""
        with self._lock:
            news = file.error != text
            file.finished, file.error = True, text
            if news:
                self._trials[file.found.trial].generation = self._rise()
                self._tell(file, text, None, None)
            return news

    def _tell(self, file: Followed, text: str, offset: int | None, wall: float | None) -> None:
        if len(file.oddities) > MOST_ODDITIES:
            return
        if len(file.oddities) == MOST_ODDITIES:
            text = "There is more like this in the file, which is not listed."
        file.oddities.append(Oddity(file.found.trial, file.found.shown, offset, text, wall))
        at = "" if offset is None else f" at byte {offset}"
        logger.warning("Run %s, file %s%s: %s", file.found.trial, file.found.shown, at, text)
