"""Standard output and standard error, which may be closed, full, or read by someone who has gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TextIO

_STANDARD = 3
"""Descriptors below this are standard input, output and error."""


def open_all() -> None:
    """Make sure that both are there (`2>&-` closes one) and take every name, whatever their encoding."""
    # A file that got the number of a closed one would be written into by whoever writes to standard error.
    while (spare := os.open(os.devnull, os.O_RDWR)) < _STANDARD:
        pass
    os.close(spare)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - stays open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def say(lines: Iterable[str]) -> OSError | None:
    """Print lines on standard output. Returns what kept them from being written, None where all of them were."""
    try:
        for line in lines:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except OSError as error:
        _silence(sys.stdout)
        return error
    return None


def tell(text: str, stream: TextIO | None = None) -> None:
    """Write `text` as it is on standard error. Where nobody takes it, it is lost: telling never stops the work."""
    stream = stream or sys.stderr
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Let what is still written go nowhere, or Python would complain once more at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
