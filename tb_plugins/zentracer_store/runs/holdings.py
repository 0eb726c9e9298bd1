"""Sums up what the files of a run hold, by the sort of their tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.decode import Sort

MOST_EXAMPLES = 5
_LONGEST_NAME = 200
_SORTS: tuple[Sort, ...] = ("scalar", "histogram", "text", "image", "audio", "hparams", "graph", "tensor", "other")


@dataclass(frozen=True)
class Holding:
    """The tags of one sort: how many there are, how many points they have together, and some of them by name."""

    sort: Sort
    tags: int
    points: int
    examples: tuple[str, ...]


def sorts_of(files: Iterable[FileContents]) -> dict[str, Sort]:
    """The sort of every tag that is not ours."""
    return {
        info.tag: info.sort
        for file in files
        for info in file.tags
        if not (info.ours or info.tag.startswith("zentracer/"))
    }


def holdings_of(files: Iterable[FileContents]) -> tuple[Holding, ...]:
    """What files hold beside our tables, the sorts in a fixed order."""
    points: dict[Sort, dict[str, int]] = {}
    for file in files:
        counts = _points_by_tag(file)
        for number, info in enumerate(file.tags):
            if not (info.ours or info.tag.startswith("zentracer/")):
                tags = points.setdefault(info.sort, {})
                tags[info.tag] = tags.get(info.tag, 0) + int(counts[number])
    return tuple(_holding(sort, points[sort]) for sort in _SORTS if sort in points)


def _points_by_tag(file: FileContents) -> np.ndarray:
    size = len(file.tags)
    counts = np.zeros(size, np.int64)
    for frame in (file.points, file.records):
        numbers = frame.column("tag", 0, len(frame))
        counts += np.bincount(numbers[numbers < size], minlength=size)
    return counts


def _holding(sort: Sort, tags: Mapping[str, int]) -> Holding:
    names = (tag if len(tag) <= _LONGEST_NAME else tag[: _LONGEST_NAME - 1] + "…" for tag in sorted(tags))
    return Holding(sort, len(tags), sum(tags.values()), tuple(islice(names, MOST_EXAMPLES)))
