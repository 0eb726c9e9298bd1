"""Lays the hyperparameters of a run out as rows, one for each setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from zentracer_schema import FormatError
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.exporting.batches import Batches
from zentracer_store.exporting.valued import Tell
from zentracer_store.reading.hparams import Hparams, Setting, hparams_of

_WHOLE = 1 << 53
"""Below this, floats hold every whole number."""

_SCHEMA = pa.schema(
    [
        pa.field("name", pa.string()),
        pa.field("value", pa.string()),
        pa.field("number", pa.float64()),
        pa.field("group", pa.string()),
        pa.field("started", pa.float64()),
        pa.field("ended", pa.float64()),
        pa.field("status", pa.string()),
    ]
)


def setting_batches(files: Sequence[FileContents], tell: Tell) -> Batches:
    """The settings of a run by name. Where files say different things, the last by name counts."""

    def parts() -> Iterator[pa.Table]:
        whole = _told(files, tell)
        rows = [
            (name, _text(value), _number(value), whole.group or None, whole.started, whole.ended, whole.status)
            for name, value in sorted(whole.settings.items())
        ]
        if rows:
            yield pa.table([list(column) for column in zip(*rows, strict=True)], schema=_SCHEMA)

    return Batches("hparams", _SCHEMA, parts)


def _told(files: Sequence[FileContents], tell: Tell) -> Hparams:
    """What all values of the run say together."""
    whole = Hparams()
    for file in files:
        for info in file.tags:
            if info.sort != "hparams":
                continue
            try:
                told = hparams_of(info.content)
            except FormatError as error:
                tell(f"{info.tag} in {file.path}: {error}")
                continue
            whole = Hparams(
                {**whole.settings, **told.settings},
                told.group or whole.group,
                told.started if told.settings and told.started is not None else whole.started,
                told.ended if told.ended is not None else whole.ended,
                told.status or whole.status,
            )
    return whole


def _text(value: Setting) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < _WHOLE:
            return str(int(value))
        case _:
            return str(value)


def _number(value: Setting) -> float | None:
    return float(value) if isinstance(value, (bool, float)) else None
