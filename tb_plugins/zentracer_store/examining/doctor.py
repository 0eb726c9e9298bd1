"""Examines a log directory: what is in it, what is damaged, what TensorBoard would hide, and what to do."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from zentracer_schema import parse_tag
from zentracer_store.examining.environment import Environment, environment
from zentracer_store.examining.hidden import Hidden, advice_on
from zentracer_store.examining.losses import ended_by_name, hidden_in, short_of_descriptors
from zentracer_store.examining.replay import Replay, replay
from zentracer_store.exporting.whole import WholeFile, WholeRun, look_under, read_run

_WRITERS = {
    "tensorboard.summary.writer.event_file_writer": "TensorBoard's writer (PyTorch and others)",
    "tensorflow.core.util.events_writer": "TensorFlow",
}
_OURS = "ZenTracer"


@dataclass(frozen=True)
class Finding:
    """Something about one file, or about a place that could not be looked into."""

    run: str | None
    file: str
    offset: int | None
    text: str


@dataclass(frozen=True)
class RunReport:
    """What one run holds. `tags` are counted by sort; `values` are all that tags have, scalars among them `points`."""

    name: str
    trial: str
    files: int
    bytes: int
    writers: tuple[str, ...]
    tags: dict[str, int]
    points: int
    values: int
    sessions: int
    last_step: int | None


@dataclass
class Report:
    """All that was found. `damage` is data that can't be read, `oddities` what is unusual and was read all the same."""

    logdir: str
    environment: Environment
    runs: list[RunReport] = field(default_factory=list)
    damage: list[Finding] = field(default_factory=list)
    oddities: list[Finding] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)

    @property
    def advice(self) -> list[str]:
        """What to do, each thing once."""
        kinds = dict.fromkeys(one.kind for one in self.hidden)
        return list(dict.fromkeys([*(what for _, what in self.environment.troubles()), *map(advice_on, kinds)]))


def examine(logdir: str, told: Callable[[int, int], None] = lambda done, total: None) -> Report:
    """Read everything under `logdir`, which takes a while; `told` is given how many runs of how many are done."""
    found = look_under(logdir)
    report = Report(logdir, environment())
    report.damage += [Finding(None, problem.path, None, problem.text) for problem in found.problems]
    shown = 0
    for number, (name, files) in enumerate(found.runs.items()):
        told(number, len(found.runs))
        run = read_run(name, files)
        # TensorBoard reads files whose names hold "tfevents", and no others.
        replays = [(file, replay(file.found.path)) for file in run.files if "tfevents" in _name(file)]
        shown += len(replays)
        report.runs.append(_report(run, [how for _, how in replays]))
        for file in run.files:
            _find(report, run, file)
        report.hidden += ended_by_name(name, [(file.found.path, file.found.shown) for file, _ in replays])
        report.hidden += hidden_in(name, [(file.found.shown, how) for file, how in replays])
    told(len(found.runs), len(found.runs))
    if report.environment.data_server:
        report.hidden += short_of_descriptors(shown, report.environment.most_open_files)
    return report


def _name(file: WholeFile) -> str:
    return os.path.basename(file.found.path)


def _report(run: WholeRun, replays: list[Replay]) -> RunReport:
    contents = [file.contents for file in run.files]
    tags = {(info.tag, info.sort) for one in contents for info in one.tags}
    points = sum(len(one.points) for one in contents)
    tables = sum(segment.count for one in contents for segment in one.segments)
    return RunReport(
        name=run.name,
        trial=run.trial,
        files=len(run.files),
        bytes=sum(file.size for file in run.files),
        writers=_writers(run, replays),
        tags=dict(Counter(sort for _, sort in sorted(tags))),
        points=points,
        values=points + tables + sum(len(one.records) for one in contents),
        sessions=sum(len([s for s in one.sessions.all if s.wall is not None]) for one in contents),
        last_step=max((one.last_step for one in contents if one.last_step is not None), default=None),
    )


def _writers(run: WholeRun, replays: list[Replay]) -> tuple[str, ...]:
    names = {_WRITERS.get(how.writer, how.writer) for how in replays if how.writer}
    if any(parse_tag(info.tag) for file in run.files for info in file.contents.tags):
        names.add(_OURS)
    return tuple(sorted(names))


def _find(report: Report, run: WholeRun, file: WholeFile) -> None:
    """Sort what is odd about a file."""
    shown = file.found.shown
    if file.problem is not None:
        report.damage.append(Finding(run.name, shown, None, file.problem))
    report.damage += [Finding(run.name, shown, one.offset, one.text) for one in file.damage]
    report.oddities += [Finding(run.name, shown, one.offset, one.text) for one in file.oddities]
