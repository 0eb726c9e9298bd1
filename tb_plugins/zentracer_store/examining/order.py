"""Which values each of TensorBoard's loaders still has at the end, for the order in which they came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.examining.replay import Replay, Stop


@dataclass(frozen=True)
class Values:
    """The values of a run in the order in which a loader reads them, up to where it stops in each file.

    `restarts` are (values before it, step) of each session start that the Python loader heeds, `purging` the values
    whose event purges, for it, those of their tag that have its step or a later one.
    """

    tags: tuple[str, ...]
    tag: Array
    step: Array
    purging: Array
    finite: Array
    fits: Array
    restarts: tuple[tuple[int, int], ...]


def values_of(files: Sequence[Replay], stops: Sequence[Stop | None]) -> Values:
    """The files of a run, in the order of their names, as one stream."""
    numbers: dict[str, int] = {}
    parts: list[tuple[Array, ...]] = [_NOTHING]
    restarts: list[tuple[int, int]] = []
    new = False
    before = 0
    for file, stop in zip(files, stops, strict=True):
        count = len(file.tag) if stop is None else stop.values
        renumber = np.array([numbers.setdefault(name, len(numbers)) for name in file.tags], np.int64)
        back = file.back[:count].copy()
        since = 0
        for mark in file.marks[: stop.marks if stop else None]:
            if mark.step is None:
                if new:
                    back[since : mark.values] = False
                new, since = mark.new, mark.values
            elif new:
                restarts.append((before + mark.values, mark.step))
        if new:
            back[since:] = False
        theirs = renumber[file.tag[:count]] if count else np.zeros(0, np.int64)
        parts.append((theirs, file.step[:count], back, file.finite[:count], file.fits[:count]))
        before += count
    tag, step, purging, finite, fits = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Values(tuple(numbers), tag, step, purging, finite, fits, tuple(restarts))


_NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, bool), np.zeros(0, bool), np.zeros(0, np.uint8))


def kept_by_python(values: Values) -> Array:
    """Which values the Python loader still has at the end, before it draws its sample.

    Every session start but the first purges what has its step or a later one. While the version is not told, or an old
    one, an event whose step goes back does so for its own tags.
    """
    kept = np.ones(len(values.step), bool)
    # A value goes if any later restart, but the first of all, begins at its step or before.
    if len(values.restarts) > 1:
        places = np.array([place for place, _ in values.restarts[1:]])
        lowest = np.minimum.accumulate(np.array([step for _, step in values.restarts[1:]])[::-1])[::-1]
        behind = np.searchsorted(places, np.arange(len(kept)), "right")
        later = behind < len(places)
        kept[later] = values.step[later] < lowest[behind[later]]
    for number in np.unique(values.tag[values.purging]):
        places = np.flatnonzero(values.tag == number)
        steps = np.where(values.purging[places], values.step[places], np.iinfo(np.int64).max)
        after = np.append(np.minimum.accumulate(steps[::-1])[::-1][1:], np.iinfo(np.int64).max)
        kept[places] &= values.step[places] < after
    return kept


def kept_by_server(values: Values) -> Array:
    """Which values the data server still has at the end, before it draws its sample.

    Every value takes away those of its tag that have its step or a later one. What has no finite wall time it drops as
    it reads.
    """
    kept = values.finite.copy()
    read = np.flatnonzero(values.finite)
    order = read[np.argsort(values.tag[read], kind="stable")]
    bounds = np.flatnonzero(np.diff(values.tag[order], prepend=-1, append=-1))
    for lo, hi in pairwise(bounds):
        places = order[lo:hi]
        steps = values.step[places]
        kept[places[:-1]] = steps[:-1] < np.minimum.accumulate(steps[::-1])[::-1][1:]
    return kept


def count_by_tag(values: Values, chosen: Array) -> dict[str, int]:
    """How many of the chosen values each tag has."""
    counts = np.bincount(values.tag[chosen], minlength=len(values.tags))
    found: dict[str, int] = defaultdict(int)
    found.update({name: int(count) for name, count in zip(values.tags, counts, strict=True) if count})
    return found
