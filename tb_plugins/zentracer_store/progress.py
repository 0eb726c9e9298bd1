"""Measures how far reading has come and how long it will take."""

from __future__ import annotations

from dataclasses import dataclass

STEADY_S = 1.0
"""A rate is told after this many seconds of reading; before that it would jump about."""


@dataclass(frozen=True)
class Progress:
    """How much of what is there has been read. Rate and time left are None while not known or nothing is left."""

    files: int
    files_total: int
    bytes: int
    bytes_total: int
    bytes_per_second: float | None
    seconds_left: float | None
    done: bool


class Rate:
    """Bytes a second over the present stretch of reading."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._bytes = 0

    def read(self, count: int, now: float) -> None:
        """Note that `count` bytes were read, up to the time `now`."""
        if self._began is None:
            self._began = now
        self._bytes += count

    def rest(self) -> None:
        """Note that nothing is left to read."""
        self._began, self._bytes = None, 0

    def at(self, now: float) -> float | None:
        """The rate, once it is steady."""
        if self._began is None or now - self._began < STEADY_S:
            return None
        return self._bytes / (now - self._began)


def progress_of(*, files: int, files_total: int, done: int, total: int, rate: float | None, walked: bool) -> Progress:
    """Progress from counts of files and bytes. Before the directories were walked nothing is done."""
    finished = walked and files == files_total
    left = None if finished or not rate else max(total - done, 0) / rate
    return Progress(files, files_total, done, total, None if finished else rate, left, finished)
