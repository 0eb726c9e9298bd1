"""Finds what of a run TensorBoard would not show, and why: each value once for each of its loaders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from zentracer_schema import parse_tag
from zentracer_store.contents.growing import Array
from zentracer_store.examining.facts import NUMBERS, SCALAR, SINGLE, Fact
from zentracer_store.examining.hidden import NAME, RECORD, Hidden, Kind, Reader
from zentracer_store.examining.order import Values, count_by_tag, kept_by_python, kept_by_server, values_of
from zentracer_store.examining.replay import Replay, Stop


def hidden_in(run: str, files: Sequence[tuple[str, Replay]]) -> list[Hidden]:
    """What TensorBoard hides of a run. `files` are those that it reads, by their names, each with how it is shown."""
    replays = [replay for _, replay in files]
    facts = _facts(replays)
    return [*_stopped(run, files, facts), *_Read(run, replays, facts).lost(), *_side_by_side(run, files)]


def _facts(replays: Sequence[Replay]) -> dict[str, Fact]:
    """What the run's first value of each tag tells. Tables of ours are left out: TensorBoard is not to show them."""
    facts: dict[str, Fact] = {}
    for replay in replays:
        for tag, fact in replay.tags.items():
            if parse_tag(tag) is None:
                facts.setdefault(tag, fact)
    return facts


def _stopped(run: str, files: Sequence[tuple[str, Replay]], facts: dict[str, Fact]) -> list[Hidden]:
    found = []
    for shown, replay in files:
        stops: list[tuple[Reader, Stop | None]] = [("python", replay.python), ("server", replay.server)]
        if replay.python is not None and replay.python == replay.server:
            stops = [("both", replay.python)]
        names = list(replay.tags)
        for reader, stop in stops:
            behind = [] if stop is None else [names[number] for number in replay.tag[stop.values :].tolist()]
            theirs = [tag for tag in behind if tag in facts]
            if stop is not None and theirs:
                tags = tuple(dict.fromkeys(theirs))
                found.append(Hidden("behind damage", reader, run, tags, len(theirs), shown, stop.offset, stop.why))
        if replay.kills_python is not None:
            found.append(Hidden("ends loading", "python", run, file=shown, offset=replay.kills_python, why=RECORD))
    return found


@dataclass(frozen=True)
class _Loaded:
    """Of all values of a run, those that a loader comes by, and those that it still has at the end."""

    read: Array
    kept: Array


class _Read:
    """The values of a run, and what becomes of them in each loader."""

    def __init__(self, run: str, replays: Sequence[Replay], facts: dict[str, Fact]) -> None:
        self._run, self._facts = run, facts
        self._all = values_of(replays, [None] * len(replays))
        self._python = _loaded(replays, [replay.python for replay in replays], kept_by_python)
        self._server = _loaded(replays, [replay.server for replay in replays], kept_by_server)
        of_tags = [facts.get(tag) for tag in self._all.tags]
        self._without_class = self._of_tags(fact is not None and fact.needs_class for fact in of_tags)
        self._shown = self._of_tags(fact is not None and not fact.needs_class for fact in of_tags)
        wanted = np.array([0 if fact is None else fact.in_server for fact in of_tags], np.uint8)[self._all.tag]
        self._fit = (self._all.fits & wanted) != 0
        self._bare_numbers = (wanted == SCALAR) & ((self._all.fits & NUMBERS) != 0)

    def _of_tags(self, which: Iterable[bool]) -> Array:
        """The values of some tags."""
        return np.fromiter(which, bool, len(self._all.tags))[self._all.tag]

    def lost(self) -> list[Hidden]:
        """What is lost, but for what is behind damage."""
        python, server = self._python, self._server
        late = server.read & ~self._all.finite
        of_python, of_server = python.read & ~python.kept, server.read & ~server.kept & ~late
        unfit = server.kept & ~self._fit
        nameless = (python.read & self._without_class, server.read & self._without_class)
        broken = self._broken()
        found = [
            self._hidden("overwritten", "both", of_python & of_server & self._shown),
            self._hidden("purged", "python", of_python & ~of_server & self._shown),
            self._hidden("replaced", "server", of_server & ~of_python & self._shown),
            self._hidden("wall time", "server", late & self._shown),
            self._hidden("not float32", "server", unfit & self._bare_numbers & self._shown),
            self._hidden("another class", "server", unfit & ~self._bare_numbers & self._shown),
            self._hidden("not single", "python", python.kept & broken),
            self._hidden("no data class", "both", nameless[0] & nameless[1]),
            self._hidden("no data class", "python", nameless[0] & ~nameless[1]),
            self._hidden("no data class", "server", nameless[1] & ~nameless[0]),
            self._sampled("python", python.kept & ~broken, lambda fact: fact.most_in_python),
            self._sampled("server", server.kept & self._fit, lambda fact: fact.most_in_server),
        ]
        return [one for one in found if one is not None]

    def _broken(self) -> Array:
        """The values of scalar tags of which one, that the Python loader keeps for sure, is not one entry."""
        bad = count_by_tag(self._all, self._python.kept & ((self._all.fits & SINGLE) == 0))
        counts = count_by_tag(self._all, self._python.kept)
        return self._of_tags(
            bad[tag] > 0 and fact is not None and fact.needs_single and counts[tag] <= fact.most_in_python
            for tag, fact in zip(self._all.tags, map(self._facts.get, self._all.tags), strict=True)
        )

    def _hidden(self, kind: Kind, reader: Reader, which: Array) -> Hidden | None:
        counts = count_by_tag(self._all, which)
        return Hidden(kind, reader, self._run, tuple(counts), sum(counts.values())) if counts else None

    def _sampled(self, reader: Reader, kept: Array, most: Callable[[Fact], int]) -> Hidden | None:
        """What is more than is kept of a tag, at least: what was purged later had its share of the sample, too."""
        counts = count_by_tag(self._all, kept & self._shown)
        lost = {tag: count - most(self._facts[tag]) for tag, count in counts.items()}
        lost = {tag: count for tag, count in lost.items() if count > 0}
        return Hidden("sampled", reader, self._run, tuple(lost), sum(lost.values())) if lost else None


def _loaded(replays: Sequence[Replay], stops: Sequence[Stop | None], keep: Callable[[Values], Array]) -> _Loaded:
    parts = [
        np.arange(len(replay.tag)) < (len(replay.tag) if stop is None else stop.values)
        for replay, stop in zip(replays, stops, strict=True)
    ]
    read = np.concatenate([np.zeros(0, bool), *parts])
    kept = np.zeros(len(read), bool)
    kept[read] = keep(values_of(replays, stops))
    return _Loaded(read, kept)


def ended_by_name(run: str, paths: Sequence[tuple[str, str]]) -> list[Hidden]:
    """The first file of a run whose path is not UTF-8; `paths` are each with how it is shown."""
    for path, shown in paths:
        try:
            os.fsencode(path).decode("utf-8")
        except UnicodeDecodeError:
            return [Hidden("ends loading", "python", run, file=shown, why=NAME)]
    return []


def _side_by_side(run: str, files: Sequence[tuple[str, Replay]]) -> list[Hidden]:
    """Files that were still written to when the next one by name had begun: the Python loader has moved on by then."""
    found = []
    for number, (shown, replay) in enumerate(files):
        later = [other.first_wall for _, other in files[number + 1 :]]
        if later and replay.last_wall > min(later):
            found.append(Hidden("side by side", "python", run, tuple(replay.tags), file=shown))
    return found


def short_of_descriptors(files: int, most: int) -> list[Hidden]:
    """Runs go missing where the data server, which keeps every file open, may open fewer than there are."""
    if files <= most:
        return []
    why = f"{files:,} event files, and a process started here can hold about {most:,} open"
    return [Hidden("descriptors", "server", None, values=files - most, why=why)]
