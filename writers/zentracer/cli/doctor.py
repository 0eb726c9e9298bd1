"""`zentracer doctor`: says what is in a log directory, what is damaged and what TensorBoard would hide."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from zentracer.cli.streams import tell
from zentracer.cli.trouble import Outcome, check_logdir, counted, printable, size
from zentracer.missing import needed_for

if TYPE_CHECKING:
    from zentracer_store.examining.doctor import Finding, Report
    from zentracer_store.examining.hidden import Hidden

_DAMAGED = 1
_UNTOLD = 2
_MOST = 20
_MOST_PLACES = 3

_EPILOG = """\
exit status: 0 nothing is damaged, 1 something is, 2 the directory could not be examined, or the
report not be printed."""


def add_to(commands: Any) -> None:
    """Say what the command takes."""
    parser = commands.add_parser(
        "doctor",
        help="say what is in a log directory, what is damaged, and what TensorBoard would hide",
        description="Reads every event file under LOGDIR and says what is in there, what is damaged, what TensorBoard "
        "would not show of it and why, and whether the TensorBoard of this environment has ZenTracer's tabs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that holds the logs")
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    parser.add_argument("--all", action="store_true", help="list every run and finding, however many")
    parser.set_defaults(run_command=run)


def run(given: argparse.Namespace) -> Outcome:
    """Examine."""
    with needed_for("zentracer doctor"):
        from zentracer_store.examining.doctor import examine
    report = examine(check_logdir(given.logdir), _tell if sys.stderr.isatty() else lambda done, total: None)
    if given.json:
        lines = iter([json.dumps(content(report), indent=1)])
    else:
        lines = map(printable, words(report, None if given.all else _MOST))
    return Outcome(_DAMAGED if report.damage else 0, lines, _UNTOLD)


def _tell(done: int, total: int) -> None:
    """How far it has come, in place."""
    tell(f"\r\x1b[K{done:,} of {total:,} runs" if done < total else "\r\x1b[K")


def content(report: Report) -> dict[str, Any]:
    """The report as JSON holds it."""
    from zentracer_store.examining.hidden import sentence

    return {
        "logdir": report.logdir,
        "environment": asdict(report.environment),
        "runs": [asdict(run) for run in report.runs],
        "damage": [asdict(finding) for finding in report.damage],
        "oddities": [asdict(finding) for finding in report.oddities],
        "hidden": [asdict(one) | {"text": sentence([one])} for one in report.hidden],
        "advice": report.advice,
    }


def words(report: Report, most: int | None) -> Iterator[str]:
    """The report in words, line by line; of each list at most `most` entries."""
    yield from _summary(report)
    yield from _runs(report, most)
    yield from _findings("Damaged", report.damage, most)
    yield from _hidden(report, most)
    yield from _findings("Odd, and read all the same", report.oddities, most)
    yield from _environment(report)
    if report.advice:
        yield ""
        yield "What to do"
        yield from (f"  - {advice}" for advice in report.advice)


def _summary(report: Report) -> Iterator[str]:
    files, total = sum(run.files for run in report.runs), sum(run.bytes for run in report.runs)
    if not report.runs:
        yield f"{report.logdir} holds no event files: no file's name has 'tfevents' in it or ends with '.ztrec'."
        return
    points, values = sum(run.points for run in report.runs), sum(run.values for run in report.runs)
    held = f"{counted(points, 'point')} of scalars and {counted(values - points, 'other value')}"
    yield f"{report.logdir}: {counted(len(report.runs), 'run')} in {counted(files, 'file')}, {size(total)}. {held}."
    yield "Nothing is damaged." if not report.damage else f"{counted(len(report.damage), 'place')} damaged."


def _runs(report: Report, most: int | None) -> Iterator[str]:
    if report.runs:
        yield ""
        yield "Runs"
    for run in report.runs[:most]:
        tags = ", ".join(counted(count, f"{sort} tag") for sort, count in run.tags.items()) or "nothing"
        by = f", by {' and '.join(run.writers)}" if run.writers else ""
        step = "" if run.last_step is None else f", to step {run.last_step:,}"
        sessions = f", {run.sessions} sessions" if run.sessions > 1 else ""
        files = f", {run.files} files" if run.files > 1 else ""
        yield f"  {run.name}: {tags} ({counted(run.values, 'value')}){step}{sessions}{files}{by}"
    yield from _more(len(report.runs), most)


def _findings(title: str, findings: Sequence[Finding], most: int | None) -> Iterator[str]:
    if not findings:
        return
    yield ""
    yield title
    for finding in findings[:most]:
        at = "" if finding.offset is None else f", byte {finding.offset:,}"
        yield f"  {finding.file}{at}: {finding.text}"
    yield from _more(len(findings), most)


def _hidden(report: Report, most: int | None) -> Iterator[str]:
    """One sentence for all that is hidden for the same reason, and where."""
    from zentracer_store.examining.hidden import sentence

    alike: dict[tuple[str, str], list[Hidden]] = {}
    for one in report.hidden:
        alike.setdefault((one.kind, one.reader), []).append(one)
    if alike:
        yield ""
        yield "What TensorBoard does not show"
    for group in alike.values():
        yield f"  {sentence(group)}"
        shown = _MOST_PLACES if most is not None else len(group)
        for one in group[:shown]:
            if one.run is not None:
                tags = ", ".join(one.tags[:_MOST_PLACES]) + (", ..." if len(one.tags) > _MOST_PLACES else "")
                yield f"    in {one.run}: {tags}" if tags else f"    in {one.run}"
        if len(group) > shown:
            yield f"    ... and {len(group) - shown:,} more; --all lists them"


def _environment(report: Report) -> Iterator[str]:
    here = report.environment
    yield ""
    yield "This environment"
    versions = ", ".join(f"{name} {version}" for name, version in here.versions.items())
    yield f"  Python {here.python}, {versions}."
    for trouble, _ in here.troubles():
        yield f"  {trouble}"
    if here.tensorboard is not None:
        loader = "its data server" if here.data_server else "its Python loader: there is no data server here"
        tabs = f"has the tabs {', '.join(here.tabs)} and " if here.tabs else ""
        yield f"  TensorBoard {tabs}reads by default with {loader}."


def _more(count: int, most: int | None) -> Iterator[str]:
    if most is not None and count > most:
        yield f"  ... and {count - most:,} more; --all lists them."
