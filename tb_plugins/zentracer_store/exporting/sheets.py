"""Writes Arrow tables to one file, part by part: Parquet, or CSV that a spreadsheet opens safely."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from zentracer_store.exporting.plain_json import base64_of, json_of

Form = Literal["parquet", "csv"]

_FORMULA = "^[=+\\-@\t\r]"
"""How a cell begins that spreadsheets take for a formula."""


class Sheet:
    """One file in the making. Close it, or use it in a `with`, or its end is missing."""

    def __init__(self, path: Path, form: Form, schema: pa.Schema) -> None:
        self.rows = 0
        self._form = form
        self._file = open(path, "wb")  # noqa: SIM115 - pyarrow itself opens no path that is not UTF-8
        if form == "parquet":
            # Without the Arrow schema beside it, every reader sees plain strings where we hold numbered ones.
            self._writer = pq.ParquetWriter(self._file, schema, compression="zstd", store_schema=False)
        else:
            options = pyarrow.csv.WriteOptions(quoting_style="needed")
            self._writer = pyarrow.csv.CSVWriter(self._file, plain(schema.empty_table()).schema, write_options=options)

    def write(self, parts: Iterable[pa.Table]) -> None:
        """Add the rows of `parts`, each as a row group of its own in Parquet."""
        for part in parts:
            self._writer.write_table(part if self._form == "parquet" else plain(part))
            self.rows += len(part)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            self._writer.close()


def plain(table: pa.Table) -> pa.Table:
    """`table` with columns that CSV can hold: lists as JSON, bytes as base64, text that is no formula.

    A text that begins like a formula gets an apostrophe before it, which spreadsheets take as "this is text".
    """
    names = [f"'{name}" if re.match(_FORMULA, name) else name for name in table.column_names]
    return pa.table([_plain(column) for column in table.columns], names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return _words(column, base64_of)
    if pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
        return _words(column, json_of)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        unsafe = pc.match_substring_regex(column, _FORMULA)
        quoted = pc.binary_join_element_wise("'", column, "")
        return pc.if_else(unsafe, quoted, column)
    return column


def _words(column: pa.ChunkedArray, word: Any) -> pa.Array:
    return pa.array([None if value is None else word(value) for value in column.to_pylist()], pa.string())
