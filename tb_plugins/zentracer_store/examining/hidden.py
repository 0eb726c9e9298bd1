"""Says what of a run TensorBoard would not show, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from zentracer_schema import parse_tag
from zentracer_store.contents.growing import Array
from zentracer_store.examining.replay import (
    Fact,
    Replay,
    Stop,
    Values,
    count_by_tag,
    kept_by_python,
    kept_by_server,
    values_of,
)

Reader = Literal["python", "server", "both"]
Kind = Literal[
    "behind damage",
    "ends loading",
    "overwritten",
    "purged",
    "replaced",
    "not float32",
    "no data class",
    "sampled",
    "side by side",
    "descriptors",
]

READERS: dict[Reader, str] = {
    "python": "TensorBoard's Python loader",
    "server": "TensorBoard's data server",
    "both": "TensorBoard",
}


@dataclass(frozen=True)
class Hidden:
    """Something that TensorBoard does not show. `values` of `tags` are concerned, or whole files or runs.

    `reader` says which of TensorBoard's two loaders; `run` is None where it is about the log directory as a whole.
    """

    kind: Kind
    reader: Reader
    run: str | None
    tags: tuple[str, ...] = ()
    values: int = 0
    file: str | None = None
    offset: int | None = None
    why: str = ""


_ADVICE: dict[Kind, str] = {
    "behind damage": "ZenTracer reads on behind it: its tabs, `zentracer export` and `zentracer.read` have the rest.",
    "ends loading": "Move the file out of the log directory, or use the data server: nothing else loads until then.",
    "overwritten": "A later session of the training counted these steps anew. `zentracer export` keeps both, marked.",
    "purged": "Where sessions are no restarts of one training, give each a directory of its own.",
    "replaced": "Give each writer a directory of its own and log a tag once a step; `--load_fast=false` keeps them.",
    "not float32": "Log float32, or start TensorBoard with `--load_fast=false`.",
    "no data class": "The writer has to set `data_class` in the metadata of a tag's first value.",
    "sampled": "`--samples_per_plugin scalars=0,images=0` keeps every value, at the price of memory.",
    "side by side": "Give each writer a directory of its own, or use `--load_fast=false --reload_multifile=true`.",
    "descriptors": "Raise the limit before TensorBoard starts: `ulimit -n 65536`.",
}


def advice_on(kind: Kind) -> str:
    """What to do about it."""
    return _ADVICE[kind]


def sentence(alike: Sequence[Hidden]) -> str:
    """What is hidden, in one sentence for several of one kind and reader."""
    one, reader = alike[0], READERS[alike[0].reader]
    values = sum(each.values for each in alike)
    what = f"{values:,} value{'s' if values != 1 else ''}"
    place = ""
    if one.offset is not None and len(alike) == 1:
        place = f" ({one.why + ': ' if one.why else ''}{one.file}, byte {one.offset:,})"
    match one.kind:
        case "behind damage":
            return f"{reader} never shows {what}: it stops reading a file at the first damage that stops it{place}."
        case "ends loading":
            return f"{reader} stops loading every run, not only this one, at a record that holds no event{place}."
        case "overwritten":
            return f"{reader} drops {what} at steps that a later session of the run wrote anew."
        case "purged":
            return f"{reader} drops {what}: a later session of the run began at or before their steps."
        case "replaced":
            return f"{reader} drops {what}: their tag has a later value at the same step or a smaller one."
        case "not float32":
            return f"{reader} shows empty charts for {what}: they are scalars of another type than float32."
        case "no data class":
            return f"{reader} shows nothing of {what}: their tags do not say what class of data they hold."
        case "sampled":
            return f"{reader} leaves out {what} at random: it keeps a sample of each tag."
        case "side by side":
            return f"{reader} follows one growing file a directory: of files beside it, new values wait for a restart."
        case "descriptors":
            return f"{reader} loses the runs of about {values:,} files without a word: there are {one.why}."


def hidden_in(run: str, files: Sequence[tuple[str, Replay]]) -> list[Hidden]:
    """What TensorBoard hides of a run. `files` are those that it reads, by their names, each with how it is shown."""
    replays = [replay for _, replay in files]
    values = values_of(replays, [None] * len(replays))
    facts = _facts(replays)
    return [
        *_stopped(run, files),
        *_lost_by_order(run, values, facts),
        *_of_tags(run, values, facts),
        *_side_by_side(run, files),
    ]


def _facts(replays: Sequence[Replay]) -> dict[str, Fact]:
    """What the run's first value of each tag tells. Tables of ours are left out: TensorBoard is not to show them."""
    facts: dict[str, Fact] = {}
    for replay in replays:
        for tag, fact in replay.tags.items():
            if parse_tag(tag) is None:
                facts.setdefault(tag, fact)
    return facts


def _stopped(run: str, files: Sequence[tuple[str, Replay]]) -> list[Hidden]:
    found = []
    for shown, replay in files:
        stops: list[tuple[Reader, Stop | None]] = [("python", replay.python), ("server", replay.server)]
        if replay.python is not None and replay.python == replay.server:
            stops = [("both", replay.python)]
        for reader, stop in stops:
            behind = 0 if stop is None else len(replay.tag) - stop.values
            if stop is not None and behind:
                names = list(replay.tags)
                tags = tuple(dict.fromkeys(names[number] for number in replay.tag[stop.values :].tolist()))
                found.append(Hidden("behind damage", reader, run, tags, behind, shown, stop.offset, stop.why))
        if replay.kills_python is not None:
            found.append(Hidden("ends loading", "python", run, file=shown, offset=replay.kills_python))
    return found


def _lost_by_order(run: str, values: Values, facts: dict[str, Fact]) -> list[Hidden]:
    python, server = kept_by_python(values), kept_by_server(values)
    lost: list[tuple[Kind, Reader, Array]] = [
        ("overwritten", "both", ~python & ~server),
        ("purged", "python", ~python & server),
        ("replaced", "server", python & ~server),
    ]
    found = []
    for kind, reader, which in lost:
        counts = {tag: count for tag, count in count_by_tag(values, which).items() if tag in facts}
        if counts:
            found.append(Hidden(kind, reader, run, tuple(counts), sum(counts.values())))
    return found


def _of_tags(run: str, values: Values, facts: dict[str, Fact]) -> list[Hidden]:
    counts = count_by_tag(values, values.step == values.step)
    found = []

    def add(kind: Kind, reader: Reader, hidden: Callable[[str, Fact], int]) -> None:
        lost = {tag: count for tag, fact in facts.items() if (count := hidden(tag, fact)) > 0}
        if lost:
            found.append(Hidden(kind, reader, run, tuple(lost), sum(lost.values())))

    add("not float32", "server", lambda tag, fact: counts[tag] if fact.is_wide_scalar else 0)
    add("no data class", "both", lambda tag, fact: counts[tag] if fact.needs_class else 0)
    add("sampled", "python", lambda tag, fact: counts[tag] - fact.most_in_python)
    add("sampled", "server", lambda tag, fact: counts[tag] - fact.most_in_server)
    return found


def _side_by_side(run: str, files: Sequence[tuple[str, Replay]]) -> list[Hidden]:
    """Files that were still written to when the next one by name had begun: the Python loader has moved on by then."""
    found = []
    for number, (shown, replay) in enumerate(files):
        later = [other.first_wall for _, other in files[number + 1 :]]
        if later and replay.last_wall > min(later):
            found.append(Hidden("side by side", "python", run, tuple(replay.tags), file=shown))
    return found


def short_of_descriptors(files: int, most: int) -> list[Hidden]:
    """Runs go missing where the data server, which keeps every file open, may open fewer than there are."""
    if files <= most:
        return []
    why = f"{files:,} event files, and a process started here can hold about {most:,} open"
    return [Hidden("descriptors", "server", None, values=files - most, why=why)]
