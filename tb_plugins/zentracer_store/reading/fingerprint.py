"""Tells a file that only grew from another one that begins like it, without reading a large one whole."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field

WHOLE_BYTES = 16 << 20
"""So many bytes at the beginning of a file are all compared, of the rest only pieces."""

_PIECE_BYTES = 4 << 10
_MOST_PIECES = 256
_BLOCK = 1 << 20


@dataclass
class Fingerprint:
    """Checksums of the bytes before `end`: `first` of all at the beginning, `pieces` of those at each `stride`."""

    end: int = 0
    first: int = 0
    stride: int = WHOLE_BYTES
    pieces: list[int] = field(default_factory=list)

    def extend(self, descriptor: int, end: int) -> None:
        """Take in the bytes of the file up to `end`."""
        at = self.end
        while at < min(end, WHOLE_BYTES):
            data = os.pread(descriptor, min(_BLOCK, end - at, WHOLE_BYTES - at), at)
            if not data:
                break
            self.first = zlib.crc32(data, self.first)
            at += len(data)
        self.end = end
        while end // self.stride > _MOST_PIECES:
            self.stride *= 2
            self.pieces = self.pieces[1::2]
        for number in range(len(self.pieces) + 1, (end - _PIECE_BYTES) // self.stride + 1):
            self.pieces.append(zlib.crc32(os.pread(descriptor, _PIECE_BYTES, number * self.stride)))

    def matches(self, descriptor: int) -> bool:
        """Whether the file holds the same bytes, as far as they were taken in."""
        now = Fingerprint(stride=self.stride)
        now.extend(descriptor, self.end)
        return now == self
