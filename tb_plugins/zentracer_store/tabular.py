"""Turns a run into Arrow rows: one table for each kind of data in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zentracer_schema import KINDS
from zentracer_store.narrow import scalar_rows
from zentracer_store.rows import Rows
from zentracer_store.series import series_of
from zentracer_store.whole import WholeRun
from zentracer_store.wide import kinds_in, stretches_of, wide_rows

OTHERS = {"scalars": "scalar"}
"""Kinds of values that any writer may have written, and the sort of their tags."""

EVERY_KIND = (*OTHERS, *KINDS)


@dataclass(frozen=True)
class Choice:
    """What is wanted of a log directory; None stands for everything. Patterns match anywhere in a name."""

    run: re.Pattern[str] | None = None
    tag: re.Pattern[str] | None = None
    kinds: frozenset[str] | None = None

    def takes_run(self, name: str) -> bool:
        """Whether a run is wanted."""
        return self.run is None or self.run.search(name) is not None

    def takes_tag(self, tag: str) -> bool:
        """Whether a tag is wanted."""
        return self.tag is None or self.tag.search(tag) is not None

    def takes_kind(self, kind: str) -> bool:
        """Whether a kind of data is wanted."""
        return self.kinds is None or kind in self.kinds


def rows_of(run: WholeRun, choice: Choice) -> list[Rows]:
    """What is wanted of a run, each kind that it has of it in turn."""
    found = []
    series = [one for one in series_of(run.name, list(run.contents.values())).values() if choice.takes_tag(one.tag)]
    for kind, sort in OTHERS.items():
        mine = [one for one in series if one.sort == sort]
        if mine and choice.takes_kind(kind):
            found.append(scalar_rows(mine))
    tables = [one for one in stretches_of(list(run.contents.values())) if choice.takes_tag(one.segment.spec.tag)]
    found += [wide_rows(kind, tables) for kind in kinds_in(tables) if choice.takes_kind(kind)]
    return found
