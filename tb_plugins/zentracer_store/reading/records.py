"""Holds whole records of a file as slices of one buffer, so that most are never cut out one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from zentracer_store.contents.growing import Array


def _none() -> Array:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class Records:
    """Some records in file order: where each begins in the file, and where its payload lies in `data`."""

    data: bytes = b""
    offsets: Array = field(default_factory=_none)
    starts: Array = field(default_factory=_none)
    lengths: Array = field(default_factory=_none)

    @classmethod
    def of(cls, records: Iterable[tuple[int, bytes]]) -> Records:
        """Records from their offsets and payloads."""
        pairs = list(records)
        lengths = np.array([len(payload) for _, payload in pairs], np.int64)
        offsets = np.array([offset for offset, _ in pairs], np.int64)
        return cls(b"".join(payload for _, payload in pairs), offsets, np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.offsets)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Offset in the file and payload of each record."""
        for offset, start, length in zip(
            self.offsets.tolist(), self.starts.tolist(), self.lengths.tolist(), strict=True
        ):
            yield offset, self.data[start : start + length]

    @property
    def size(self) -> int:
        """Bytes of all payloads."""
        return int(self.lengths.sum())
