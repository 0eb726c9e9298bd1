"""Turns a run into Arrow rows: one table for each kind of data in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from zentracer_schema import KINDS
from zentracer_store.batches import Batches
from zentracer_store.narrow import scalar_batches
from zentracer_store.series import series_of
from zentracer_store.whole import WholeRun
from zentracer_store.wide import Stretch, kinds_in, stretches_of, wide_batches

OTHERS = {"scalars": "scalar"}
"""Kinds of values that any writer may have written, and the sort of their tags."""

EVERY_KIND = (*OTHERS, *KINDS)


@dataclass(frozen=True)
class Choice:
    """What is wanted of a log directory; None stands for everything. Patterns match anywhere in a name."""

    run: re.Pattern[str] | None = None
    tag: re.Pattern[str] | None = None
    kinds: frozenset[str] | None = None
    scope: re.Pattern[str] | None = None

    def takes_run(self, name: str) -> bool:
        """Whether a run is wanted."""
        return self.run is None or self.run.search(name) is not None

    def takes_tag(self, tag: str) -> bool:
        """Whether a tag is wanted."""
        return self.tag is None or self.tag.search(tag) is not None

    def takes(self, stretch: Stretch) -> bool:
        """Whether tables of ours are wanted."""
        return self.takes_tag(stretch.segment.spec.tag) and (
            self.scope is None or self.scope.search(stretch.scope) is not None
        )

    def takes_kind(self, kind: str) -> bool:
        """Whether a kind of data is wanted."""
        return self.kinds is None or kind in self.kinds


def batches_of(run: WholeRun, choice: Choice) -> list[Batches]:
    """What is wanted of a run, each kind that it has of it in turn."""
    found = []
    series = [one for one in series_of(run.name, list(run.contents.values())).values() if choice.takes_tag(one.tag)]
    for kind, sort in OTHERS.items():
        mine = [one for one in series if one.sort == sort]
        if mine and choice.takes_kind(kind):
            found.append(scalar_batches(mine))
    tables = [one for one in stretches_of(list(run.contents.values())) if choice.takes(one)]
    found += [wide_batches(kind, tables) for kind in kinds_in(tables) if choice.takes_kind(kind)]
    return found


def joined(runs: Sequence[WholeRun], kind: str, choice: Choice) -> pa.Table:
    """What is chosen of one kind in several runs, as one table that begins with the name of the run.

    A column that only some of them have is null in the others.
    """
    chosen = replace(choice, kinds=frozenset({kind}))
    tables = [_of_run(run.name, batches.table()) for run in runs for batches in batches_of(run, chosen)]
    empty = scalar_batches([]) if kind in OTHERS else wide_batches(kind, [])
    return pa.concat_tables(tables or [_of_run("", empty.table())], promote_options="permissive")


def _of_run(name: str, table: pa.Table) -> pa.Table:
    return _with_strings(table).add_column(0, "run", pa.array([name] * len(table), pa.string()))


def _with_strings(table: pa.Table) -> pa.Table:
    """`table` with names as plain strings: data frames make categories of numbered ones, which group differently."""
    fields = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in table.schema]
    return table.cast(pa.schema(fields))
