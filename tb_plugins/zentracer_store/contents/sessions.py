"""Tells which stretch of writing a record of a file belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Session:
    """One stretch of writing: from the start of a process, a resume or a new tracer to the next of these.

    `id` is None where the writer kept no session record; `used` names the scopes that recorded something in it.
    """

    id: str | None = None
    continues: str | None = None
    wall: float | None = None
    start_step: int | None = None
    record: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    ended: bool = False

    def start_of(self, scope: str) -> int | None:
        """The step at which the writer says that `scope` began."""
        told = self.facts(scope).get("start_step")
        return told if isinstance(told, int) and abs(told) < 1 << 62 else self.start_step

    def facts(self, scope: str) -> dict[str, Any]:
        """What the session record says of one watched model."""
        return _dict(_dict(self.record.get("scopes")).get(scope))


MOST_RESTARTS = 1000
"""Sessions that nothing marks in one stretch of writing: a counter that goes back more often does not restart."""


class Sessions:
    """The sessions of one file, in its order. They are known by their number in `all`."""

    def __init__(self) -> None:
        self.all = [Session()]
        self._of: dict[str, int] = {}
        self._named: dict[str, int] = {}
        self._unmarked = 0

    def head(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "all": [{**asdict(session), "used": sorted(session.used)} for session in self.all],
            "of": self._of,
            "unmarked": self._unmarked,
        }

    def restore(self, head: Mapping[str, Any]) -> None:
        """Take over the sessions that `head` told."""
        self.all = [Session(**{**told, "used": set(told["used"])}) for told in head["all"]]
        self._of = dict(head["of"])
        self._unmarked = head["unmarked"]
        self._named = {session.id: number for number, session in enumerate(self.all) if session.id is not None}

    def current(self, scope: str) -> int:
        """The session that a record of `scope` belongs to now."""
        number = self._of.setdefault(scope, len(self.all) - 1)
        self.all[number].used.add(scope)
        return number

    def start(self, wall: float, step: int) -> None:
        """A process starts or resumes: whatever any scope writes from here on is another session's."""
        self.all.append(Session(wall=wall, start_step=step))
        self._of.clear()

    def stop(self) -> None:
        """The process says that it ends."""
        self.all[-1].ended = True

    def go_back(self, scope: str, wall: float, step: int) -> int | None:
        """A scope's steps go back without a mark: it resumed, or was handed an earlier state.

        None where that happened `MOST_RESTARTS` times: no further session begins so.
        """
        if self._unmarked >= MOST_RESTARTS:
            return None
        self._unmarked += 1
        before = self.all[self.current(scope)]
        self.all.append(Session(wall=wall, start_step=step, continues=before.id))
        self._of[scope] = len(self.all) - 1
        return self.current(scope)

    def describe(self, key: str, wall: float, record: dict[str, Any], scope: str) -> None:
        """Take in a session record, written for `scope`: of a session known already, of the one just started, or of
        a new tracer in the same process."""
        scopes = _dict(record.get("scopes"))
        names = scopes.keys() or {scope}
        number = self._named.get(key)
        if number is None:
            if self.all[-1].id is not None or self.all[-1].used & names:
                self.all.append(Session(wall=wall))
            number = len(self.all) - 1
        session = self.all[number]
        continues = record.get("continues")
        session.id = key
        self._named[key] = number
        session.continues = continues if isinstance(continues, str) else None
        session.wall = wall if session.wall is None else session.wall
        session.record = {**session.record, **record, "scopes": {**_dict(session.record.get("scopes")), **scopes}}
        self._of |= dict.fromkeys(names, number)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
