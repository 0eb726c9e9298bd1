"""One kind of data as Arrow tables, made some rows at a time while they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from zentracer_store.contents.growing import Array

TEXT = pa.dictionary(pa.int32(), pa.string())
"""Names that repeat from row to row."""

BATCH_ROWS = 1 << 18


@dataclass(frozen=True)
class Batches:
    """The rows of one kind of one run. `parts` makes them anew each time it is called, all with `schema`."""

    kind: str
    schema: pa.Schema
    parts: Callable[[], Iterator[pa.Table]]

    def table(self) -> pa.Table:
        """All rows in one table."""
        return pa.concat_tables([self.schema.empty_table(), *self.parts()]).unify_dictionaries()


def codes(numbers: Array, words: Sequence[str]) -> pa.Array:
    """The word that each number stands for."""
    return pa.DictionaryArray.from_arrays(pa.array(numbers.astype(np.int32)), pa.array(list(words), pa.string()))


def repeated(word: str, rows: int) -> pa.Array:
    """One word for all rows."""
    return codes(np.zeros(rows, np.int32), [word])
