"""Puts sessions into the order in which they were written, where clocks can't be trusted alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def in_order(began: Sequence[float], behind: Sequence[Collection[int]]) -> list[int]:
    """The numbers of sessions, oldest first.

    `began` are their wall times; `behind` names for each the sessions that it is known to come after, whatever the
    clocks say. Where those contradict each other nothing is promised but that each is there once.
    """
    keys = [(wall, 0) for wall in began]
    for _ in began:  # what puts one off may put off those behind it
        put_off = [
            max([(wall, 0), *((keys[n][0], keys[n][1] + 1) for n in known)])
            for wall, known in zip(began, behind, strict=True)
        ]
        if put_off == keys:
            break
        keys = put_off
    return sorted(range(len(began)), key=lambda number: keys[number])
