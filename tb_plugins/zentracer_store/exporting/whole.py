"""Reads runs from their beginning to their end, one at a time: for exports, notebooks and the doctor."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass

from zentracer_schema import FormatError
from zentracer_store.contents.file_contents import FileContents, Oddity
from zentracer_store.discover import FoundFile, Problem, discover, parse_places, text
from zentracer_store.reading.decode import parse_event
from zentracer_store.reading.records import Records
from zentracer_store.reading.tail import Tail, Unreadable
from zentracer_store.runs.trial import Trial

Told = Callable[[int], None]
"""Is told how many bytes were read just now."""


@dataclass(frozen=True)
class WholeFile:
    """One file, read as far as it goes. `problem` says why it can't be read.

    `damage` are bytes in which something is lost, whole records that are no event among them; `unusual` is what is odd
    though nothing is lost.
    """

    found: FoundFile
    contents: FileContents
    size: int
    damage: tuple[Oddity, ...]
    unusual: tuple[Oddity, ...]
    problem: str | None

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What is unusual about the file and what is in it."""
        return (*self.unusual, *(one for one in self.contents.oddities if one not in self.damage))

    def lost(self) -> Iterator[str]:
        """What can't be read of it, as sentences."""
        if self.problem is not None:
            yield f"{self.found.shown}: {self.problem}"
        yield from (self._placed(oddity) for oddity in self.damage)

    def odd(self) -> Iterator[str]:
        """What is unusual about what can be read, as sentences."""
        yield from (self._placed(oddity) for oddity in self.oddities)

    def _placed(self, oddity: Oddity) -> str:
        at = "" if oddity.offset is None else f", byte {oddity.offset:,}"
        return f"{self.found.shown}{at}: {oddity.text}"


@dataclass(frozen=True)
class WholeRun:
    """The files of one directory, by their names. `name` is that of TensorBoard, `trial` what it is folded into."""

    name: str
    trial: str
    files: tuple[WholeFile, ...]

    @property
    def contents(self) -> dict[str, FileContents]:
        """What each file holds, by its path."""
        return {file.found.path: file.contents for file in self.files}


@dataclass(frozen=True)
class Logdir:
    """The event files under a log directory, by run. `problems` are places that could not be looked into."""

    path: str
    runs: dict[str, tuple[FoundFile, ...]]
    problems: tuple[Problem, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each run's files."""
        return {run: sum(_size(file.path) for file in files) for run, files in self.runs.items()}


def look_under(logdir: str) -> Logdir:
    """What there is under `logdir` now. Reads no file."""
    found = discover(parse_places(logdir))
    folders: dict[tuple[str, str], list[FoundFile]] = {}
    for file in found.files:
        folders.setdefault((file.run, os.path.dirname(file.path)), []).append(file)
    runs: dict[str, list[FoundFile]] = {}
    for (run, _), files in sorted(folders.items(), key=_with_odd_ones_last):
        runs[_free(run, runs)] = files
    ordered = {run: tuple(sorted(runs[run], key=lambda file: file.path)) for run in sorted(runs)}
    return Logdir(logdir, ordered, found.problems)


def _with_odd_ones_last(folder: tuple[tuple[str, str], list[FoundFile]]) -> tuple[bool, tuple[str, str]]:
    (run, path), _ = folder
    return text(path) != path, (run, path)


def _free(run: str, taken: Container[str]) -> str:
    """The name of a run; with a number where another directory, of bytes that are not UTF-8, looks the same."""
    names = itertools.chain([run], (f"{run} #{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def read_run(name: str, files: Sequence[FoundFile], told: Told = lambda count: None) -> WholeRun:
    """Everything that the files of a run hold. `told` is given the bytes of each piece that was read."""
    read = [read_file(file, told) for file in files]
    trial = Trial(name, {file.found.path: file.contents for file in read})
    trial.changed(1)  # a description in one file serves the tables of another
    for file in read:
        file.contents.tell_undescribed()
    return WholeRun(name, files[0].trial, tuple(read))


def read_file(found: FoundFile, told: Told = lambda count: None) -> WholeFile:
    """One file from beginning to end."""
    contents, tail = FileContents(found.path), Tail(found.path)
    found_odd: list[tuple[bool, Oddity]] = []
    lost: list[Oddity] = []
    problem = None
    try:
        while True:
            before = tail.offset
            batch = tail.read()
            told(tail.offset - before)
            if batch.restarted:
                contents, found_odd, lost = FileContents(found.path), [], []
            told_before = len(contents.oddities)
            contents.feed(batch.records)
            lost += _without_event(contents.oddities[told_before:], batch.records)
            found_odd += [(one.lost, Oddity(one.text, one.offset, contents.last_wall)) for one in batch.damage]
            if not batch.more:
                break
    except Unreadable as error:
        problem = str(error)
    damage = (*(oddity for is_lost, oddity in found_odd if is_lost), *lost)
    unusual = tuple(oddity for is_lost, oddity in found_odd if not is_lost)
    return WholeFile(found, contents, _size(found.path), damage, unusual, problem)


def _without_event(oddities: Sequence[Oddity], records: Records) -> list[Oddity]:
    """Those of the oddities that tell of whole records which can't be read all the same."""
    payloads = dict(records) if oddities else {}
    return [one for one in oddities if one.offset in payloads and not _is_event(payloads[one.offset])]


def _is_event(payload: bytes) -> bool:
    try:
        parse_event(payload)
    except FormatError:
        return False
    return True


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
