"""Frames payloads as records of an event file, with their checksums.

A record is `length` (u64, little-endian), the masked CRC-32C of those 8 bytes (u32), `length` bytes of payload and
the masked CRC-32C of the payload (u32): TensorFlow's TFRecord. The mask keeps a checksum of data that itself holds
checksums from degenerating: rotate right by 15 bits, add 0xA282EAD8.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from zentracer_schema import crc

HEADER_BYTES = 12
FOOTER_BYTES = 4

Bytes = bytes | bytearray | memoryview

crc32c: Callable[[Bytes], int] = crc.fastest()


def masked_crc(data: Bytes) -> int:
    """The checksum as it stands in a record."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload: Bytes) -> bytes:
    """One whole record around `payload`, ready to be written in a single write."""
    length = struct.pack("<Q", len(payload))
    return b"".join((length, struct.pack("<I", masked_crc(length)), payload, struct.pack("<I", masked_crc(payload))))


def parse_length(header: Bytes) -> int | None:
    """The payload's length from the 12 bytes of a header; None where their checksum does not match."""
    (checksum,) = struct.unpack_from("<I", header, 8)
    if masked_crc(bytes(header[:8])) != checksum:
        return None
    (length,) = struct.unpack_from("<Q", header)
    return int(length)


def footer_ok(payload: Bytes, footer: Bytes) -> bool:
    """Whether the 4 bytes after a payload are its checksum."""
    return bool(masked_crc(payload) == struct.unpack_from("<I", footer)[0])
