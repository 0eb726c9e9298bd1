"""Runs our code inside someone's training: never raises into it, counts and tells what failed, adds up its cost."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from threading import get_ident
from time import thread_time

from zentracer.notice import tell


class Guard:
    """The rim between training and us. Everything that a hook, a seam or the writer thread runs goes through `run`."""

    def __init__(self) -> None:
        self.failures = 0
        self._told: set[str] = set()
        self._spent = 0.0
        self._began: float | None = None
        self._thread = 0

    def run(self, function: Callable[..., object], *args: object) -> None:
        """Call `function`; what it raises is counted, and told once for each place that raised."""
        outermost = self._began is None
        if outermost:
            self._began, self._thread = thread_time(), get_ident()
        try:
            function(*args)
        except Exception as error:
            self.failed(error)
        finally:
            if outermost:
                self._spent += self._going_on_s
                self._began = None

    def failed(self, error: Exception) -> None:
        """Count an error of ours; tell it the first time that its place raises."""
        self.failures += 1
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else "?"
        if place in self._told:
            return
        self._told.add(place)
        tell(
            f"Recording failed with {type(error).__name__} ({error}) at {place}; training goes on without that "
            "record. Please report it, with the model and optimizer in use."
        )

    @property
    def spent_s(self) -> float:
        """CPU seconds spent in `run` so far, the call going on in this thread included."""
        return self._spent + self._going_on_s

    @property
    def _going_on_s(self) -> float:
        if self._began is None or self._thread != get_ident():  # each thread has a clock of its own
            return 0.0
        return thread_time() - self._began
