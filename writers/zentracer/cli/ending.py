"""Ends a command that is told to end, so that what it has begun is cleaned up first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_BY_SIGNAL = 128
"""Shells add this to a signal's number."""


class Ended(BaseException):
    """A signal told the command to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = _BY_SIGNAL + number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """In the block, a signal that would end the process raises `Ended`. One that is ignored (`nohup`) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, frame: FrameType | None) -> None:
        for one in taken:
            signal.signal(one, signal.SIG_IGN)  # nothing interrupts the cleaning up
        raise Ended(number)

    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
