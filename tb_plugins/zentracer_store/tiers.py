"""Decides which files to look at now: those that grow each time, those that rest in turns."""

from __future__ import annotations

import time

GROWS_S = 60.0
"""A file that changed within this time is looked at each time."""

LAP_S, LONG_LAP_S = 2.0, 10.0
"""All that rest are looked at once in this time: the short one for a few, the long one for many."""

FEW, MOST = 200, 3000
"""Looks a second at files that rest, where the long lap begins and where even that grows longer."""


class Tiers:
    """The paths of the files that are followed, and when each was last seen to change."""

    def __init__(self) -> None:
        self._grow: dict[str, float] = {}  # time.monotonic() of the change
        self._rest: set[str] = set()
        self._lap: list[str] = []  # those of this lap whose turn is still to come
        self._owed = 0.0
        self._asked = time.monotonic()

    def changed(self, path: str, ago_s: float = 0.0) -> None:
        """Follow this file, which changed so many seconds ago."""
        self.gone(path)
        if ago_s < GROWS_S:
            self._grow[path] = time.monotonic() - max(ago_s, 0.0)
        else:
            self._rest.add(path)

    def gone(self, path: str) -> None:
        """Follow this file no longer."""
        self._grow.pop(path, None)
        self._rest.discard(path)

    def due(self) -> list[str]:
        """The files to look at now."""
        now = time.monotonic()
        for path in [path for path, changed in self._grow.items() if now - changed >= GROWS_S]:
            del self._grow[path]
            self._rest.add(path)
        count = len(self._rest)
        self._owed = min(self._owed + _rate(count) * (now - self._asked), count)
        self._asked = now
        return [*self._grow, *self._next(int(self._owed))]

    def _next(self, count: int) -> list[str]:
        self._owed -= count
        turn: list[str] = []
        while len(turn) < count:
            if not self._lap:
                self._lap = list(self._rest)
            path = self._lap.pop()
            if path in self._rest:
                turn.append(path)
        return turn


def _rate(count: int) -> float:
    return min(count / LAP_S, max(count / LONG_LAP_S, FEW), MOST)
