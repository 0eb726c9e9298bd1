"""Sums up what a log directory holds, as far as it has been read."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zentracer_store.contents.intake import Followed
from zentracer_store.progress import Progress
from zentracer_store.runs.trial import Trial

logger = logging.getLogger(__name__)

LIVE_S = 60.0
"""A run whose files changed within this time, and which did not say that it ended, is live."""


@dataclass(frozen=True)
class Oddity:
    """Something a user should know. `run` and `file` are None where it concerns the log directory itself."""

    run: str | None
    file: str | None
    offset: int | None
    text: str
    wall: float | None


@dataclass(frozen=True)
class RunInfo:
    """One run in the list. `state` is live, ended, waiting (nothing read yet) or reading.

    `holds` counts the tags of each sort, ours left out. `generation` rises with everything that is read of it.
    """

    name: str
    state: str
    nan: bool
    tables: bool
    last_step: int | None
    last_wall: float | None
    error: str | None
    generation: int
    holds: Mapping[str, int]


@dataclass(frozen=True)
class Counts:
    """What was found: tags are counted once however many runs have them, ours left out."""

    runs: int
    files: int
    bytes: int
    unreadable: int
    scalar_tags: int
    histogram_tags: int
    other_tags: int


@dataclass(frozen=True)
class Catalogue:
    """All runs at one moment."""

    generation: int
    runs: tuple[RunInfo, ...]
    oddities: tuple[Oddity, ...]
    counts: Counts
    progress: Progress


def run_info(trial: Trial, files: Sequence[Followed]) -> RunInfo:
    """What the list says of a trial that is made of these files."""
    try:
        return _run_info(trial, files)
    except Exception as error:  # a defect of ours on one run must not hide the others
        logger.exception("Summing up the run %s failed.", trial.name)
        sentence = f"ZenTracer failed on this run ({type(error).__name__}); the log says more."
        return RunInfo(
            name=trial.name,
            state="ended",
            nan=False,
            tables=False,
            last_step=None,
            last_wall=None,
            error=sentence,
            generation=trial.generation,
            holds={},
        )


def _run_info(trial: Trial, files: Sequence[Followed]) -> RunInfo:
    summary = trial.summary
    return RunInfo(
        name=trial.name,
        state=_state(trial, files, time.time()),
        nan=summary.nan,
        tables=summary.tables,
        last_step=summary.last_step,
        last_wall=summary.last_wall,
        error=next((f"{file.found.shown}: {file.error}" for file in files if file.error is not None), None),
        generation=trial.generation,
        holds=summary.holds,
    )


def newest(told: Iterable[Sequence[Oddity]], most: int) -> list[Oddity]:
    """At most so many of the oddities of all files, newest first. No file takes the place of another's newest ones."""

    def age(oddity: Oddity) -> float:
        return -(oddity.wall or 0.0)

    ranked = [(rank, oddity) for file in told for rank, oddity in enumerate(sorted(file, key=age))]
    ranked.sort(key=lambda pair: (pair[0], age(pair[1])))
    return sorted((oddity for _, oddity in ranked[:most]), key=age)


def count(files: Sequence[Followed], trials: Iterable[Trial]) -> Counts:
    """What all files hold together."""
    sorts: dict[str, str] = {}
    for trial in trials:
        sorts |= trial.sorts
    foreign = Counter(sorts.values())
    return Counts(
        runs=len({file.found.trial for file in files}),
        files=len(files),
        bytes=sum(file.size for file in files),
        unreadable=sum(file.error is not None for file in files),
        scalar_tags=foreign["scalar"],
        histogram_tags=foreign["histogram"],
        other_tags=foreign.total() - foreign["scalar"] - foreign["histogram"],
    )


def _state(trial: Trial, files: Sequence[Followed], now: float) -> str:
    if not all(file.finished for file in files):
        return "reading" if any(file.reached for file in files) else "waiting"
    recent = [file for file in files if now - file.changed <= LIVE_S]
    return "live" if any(trial.is_written(file.found.path) for file in recent) else "ended"
