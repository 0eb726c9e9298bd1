"""Says in words what of a run TensorBoard does not show, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Reader = Literal["python", "server", "both"]
Kind = Literal[
    "behind damage",
    "ends loading",
    "overwritten",
    "purged",
    "replaced",
    "wall time",
    "not float32",
    "another class",
    "not single",
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

RECORD = "a record that holds no event"
NAME = "a path that is not UTF-8"
"""What ends the Python loader's only thread."""


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
    "ends loading": "Move or rename that file or directory, or use the data server: nothing else loads until then.",
    "overwritten": "A later session of the training counted these steps anew. `zentracer export` keeps both, marked.",
    "purged": "Where sessions are no restarts of one training, give each a directory of its own.",
    "replaced": "Give each writer a directory of its own and log a tag once a step; `--load_fast=false` keeps them.",
    "not float32": "Log single numbers as float32, or start TensorBoard with `--load_fast=false`.",
    "wall time": "The writer has to give every event a finite wall time; `--load_fast=false` shows them.",
    "another class": "Log one class of data under a tag: a tag of its own for each.",
    "not single": "Log single numbers as scalars; the data server shows those of the tag that are.",
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
    if len(alike) == 1 and one.kind == "ends loading":
        place = f" ({one.file}{'' if one.offset is None else f', byte {one.offset:,}'})"
    elif len(alike) == 1 and one.offset is not None:
        place = f" ({one.why + ': ' if one.why else ''}{one.file}, byte {one.offset:,})"
    match one.kind:
        case "behind damage":
            return f"{reader} never shows {what}: it stops reading a file at the first damage that stops it{place}."
        case "ends loading":
            causes = " and at ".join(dict.fromkeys(each.why for each in alike))
            return f"{reader} stops loading every run, not only this one, at {causes}{place}."
        case "overwritten":
            return f"{reader} drops {what} at steps that a later session of the run wrote anew."
        case "purged":
            return f"{reader} drops {what}: a later session of the run began at or before their steps."
        case "replaced":
            return f"{reader} drops {what}: their tag has a later value at the same step or a smaller one."
        case "not float32":
            return f"{reader} leaves out {what}: of scalars it takes single numbers of type float32 only."
        case "wall time":
            return f"{reader} leaves out {what}: their wall time is infinite."
        case "another class":
            return f"{reader} leaves out {what}: they are of another class of data than their tag's first value says."
        case "not single":
            return f"{reader} shows nothing of {what}: a scalar of their tag is not a single number."
        case "no data class":
            return f"{reader} shows nothing of {what}: their tags do not say what class of data they hold."
        case "sampled":
            return f"{reader} leaves out {what} at random: it keeps a sample of each tag."
        case "side by side":
            return f"{reader} follows one growing file a directory: of files beside it, new values wait for a restart."
        case "descriptors":
            return f"{reader} loses the runs of about {values:,} files without a word: there are {one.why}."
