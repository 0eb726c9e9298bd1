"""One tag of one run over all its files: every point that was ever written, and which of them a later session replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zentracer_store.contents import FileContents
from zentracer_store.growing import Array
from zentracer_store.spans import SessionSpan


@dataclass(frozen=True)
class Places:
    """Where the records of a series lie: `file` numbers `paths`; `offset`, `length` and `place` as in `FileContents`."""

    paths: tuple[str, ...]
    file: Array
    offset: Array
    length: Array
    place: Array


@dataclass(frozen=True)
class Series:
    """One tag of one run: its points session by session, within each in the order in which they were written.

    `value` is float64 [n] of a scalar, else None and `places` says where each record lies. `session` numbers the run's
    sessions, `superseded` marks points at steps that a later session of the same chain recorded anew. `chain` says for
    each of the run's sessions which chain of this tag it is in: where writers grew side by side there are several, and
    none of them supersedes another.
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
    chain: tuple[int, ...] = (0,)

    def __len__(self) -> int:
        return len(self.step)


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


def series_of(run: str, files: Mapping[str, FileContents]) -> RunSeries:
    """The series of one run directory, whose `files` are given by path, and the sessions they come from."""
    raise NotImplementedError
