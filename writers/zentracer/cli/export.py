"""`zentracer export`: writes logs as Parquet or CSV."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from zentracer.cli.streams import tell
from zentracer.cli.trouble import Outcome, Trouble, check_logdir, counted, pattern, printable, size
from zentracer.missing import needed_for

if TYPE_CHECKING:
    from zentracer_store.exporting.export import Exported
    from zentracer_store.progress import Progress

FORMS = ("parquet", "csv")
_LEFT_OUT = 1
_MOST_TOLD = 20
_TOLD_EVERY_S = 5.0
_DRAWN_EVERY_S = 0.1

_EPILOG = """\
DIR gets a folder for each kind of data and run, kind=scalars/run=NAME/part-0.parquet, with names percent-encoded, as
DuckDB, Arrow, pandas, Polars and Spark read it. Rows are sorted by tag and step. Every point is there; those that a
later session of the training wrote anew have superseded = true. DIR appears only once it is whole,
and not at all where there is nothing to write.

exit status: 0 all was written, 1 something could not be read and was left out, 2 nothing was written."""


def add_to(commands: Any) -> None:
    """Say what the command takes."""
    parser = commands.add_parser(
        "export",
        help="write logs as Parquet or CSV",
        description="Writes what the event files under LOGDIR hold, whichever program wrote them, every point of it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("logdir", metavar="LOGDIR", help="directory that holds the logs")
    parser.add_argument("--to", choices=FORMS, required=True, help="form of the files")
    parser.add_argument("--out", metavar="DIR", help="where to write; by default LOGDIR's name with -parquet or -csv")
    parser.add_argument("--run", metavar="REGEX", type=pattern, help="only runs whose name it matches somewhere")
    parser.add_argument("--tag", metavar="REGEX", type=pattern, help="only tags that it matches somewhere")
    parser.add_argument(
        "--kind", metavar="KIND", action="append", help="only this kind, such as scalars or parameters; may be repeated"
    )
    parser.add_argument("--force", action="store_true", help="replace the export that is in DIR")
    parser.add_argument("--quiet", action="store_true", help="do not tell how far it has come")
    parser.set_defaults(run_command=run)


def run(given: argparse.Namespace) -> Outcome:
    """Export."""
    with needed_for("zentracer export"):
        from zentracer_store.exporting.export import export
        from zentracer_store.exporting.partition import Refused
        from zentracer_store.exporting.tabular import EVERY_KIND, Choice
    logdir = check_logdir(given.logdir)
    kinds = None if given.kind is None else frozenset(given.kind)
    if unknown := sorted((kinds or frozenset()) - set(EVERY_KIND)):
        raise Trouble(f"There is no kind {unknown[0]!r}. The kinds are {', '.join(EVERY_KIND)}.")
    out = _place(given.out, logdir, given.to)
    teller = Teller(sys.stderr)
    try:
        done = export(
            logdir,
            out,
            given.to,
            Choice(given.run, given.tag, kinds),
            force=given.force,
            progress=(lambda progress: None) if given.quiet else teller.tell,
        )
    except Refused as refusal:
        raise Trouble(str(refusal)) from refusal
    except OSError as error:
        raise Trouble(f"{out} could not be written ({error.strerror or error}). Nothing of it is left.") from error
    finally:
        teller.done()
    _tell_of(done)
    if not done.files:
        raise Trouble(f"Nothing to write was found under {given.logdir}{_narrowed(given)}. Nothing was written.")
    status = _LEFT_OUT if done.left_out else 0
    return Outcome(status, [_summary(done)], status)


def _place(out: str | None, logdir: str, form: str) -> str:
    """Where to write."""
    if out is None:
        return f"{os.path.basename(os.path.abspath(logdir))}-{form}"
    if not out:
        raise Trouble("--out is empty. Give the directory to write.")
    return os.path.expanduser(out)


def _narrowed(given: argparse.Namespace) -> str:
    """The options that left something out, if any did."""
    names = [f"--{name}" for name in ("run", "tag", "kind") if getattr(given, name) is not None]
    return f" that {' and '.join(names)} would take" if names else ""


def _tell_of(done: Exported) -> None:
    """Say what is not in the export, or not as one would expect it."""
    for texts in (done.left_out, done.odd):
        for text in texts[:_MOST_TOLD]:
            tell(f"{printable(text)}\n")
        if (more := len(texts) - _MOST_TOLD) > 0:
            tell(f"... and {more:,} more like these; `zentracer doctor` lists them.\n")
    for name in done.shortened:
        text = f"The run's name is too long for a folder and was shortened; _export.json has it whole: {name}"
        tell(f"{printable(text)}\n")


def _summary(done: Exported) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in done.rows.items())
    where = f"{size(done.bytes)} in {counted(done.files, 'file')}"
    return f"{printable(done.out)}: {kinds} of {counted(done.runs, 'run')}, {where}."


class Teller:
    """Tells on a stream how far it has come: in place on a terminal, else a line now and then."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._in_place = stream.isatty()
        self._told = time.monotonic()
        self._open = False

    def tell(self, progress: Progress) -> None:
        """Say it, unless it was said just now."""
        now = time.monotonic()
        if now - self._told < (_DRAWN_EVERY_S if self._in_place else _TOLD_EVERY_S):
            return
        self._told = now
        line = words(progress)
        tell(f"\r\x1b[K{line}" if self._in_place else f"{line}\n", self._stream)
        self._open = self._in_place

    def done(self) -> None:
        """Leave the line that was written in place."""
        if self._open:
            tell("\n", self._stream)
            self._open = False


def words(progress: Progress) -> str:
    """How far it has come, on one line."""
    line = (
        f"{progress.files:,} of {progress.files_total:,} files, {size(progress.bytes)} of {size(progress.bytes_total)}"
    )
    if progress.bytes_per_second:
        line += f", {size(progress.bytes_per_second)}/s"
    if progress.seconds_left is not None:
        line += f", {progress.seconds_left:,.0f} s left"
    return line
