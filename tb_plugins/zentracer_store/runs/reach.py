"""Says how far the sessions of a watched model came, and what of it later ones recorded anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from zentracer_store.contents.columns import Segment
from zentracer_store.runs.chains import Part
from zentracer_store.runs.spans import Overwritten, Reach, SessionSpan, cuts_of, offsets_of

_MOST_STEPS = 1 << 50
"""A pulse that tells of a later step than this is not believed."""


def last_update(segments: Iterable[Segment]) -> int | None:
    """The last step that the pulse tells of; None where there is none."""
    steps = [
        step[-1]
        for segment in segments
        if segment.spec.kind == "pulse"
        and segment.spec.rows is None
        and segment.count
        and (step := segment.column("step", segment.count - 1, segment.count)) is not None
    ]
    return max((int(step) for step in steps if -_MOST_STEPS < step < _MOST_STEPS), default=None)


def reach_of(part: Part) -> Reach:
    """The steps of one session: it came as far as its last sample or, if that tells of more, its pulse."""
    sampled = [segment for segment in part.segments if segment.spec.kind == "parameters"]
    first = min(segment.first_step for segment in sampled)
    last = max(segment.last_step for segment in sampled)
    updated = last_update(part.segments)
    return Reach(part.start_step, first, last if updated is None else max(last, updated), part.origin)


def spans_of(chain: Sequence[Part], *, shift: bool = False) -> tuple[SessionSpan, ...]:
    """What each session of a chain covers. `overwritten` counts the steps that were sampled.

    With `shift` those whose counter began again stand one behind the other, as `timeline_of` lays them.
    """
    reaches = [reach_of(part) for part in chain]
    offsets = offsets_of(reaches)
    moves = offsets if shift else [0] * len(chain)
    cuts = cuts_of([reach.start + move for reach, move in zip(reaches, moves, strict=True)])
    return tuple(
        SessionSpan(
            number,
            part.session.id,
            part.session.continues,
            part.started,
            reach.start + moves[number],
            reach.first + moves[number],
            reach.last + moves[number],
            _overwritten(part, cuts[number], moves[number]),
            offsets[number] or None,
            file=min(part.paths, default=None),
        )
        for number, (part, reach) in enumerate(zip(chain, reaches, strict=True))
    )


def _overwritten(part: Part, cut: int, move: int) -> Overwritten | None:
    lost = [
        steps[np.searchsorted(steps, cut) :]
        for segment in part.segments
        if segment.spec.kind == "parameters"
        for steps in (segment.steps(segment.count) + move,)
    ]
    steps = np.unique(np.concatenate(lost))
    return Overwritten(int(steps[0]), int(steps[-1]), len(steps)) if len(steps) else None
