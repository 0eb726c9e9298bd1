"""Recognizes files that are no event files, though they are named like some."""

from __future__ import annotations

_MAGIC = (
    (b"\x1f\x8b", "The file is compressed with gzip: unpack it to have it read."),
    (b"BZh", "The file is compressed with bzip2: unpack it to have it read."),
    (b"\xfd7zXZ", "The file is compressed with xz: unpack it to have it read."),
    (b"\x28\xb5\x2f\xfd", "The file is compressed with zstd: unpack it to have it read."),
    (b"PK\x03\x04", "The file is a zip archive: unpack it to have it read."),
    (b"version https://git-lfs", "The file is a pointer of Git LFS, not its content: `git lfs pull` fetches that."),
)
_TEXT = frozenset(b"\t\n\r\f") | frozenset(range(0x20, 0x7F))


def stranger(begin: bytes) -> str | None:
    """The sentence about a file that begins so, where it is known to be none of records."""
    for magic, sentence in _MAGIC:
        if begin.startswith(magic):
            return sentence
    if len(begin) >= 12 and _TEXT.issuperset(begin):
        return "The file holds text, no records of events."
    return None
