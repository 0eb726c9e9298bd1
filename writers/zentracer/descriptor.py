"""Holds a file descriptor whose number may be closed, and given to another file, behind our back."""

from __future__ import annotations

import errno
import os
from contextlib import suppress


class Descriptor:
    """An open file of ours. A process that daemonizes closes every number it knows of, then opens files of its own."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._file = _identity(number)

    @property
    def inode(self) -> int:
        """The file's inode."""
        return self._file[1]

    def write(self, data: memoryview) -> int:
        """Write as much of `data` as the system takes.

        Raises:
            OSError: the system refuses, or the number is another file's by now.
        """
        if not self._is_ours():
            raise OSError(errno.EBADF, "something in this process closed its descriptor")
        return os.write(self._number, data)

    def close(self) -> None:
        """Let go of the file, if the number is still its."""
        if self._is_ours():
            with suppress(OSError):
                os.close(self._number)

    def _is_ours(self) -> bool:
        try:
            return _identity(self._number) == self._file
        except OSError:
            return False


def _identity(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_dev, status.st_ino
