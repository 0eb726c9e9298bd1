"""Brings the files of one trial together: its watched models, their timelines, its scalars."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from zentracer_schema import TableSpec
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.decode import Sort
from zentracer_store.runs.beside import side_by_side
from zentracer_store.runs.chains import Part, chains_of, scopes_of
from zentracer_store.runs.holdings import Holding, holdings_of, sorts_of
from zentracer_store.runs.reach import last_update, spans_of
from zentracer_store.runs.series import series_of
from zentracer_store.runs.spans import SessionSpan
from zentracer_store.runs.timeline import Timeline, timeline_of

_MOST_VIEWS = 8


@dataclass(frozen=True)
class Scope:
    """One watched model of a trial at one moment."""

    name: str
    chain: tuple[Part, ...]
    timeline: Timeline
    shift: bool = False
    """Whether sessions whose counter began again stand one behind the other."""

    @cached_property
    def sessions(self) -> tuple[SessionSpan, ...]:
        """What each session of the chain covers, also where `timeline` shows less than all of them."""
        return spans_of(self.chain, shift=self.shift)

    @property
    def planned(self) -> int | None:
        """Steps that the training means to take, where it said so."""
        planned = self.chain[-1].facts.get("planned_steps")
        return planned if isinstance(planned, int) else None

    @cached_property
    def modules(self) -> dict[str, str]:
        """Class name by module path, in the model's order where the session tells it."""
        told = _modules(self.chain)
        known = {row.module: row.class_name for row in self.timeline.rows if row.module}
        return told | {path: name for path, name in known.items() if path not in told}


@dataclass(frozen=True)
class View:
    """Which part of a chain to show: all, or what stood there before the session after `until` began; with `shift`
    sessions whose counter began again stand one behind the other."""

    until: int | None = None
    shift: bool = False


ALL = View()


@dataclass(frozen=True)
class Summary:
    """A trial in a few words, for a list of many."""

    nan: bool
    tables: bool
    last_step: int | None
    last_wall: float | None
    holds: Mapping[str, int]


@dataclass
class Trial:
    """The files of a trial, read so far. `generation` rises with everything that is read."""

    name: str
    files: dict[str, FileContents] = field(default_factory=dict)
    generation: int = 0
    _scopes: dict[View, tuple[Scope, ...]] = field(default_factory=dict)
    _sorts: dict[str, Sort] | None = None
    _summary: Summary | None = None
    _beside: dict[str, str] | None = None
    _sessions: dict[str, tuple[SessionSpan, ...]] | None = None

    def changed(self, generation: int) -> None:
        """Note that a file grew, came or went."""
        self.generation = generation
        self._scopes.clear()
        self._sorts = self._beside = self._sessions = self._summary = None
        _share_specs(self.files.values())

    def scopes(self, view: View = ALL) -> tuple[Scope, ...]:
        """The watched models. Two chains of one name that grew side by side are `name` and `name #2`."""
        if view not in self._scopes:
            if len(self._scopes) >= _MOST_VIEWS:
                self._scopes.clear()
            files = list(self.files.values())
            self._scopes[view] = tuple(s for name in scopes_of(files) for s in _scopes_named(files, name, view))
        return self._scopes[view]

    @property
    def sorts(self) -> dict[str, Sort]:
        """The sort of every tag that is not ours."""
        if self._sorts is None:
            self._sorts = sorts_of(self.files.values())
        return self._sorts

    @property
    def summary(self) -> Summary:
        """What a list says of it."""
        if self._summary is None:
            holds: dict[str, int] = {**Counter(self.sorts.values())}
            self._summary = Summary(self.has_nan, self.has_tables, self.last_step, self.last_wall, holds)
        return self._summary

    @property
    def beside(self) -> dict[str, str]:
        """By path, a sentence for each file that was written at the same time as another of its directory."""
        if self._beside is None:
            self._beside = side_by_side(list(self.files.values())) if len(self.files) > 1 else {}
        return self._beside

    def sessions(self) -> dict[str, tuple[SessionSpan, ...]]:
        """What other writers recorded in more than one session, by directory: what each session covers."""
        if self._sessions is None:
            directories: dict[str, list[FileContents]] = {}
            for path, contents in self.files.items():
                directories.setdefault(os.path.dirname(path), []).append(contents)
            found = {path: series_of(path, files).sessions for path, files in directories.items()}
            self._sessions = {path: sessions for path, sessions in found.items() if len(sessions) > 1}
        return self._sessions

    def holdings(self) -> tuple[Holding, ...]:
        """What there is beside our tables, by sort."""
        return holdings_of(list(self.files.values()))

    @property
    def has_tables(self) -> bool:
        """Whether any model was watched."""
        return any(segment.spec.kind == "parameters" for file in self.files.values() for segment in file.segments)

    @property
    def has_nan(self) -> bool:
        """Whether weights or applied gradients had NaN entries."""
        return any(segment.has_nan for file in self.files.values() for segment in file.segments)

    def is_written(self, path: str) -> bool:
        """Whether the process that wrote a file may still do so: the newest of its sessions does not say that it ended.

        Each of a process's files repeats its session; one of them says that it ended.
        """
        process = self.files[path].process
        own = [file for file in self.files.values() if file.process == process] if process else [self.files[path]]
        sessions = [session for file in own for session in file.sessions.all if session.wall is not None]
        newest = max(sessions, key=lambda session: session.wall or 0.0, default=None)
        return not any(s.ended for s in sessions if s is newest or (newest is not None and s.id and s.id == newest.id))

    @property
    def last_step(self) -> int | None:
        """The last update of the newest session of ours (a run may have begun again), else the largest scalar's."""
        tables = [s for file in self.files.values() for s in file.segments if s.spec.kind == "parameters" and s.count]
        if tables:
            newest = max(tables, key=lambda segment: segment.last_wall)
            beside = [s for f in self.files.values() if newest in f.segments for s in f.segments]
            same = [s for s in beside if (s.session, s.spec.scope) == (newest.session, newest.spec.scope)]
            return max(newest.last_step, last_update(same) or 0)
        return max((file.last_step for file in self.files.values() if file.last_step is not None), default=None)

    @property
    def last_wall(self) -> float | None:
        """The wall time of the newest record."""
        return max((file.last_wall for file in self.files.values() if file.last_wall is not None), default=None)


def _scopes_named(files: Sequence[FileContents], name: str, view: View) -> list[Scope]:
    found = []
    for number, chain in enumerate(chains_of(files, name), start=1):
        timeline = timeline_of(chain, list(_modules(chain)), until=view.until, shift=view.shift)
        if timeline.rows:
            found.append(Scope(name if number == 1 else f"{name} #{number}", tuple(chain), timeline, view.shift))
    return found


def _modules(chain: Sequence[Part]) -> dict[str, str]:
    told = chain[-1].facts.get("modules")
    return {str(path): str(name) for path, name in told.items()} if isinstance(told, dict) else {}


def _share_specs(files: object) -> None:
    contents = list(files)  # type: ignore[call-overload]
    missing = {tag for file in contents for tag in file.undescribed}
    if missing:
        specs: dict[str, TableSpec] = {tag: file.specs[tag] for file in contents for tag in missing & file.specs.keys()}
        for file in contents:
            file.describe(specs)
