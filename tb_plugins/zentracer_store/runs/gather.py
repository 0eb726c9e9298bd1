"""Brings what the files of a run directory hold together by tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from zentracer_schema import KINDS, parse_tag
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Array
from zentracer_store.runs.episodes import Episode, Table
from zentracer_store.runs.restarts import narrowed

_COLUMNS: dict[Table, tuple[str, ...]] = {
    "points": ("step", "wall", "value"),
    "records": ("step", "wall", "offset", "length", "place"),
}

_SETTINGS = frozenset({"message", "hparams", "graph"})
"""Sorts that say what a session is, not what it came to."""


@dataclass(frozen=True)
class Rows:
    """The rows of one tag, session by session, within each in the order of writing.

    `columns` are those of the table in `FileContents`, and `file`, which numbers the run's files. `bounds` are the
    places where the rows of each of `sessions` begin, and the end; `first` and `last` each one's smallest and largest
    step.
    """

    tag: str
    sort: str
    columns: dict[str, Array]
    sessions: tuple[int, ...]
    bounds: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]

    @cached_property
    def counts(self) -> list[int]:
        """Rows of each session."""
        return [end - begin for begin, end in pairwise(self.bounds)]

    @cached_property
    def counts_steps(self) -> bool:
        """Whether the steps count training: not where they never move, nor in what we key by the time."""
        if self.sort in _SETTINGS:
            return False
        ours = parse_tag(self.tag)
        if ours is not None and KINDS[ours.kind].time_keyed:
            return False
        return max(self.counts) == 1 or min(self.first) < max(self.last)


def rows_by_tag(episodes: Sequence[Episode], files: Sequence[FileContents]) -> list[Rows]:
    """The points and records that the sessions of a run wrote, by tag, in the order in which the tags appear.

    Tags are told apart by name and sort. Of a tag that has several sorts the later ones carry theirs in the name.
    """
    keys: dict[tuple[str, str], int] = {}
    numbers: dict[int, Array] = {}
    for contents in files:
        own = [(info.source or info.tag, info.sort) for info in contents.tags]
        numbers[id(contents)] = np.array([keys.setdefault(key, len(keys)) for key in own], np.int64)
    names = _names(list(keys))
    found: dict[int, Rows] = {}
    for table, columns in _COLUMNS.items():
        found |= _gathered(episodes, [id(contents) for contents in files], table, columns, numbers, names)
    return [found[number] for number in sorted(found)]


def _gathered(
    episodes: Sequence[Episode],
    files: Sequence[int],
    table: Table,
    columns: Sequence[str],
    numbers: dict[int, Array],
    names: Sequence[tuple[str, str]],
) -> dict[int, Rows]:
    parts: dict[str, list[Array]] = {name: [] for name in ("tag", "session", "file", *columns)}
    for number, episode in enumerate(episodes):
        for stretch in episode.stretches:
            key = id(stretch.contents)
            tag = numbers[key][stretch.column(table, "tag")]
            parts["tag"].append(tag)
            parts["session"].append(np.full(len(tag), number, np.uint32))
            parts["file"].append(np.full(len(tag), files.index(key), np.uint32))
            for name in columns:
                parts[name].append(stretch.column(table, name))
    whole = {name: np.concatenate(part) for name, part in parts.items() if part}
    if not whole or not len(whole["tag"]):
        return {}
    order = np.argsort(narrowed(whole["tag"]), kind="stable")
    whole = {name: column[order] for name, column in whole.items()}
    tag, session, step = whole.pop("tag"), whole["session"], whole["step"]
    begins = np.flatnonzero(np.append(True, (np.diff(tag) != 0) | (session[1:] != session[:-1])))
    first, last = np.minimum.reduceat(step, begins), np.maximum.reduceat(step, begins)
    ends = np.append(begins[1:], len(tag))
    found = {}
    of_tag = np.append(np.flatnonzero(np.append(True, np.diff(tag[begins]) != 0)), len(begins)).tolist()
    for lo, hi in pairwise(of_tag):
        begin, end = int(begins[lo]), int(ends[hi - 1])
        number = int(tag[begin])
        found[number] = Rows(
            *names[number],
            columns={name: column[begin:end] for name, column in whole.items()},
            sessions=tuple(session[begins[lo:hi]].tolist()),
            bounds=(*(begins[lo:hi] - begin).tolist(), end - begin),
            first=tuple(first[lo:hi].tolist()),
            last=tuple(last[lo:hi].tolist()),
        )
    return found


def _names(keys: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    taken: set[str] = set()
    names = []
    for tag, sort in keys:
        name = f"{tag} ({sort})" if tag in taken else tag
        while name in taken:
            name += "'"
        taken.add(name)
        names.append((name, sort))
    return names
