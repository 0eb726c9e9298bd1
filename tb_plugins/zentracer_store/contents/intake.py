"""Brings one event file up to date: from the cache, then from where that ended."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from zentracer_store.contents.file_contents import FileContents
from zentracer_store.discover import FoundFile
from zentracer_store.reading.tail import Batch, Tail

_TIMED = re.compile(r"\d{9,11}\.\d+")


@dataclass
class Followed:
    """One file that is followed: how far it is read, and what it holds.

    `status`, `size` and `changed` are those of the last look; `ahead` is how far a worker has come that reads it, and
    `here` that none is to, for one did. `opened`: the cache was asked for it. `finished`: it was once read to its end,
    or can't be read. `told` counts the oddities of `contents` that were logged; `failures` say why it could not be
    read, `twin` which other file is the same. `trial` is the one that it belongs to.
    """

    found: FoundFile
    tail: Tail
    contents: FileContents
    status: os.stat_result | None = None
    size: int = 0
    changed: float = 0.0
    ahead: int = 0
    here: bool = False
    opened: bool = False
    finished: bool = False
    error: str | None = None
    told: int = 0
    failures: list[str] = field(default_factory=list)
    twin: str | None = None
    trial: str = ""

    @classmethod
    def begin(cls, found: FoundFile) -> Followed:
        """A file of which nothing is known yet."""
        return cls(found, Tail(found.path), FileContents(found.path), trial=found.trial)

    @property
    def parent(self) -> str | None:
        """The trial above, where this is the sub-run that `SummaryWriter.add_hparams` makes there: a directory named by
        the time that holds hparams."""
        above, _, name = self.trial.rpartition("/")
        timed = _TIMED.fullmatch(name) and any(info.sort == "hparams" for info in self.contents.tags)
        return (above or ".") if timed else None

    @property
    def reached(self) -> int:
        """How far it is read, by whomever."""
        return max(self.tail.offset, self.ahead)

    @property
    def differs(self) -> bool:
        """Whether the file is not as it was when it was last read to its end."""
        return self.status is None or self.tail.differs(self.status)

    @property
    def unread(self) -> int:
        """Bytes that are not read yet."""
        return max(self.size - self.tail.offset, 0)


def take(contents: FileContents, batch: Batch) -> None:
    """Take in what a look at the file brought."""
    contents.feed(batch.records)
    if not batch.more:
        contents.tell_undescribed()
    for damage in batch.damage:
        contents.note_damage(damage.text, damage.offset)
