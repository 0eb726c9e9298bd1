"""One tag of one run over all its files: every point ever written, and which of them a later session replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zentracer_schema import KINDS, parse_tag
from zentracer_store.contents import FileContents
from zentracer_store.episodes import Episode, chain_numbers, episodes_of
from zentracer_store.fetch import read_event, read_value
from zentracer_store.gather import Rows, rows_by_tag
from zentracer_store.growing import Array
from zentracer_store.spans import NEVER, Overwritten, Reach, SessionSpan, cuts_of, offsets_of


@dataclass(frozen=True)
class Places:
    """Where the records of a series lie: `file` numbers `paths`; the rest is as in `FileContents.records`."""

    paths: tuple[str, ...]
    file: Array
    offset: Array
    length: Array
    place: Array

    def picked(self, rows: Any) -> Places:
        """Those of some rows."""
        picked = (column[rows] for column in (self.file, self.offset, self.length, self.place))
        return Places(self.paths, *picked)


@dataclass(frozen=True)
class Begin:
    """One session of a series: its number in the run, the chain that it is in, and the step from which it counts.

    `offset` is what its steps would need to stand behind the sessions before it, 0 where they need not move.
    """

    session: int
    chain: int
    step: int
    offset: int = 0


@dataclass(frozen=True)
class Series:
    """One tag of one run: its points chain by chain, session by session, within each in the order of writing.

    `value` is float64 [n] of a scalar, else None and `places` says where each record lies. `session` numbers the run's
    sessions, `superseded` marks points at steps that a later session of the same chain recorded anew. Writers that
    grew side by side are several chains, and none supersedes another.
    """

    run: str
    tag: str
    sort: str
    step: Array
    wall: Array
    session: Array
    superseded: NDArray[np.bool_]
    value: Array | None = None
    places: Places | None = None
    begins: tuple[Begin, ...] = (Begin(0, 0, 0),)

    def __len__(self) -> int:
        return len(self.step)

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the sessions of each chain."""
        numbers = dict.fromkeys(begin.chain for begin in self.begins)
        return tuple(tuple(b.session for b in self.begins if b.chain == chain) for chain in numbers)

    def until(self, session: int) -> Series:
        """The series as it stood before the session after this one began."""
        rows = self.session <= session
        begins = tuple(begin for begin in self.begins if begin.session <= session)
        return replace(
            self,
            step=self.step[rows],
            wall=self.wall[rows],
            session=self.session[rows],
            superseded=superseded_in(self.step[rows], self.session[rows], begins),
            value=None if self.value is None else self.value[rows],
            places=None if self.places is None else self.places.picked(rows),
            begins=begins,
        )

    def shifted(self) -> Series:
        """The series with sessions whose counter began again laid one behind the other."""
        if not any(begin.offset for begin in self.begins):
            return self
        offsets = _by_session(self.begins, [begin.offset for begin in self.begins])
        step = self.step + offsets[self.session]
        begins = tuple(replace(begin, step=begin.step + begin.offset, offset=0) for begin in self.begins)
        return replace(self, step=step, superseded=superseded_in(step, self.session, begins), begins=begins)

    def decode(self, row: int) -> Any:
        """The value of one row: a number, or the summary value (of a graph the event) that the record holds.

        Raises:
            Moved: the record is no longer where it was.
        """
        if self.places is None:
            return float(self.value[row])  # type: ignore[index]
        places = self.places
        path, offset, length = places.paths[places.file[row]], int(places.offset[row]), int(places.length[row])
        if self.tag.startswith("<"):
            return read_event(path, offset, length)
        return read_value(path, offset, length, int(places.place[row]))


@dataclass(frozen=True)
class RunSeries(Mapping[str, Series]):
    """All series of one run directory by tag, and the sessions that wrote them."""

    series: Mapping[str, Series]
    sessions: tuple[SessionSpan, ...]

    def __getitem__(self, tag: str) -> Series:
        return self.series[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self.series)

    def __len__(self) -> int:
        return len(self.series)


def series_of(run: str, files: Sequence[FileContents]) -> RunSeries:
    """The series of one run directory, from the files in it, and the sessions that wrote them."""
    episodes = episodes_of(files)
    rows = rows_by_tag(episodes, files)
    spans = _spans(episodes, rows)
    paths = tuple(contents.path for contents in files)
    series = {one.tag: _series(run, one, episodes, spans, paths) for one in rows}
    shared = [series[one.tag] for one in rows if _counts_as_the_run(one, spans)]
    return RunSeries(series, tuple(_with_overwritten(span, shared) for span in spans))


def _series(
    run: str, rows: Rows, episodes: Sequence[Episode], spans: Sequence[SessionSpan], paths: tuple[str, ...]
) -> Series:
    begins = _begins(rows, episodes, spans)
    columns = rows.columns
    if len({begin.chain for begin in begins}) > 1:
        bounds = dict(zip(rows.sessions, pairwise(rows.bounds), strict=True))
        order = np.concatenate([np.arange(*bounds[begin.session]) for begin in begins])
        columns = {name: column[order] for name, column in columns.items()}
    return Series(
        run,
        rows.tag,
        rows.sort,
        columns["step"],
        columns["wall"],
        columns["session"],
        superseded_in(columns["step"], columns["session"], begins),
        columns.get("value"),
        None if "value" in columns else Places(paths, *(columns[n] for n in ("file", "offset", "length", "place"))),
        begins,
    )


def _begins(rows: Rows, episodes: Sequence[Episode], spans: Sequence[SessionSpan]) -> tuple[Begin, ...]:
    """The sessions of a tag, chain by chain: from which step each counts, and what would move it behind the others."""
    chains = chain_numbers([episodes[number] for number in rows.sessions])
    counts = counts_steps(rows)
    shared = counts and _counts_as_the_run(rows, spans)
    begins: list[Begin] = []
    for chain in sorted(set(chains)):
        members = [place for place, number in enumerate(chains) if number == chain]
        reaches = [_reach(episodes[rows.sessions[m]].start_of(rows.tag), rows.first[m], rows.last[m]) for m in members]
        own = offsets_of(reaches) if counts else [0] * len(members)
        for member, reach, offset in zip(members, reaches, own, strict=True):
            session = rows.sessions[member]
            moved = (spans[session].offset or 0) if shared else offset
            begins.append(Begin(session, chain, reach.start if counts else NEVER, moved))
    return tuple(begins)


def _spans(episodes: Sequence[Episode], rows: Sequence[Rows]) -> list[SessionSpan]:
    """The sessions of a run, without what was overwritten. Their steps are those of the tags that count together."""
    tags: list[list[tuple[int, int, int]]] = [[] for _ in episodes]
    for one in rows:
        for number, count, first, last in zip(one.sessions, one.counts, one.first, one.last, strict=True):
            # What counts nothing tells the steps only of a session that has nothing else.
            tags[number].append((count if counts_steps(one) else 0, first, last))
    reaches = []
    for episode, found in zip(episodes, tags, strict=True):
        usual = max(found)
        together = [one for one in found if one[0] and near(one[2], usual[2])] or [usual]
        first, last = min(first for _, first, _ in together), max(last for _, _, last in together)
        reaches.append(_reach(episode.start_of(), first, last))
    chains = chain_numbers(episodes)
    offsets = [0] * len(episodes)
    for chain in set(chains):
        members = [number for number, other in enumerate(chains) if other == chain]
        for number, offset in zip(members, offsets_of([reaches[number] for number in members]), strict=True):
            offsets[number] = offset
    return [
        SessionSpan(
            number,
            episode.session.id,
            episode.session.continues,
            episode.started,
            reaches[number].start,
            reaches[number].first,
            reaches[number].last,
            offset=offsets[number] or None,
            chain=chains[number],
            file=episode.paths[0],
        )
        for number, episode in enumerate(episodes)
    ]


def _reach(told: int | None, first: int, last: int) -> Reach:
    return Reach(first, first, last) if told is None else Reach(min(told, first), first, last, min(told, first))


def _counts_as_the_run(rows: Rows, spans: Sequence[SessionSpan]) -> bool:
    """Whether a tag's steps are those of the run, not epochs, say, beside updates."""
    return all(near(last, spans[number].last) for number, last in zip(rows.sessions, rows.last, strict=True))


def near(last: int, other: int) -> bool:
    """Whether two tags that reached these steps count the same: one is seldom logged half a session behind another."""
    return last <= 2 * other + 1 and other <= 2 * last + 1


def counts_steps(rows: Rows) -> bool:
    """Whether the steps of a tag count training: not where they never move, nor in what we key by the time."""
    if rows.sort == "message":
        return False
    ours = parse_tag(rows.tag)
    if ours is not None and KINDS[ours.kind].time_keyed:
        return False
    return max(rows.counts) == 1 or min(rows.first) < max(rows.last)


def _with_overwritten(span: SessionSpan, series: Sequence[Series]) -> SessionSpan:
    steps = [one.step[one.superseded & (one.session == span.number)] for one in series]
    lost = np.concatenate([np.empty(0, np.int64), *steps])
    if not len(lost):
        return span
    return replace(span, overwritten=Overwritten(int(lost.min()), int(lost.max()), len(lost)))


def superseded_in(step: Array, session: Array, begins: Sequence[Begin]) -> NDArray[np.bool_]:
    """Which points stand at steps that a later session of their chain counts anew."""
    cuts: dict[int, int] = {}
    for chain in dict.fromkeys(begin.chain for begin in begins):
        members = [begin for begin in begins if begin.chain == chain]
        cuts |= {m.session: cut for m, cut in zip(members, cuts_of([m.step for m in members]), strict=True)}
    if all(cut == NEVER for cut in cuts.values()):
        return np.zeros(len(step), np.bool_)
    found: NDArray[np.bool_] = step >= _by_session(begins, [cuts[begin.session] for begin in begins])[session]
    return found


def _by_session(begins: Sequence[Begin], values: Sequence[int]) -> Array:
    table = np.zeros(max((begin.session for begin in begins), default=-1) + 1, np.int64)
    table[[begin.session for begin in begins]] = values
    return table
