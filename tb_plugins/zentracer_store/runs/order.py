"""Puts sessions into the order in which they were written, where clocks can't be trusted alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


def in_order(began: Sequence[float], behind: Sequence[Collection[int]]) -> list[int]:
    """The numbers of sessions, oldest first.

    `began` are their wall times; `behind` names for each the sessions that it is known to come after, whatever the
    clocks say. Where those contradict each other nothing is promised but that each is there once.
    """
    keys: dict[int, tuple[float, int]] = {}
    for number in _known_first(behind):
        known = (keys[n] for n in behind[number] if n in keys)
        keys[number] = max([(began[number], 0), *((wall, depth + 1) for wall, depth in known)])
    return sorted(range(len(began)), key=keys.__getitem__)


def _known_first(behind: Sequence[Collection[int]]) -> Iterator[int]:
    """All numbers, each after those that it is known to come after, unless these come after it as well."""
    seen: set[int] = set()
    for root in range(len(behind)):
        waiting = [(root, False)]
        while waiting:
            number, ready = waiting.pop()
            if ready:
                yield number
            elif number not in seen:
                seen.add(number)
                waiting.append((number, True))
                waiting += [(known, False) for known in behind[number]]
