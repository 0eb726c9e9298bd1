"""Describes a table: its columns, its rows, and the hash that makes equal rows an equal tag for ever."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from math import isfinite, prod
from typing import Any, Self, TypeVar

from zentracer_schema.tags import check_scope, table_tag

FORMAT = 1
"""Version of the file format. A reader skips what a newer one wrote and says so."""

FOLDS = frozenset({"none", "root_sum_squares", "root_mean_square", "sum", "min", "max", "mean_by_count", "pooled_std"})
RATIO = "ratio:"
DTYPES = ("float32", "float64", "float16", "uint8", "uint32", "int64", "int32", "uint64")


Spec = TypeVar("Spec", "ColumnSpec", "RowSpec")


class FormatError(ValueError):
    """Bytes that are not what the format says; the message is a sentence for the user."""


class NewerFormatError(FormatError):
    """Data of a later format version, which is skipped rather than guessed at."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"Written in format {version}, this version reads up to {FORMAT}: upgrade zentracer to see it."
        )
        self.version = version


@dataclass(frozen=True)
class ColumnSpec:
    """One column: what it measures and how its values combine.

    `length` is the number of entries a row holds (257 for a histogram). `mode` and `error` state how the value was
    had: `exact`, `strided <fraction>` or `sketch <floats>`, and the error to expect against a float64 computation,
    relative or absolute as `error_kind` says. `fold` makes one row of a module's rows: a member of `FOLDS`, or
    `ratio:<column>/<column>` of two columns folded by their own rules. `since` names the stretch that the value covers.
    `healthy` is the value that a colour scale is centred on.
    """

    name: str
    unit: str = ""
    dtype: str = "float32"
    length: int = 1
    scale: str = "linear"
    mode: str = "exact"
    error: float = 0.0
    error_kind: str = "relative"
    since: str = "step"
    across_ranks: str = "same"
    fold: str = "none"
    label: str = ""
    healthy: float | None = None


@dataclass(frozen=True)
class RowSpec:
    """One row: a parameter tensor, a module or a device. `shape` and `layout` are of the canonical orientation."""

    name: str
    aliases: tuple[str, ...] = ()
    class_name: str = ""
    module: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    layout: str = ""
    trainable: bool = True
    optimizer: str = ""
    group: int = 0

    @property
    def size(self) -> int:
        """Number of entries of the tensor."""
        return prod(self.shape)


@dataclass(frozen=True)
class TableSpec:
    """What a reader must know of a table. `rows` is None where their number varies, as in time-keyed kinds."""

    kind: str
    scope: str
    columns: tuple[ColumnSpec, ...]
    rows: tuple[RowSpec, ...] | None = None
    optimizer: str = ""
    format: int = FORMAT

    @cached_property
    def json(self) -> bytes:
        """UTF-8 JSON with sorted keys and no spaces; fields at their default are left out, `format` never."""
        content = _plain(self) | {"format": self.format}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        # A surrogate (a file name that was no UTF-8, say) has no UTF-8 form.
        return text.encode("utf-8", "backslashreplace")

    @cached_property
    def hash(self) -> str:
        """First 8 hex digits of the SHA-256 of `json`."""
        return hashlib.sha256(self.json).hexdigest()[:8]

    @cached_property
    def tag(self) -> str:
        """The tag that every record of this table carries."""
        return table_tag(self.scope, self.kind, self.hash)

    @cached_property
    def width(self) -> int:
        """Entries a row holds, over all columns."""
        return sum(column.length for column in self.columns)

    @cached_property
    def shared_dtype(self) -> str | None:
        """The dtype of all columns, or None where they differ."""
        dtypes = {column.dtype for column in self.columns}
        return dtypes.pop() if len(dtypes) == 1 else None

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """The spec that `json` encoded.

        Raises:
            NewerFormatError: a later version wrote it.
            FormatError: it is not a spec.
        """
        try:
            data = json.loads(content)
            version = data["format"]
            if not isinstance(version, int):
                raise TypeError(version)
            if version > FORMAT:
                raise NewerFormatError(version)
            rows = data.get("rows")
            spec = cls(
                kind=str(data["kind"]),
                scope=check_scope(data["scope"]),
                columns=tuple(_made(ColumnSpec, column) for column in data.get("columns", ())),
                rows=None if rows is None else tuple(_made(RowSpec, row) for row in rows),
                optimizer=str(data.get("optimizer", "")),
                format=version,
            )
        except FormatError:
            raise
        except (ValueError, TypeError, KeyError, RecursionError, AttributeError, OverflowError) as error:
            raise FormatError(f"The description of a table is not readable ({error}).") from error
        _check(spec)
        return spec


def _plain(value: Any) -> Any:
    """Dataclasses as dicts without the fields that hold their default."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not isinstance(value, (ColumnSpec, RowSpec, TableSpec)):
        return value
    return {
        field.name: _plain(given)
        for field in fields(value)
        if (given := getattr(value, field.name)) != field.default or field.default is MISSING
    }


def _made(cls: type[Spec], data: dict[str, Any]) -> Spec:
    """A spec from its JSON object. Fields that this version does not know are passed over, wrong types are not."""
    known: dict[str, Any] = {}
    for field in fields(cls):
        if field.name not in data:
            continue
        value = data[field.name]
        match field.default:
            case tuple():
                item = int if field.name == "shape" else str
                value = tuple(value)
                fits = all(type(part) is item for part in value)
            case float() | None:
                fits = (type(value) in (int, float) and isfinite(value)) or value is field.default
            case default:
                fits = type(value) is (str if default is MISSING else type(default))
        if not fits:
            raise TypeError(f"{field.name} = {data[field.name]!r}")
        known[field.name] = value
    return cls(**known)


def _check(spec: TableSpec) -> None:
    """Refuse what would make a reader stumble later: unknown types, sizes or rules."""
    names = {column.name for column in spec.columns}
    if len(names) != len(spec.columns):
        raise FormatError("The description of a table has two columns of one name.")
    for column in spec.columns:
        if column.dtype not in DTYPES:
            raise FormatError(f"Column {column.name!r} has the unknown dtype {column.dtype!r}.")
        if not 1 <= column.length <= 1 << 24:
            raise FormatError(f"Column {column.name!r} has the length {column.length!r}.")
        parts = column.fold.removeprefix(RATIO).split("/") if column.fold.startswith(RATIO) else []
        if column.fold not in FOLDS and not (len(parts) == 2 and set(parts) <= names):
            raise FormatError(f"Column {column.name!r} has the unknown fold rule {column.fold!r}.")
    if spec.rows is not None and any(side < 0 for row in spec.rows for side in row.shape):
        raise FormatError("The description of a table has a row of a negative size.")
