"""Reads again a record whose place in its file is known: values that are kept in no column stay in the log."""

from __future__ import annotations

import os
from typing import Any

from zentracer_schema import FOOTER_BYTES, HEADER_BYTES, FormatError, footer_ok, parse_length
from zentracer_store.reading.decode import parse_event


class Moved(Exception):
    """The record is no longer where it was: the file was replaced, cut or removed. The message is a sentence."""


def read_record(path: str, offset: int, length: int) -> bytes:
    """The payload, `length` bytes, of the record that begins at `offset`.

    Raises:
        Moved: there is no such record now.
    """
    whole = HEADER_BYTES + length + FOOTER_BYTES
    try:
        # Without O_NONBLOCK, a FIFO put there since would hold us up for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if offset + whole > os.fstat(descriptor).st_size:
                raise Moved("The file is shorter than it was: the record is no longer there.")
            data = os.pread(descriptor, whole, offset)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Moved(f"The record can't be read again ({error.strerror}).") from error
    payload = data[HEADER_BYTES : HEADER_BYTES + length]
    intact = len(data) == whole and parse_length(data[:HEADER_BYTES]) == length
    if not intact or not footer_ok(payload, data[HEADER_BYTES + length :]):
        raise Moved("The file was changed: the record is no longer there.")
    return payload


def read_event(path: str, offset: int, length: int) -> Any:
    """The event in a record.

    Raises:
        Moved: there is no such record now.
    """
    try:
        return parse_event(read_record(path, offset, length))
    except FormatError as error:
        raise Moved("The file was changed: the record is no longer there.") from error


def read_value(path: str, offset: int, length: int, place: int) -> Any:
    """The summary value that stands at `place` in the event of a record.

    Raises:
        Moved: there is no such value now.
    """
    values = read_event(path, offset, length).summary.value
    if place >= len(values):
        raise Moved("The file was changed: the record is no longer there.")
    return values[place]
