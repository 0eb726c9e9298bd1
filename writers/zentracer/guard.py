"""Runs our code inside someone's training: never raises into it, counts and tells what failed, adds up its cost."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from time import thread_time

from zentracer.notice import tell


class Guard:
    """The rim between training and us. Everything that a hook, a seam or the writer thread runs goes through `run`."""

    def __init__(self) -> None:
        self.failures = 0
        self._told: set[str] = set()
        self._spent = 0.0
        self._began: float | None = None

    def run(self, function: Callable[..., object], *args: object) -> None:
        """Call `function`; what it raises is counted, and told once for each place that raised."""
        outermost = self._began is None
        if outermost:
            self._began = thread_time()
        try:
            function(*args)
        except Exception as error:
            self.failed(error)
        finally:
            if outermost and self._began is not None:
                self._spent += thread_time() - self._began
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
        """CPU seconds of the calling thread spent in `run` so far, the call going on included."""
        return self._spent + (thread_time() - self._began if self._began is not None else 0.0)
