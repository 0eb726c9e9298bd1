"""The command `zentracer`: one module for each of its commands, which says what it takes and what it does."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import metadata

from zentracer.cli import doctor, export
from zentracer.cli.trouble import Trouble
from zentracer.missing import MissingPackage

COMMANDS = (export, doctor)
_INTERRUPTED = 130
_CANNOT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit status, 2 where nothing could be done."""
    parser = argparse.ArgumentParser(
        prog="zentracer", description="Looks into TensorBoard logs, whichever program wrote them."
    )
    parser.add_argument("--version", action="version", version=f"zentracer {metadata.version('zentracer')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    given = parser.parse_args(arguments)
    try:
        status: int = given.run_command(given)
        sys.stdout.flush()
        return status
    except (Trouble, MissingPackage) as trouble:
        print(f"zentracer: {trouble}", file=sys.stderr)
        return _CANNOT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough (`| head`). Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
