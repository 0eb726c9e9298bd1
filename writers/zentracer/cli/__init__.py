"""The command `zentracer`: one module for each of its commands, which says what it takes and what it does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import metadata
from typing import NoReturn

from zentracer.cli import doctor, export
from zentracer.cli.ending import Ended, ended_by_signals
from zentracer.cli.streams import open_all, say, tell
from zentracer.cli.trouble import Outcome, Trouble, printable
from zentracer.missing import MissingPackage

COMMANDS = (export, doctor)
_INTERRUPTED = 130
_CANNOT = 2


class _Parser(argparse.ArgumentParser):
    """Repeats what it does not understand without moving the cursor by it."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message))


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit status, 2 where nothing could be done."""
    open_all()
    parser = _Parser(prog="zentracer", description="Looks into TensorBoard logs, whichever program wrote them.")
    parser.add_argument("--version", action="version", version=f"zentracer {metadata.version('zentracer')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    try:
        given = parser.parse_args(arguments)
    except SystemExit:
        say(())  # help goes to a buffer, and who should read it may be gone
        raise
    try:
        with ended_by_signals():
            outcome: Outcome = given.run_command(given)
            return _conclude(outcome)
    except (Trouble, MissingPackage) as trouble:
        tell(f"zentracer: {printable(str(trouble))}\n")
        return _CANNOT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Ended as end:
        return end.status


def _conclude(outcome: Outcome) -> int:
    """Print what came out. Whoever reads it may have seen enough (`| head`)."""
    error = say(outcome.lines)
    if error is None or isinstance(error, BrokenPipeError):
        return outcome.status
    tell(f"zentracer: Not all could be printed ({error.strerror}).\n")
    return outcome.untold
