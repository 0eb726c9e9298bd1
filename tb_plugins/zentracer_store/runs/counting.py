"""Works out what the sessions of a run count: which follow each other, from which step, and how far they came."""

from __future__ import annotations

from collections.abc import Sequence

from zentracer_store.runs.episodes import Episode, chain_numbers
from zentracer_store.runs.gather import Rows
from zentracer_store.runs.spans import NEVER, Begin, Reach, SessionSpan, offsets_of


class Counting:
    """The sessions of a run, and how the steps of its tags relate to them."""

    def __init__(self, episodes: Sequence[Episode], rows: Sequence[Rows]) -> None:
        self._episodes = episodes
        self._chains: dict[tuple[int, ...], list[int]] = {}
        self.spans = self._spans(rows)

    def begins(self, rows: Rows) -> tuple[Begin, ...]:
        """The sessions of a tag, chain by chain: where each begins, and what would move it behind those before it."""
        if len(rows.sessions) == 1:
            offset = self.spans[rows.sessions[0]].offset
            return (
                Begin(rows.sessions[0], 0, rows.first[0], offset if offset and self.counts_as_the_run(rows) else 0),
            )
        chains = self._chains_of(rows.sessions)
        counts, shared = rows.counts_steps, self.counts_as_the_run(rows)
        begins: list[Begin] = []
        for chain in sorted(set(chains)):
            members = [place for place, number in enumerate(chains) if number == chain]
            reaches = [self._reach(rows.sessions[m], rows.tag, rows.first[m], rows.last[m]) for m in members]
            for member, reach, own in zip(members, reaches, offsets_of(reaches), strict=True):
                session = rows.sessions[member]
                offset = (self.spans[session].offset or 0) if shared else own
                begin = Begin(session, chain, reach.start, offset) if counts else Begin(session, chain, NEVER)
                begins.append(begin)
        return tuple(begins)

    def counts_as_the_run(self, rows: Rows) -> bool:
        """Whether a tag's steps are those of the run, not epochs, say, beside updates."""
        reached = zip(rows.sessions, rows.last, strict=True)
        return rows.counts_steps and all(near(last, self.spans[number].last) for number, last in reached)

    def _spans(self, rows: Sequence[Rows]) -> tuple[SessionSpan, ...]:
        """The sessions, without what was overwritten. Their steps are those of the tags that count together."""
        tags: list[list[tuple[int, int, int]]] = [[] for _ in self._episodes]
        for one in rows:
            counts = one.counts_steps
            for number, count, first, last in zip(one.sessions, one.counts, one.first, one.last, strict=True):
                # What counts nothing tells the steps only of a session that has nothing else.
                tags[number].append((count if counts else 0, first, last))
        reaches = []
        for number, found in enumerate(tags):
            usual = max(found)
            together = [one for one in found if one[0] and near(one[2], usual[2])] or [usual]
            first, last = min(first for _, first, _ in together), max(last for _, _, last in together)
            reaches.append(self._reach(number, None, first, last))
        chains = self._chains_of(tuple(range(len(tags))))
        counting = [any(count for count, _, _ in found) for found in tags]
        offsets = [0] * len(tags)
        for chain in set(chains):
            members = [number for number, other in enumerate(chains) if other == chain and counting[number]]
            for number, offset in zip(members, offsets_of([reaches[member] for member in members]), strict=True):
                offsets[number] = offset
        return tuple(
            SessionSpan(
                number,
                episode.session.id,
                episode.session.continues,
                episode.started,
                reaches[number].start,
                reaches[number].first,
                reaches[number].last,
                offset=offsets[number] or None,
                chain=chains[number],
                file=episode.stretches[0].contents.path,
            )
            for number, episode in enumerate(self._episodes)
        )

    def _reach(self, session: int, tag: str | None, first: int, last: int) -> Reach:
        told = self._episodes[session].start_of(tag)
        return Reach(first, first, last) if told is None else Reach(min(told, first), first, last, min(told, first))

    def _chains_of(self, sessions: tuple[int, ...]) -> list[int]:
        if sessions not in self._chains:  # most tags of a run are in the same sessions
            self._chains[sessions] = chain_numbers([self._episodes[number] for number in sessions])
        return self._chains[sessions]


def near(last: int, other: int) -> bool:
    """Whether two tags that reached these steps count the same: one is seldom logged half a session behind another."""
    return last <= 2 * other + 1 and other <= 2 * last + 1
