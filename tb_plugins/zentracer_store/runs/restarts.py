"""Finds where writing began anew without saying so: a tag's steps go back, and what was recorded is recorded again."""

from __future__ import annotations

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.contents.sessions import MOST_RESTARTS

SURE = 3
"""Points in a row below the step before them that make a restart of steps that go back."""


def restarts_in(tag: Array, step: Array) -> list[int]:
    """The rows, in file order, at which a new session begins.

    Steps that go back are a restart where the step was recorded before, or where `SURE` points in a row stay at or
    below the step that they fell from: workers that share a writer mix their steps a little, and lose nothing by it.
    One restart stands for all tags: one whose first point after it goes back needs none of its own. There are none
    where there would be over `MOST_RESTARTS`: such a counter is left as it is written.
    """
    order = np.argsort(narrowed(tag), kind="stable")
    tags, steps = tag[order], step[order]
    falls = np.flatnonzero((tags[1:] == tags[:-1]) & (steps[1:] < steps[:-1])) + 1
    if not len(falls):
        return []
    falls = falls[_repeats(tags, steps)[falls] | _stays_below(tags, steps, falls)]
    rows, before = order[falls], order[falls - 1]
    found: list[int] = []
    began = 0
    for at in np.argsort(rows, kind="stable").tolist():
        if before[at] >= began:
            began = int(rows[at])
            found.append(began)
    return found if len(found) <= MOST_RESTARTS else []


def _repeats(tags: Array, steps: Array) -> Array:
    """Which points stand at a step that their tag had before."""
    order = np.lexsort((np.arange(len(tags)), steps, tags))
    again = np.zeros(len(tags), np.bool_)
    again[order[1:]] = (tags[order[1:]] == tags[order[:-1]]) & (steps[order[1:]] == steps[order[:-1]])
    return again


def _stays_below(tags: Array, steps: Array, falls: Array) -> Array:
    """Which of the points `falls` begin `SURE` points that rise, but not above the point before them."""
    stays = falls + SURE <= len(tags)
    for further in range(SURE):
        at = np.minimum(falls + further, len(tags) - 1)
        stays &= (tags[at] == tags[falls]) & (steps[at] <= steps[falls - 1])
        if further:
            stays &= steps[at] >= steps[at - 1]
    return stays


def narrowed(numbers: Array) -> Array:
    """Whole numbers from 0 up in as few bytes as hold them: those of two bytes sort an order of magnitude faster."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))
