"""Lays the tables of a chain along one axis of steps: which row was sampled when, and until when it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zentracer_schema import ColumnSpec, RowSpec
from zentracer_store.contents.columns import Segment
from zentracer_store.contents.growing import Array
from zentracer_store.runs.chains import Part
from zentracer_store.runs.reach import last_update, reach_of
from zentracer_store.runs.spans import NEVER, cuts_of, offsets_of
from zentracer_store.runs.tracks import Gaps, Indices, Piece, Track
from zentracer_store.runs.tree import Tree

GAP_FACTOR = 4
"""Samples further apart than this many recording intervals have a gap between them."""

FURTHEST = float(1 << 50)
"""A wall time in seconds, or a count, that lies further from 0 is none: what is worked out of it need not be finite."""

MOST_ENTRIES = 1 << 50
"""A tensor that claims to be larger counts as this large: a shape is what the file says it is."""


@dataclass(frozen=True)
class Stint:
    """When one session was at work, in seconds since the Unix epoch.

    `left` is when it came to the step from which on a later one counts; where none does, when it `ended`.
    """

    session: int
    began: float
    ended: float
    left: float


@dataclass(frozen=True)
class Timeline:
    """Everything that a chain of sessions recorded in its parameter tables, at one moment."""

    columns: tuple[ColumnSpec, ...]
    rows: tuple[RowSpec, ...]
    tracks: tuple[Track, ...]
    steps: Array
    """Every step at which some row was sampled."""
    walls: Array
    sessions: Array
    """Per step, the number of the part that recorded it."""
    end: float
    """The first step that the last sample no longer stands for."""
    stints: tuple[Stint, ...] = ()
    """When the sessions were at work, those that left no sample among them."""
    clocks: tuple[_Stretch, ...] = ()

    def clock(self, name: str) -> tuple[Array, Array]:
        """A column of the clock: the steps at which it was told, rising, and its values."""
        return _clock(self.clocks, name)

    @cached_property
    def sizes(self) -> Array:
        """Entries of each row's tensor."""
        return np.array([min(row.size, MOST_ENTRIES) for row in self.rows], np.float64)

    @cached_property
    def tree(self) -> Tree:
        """The modules over the rows."""
        return Tree(self.rows)

    @cached_property
    def row_index(self) -> dict[str, int]:
        """Number of a row by its name."""
        return {row.name: number for number, row in enumerate(self.rows)}

    def column(self, name: str) -> ColumnSpec | None:
        """The description of a column."""
        return next((column for column in self.columns if column.name == name), None)


_SAMPLE = np.dtype(
    [("step", "i8"), ("stretch", "i8"), ("record", "i8"), ("part", "i8"), ("optimizer", "i8"), ("has", "?")]
)
"""A sample while tables are joined: where it is from, and whether it has the rows in question."""


@dataclass(frozen=True)
class _Stretch:
    """The samples of a segment that no later session overwrote: its first ones."""

    segment: Segment
    steps: Array
    part: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return tuple(row.name for row in self.segment.spec.rows or ())


def timeline_of(
    chain: Sequence[Part], modules: Sequence[str] = (), *, until: int | None = None, shift: bool = False
) -> Timeline:
    """The timeline of a chain. `modules` are module paths in the model's order, by which rows are sorted.

    `until` numbers the session after which the rest of the chain is left out: so it stood before the next one began.
    With `shift` those whose counter began again stand one behind the other.
    """
    chain = chain if until is None else chain[: until + 1]
    offsets = offsets_of([reach_of(part) for part in chain]) if shift else [0] * len(chain)
    stretches = _surviving(chain, "parameters", offsets)
    rows = _rows_in_order(stretches, modules)
    members: dict[tuple[int, ...], list[int]] = {}
    where: dict[str, list[int]] = {}
    for number, stretch in enumerate(stretches):
        for name in stretch.names:
            where.setdefault(name, []).append(number)
    for number, row in enumerate(rows):
        members.setdefault(tuple(where[row.name]), []).append(number)
    clocks = tuple(_surviving(chain, "clock", offsets))
    clock = _clock(clocks, "interval")
    reached = last_update(chain[-1].segments) if chain else None
    limit = np.inf if reached is None else reached + offsets[-1] + 1.0
    tracks = tuple(
        _track(stretches, member, np.array(numbers), rows, clock, limit) for member, numbers in members.items()
    )
    steps, walls, sessions = _axis(stretches)
    columns = {column.name: column for s in stretches for column in s.segment.spec.columns if column.length == 1}
    end = max((float(track.ends[-1]) for track in tracks), default=0.0)
    stints = _stints(chain, offsets)
    return Timeline(tuple(columns.values()), rows, tracks, steps, walls, sessions, end, stints, clocks)


def _surviving(chain: Sequence[Part], kind: str, offsets: Sequence[int]) -> list[_Stretch]:
    cuts = cuts_of([part.start_step + offset for part, offset in zip(chain, offsets, strict=True)])
    stretches = []
    for number, part in enumerate(chain):
        for segment in part.segments:
            if segment.spec.kind == kind and segment.spec.rows:
                steps = segment.steps(segment.count) + offsets[number]
                stretches.append(_Stretch(segment, steps[: np.searchsorted(steps, cuts[number])], number))
    kept = [stretch for stretch in stretches if len(stretch.steps)]
    return sorted(kept, key=lambda stretch: (stretch.part, stretch.steps[0]))


def _stints(chain: Sequence[Part], offsets: Sequence[int]) -> tuple[Stint, ...]:
    cuts = cuts_of([part.start_step + offset for part, offset in zip(chain, offsets, strict=True)])
    stints = []
    for number, part in enumerate(chain):
        started, ended = near(np.array([part.started, part.ended])).tolist()
        left = ended
        if cuts[number] != NEVER:
            steps, walls, _ = _axis(_surviving([part], "parameters", [offsets[number]]))
            if len(steps):  # none of a table without rows
                left = float(np.interp(cuts[number], steps, near(walls), right=ended))
        stints.append(Stint(number, started, ended, left))
    return tuple(stints)


def near(walls: Array) -> Array:
    """Wall times, none of them beyond `FURTHEST`."""
    found: Array = np.clip(walls, -FURTHEST, FURTHEST)
    return found


def _rows_in_order(stretches: Sequence[_Stretch], modules: Sequence[str]) -> tuple[RowSpec, ...]:
    # The latest description of a row counts (its group may have changed), at the place where it first stood.
    rows = {row.name: row for stretch in stretches for row in stretch.segment.spec.rows or ()}
    order = {path: number for number, path in enumerate(modules)}
    return tuple(sorted(rows.values(), key=lambda row: order.get(row.module, len(order))))


def _axis(stretches: Sequence[_Stretch]) -> tuple[Array, Array, Array]:
    if not stretches:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.uint32)
    steps, first = np.unique(np.concatenate([s.steps for s in stretches]), return_index=True)
    walls = np.concatenate([s.segment.walls(len(s.steps)) for s in stretches])[first]
    sessions = np.concatenate([np.full(len(s.steps), s.part, np.uint32) for s in stretches])[first]
    return steps, walls, sessions


def _clock(stretches: Sequence[_Stretch], name: str) -> tuple[Array, Array]:
    """Steps, and what a column of the clock told at each."""
    steps, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    for stretch in stretches:
        told = stretch.segment.column(name, 0, len(stretch.steps))
        if told is not None:
            steps.append(stretch.steps)
            values.append(told[:, 0])
    joined = np.concatenate(steps)
    order = np.argsort(joined, kind="stable")
    return joined[order], np.concatenate(values)[order]


def _track(
    stretches: Sequence[_Stretch],
    member: tuple[int, ...],
    numbers: Indices,
    rows: Sequence[RowSpec],
    clock: tuple[Array, Array],
    limit: float,
) -> Track:
    optimizers = {stretches[number].segment.spec.optimizer for number in member}
    within = set(member)
    beside = [n for n, s in enumerate(stretches) if n not in within and s.segment.spec.optimizer in optimizers]
    joined = _join(stretches, member, beside)
    steps, has, part = joined["step"], joined["has"], joined["part"]
    ends, gap = _extents(steps, has, part, clock)
    # The last sample stands for no step that training has not reached.
    ends[-1] = max(min(ends[-1], limit), steps[-1] + 1.0)
    recorded = joined[has]
    missing = ~has
    interval = np.maximum(ends - steps, 1)
    expected = np.maximum(np.rint((np.append(steps[1:], ends[-1:]) - ends) / interval), 1)
    gaps = Gaps(
        np.concatenate([ends[gap], steps[missing]]),
        np.concatenate([np.append(steps[1:], 0)[gap], ends[missing]]).astype(np.float64),
        np.concatenate([expected[gap], np.ones(missing.sum())]).astype(np.int64),
    )
    order = np.argsort(gaps.start, kind="stable")
    names = [rows[number].name for number in numbers]
    return Track(
        rows=numbers,
        pieces=_pieces(stretches, recorded, names),
        steps=recorded["step"],
        ends=ends[has],
        gaps=Gaps(gaps.start[order], gaps.end[order], gaps.expected[order]),
    )


def _join(stretches: Sequence[_Stretch], member: Sequence[int], beside: Sequence[int]) -> Array:
    """All samples of the tables that hold the rows, and those of the same optimizers that lack them, by step.

    One a step. A sample without the rows stays only where the optimizer is the one that had them last: a row that
    moved to another optimizer is not missing from its old one.
    """
    optimizers = list(dict.fromkeys(stretches[number].segment.spec.optimizer for number in (*member, *beside)))
    within = set(member)
    parts = []
    for number in (*member, *beside):
        stretch = stretches[number]
        part = np.empty(len(stretch.steps), _SAMPLE)
        part["step"], part["record"] = stretch.steps, np.arange(len(stretch.steps))
        part["stretch"], part["part"], part["has"] = number, stretch.part, number in within
        part["optimizer"] = optimizers.index(stretch.segment.spec.optimizer)
        parts.append(part)
    joined: Array = np.concatenate(parts)
    if len(parts) > 1:
        joined = joined[np.lexsort((~joined["has"], joined["step"]))]
        joined = joined[np.append(True, np.diff(joined["step"]) > 0)]
        held = np.maximum.accumulate(np.where(joined["has"], np.arange(len(joined)), -1))
        last = joined["optimizer"][np.where(held < 0, np.argmax(joined["has"]), held)]
        joined = joined[joined["has"] | (joined["optimizer"] == last)]
    return joined


def _extents(steps: Array, has: Array, part: Array, clock: tuple[Array, Array]) -> tuple[Array, NDArray[np.bool_]]:
    """Where each sample's hold ends, and whether a gap begins there.

    A sample holds to the next one. Where that is over `GAP_FACTOR` intervals away, or in another session and over one
    interval away, it holds for one interval: the one that the clock told, else the distance to the sample before.
    """
    apart = np.diff(steps).astype(np.float64)
    restart = part[1:] != part[:-1]
    # The distance across a restart says nothing about the interval on either side of it.
    within = np.where(restart, 0.0, apart)
    told = _told(steps, clock)
    usual = np.where(told > 0, told, np.append(0.0, within))
    # An interval that grows is no gap: what comes after counts too. Nothing is known of the first two samples.
    likely = np.maximum(usual[:-1], np.append(within[1:], 0.0)[: len(within)])
    allowed = np.where(restart, np.maximum(usual[:-1], 1.0), np.where(likely > 0, GAP_FACTOR * likely, np.inf))
    gap = np.append(apart > allowed, False) & has
    hold = np.maximum(np.append(np.where(restart, usual[:-1], likely), usual[-1]), 1.0)
    following = np.append(steps[1:].astype(np.float64), steps[-1] + hold[-1])
    return np.where(gap, steps + hold, following), gap


def _told(steps: Array, clock: tuple[Array, Array]) -> Array:
    at = np.searchsorted(clock[0], steps, "right") - 1
    if not len(clock[0]):
        return np.zeros(len(steps))
    told = np.where(at >= 0, clock[1][np.maximum(at, 0)], 0.0)
    return np.where(np.isfinite(told) & (told > 0), told, 0.0)


def _pieces(stretches: Sequence[_Stretch], recorded: Any, names: Sequence[str]) -> tuple[Piece, ...]:
    """Runs of samples that follow each other in one segment."""
    stretch, record = recorded["stretch"], recorded["record"]
    breaks = np.flatnonzero((np.diff(stretch) != 0) | (np.diff(record) != 1)) + 1
    pieces = []
    for lo, hi in zip([0, *breaks], [*breaks, len(recorded)], strict=True):
        source = stretches[stretch[lo]]
        where = {name: number for number, name in enumerate(source.names)}
        rows = np.array([where[name] for name in names], np.intp)
        whole = np.array_equal(rows, np.arange(len(source.names)))
        pieces.append(Piece(source.segment, int(record[lo]), int(record[lo] + hi - lo), None if whole else rows))
    return tuple(pieces)
