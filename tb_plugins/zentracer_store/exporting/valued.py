"""Lays values that stay in the log out as rows: histograms, text, images, tensors, messages of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from zentracer_schema import FormatError, decode_message
from zentracer_store.contents.growing import Array
from zentracer_store.exporting.batches import Batches
from zentracer_store.exporting.narrow import KEYS, keys_of
from zentracer_store.exporting.plain_json import json_of
from zentracer_store.reading.blobs import blobs_of
from zentracer_store.reading.fetch import Moved
from zentracer_store.reading.histograms import histogram_of
from zentracer_store.reading.tensors import array_of, strings_of
from zentracer_store.reading.texts import text_of
from zentracer_store.runs.series import Series

BATCH_BYTES = 32 << 20
"""Of records that are held at a time."""

_BATCH_VALUES = 4096

Tell = Callable[[str], None]
"""Is told what could not be read, as a sentence."""


@dataclass(frozen=True)
class Form:
    """How values of one sort become rows: the columns, and the rows of one value."""

    fields: tuple[pa.Field, ...]
    rows: Callable[[Any], Iterable[tuple[Any, ...]]]


def valued_batches(kind: str, series: Sequence[Series], form: Form, tell: Tell) -> Batches:
    """The values of some series, by tag, then by step. What can't be read is left out and told, once a tag."""
    schema = pa.schema([*KEYS, *form.fields])

    def parts() -> Iterator[pa.Table]:
        for one in sorted(series, key=lambda one: one.tag):
            yield from _parts(one, form, schema, tell)

    return Batches(kind, schema, parts)


def _parts(series: Series, form: Form, schema: pa.Schema, tell: Tell) -> Iterator[pa.Table]:
    failed: list[str] = []
    for chosen in portions(series):
        places: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for place in chosen.tolist():
            try:
                made = list(form.rows(series.decode(place)))
            except (FormatError, Moved) as error:
                failed.append(str(error))
                continue
            places += [place] * len(made)
            rows += made
        if rows:
            columns = [
                pa.array(list(column), field.type)
                for column, field in zip(zip(*rows, strict=True), form.fields, strict=True)
            ]
            yield pa.table([*keys_of([series], [np.array(places)]), *columns], schema=schema)
    if failed:
        tell(left_out(series, failed))


def portions(series: Series) -> list[Array]:
    """The places of a series' values in the order of their steps, cut where they would take too much memory at once."""
    order = np.argsort(series.step, kind="stable")
    assert series.places is not None  # scalars are laid out elsewhere
    full = np.cumsum(series.places.length[order]) // BATCH_BYTES + np.arange(len(order)) // _BATCH_VALUES
    return np.split(order, np.flatnonzero(np.diff(full)) + 1)


def left_out(series: Series, failed: Sequence[str]) -> str:
    """The sentence for values of a series that could not be read, the reasons of which are given."""
    count = f"{len(failed):,} value{'s' if len(failed) != 1 else ''}"
    return f"{series.tag} of run {series.run}: {count} could not be read and left out. {failed[0]}"


def _histogram(value: Any) -> Iterator[tuple[Any, ...]]:
    histogram = histogram_of(value)
    yield histogram.lefts, histogram.rights, histogram.counts


def _text(value: Any) -> Iterator[tuple[Any, ...]]:
    yield from enumerate(text_of(value).reshape(-1).tolist())


def _image(value: Any) -> Iterator[tuple[Any, ...]]:
    for item, blob in enumerate(blobs_of(value, "image")):
        yield item, blob.mime, blob.width, blob.height, blob.data


def _audio(value: Any) -> Iterator[tuple[Any, ...]]:
    for item, blob in enumerate(blobs_of(value, "audio")):
        yield item, blob.mime, blob.label, blob.data


def _graph(value: Any) -> Iterator[tuple[Any, ...]]:
    """Of TensorFlow's graphs that stand in events of their own the bytes, else those of the value's strings."""
    if value.DESCRIPTOR.name == "Event":
        yield 0, getattr(value, value.WhichOneof("what"))
        return
    for item, blob in enumerate(blobs_of(value, "graph")):
        yield item, blob.data


def _tensor(value: Any) -> Iterator[tuple[Any, ...]]:
    if not value.HasField("tensor"):
        raise FormatError("The value holds no tensor.")
    if value.tensor.dtype == _STRING:
        strings = strings_of(value.tensor)
        yield "string", list(strings.shape), None, None, strings.reshape(-1).tolist()
        return
    array = array_of(value.tensor)
    yield array.dtype.name, list(array.shape), _doubles(array), _rounded(array), None


def _rounded(array: Array) -> list[Decimal] | None:
    """The entries, exactly, where doubles do not hold all of them."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < _WIDE:
        return None
    flat = array.reshape(-1)
    return [Decimal(entry) for entry in flat.tolist()] if ((flat > _EXACT) | (flat < -_EXACT)).any() else None


def _doubles(array: Array) -> Array:
    """The entries one after the other, of complex ones the real and the imaginary part."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(np.dtype(f"f{flat.dtype.itemsize // 2}"))
    return flat.astype(np.float64)


def _message(value: Any) -> Iterator[tuple[Any, ...]]:
    yield (json_of(decode_message(value.tensor)),)


_STRING = 7
_WIDE = 8
_EXACT = 1 << 53
"""Up to here, doubles hold every whole number."""

_ITEM = pa.field("item", pa.uint32())
_NUMBERS = pa.list_(pa.float64())

FORMS = {
    "histogram": Form(
        (pa.field("lefts", _NUMBERS), pa.field("rights", _NUMBERS), pa.field("counts", _NUMBERS)), _histogram
    ),
    "text": Form((_ITEM, pa.field("text", pa.string())), _text),
    "image": Form(
        (
            _ITEM,
            pa.field("mime", pa.string()),
            pa.field("width", pa.int64()),
            pa.field("height", pa.int64()),
            pa.field("data", pa.binary()),
        ),
        _image,
    ),
    "audio": Form(
        (_ITEM, pa.field("mime", pa.string()), pa.field("label", pa.string()), pa.field("data", pa.binary())), _audio
    ),
    "graph": Form((_ITEM, pa.field("data", pa.binary())), _graph),
    "tensor": Form(
        (
            pa.field("dtype", pa.string()),
            pa.field("shape", pa.list_(pa.int64())),
            pa.field("values", _NUMBERS),
            pa.field("integers", pa.list_(pa.decimal128(20, 0))),
            pa.field("strings", pa.list_(pa.binary())),
        ),
        _tensor,
    ),
    "message": Form((pa.field("message", pa.string()),), _message),
}
"""The sorts of values that stay in the log, `series.Series` of which have places instead of values."""
