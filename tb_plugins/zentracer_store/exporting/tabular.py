"""Turns a run into Arrow rows: one table for each kind of data in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from zentracer_schema import KINDS, parse_tag
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.exporting.batches import Batches
from zentracer_store.exporting.deep import deep_batches
from zentracer_store.exporting.narrow import scalar_batches
from zentracer_store.exporting.settings import setting_batches
from zentracer_store.exporting.valued import FORMS, Tell, valued_batches
from zentracer_store.exporting.whole import WholeRun
from zentracer_store.exporting.wide import stretches_of, wide_batches
from zentracer_store.runs.series import Series, series_of

OTHERS = {
    "scalars": "scalar",
    "histograms": "histogram",
    "texts": "text",
    "hparams": "hparams",
    "images": "image",
    "audio": "audio",
    "tensors": "tensor",
    "graphs": "graph",
}
"""Kinds of values that any writer may have written, and the sort of their tags."""

_RENAMED = {"histograms": "tensor_histograms", "graph": "model_graph"}
"""Kinds of ours that other writers' kinds would be taken for."""

OURS = {_RENAMED.get(kind, kind): kind for kind in KINDS}
EVERY_KIND = (*OTHERS, *OURS)


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

    def takes_scope(self, scope: str) -> bool:
        """Whether what was recorded of a watched model is wanted."""
        return self.scope is None or self.scope.search(scope) is not None

    def takes_kind(self, kind: str) -> bool:
        """Whether a kind of data is wanted."""
        return self.kinds is None or kind in self.kinds


def batches_of(run: WholeRun, choice: Choice, tell: Tell) -> list[Batches]:
    """What is wanted of a run, each kind that it has of it in turn. What can't be read is told while it is made."""
    files = list(run.contents.values())
    series = [one for one in series_of(run.name, files).values() if choice.takes_tag(one.tag)]
    found = []
    for kind, sort in OTHERS.items():
        mine = [one for one in series if one.sort == sort]
        if mine and choice.takes_kind(kind):
            found.append(_of_others(kind, mine, files, tell))
    specs = {tag: spec for file in files for tag, spec in file.specs.items()}
    tables = [s for s in stretches_of(files) if choice.takes_tag(s.segment.spec.tag) and choice.takes_scope(s.scope)]
    for name, kind in OURS.items():
        if not choice.takes_kind(name):
            continue
        laid = [one for one in tables if one.segment.spec.kind == kind]
        mine = [
            one for one in series if (of := parse_tag(one.tag)) and of.kind == kind and choice.takes_scope(of.scope)
        ]
        if laid:
            found.append(wide_batches(name, laid))
        elif mine and KINDS[kind].payload == "message":
            found.append(valued_batches(name, mine, FORMS["message"], tell))
        elif mine:
            found.append(deep_batches(name, mine, specs, tell))
    return found


def _of_others(kind: str, series: Sequence[Series], files: Sequence[FileContents], tell: Tell) -> Batches:
    match kind:
        case "scalars":
            return scalar_batches(series)
        case "hparams":
            return setting_batches(files, tell)
        case _:
            return valued_batches(kind, series, FORMS[OTHERS[kind]], tell)


def joined(runs: Sequence[WholeRun], kind: str, choice: Choice, tell: Tell) -> pa.Table:
    """What is chosen of one kind in several runs, as one table that begins with the name of the run.

    A column that only some of them have is null in the others.
    """
    chosen = replace(choice, kinds=frozenset({kind}))
    tables = [_of_run(run.name, batches.table()) for run in runs for batches in batches_of(run, chosen, tell)]
    return pa.concat_tables(tables or [_of_run("", _empty(kind))], promote_options="permissive")


def _empty(kind: str) -> pa.Table:
    """A table of a kind without rows: of our tables, whose columns nobody told, with those that all have."""
    if kind in OTHERS:
        return _of_others(kind, [], [], _silent).table()
    if KINDS[OURS[kind]].payload == "message":
        return valued_batches(kind, [], FORMS["message"], _silent).table()
    return wide_batches(kind, []).table()


def _silent(text: str) -> None:
    """Nothing is read, so nothing can be left out."""


def _of_run(name: str, table: pa.Table) -> pa.Table:
    # In pieces, as the rows are: one of all names might be too long for an array of strings.
    pieces = [pa.repeat(name, len(piece)) for piece in table.column(0).chunks]
    return _with_strings(table).add_column(0, "run", pa.chunked_array(pieces, pa.string()))


def _with_strings(table: pa.Table) -> pa.Table:
    """`table` with names as plain strings: data frames make categories of numbered ones, which group differently."""
    fields = [f.with_type(f.type.value_type) if pa.types.is_dictionary(f.type) else f for f in table.schema]
    return table.cast(pa.schema(fields))
