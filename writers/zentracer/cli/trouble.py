"""What every command does with what it is given, and with names and numbers that it prints."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

_BYTES_FROM = 0xDC00
"""Python holds the bytes of a path that are no UTF-8 as characters from here on."""


class Trouble(Exception):
    """The command can't do what it was asked; the message is a sentence for the user."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit status, and what it prints. `untold` is the status where that can't be printed."""

    status: int
    lines: Iterable[str]
    untold: int


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression of the command line."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression ({error})") from error


def check_logdir(logdir: str) -> str:
    """`logdir`, if it is a directory here."""
    if not logdir:
        raise Trouble("LOGDIR is empty. Give the directory that holds the logs.")
    path = os.path.expanduser(logdir)
    if not os.path.exists(path):
        raise Trouble(f"{logdir} is not there. Give the directory that holds the logs.")
    if not os.path.isdir(path):
        raise Trouble(f"{logdir} is a file. Give the directory that holds it.")
    return path


def printable(text: str) -> str:
    """A text from a log as a terminal may show it: what would move its cursor or colour it becomes an escape.

    So does a byte of a path that is no UTF-8.
    """
    return "".join(part if part.isprintable() else _escaped(part) for part in text)


def _escaped(part: str) -> str:
    byte = ord(part) - _BYTES_FROM
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else part.encode("unicode_escape").decode("ascii")


def counted(count: int, what: str) -> str:
    """A number of things: `1 run`, `1,200 runs`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """A number of bytes as people say it."""
    units = ("bytes", "KB", "MB", "GB")
    power = next((power for power in range(len(units) - 1) if count < 1000 ** (power + 1)), len(units) - 1)
    amount = count / 1000**power
    return f"{amount:,.1f} {units[power]}" if power and amount < 100 else f"{amount:,.0f} {units[power]}"
