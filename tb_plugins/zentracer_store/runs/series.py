"""One tag of one run over all its files: every point ever written, and which of them a later session replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Array
from zentracer_store.reading.fetch import read_event, read_value
from zentracer_store.runs.counting import Counting
from zentracer_store.runs.episodes import episodes_of
from zentracer_store.runs.gather import Rows, rows_by_tag
from zentracer_store.runs.spans import NEVER, Begin, Overwritten, SessionSpan, cuts_of

GRAPH_EVENTS = frozenset({"<graph_def>", "<meta_graph_def>", "<run_metadata>"})
"""The names under which graphs stand that are in events of their own, not among summaries."""


@dataclass(frozen=True)
class Places:
    """Where the records of a series lie: `file` numbers `paths`; the rest is as in `FileContents.records`."""

    paths: tuple[str, ...]
    file: Array
    offset: Array
    length: Array
    place: Array

    def picked(self, rows: Any) -> Places:
        """Those of some rows."""
        picked = (column[rows] for column in (self.file, self.offset, self.length, self.place))
        return Places(self.paths, *picked)


@dataclass(frozen=True)
class Series:
    """One tag of one run: its points chain by chain, session by session, within each in the order of writing.

    `value` is float64 [n] of a scalar, else None and `places` says where each record lies. `session` numbers the run's
    sessions, `superseded` marks points at steps that a later session of the same chain recorded anew. Writers that
    grew side by side are several chains, and none supersedes another.
    """

    run: str
    tag: str
    sort: str
    step: Array
    wall: Array
    session: Array
    superseded: NDArray[np.bool_]
    value: Array | None = None
    places: Places | None = None
    begins: tuple[Begin, ...] = (Begin(0, 0, 0),)

    def __len__(self) -> int:
        return len(self.step)

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the sessions of each chain."""
        numbers = dict.fromkeys(begin.chain for begin in self.begins)
        return tuple(tuple(b.session for b in self.begins if b.chain == chain) for chain in numbers)

    def until(self, session: int) -> Series:
        """The series as it stood before the session after this one began."""
        rows = self.session <= session
        begins = tuple(begin for begin in self.begins if begin.session <= session)
        return replace(
            self,
            step=self.step[rows],
            wall=self.wall[rows],
            session=self.session[rows],
            superseded=superseded_in(self.step[rows], self.session[rows], begins),
            value=None if self.value is None else self.value[rows],
            places=None if self.places is None else self.places.picked(rows),
            begins=begins,
        )

    def shifted(self) -> Series:
        """The series with sessions whose counter began again laid one behind the other."""
        if not any(begin.offset for begin in self.begins):
            return self
        offsets = _by_session(self.begins, [begin.offset for begin in self.begins])
        step = self.step + offsets[self.session]
        begins = tuple(replace(begin, step=begin.step + begin.offset, offset=0) for begin in self.begins)
        return replace(self, step=step, superseded=superseded_in(step, self.session, begins), begins=begins)

    def decode(self, row: int) -> Any:
        """The value of one row: a number, or the summary value (of a graph the event) that the record holds.

        Raises:
            Moved: the record is no longer where it was.
        """
        if self.places is None:
            return float(self.value[row])  # type: ignore[index]
        places = self.places
        path, offset, length = places.paths[places.file[row]], int(places.offset[row]), int(places.length[row])
        if self.sort == "graph" and self.tag in GRAPH_EVENTS:
            return read_event(path, offset, length)
        return read_value(path, offset, length, int(places.place[row]))


@dataclass(frozen=True)
class RunSeries(Mapping[str, Series]):
    """All series of one run directory by tag, and the sessions that wrote them."""

    series: Mapping[str, Series]
    sessions: tuple[SessionSpan, ...]

    def __getitem__(self, tag: str) -> Series:
        return self.series[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self.series)

    def __len__(self) -> int:
        return len(self.series)


def series_of(run: str, files: Sequence[FileContents]) -> RunSeries:
    """The series of one run directory, from the files in it, and the sessions that wrote them."""
    episodes = episodes_of(files)
    rows = rows_by_tag(episodes, files)
    counting = Counting(episodes, rows)
    paths = tuple(contents.path for contents in files)
    series = {one.tag: _series(run, one, counting.begins(one), paths) for one in rows}
    shared = [series[one.tag] for one in rows if len(one.sessions) > 1 and counting.counts_as_the_run(one)]
    return RunSeries(series, _with_overwritten(counting.spans, shared))


def _series(run: str, rows: Rows, begins: tuple[Begin, ...], paths: tuple[str, ...]) -> Series:
    columns = rows.columns
    if begins[0].chain != begins[-1].chain:
        bounds = dict(zip(rows.sessions, pairwise(rows.bounds), strict=True))
        order = np.concatenate([np.arange(*bounds[begin.session]) for begin in begins])
        columns = {name: column[order] for name, column in columns.items()}
    return Series(
        run,
        rows.tag,
        rows.sort,
        columns["step"],
        columns["wall"],
        columns["session"],
        superseded_in(columns["step"], columns["session"], begins),
        columns.get("value"),
        None if "value" in columns else Places(paths, *(columns[n] for n in ("file", "offset", "length", "place"))),
        begins,
    )


def _with_overwritten(spans: Sequence[SessionSpan], series: Sequence[Series]) -> tuple[SessionSpan, ...]:
    """The sessions with what later ones overwrote of them, over all of `series`."""
    step = np.concatenate([np.empty(0, np.int64), *(one.step[one.superseded] for one in series)])
    session = np.concatenate([np.empty(0, np.uint32), *(one.session[one.superseded] for one in series)])
    step = step[(order := np.argsort(session, kind="stable"))]
    ends = np.searchsorted(session[order], np.arange(len(spans)), "right").tolist()
    told = []
    for span, (begin, end) in zip(spans, pairwise([0, *ends]), strict=True):
        lost = step[begin:end]
        overwritten = Overwritten(int(lost.min()), int(lost.max()), len(lost)) if len(lost) else None
        told.append(replace(span, overwritten=overwritten))
    return tuple(told)


def superseded_in(step: Array, session: Array, begins: Sequence[Begin]) -> NDArray[np.bool_]:
    """Which points stand at steps that a later session of their chain counts anew."""
    if len(begins) == 1:
        return np.zeros(len(step), np.bool_)
    cuts: dict[int, int] = {}
    for chain in dict.fromkeys(begin.chain for begin in begins):
        members = [begin for begin in begins if begin.chain == chain]
        cuts |= {m.session: cut for m, cut in zip(members, cuts_of([m.step for m in members]), strict=True)}
    if all(cut == NEVER for cut in cuts.values()):
        return np.zeros(len(step), np.bool_)
    found: NDArray[np.bool_] = step >= _by_session(begins, [cuts[begin.session] for begin in begins])[session]
    return found


def _by_session(begins: Sequence[Begin], values: Sequence[int]) -> Array:
    table = np.zeros(max((begin.session for begin in begins), default=-1) + 1, np.int64)
    table[[begin.session for begin in begins]] = values
    return table
