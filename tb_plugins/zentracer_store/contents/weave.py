"""Puts the scalars that were taken in bulk and those that were parsed one by one into the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.reading.bulk import Found


class Loose(NamedTuple):
    """A point that was parsed, and the number of the record that it is from."""

    row: int
    tag: int
    step: int
    wall: float
    value: float


class Woven(NamedTuple):
    """Points in file order. `bulk_before` counts, for each record, the points of those before it taken in bulk."""

    tags: Array
    steps: Array
    walls: Array
    values: Array
    bulk_before: Array


def weave(records: int, found: Sequence[Found], loose: Sequence[Loose]) -> Woven:
    """All points of so many records. `loose` are in order; no record has points of both kinds."""
    counts = np.zeros(records, np.int64)
    tags = [part.layout.numbers[part.templates] for part in found]
    for part, numbers in zip(found, tags, strict=True):
        counts[part.rows] = (numbers >= 0).sum(axis=1)
    bulk_before = np.cumsum(counts) - counts
    loose_rows = np.array([point.row for point in loose], np.int64)
    counts += np.bincount(loose_rows, minlength=records)
    firsts = np.cumsum(counts) - counts
    total = int(counts.sum())
    woven = Woven(np.empty(total, np.uint32), np.empty(total, np.int64), np.empty(total), np.empty(total), bulk_before)
    for part, numbers in zip(found, tags, strict=True):
        kept = numbers >= 0
        at = (firsts[part.rows][:, None] + np.cumsum(kept, axis=1) - 1)[kept]
        woven.tags[at], woven.values[at] = numbers[kept], part.values[kept]
        woven.steps[at] = np.broadcast_to(part.steps[:, None], kept.shape)[kept]
        woven.walls[at] = np.broadcast_to(part.walls[:, None], kept.shape)[kept]
    if loose:
        at = firsts[loose_rows] + np.arange(len(loose)) - np.searchsorted(loose_rows, loose_rows)
        _, *columns = zip(*loose, strict=True)
        for column, values in zip(woven, columns, strict=False):
            column[at] = values
    return woven
