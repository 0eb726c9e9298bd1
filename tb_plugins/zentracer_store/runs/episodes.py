"""Finds the sessions of a run directory, over all its files and whichever writer made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Array
from zentracer_store.contents.sessions import Session
from zentracer_store.runs.chains import CLOCK_SLACK_S
from zentracer_store.runs.order import in_order
from zentracer_store.runs.restarts import restarts_in

Table = Literal["points", "records"]


@dataclass(frozen=True)
class Stretch:
    """Rows of one file that were written in one go: [first, last) of its points and of its records.

    `restart`: no mark tells of it, but the file's steps go back there.
    """

    contents: FileContents
    session: Session
    restart: bool
    points: tuple[int, int]
    records: tuple[int, int]

    @property
    def begin(self) -> tuple[int, int]:
        """Where it begins in its file: points and records before it."""
        return self.points[0], self.records[0]

    def column(self, table: Table, name: str) -> Array:
        """A column of the file's points or records."""
        if table == "points":
            return self.contents.points.column(name, *self.points)
        return self.contents.records.column(name, *self.records)


@dataclass(frozen=True)
class Episode:
    """One session of a run directory: what it wrote into each file, from when to when."""

    stretches: tuple[Stretch, ...]
    started: float
    ended: float

    @property
    def session(self) -> Session:
        """What is known of it."""
        return self.stretches[0].session

    @cached_property
    def paths(self) -> frozenset[str]:
        """The files that it wrote into."""
        return frozenset(stretch.contents.path for stretch in self.stretches)

    @property
    def host(self) -> str | None:
        """The machine that wrote it, where the file's name tells."""
        process = self.stretches[0].contents.process
        return None if process is None else process.rpartition(".")[0]

    def start_of(self, tag: str | None = None) -> int | None:
        """The step at which its writer says that it began, for the model that `tag` is of; None where it does not say.

        The mark of another writer at step 0 says nothing: 0 is also what no step reads as.
        """
        if self.stretches[0].restart:
            return None
        if self.session.id is None:
            return self.session.start_step or None
        parts = (tag or "").split("/", 2)
        return self.session.start_of(parts[1] if parts[0] == "zentracer" and len(parts) == 3 else "")


def episodes_of(files: Sequence[FileContents]) -> list[Episode]:
    """The sessions that recorded anything, oldest first."""
    parts: dict[object, list[Stretch]] = {}
    loose = []
    for stretch in (stretch for contents in files for stretch in _cut(contents)):
        session = stretch.session
        if session.id is None and session.start_step is None and not stretch.restart and stretch.contents.process:
            loose.append(stretch)
        else:
            own = session.id is None or stretch.restart
            parts.setdefault(id(stretch) if own else session.id, []).append(stretch)
    for stretch in loose:
        # A file that a process of ours opened later, or its bulk file: no session mark of its own.
        began = _walls(stretch)[0]
        owners = [
            part
            for part in parts.values()
            if part[0].session.id is not None
            and part[0].contents.process == stretch.contents.process
            and min(_walls(other)[0] for other in part) <= began
        ]
        owner = max(owners, key=lambda part: min(_walls(other)[0] for other in part), default=None)
        if owner is None:
            parts[id(stretch)] = [stretch]
        else:
            owner.append(stretch)
    return _in_order([_episode(part) for part in parts.values()])


def _in_order(episodes: Sequence[Episode]) -> list[Episode]:
    """Oldest first. One that continues another, or stands behind it in a file, is later; else those that began together
    go by file."""
    episodes = sorted(episodes, key=lambda episode: min((s.contents.path, s.begin) for s in episode.stretches))
    named = {one.session.id: number for number, one in enumerate(episodes) if one.session.id is not None}
    files: dict[str, list[tuple[tuple[int, int], int]]] = {}
    behind: list[set[int]] = []
    for number, episode in enumerate(episodes):
        behind.append({named[episode.session.continues]} if episode.session.continues in named else set())
        for stretch in episode.stretches:
            files.setdefault(stretch.contents.path, []).append((stretch.begin, number))
    for inside in files.values():
        for (_, before), (_, number) in pairwise(sorted(inside)):
            behind[number].add(before)
    return [episodes[number] for number in in_order([episode.started for episode in episodes], behind)]


def chain_numbers(episodes: Sequence[Episode]) -> list[int]:
    """For each of some episodes, oldest first, the number of its chain.

    One stands behind the one that it says it continues, else behind an earlier one of the same file, else behind the
    chain that had ended last when it began. Two that grow side by side stay apart.
    """
    chains: list[list[Episode]] = []
    numbers = []
    for episode in episodes:
        number = _behind(episode, chains)
        if number == len(chains):
            chains.append([])
        chains[number].append(episode)
        numbers.append(number)
    return numbers


def _behind(episode: Episode, chains: Sequence[Sequence[Episode]]) -> int:
    before = episode.session.continues
    for number, chain in enumerate(chains):
        if before is not None and any(other.session.id == before for other in chain):
            return number
    for number, chain in enumerate(chains):
        if any(not other.paths.isdisjoint(episode.paths) for other in chain):
            return number
    ended = [n for n, chain in enumerate(chains) if all(_ended_before(other, episode) for other in chain)]
    return max(ended, key=lambda n: max(other.ended for other in chains[n]), default=len(chains))


def _ended_before(other: Episode, episode: Episode) -> bool:
    # One clock needs no slack, and two short writers on one machine may well begin within a second.
    slack = 0.0 if other.host is not None and other.host == episode.host else CLOCK_SLACK_S
    return other.ended <= episode.started + slack


def _episode(stretches: list[Stretch]) -> Episode:
    walls = [_walls(stretch) for stretch in stretches]
    told = None if stretches[0].restart else stretches[0].session.wall
    started = min(wall for wall, _ in walls)
    stretches = [stretch for _, stretch in sorted(zip(walls, stretches, strict=True), key=lambda pair: pair[0][0])]
    return Episode(tuple(stretches), started if told is None else min(told, started), max(wall for _, wall in walls))


def _walls(stretch: Stretch) -> tuple[float, float]:
    walls = np.concatenate([stretch.column("points", "wall"), stretch.column("records", "wall")])
    return float(walls.min()), float(walls.max())


def _cut(contents: FileContents) -> list[Stretch]:
    points, records = len(contents.points), len(contents.records)
    begins = [(0, 0, 0, False), *((*mark, False) for mark in contents.marks)]
    begins += [(point, record, 0, True) for point, record in _restarts(contents, points, records)]
    begins.sort(key=lambda begin: begin[:2])
    stretches = []
    session = record = 0
    for place, (point, own_record, own_session, restart) in enumerate(begins):
        following = begins[place + 1] if place + 1 < len(begins) else (points, records, 0, False)
        session = max(session, own_session)
        record = max(record, own_record)  # by wall time a restart may seem to lie before a mark
        rows = (point, following[0]), (record, max(following[1], record))
        if rows[0][0] < rows[0][1] or rows[1][0] < rows[1][1]:
            stretches.append(Stretch(contents, contents.sessions.all[session], restart, *rows))
    return stretches


def _restarts(contents: FileContents, points: int, records: int) -> list[tuple[int, int]]:
    """Where steps go back within a session: how many points and records come before that moment."""
    others = np.array([not info.ours for info in contents.tags], np.bool_)
    tags, steps, walls, rows = [], [], [], []
    for frame, count, sessions in (
        (contents.points, points, contents.session_of_points()),
        (contents.records, records, contents.session_of_records()),
    ):
        tag = frame.column("tag", 0, count)
        kept = np.flatnonzero(others[tag])  # our tables know their sessions, and some count milliseconds
        tags.append(tag[kept].astype(np.int64) + len(others) * sessions[kept].astype(np.int64))
        steps.append(frame.column("step", 0, count)[kept])
        walls.append(np.maximum.accumulate(frame.column("wall", 0, count)[kept]))
        rows.append(kept)
    # The two tables by wall time, each in the order of the file.
    order = np.argsort(np.concatenate(walls), kind="stable") if len(rows[1]) else np.arange(len(rows[0]))
    found = np.array(restarts_in(np.concatenate(tags)[order], np.concatenate(steps)[order]), np.intp)
    point = np.append(0, np.cumsum(order < len(rows[0])))[found]
    return list(
        zip(
            np.append(rows[0], points)[point].tolist(),
            np.append(rows[1], records)[found - point].tolist(),
            strict=True,
        )
    )
