"""Tells what each session covers: its steps, which of them a later one overwrote, and where it could stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Overwritten:
    """What a session had recorded at steps that a later one recorded anew: from the step `first` to `last`."""

    first: int
    last: int
    samples: int


@dataclass(frozen=True)
class SessionSpan:
    """One session: `first` and `last` are the smallest and largest step that it recorded.

    `number` is its place among the sessions, by which questions name it; sessions of one `chain` follow each other,
    those of different chains grew side by side. `offset` is what its steps would need to stand behind the sessions
    before it, where its counter (or that of the session that it resumes) began again; None where it need not move.
    """

    number: int
    id: str | None
    continues: str | None
    wall: float
    start_step: int
    first: int
    last: int
    overwritten: Overwritten | None = None
    offset: int | None = None
    chain: int = 0
    file: str | None = None


@dataclass(frozen=True)
class Reach:
    """The steps of one session: where it began, and the first and last that it recorded.

    `origin` is what its counter began at: the step that its writer told, or 0.
    """

    start: int
    first: int
    last: int
    origin: int = 0


@dataclass(frozen=True)
class Begin:
    """One session of a series: its number in the run, the chain that it is in, and the step from which it counts.

    `offset` is what its steps would need to stand behind the sessions before it, 0 where they need not move.
    """

    session: int
    chain: int
    step: int
    offset: int = 0


def offsets_of(sessions: Sequence[Reach]) -> list[int]:
    """What to add to each session's steps so that those whose counter began again stand one behind the other.

    A counter began again where a session starts no later than the first recorded step of the one before it, unless its
    writer says at which later step than 0 it goes on: it went back to a checkpoint. A session that goes on with the
    count moves with the one before it.
    """
    offsets = [0] * len(sessions)
    for number in range(1, len(sessions)):
        session, before = sessions[number], sessions[number - 1]
        again = session.start <= before.first and session.origin <= 0
        offsets[number] = offsets[number - 1]
        if again:
            offsets[number] += before.last + 1 - min(session.origin, session.first)
    return offsets


def cuts_of(starts: Sequence[int]) -> list[int]:
    """For each session the first step that a later one overwrites; `NEVER` where none does."""
    cuts = [NEVER] * len(starts)
    for number in range(len(starts) - 2, -1, -1):
        cuts[number] = min(cuts[number + 1], starts[number + 1])
    return cuts


NEVER = (1 << 63) - 1
"""A step that no counter reaches."""
