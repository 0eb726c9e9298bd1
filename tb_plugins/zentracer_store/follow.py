"""Keeps looking at a log directory from one background thread: often while someone asks, seldom while nobody does."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

EAGER_S = 0.1
"""Seconds between looks while someone asked within `RECENT_S`."""

RECENT_S = 10.0
IDLE_S = 30.0


class WalkPace:
    """Spaces the walks over all directories by what they cost: each second for a few, seldom for very many.

    Walks take a quarter of a percent of the time, or what one every 10 s takes where that is more, or 5 % at most.
    Where one is likely to bring news it may come sooner.
    """

    def __init__(self) -> None:
        self._due = self._allowed = 0.0

    def due(self, news: Callable[[], bool]) -> bool:
        """Whether to walk now. `news` says whether there may be some, and is asked where that could matter."""
        now = time.monotonic()
        return now >= self._due or (now >= self._allowed and news())

    def took(self, seconds: float) -> None:
        """Note that a walk has just ended, and how long it took."""
        now = time.monotonic()
        self._allowed = now + 10 * seconds
        self._due = now + max(1.0, min(400 * seconds, max(10.0, 20 * seconds)))


class Follower:
    """Calls `look` again and again. `look` says whether it found anything new."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._asked = time.monotonic()
        self._wake = threading.Condition()
        self._closed = False
        self._looked: float | None = None
        self._thread: threading.Thread | None = None

    def ask(self) -> None:
        """Note that someone wants to know: start looking, or look again soon."""
        with self._wake:
            idle = time.monotonic() - self._asked > RECENT_S
            self._asked = time.monotonic()
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="zentracer-follow", daemon=True)
                self._thread.start()
            elif idle:
                self._wake.notify_all()

    def wait_for_look(self, age_s: float, timeout_s: float) -> None:
        """Return once the last look is no older than `age_s`, or after `timeout_s`: who asks first in a while would
        else be told what there was then."""
        asked = time.monotonic()
        with self._wake:
            self._wake.wait_for(lambda: self._closed or (self._looked or -1e9) >= asked - age_s, timeout_s)

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _safely(self) -> bool:
        try:
            return self._look()
        except Exception:  # a thread that died would leave the tabs as they are, without a word
            logger.exception("Looking at the log directory failed. It is tried again.")
            return False

    def _run(self) -> None:
        while not self._closed:
            began = time.monotonic()
            fruitless = 0.0 if self._safely() else time.monotonic() - began
            with self._wake:
                self._looked = began
                self._wake.notify_all()
                recent = time.monotonic() - self._asked < RECENT_S
                if not self._closed:
                    # At most a tenth of one core goes into looking at what does not change.
                    self._wake.wait(max(EAGER_S if recent else IDLE_S, 9 * fruitless))
