"""Orders the sessions of one watched model into chains: a session, the one that resumed it, and so on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zentracer_store.contents.columns import Segment
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.sessions import Session
from zentracer_store.runs.order import in_order

CLOCK_SLACK_S = 1.0
"""Clocks of two machines agree to within this."""


@dataclass
class Part:
    """What one session recorded of one scope, over all its files. `origin` is what its count of steps began at."""

    session: Session
    segments: list[Segment] = field(default_factory=list)
    started: float = 0.0
    ended: float = 0.0
    start_step: int = 0
    origin: int = 0
    paths: set[str] = field(default_factory=set)
    facts: dict[str, Any] = field(default_factory=dict)
    """What the session record says of the scope."""


def scopes_of(files: Iterable[FileContents]) -> list[str]:
    """The watched models that have parameter tables, in the order in which they appear."""
    return list(dict.fromkeys(s.spec.scope for file in files for s in file.segments if s.spec.kind == "parameters"))


def chains_of(files: Iterable[FileContents], scope: str) -> list[list[Part]]:
    """The chains of a scope, oldest first, each from its first session to its last.

    A session belongs behind the one that it says it continues, else behind the chain that had ended, by wall time,
    when it began. Two that grow side by side stay apart.
    """
    chains: list[_Chain] = []
    named: dict[str, _Chain] = {}
    for part in _in_order(_parts_of(list(files), scope)):
        before = part.session.continues
        chain = (named.get(before) if before is not None else None) or _ended_before(chains, part.started)
        if chain is None:
            chain = _Chain()
            chains.append(chain)
        chain.append(part)
        if part.session.id is not None:
            named.setdefault(part.session.id, chain)
    return [chain.parts for chain in chains]


@dataclass
class _Chain:
    parts: list[Part] = field(default_factory=list)
    ended: float = -math.inf

    def append(self, part: Part) -> None:
        self.parts.append(part)
        self.ended = max(self.ended, part.ended)


def _in_order(parts: list[Part]) -> list[Part]:
    """Oldest first. One that continues another, or stands behind it in a file, is later."""
    named = {part.session.id: number for number, part in enumerate(parts) if part.session.id is not None}
    behind: list[set[int]] = []
    last: dict[str, int] = {}
    for number, part in enumerate(parts):
        behind.append({last[path] for path in part.paths if path in last})
        if part.session.continues in named:
            behind[number].add(named[part.session.continues])
        last |= dict.fromkeys(part.paths, number)
    return [parts[number] for number in in_order([part.started for part in parts], behind)]


def _ended_before(chains: list[_Chain], wall: float) -> _Chain | None:
    ended = [chain for chain in chains if chain.ended <= wall + CLOCK_SLACK_S]
    return max(ended, key=lambda chain: chain.parts[-1].ended, default=None)


def _parts_of(files: list[FileContents], scope: str) -> list[Part]:
    parts: dict[object, Part] = {}
    process: dict[int, str | None] = {}
    loose: list[tuple[FileContents, Session, list[Segment]]] = []
    for file in files:
        for index, segments in sorted(_by_session(file, scope).items()):
            session = file.sessions.all[index]
            if session.id is None and session.start_step is None and file.process is not None:
                loose.append((file, session, segments))
                continue
            part = parts.setdefault(session.id or id(session), Part(session))
            process[id(part)] = file.process
            part.segments += segments
            part.paths.add(file.path)
    for file, session, segments in loose:
        # A file that its process opened later, or its bulk file: no session mark of its own.
        began = _first_wall(segments)
        owners = [p for p in parts.values() if process[id(p)] == file.process and _first_wall(p.segments) <= began]
        owner = max(owners, key=lambda part: _first_wall(part.segments), default=None)
        if owner is None:
            owner = parts[id(session)] = Part(session)
            process[id(owner)] = file.process
        owner.segments += segments
        owner.paths.add(file.path)
    return [_measured(part, scope) for part in parts.values() if _has_parameters(part)]


def _by_session(file: FileContents, scope: str) -> dict[int, list[Segment]]:
    """What the sessions of a file recorded of a scope, by their number."""
    found: dict[int, list[Segment]] = {}
    for segment in file.segments:
        if segment.spec.scope == scope and segment.count:
            found.setdefault(segment.session, []).append(segment)
    return found


def _measured(part: Part, scope: str) -> Part:
    told = part.session.wall
    began = _first_wall(part.segments)
    part.started = began if told is None else min(told, began)
    part.ended = max(segment.last_wall for segment in part.segments)
    first = min(segment.first_step for segment in part.segments if segment.spec.kind == "parameters")
    declared = part.session.start_of(scope)
    part.start_step = first if declared is None else min(first, declared)
    part.origin = 0 if declared is None else part.start_step
    part.facts = part.session.facts(scope)
    return part


def _first_wall(segments: list[Segment]) -> float:
    return min(segment.first_wall for segment in segments)


def _has_parameters(part: Part) -> bool:
    return any(segment.spec.kind == "parameters" for segment in part.segments)
