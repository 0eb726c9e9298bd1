"""Knows every run under a log directory, what has been read of it, and what was odd."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable, Sequence

from zentracer_store.caching.cache import Cache, Saved
from zentracer_store.caching.ingest import Ingest
from zentracer_store.catalogue import Catalogue, Oddity, count, newest, run_info
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.file_contents import Oddity as Note
from zentracer_store.contents.growing import Lost
from zentracer_store.contents.intake import Followed, take
from zentracer_store.discover import Found, FoundFile, Place, Walker
from zentracer_store.follow import Follower, WalkPace
from zentracer_store.progress import Rate, progress_of
from zentracer_store.reading.tail import READ_BYTES, Tail, Unreadable, unreadable
from zentracer_store.runs.holdings import Holding
from zentracer_store.runs.same import Candidate, Twins
from zentracer_store.runs.spans import SessionSpan
from zentracer_store.runs.trial import ALL, Scope, Trial, View
from zentracer_store.tiers import Tiers

STALE_S = 3.0
"""What was last looked at longer ago is looked at again before it is told, if that takes no longer than `FRESHEN_S`."""

FRESHEN_S = 0.7

MOST_LISTED = 1000
"""Oddities, of all files together."""

MUCH_BYTES = 16 << 20
"""From so much on that is unread in all, other processes read it."""

TWINS_EVERY_S = 30.0
"""Files are compared with each other this often while anything changes."""

_TOO_MANY = (
    "There are {:,} oddities, of which {:,} are listed, the newest of each file. "
    "`zentracer doctor LOGDIR` tells of them all."
)

logger = logging.getLogger(__name__)


class Store:
    """The runs under some places. Safe to ask from any thread; `look` is for one thread at a time.

    Nothing is read before someone asks. `close` ends the thread that asking starts. Whoever gets at columns may meet
    `Lost`, where the cache was tampered with: say so to `recover`.
    """

    def __init__(self, places: Sequence[Place], cache: Cache | None = None) -> None:
        self.places = tuple(places)
        self._cache = Cache() if cache is None else cache
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
        self._lost: set[str] = set()
        self._handed: set[str] = set()
        self._twins = Twins()
        self._compared = (0, 0.0)
        self._ingest = Ingest(self._cache)
        self._follower = Follower(self.glance)

    def ask(self, run: str | None = None) -> None:
        """Note that someone is looking, at `run`, which is then read before others."""
        if run is not None:
            self._wanted = run
        self._follower.ask()

    def freshen(self) -> None:
        """Wait a moment for the first look in a while."""
        self._follower.wait_for_look(STALE_S, FRESHEN_S)

    def close(self) -> None:
        """End the thread that follows the files, and the processes that read for it."""
        self._follower.close()
        self._ingest.close()

    def look(self) -> bool:
        """Look once for new files and records, and read until all that is there is read. Says if there was anything."""
        with self._looking:
            changed = self._walk()
            changed = self._read_all(list(self._files)) or changed
            while self._ingest.busy:
                changed = self._collect(timeout_s=1.0) or changed
                changed = self._read_all(list(self._files)) or changed
            return self._compare() or changed

    def glance(self) -> bool:
        """Look where there is most likely news: `look` in small parts, for being called many times a second."""
        with self._looking:
            changed = self._pace.due(self._walker.stirs) and self._walk()
            wanted = self._trials.get(self._wanted or "")
            paths = {*self._tiers.due(), *(wanted.files if wanted else ())}
            return self._read_all(paths) or (self._twins_due() and self._compare_some()) or changed

    def recover(self, run: str) -> None:
        """Read the files of a run anew, whose columns were lost."""
        with self._lock:
            trial = self._trials.get(run)
            self._lost.update(trial.files if trial else ())
        self._follower.ask()

    def catalogue(self) -> Catalogue:
        """All runs, as far as they are read."""
        with self._lock:
            files = list(self._files.values())
            by_trial: dict[str, list[Followed]] = {}
            for file in files:
                by_trial.setdefault(file.trial, []).append(file)
            told = [self._told(file) for file in files]
            oddities, count_told = newest(told, MOST_LISTED), sum(map(len, told))
            general = list(self._cache.problems)
            if count_told > MOST_LISTED:
                general.append(_TOO_MANY.format(count_told, MOST_LISTED))
            troubles = (Oddity(None, None, None, text, None) for text in general)
            progress = progress_of(
                files=sum(file.finished for file in files),
                files_total=len(files),
                done=sum(file.reached for file in files),
                total=sum(file.size for file in files),
                rate=self._rate.at(time.monotonic()),
                walked=self._walked is not None,
            )
            return Catalogue(
                self._generation,
                tuple(run_info(self._trials[name], by_trial[name]) for name in sorted(by_trial)),
                (*self._problems, *troubles, *oddities),
                count(files, self._trials.values()),
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

    def scopes(self, run: str, view: View = ALL) -> tuple[int, tuple[Scope, ...]] | None:
        """A run's generation and watched models; None where there is no such run."""
        with self._lock:
            trial = self._trials.get(run)
            return None if trial is None else (trial.generation, trial.scopes(view))

    def holdings(self, run: str) -> tuple[Holding, ...]:
        """What a run holds beside our tables, by sort."""
        with self._lock:
            trial = self._trials.get(run)
            return () if trial is None else trial.holdings()

    def sessions(self, run: str) -> tuple[tuple[SessionSpan, ...], ...]:
        """The sessions of each directory of a run without tables of ours that was written in more than one."""
        with self._lock:
            trial = self._trials.get(run)
            return () if trial is None or trial.has_tables else tuple(trial.sessions().values())

    def contents(self, run: str) -> dict[str, FileContents]:
        """What each file of a run holds, by path relative to the log directory."""
        with self._lock:
            return {f.found.shown: f.contents for f in self._files.values() if f.trial == run}

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
            for path in [path for path, file in self._files.items() if files.get(path) != file.found]:
                self._drop(path)
            for path, file in files.items():
                if path not in self._files:
                    self._add(file)
            for followed in self._files.values():
                self._fold(followed)
            self._rise()
            return True

    def _rise(self) -> int:
        """Count a change and wake who waits for one. Needs the lock."""
        self._generation += 1
        self._lock.notify_all()
        return self._generation

    def _add(self, found: FoundFile) -> None:
        file = self._files[found.path] = Followed.begin(found)
        trial = self._trials.setdefault(found.trial, Trial(found.trial))
        trial.files[found.path] = file.contents
        self._tiers.changed(found.path)
        trial.changed(self._generation + 1)

    def _drop(self, path: str) -> None:
        file = self._files.pop(path)
        self._tiers.gone(path)
        self._cache.forget(path)
        self._leave(path, file)

    def _leave(self, path: str, file: Followed) -> None:
        trial = self._trials[file.trial]
        del trial.files[path]
        if trial.files:
            trial.changed(self._generation + 1)
        else:
            del self._trials[file.trial]

    def _fold(self, file: Followed) -> None:
        """Count a sub-run of hparams to the trial above it. Needs the lock."""
        parent = file.parent
        if parent is None or parent not in self._trials:
            return
        path = file.found.path
        self._leave(path, file)
        file.trial = parent
        trial = self._trials[parent]
        trial.files[path] = file.contents
        trial.changed(self._rise())

    def _read_all(self, paths: Iterable[str]) -> bool:
        """Read what is new in these files and those that were lost, or have it read where it is much."""
        lost = self._forget_lost()
        handed = set(self._handed)
        changed = self._collect()
        paths = {*paths, *lost, *(handed - self._handed)} - self._handed
        waiting = self._changed_files(paths)
        for file in waiting:
            if not file.opened:
                changed = self._open(file) or changed
        waiting = self._hand([file for file in waiting if file.differs])
        first = None
        while waiting:
            if first != self._wanted:
                first = self._wanted
                waiting.sort(key=lambda file: file.trial == first)
            changed = self._read(waiting.pop()) or changed
        if not self._handed:
            self._rate.rest()
        return changed

    def _hand(self, files: list[Followed]) -> list[Followed]:
        """Give files to other processes where there is much to read; those that are to be read here."""
        given = [file for file in files if file.unread and not file.here]
        if not self._cache.usable or sum(file.unread for file in given) < MUCH_BYTES:
            return files
        paths = {file.found.path for file in given}
        self._handed |= paths
        self._ingest.start((file.found.path, file.size) for file in reversed(given))
        return [file for file in files if file.found.path not in paths]

    def _collect(self, timeout_s: float = 0.0) -> bool:
        """Take over what other processes have read; says whether there was anything."""
        if not self._handed:
            return False
        changed = False
        if (wanted := self._trials.get(self._wanted or "")) is not None:
            self._ingest.prefer(wanted.files.keys())
        for report in self._ingest.poll(timeout_s):
            if report.done:
                self._handed.discard(report.path)
            file = self._files.get(report.path)
            if file is None:
                continue
            with self._lock:
                self._rate.read(max(report.offset - file.reached, 0), time.monotonic())
            if report.saved:
                changed = self._open(file) or changed
            file.ahead = 0 if report.done else report.offset
            file.here = file.here or report.done
            if report.problem:
                changed = self._fail(file, report.problem) or changed
        return changed

    def _changed_files(self, paths: Iterable[str]) -> list[Followed]:
        """Those of these files that are not as they were when last read, oldest first."""
        changed = []
        for path in paths:
            file = self._files.get(path)
            if file is None:
                continue
            try:
                status = os.stat(path)
            except OSError as error:
                # A file that was just removed is no oddity, the next walk misses it; a link to nowhere is one.
                if not isinstance(error, FileNotFoundError) or os.path.islink(path):
                    self._fail(file, unreadable(error))
                continue
            if (file.size, file.changed) != (status.st_size, status.st_mtime):
                # The time on a file that is copied here may be long past while the file grows.
                self._tiers.changed(path, 0.0 if file.changed else time.time() - status.st_mtime)
                file.size, file.changed = status.st_size, status.st_mtime
            file.status = status
            if file.differs or not file.opened:
                changed.append(file)
        return sorted(changed, key=lambda file: file.changed)

    def _open(self, file: Followed) -> bool:
        """Take over what is cached of a file; says whether there was anything."""
        file.opened = True
        loaded = self._cache.load(file.found.path)
        if loaded is None:
            return False
        with self._lock:
            tail, contents = loaded
            self._put(file, tail, contents)
            file.finished = not file.differs
            if file.finished:
                contents.tell_undescribed()
            self._log(file)
            self._trials[file.trial].changed(self._rise())
            self._fold(file)
        return True

    def _put(self, file: Followed, tail: Tail, contents: FileContents) -> None:
        file.tail, file.contents, file.told = tail, contents, 0
        self._trials[file.trial].files[file.found.path] = contents

    def _read(self, file: Followed) -> bool:
        """Read a file as far as it goes; says whether it brought anything."""
        brought = False
        while True:
            try:
                more, news = self._read_some(file)
                brought = news or brought
            except Unreadable as error:
                return self._fail(file, str(error)) or brought
            except Lost as error:
                self._lost.add(file.found.path)
                logger.warning("%s: %s", file.found.shown, error)
                return brought
            except Exception as error:  # a defect of ours must hide neither the other runs nor itself
                logger.exception("Reading %s failed.", file.found.path)
                return self._fail(file, f"ZenTracer failed on this file ({type(error).__name__}); the log says more.")
            if not more:
                return brought

    def _read_some(self, file: Followed) -> tuple[bool, bool]:
        """Read the next stretch of a file; says whether there is more, and whether it brought anything."""
        path = file.found.path
        batch = file.tail.read(READ_BYTES)
        news = bool(batch.records or batch.damage or batch.restarted)
        with self._lock:
            if batch.restarted:
                self._cache.drop(path)
                self._put(file, file.tail, FileContents(path))
                file.finished = False
            take(file.contents, batch)
            file.finished, file.error = file.finished or not batch.more, None
            self._log(file)
            self._rate.read(batch.records.size, time.monotonic())
            if news:
                self._trials[file.trial].changed(self._rise())
                self._fold(file)
        if news and self._cache.save(path, file.tail, file.contents) is Saved.STALE:
            self._lost.add(path)
            return False, news
        return batch.more, news

    def _forget_lost(self) -> set[str]:
        """Begin anew with files whose columns are not to be had any more: what is cached now, or the log itself."""
        with self._lock:
            lost, self._lost = self._lost & self._files.keys(), set()
            for path in lost:
                file = self._files[path]
                self._put(file, Tail(path), FileContents(path))
                file.opened = file.finished = False
                self._trials[file.trial].changed(self._rise())
            return lost

    def _twins_due(self) -> bool:
        generation, due = self._compared
        if generation == self._generation or time.monotonic() < due:
            return False
        return all(file.finished for file in self._files.values())

    def _compare(self) -> bool:
        """Compare all files with each other; says whether there is news."""
        news = self._compare_some()
        while self._twins.more:
            news = self._compare_some() or news
        return news

    def _compare_some(self) -> bool:
        """Point out files with the same bytes, as far as that is quickly found out; says whether there is news."""
        files = sorted(self._files.items())
        twins = self._twins.look([Candidate(file.trial, path, file.found.shown) for path, file in files])
        told = {twin.file.path: twin.text for twin in twins}
        with self._lock:
            news = False
            for path, file in self._files.items():
                if file.twin != told.get(path):
                    file.twin, news = told.get(path), True
                    self._trials[file.trial].generation = self._rise()
                    if file.twin:
                        logger.warning("Run %s, file %s: %s", file.trial, file.found.shown, file.twin)
            self._compared = (-1, 0.0) if self._twins.more else (self._generation, time.monotonic() + TWINS_EVERY_S)
            return news

    def _fail(self, file: Followed, text: str) -> bool:
        """Note that a file can't be read; says whether that is news."""
        with self._lock:
            news = file.error != text
            file.finished, file.error = True, text
            if news:
                if text not in file.failures:  # a file may come and go for days
                    file.failures.append(text)
                logger.warning("Run %s, file %s: %s", file.trial, file.found.shown, text)
                self._trials[file.trial].generation = self._rise()
            return news

    def _log(self, file: Followed) -> None:
        """Write to the server's log what became odd in a file."""
        for note in file.contents.oddities[file.told :]:
            at = "" if note.offset is None else f" at byte {note.offset}"
            logger.warning("Run %s, file %s%s: %s", file.trial, file.found.shown, at, note.text)
        file.told = len(file.contents.oddities)

    def _told(self, file: Followed) -> list[Oddity]:
        """What to tell of a file. Needs the lock."""
        loose = [*file.failures, *([file.twin] if file.twin else [])]
        try:
            if beside := self._trials[file.trial].beside.get(file.found.path):
                loose.append(beside)
        except Lost:
            self._lost.update(self._trials[file.trial].files)
        notes = [*(Note(text, None, file.contents.last_wall) for text in loose), *file.contents.oddities]
        return [Oddity(file.trial, file.found.shown, note.offset, note.text, note.wall) for note in notes]
