"""Writes and reads one cached file: the columns that a stretch of an event file brought, as Arrow IPC.

The file holds one record batch of one row in which every column is a list, so that columns of different lengths share
a file and any tool that knows Arrow reads it. The last column is an index of the others: where each lies and its
checksum. By it a column is read without the rest, with one `pread`. Arrow's own reader is not used: it believes every
length that a damaged file tells it, and its errors can end the process, as a mapping does that somebody truncates.
"""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from zentracer_schema.framing import crc32c
from zentracer_store.contents.growing import Array, Lost

__all__ = ["FORMAT", "Damaged", "Lost", "Stretch", "Volume", "open_volume", "read_column", "read_head", "write_volume"]

FORMAT = 1

HEAD = "zentracer.head"
INDEX = "zentracer.index"

_ALIGNMENT = 8  # of buffers in Arrow IPC files as pyarrow writes them
_LIST_BYTES = 16  # where a list of one row begins and ends
_TRAILER = struct.Struct("<II8s")  # length and checksum of the text of the index, and what the index ends with
_MAGIC = b"ZTINDEX\n"
_ARROW_END = struct.Struct("<i6s")  # behind the footer: its length
_ARROW_MAGIC = b"ARROW1"
_END_OF_STREAM = 8  # bytes between the last buffer and the footer
_LOOK_BYTES = 32 << 10
TEMPORARY = ".part"
"""What the name of a file ends with while it is written."""


class Damaged(Lost):
    """The file is there, but not as it was written: nobody will have its rows again."""


@dataclass(frozen=True)
class Stretch:
    """The rows of one column in a volume. `first` is the place of the first of them in the column, `back` how many
    bytes before the index they lie in the file."""

    first: int
    rows: int
    dtype: str
    shape: tuple[int, ...]
    crc: int
    back: int

    @property
    def size(self) -> int:
        """Bytes of the rows."""
        return int(np.dtype(self.dtype).itemsize * self.rows * np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class Volume:
    """One cached file: what the bytes `start` to `end` of the event file `log` brought, after the volume `after`.

    `index` is where in it the index begins.
    """

    path: str
    index: int
    log: str
    key: str
    after: str
    start: int
    end: int
    columns: dict[str, Stretch]

    @property
    def size(self) -> int:
        """Bytes of the rows. (The head, the index and Arrow's own description come on top.)"""
        return sum(column.size for name, column in self.columns.items() if name != HEAD)


def write_volume(
    path: str,
    *,
    log: str,
    key: str,
    after: str,
    start: int,
    end: int,
    columns: Iterable[tuple[str, int, Array]],
    head: dict[str, Any],
) -> Volume:
    """Write the file `path`, under a temporary name first. A column is (name, place of its first row, rows); without
    any rows it is only named. `head` is what else is known of the event file at `end`.

    Raises:
        OSError: the disk is full, or the directory is gone. What was written is removed.
    """
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    rows = {name: (first, np.ascontiguousarray(values)) for name, first, values in (*columns, (HEAD, 0, text))}
    index = _index({"log": log, "key": key, "after": after, "start": start, "end": end}, rows)
    temporary = path + TEMPORARY
    try:
        _write(temporary, {**{name: values for name, (_, values) in rows.items() if len(values)}, INDEX: index})
        _check(temporary)
        os.rename(temporary, path)
    except FileExistsError:  # another process's
        raise
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return open_volume(path)


def open_volume(path: str) -> Volume:
    """What a file says of itself; no column is read.

    Raises:
        Lost: it is gone, or can't be opened now.
        Damaged: it is cut, changed, or of a format that this version does not know.
    """
    with _reading(path) as descriptor:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, _LOOK_BYTES, max(size - _LOOK_BYTES, 0))
        footer, magic = _ARROW_END.unpack(tail[-_ARROW_END.size :])
        end = size - _ARROW_END.size - footer - _END_OF_STREAM
        trailer = end - _TRAILER.size
        length, checksum, mark = _TRAILER.unpack(_read(descriptor, trailer, _TRAILER.size, size, tail))
        if (magic, mark) != (_ARROW_MAGIC, _MAGIC):
            raise Damaged(f"The cached file {path} is not one of ours, or of another format.")
        begin = trailer - length
        text = _read(descriptor, begin, length, size, tail)
        if crc32c(text) != checksum:
            raise Damaged(f"The cached file {path} is damaged.")
        said = json.loads(text)
        if said.pop("format") != FORMAT:
            raise Damaged(f"The cached file {path} is not one of ours, or of another format.")
        columns = {
            name: Stretch(first, rows, dtype, tuple(shape), crc, back)
            for name, (first, rows, dtype, shape, crc, back) in said.pop("columns").items()
        }
        return Volume(path, begin, columns=columns, **said)


def read_column(volume: Volume, name: str) -> Array:
    """The rows of a column, not to be written to.

    Raises:
        Lost: the file is gone, or can't be opened now.
        Damaged: it is not as it was written.
    """
    stretch = volume.columns[name]
    with _reading(volume.path) as descriptor:
        data = os.pread(descriptor, stretch.size, volume.index - stretch.back) if stretch.rows else b""
        if len(data) != stretch.size or crc32c(data) != stretch.crc:
            raise Damaged(f"The cached file {volume.path} is damaged in the column {name}.")
        return np.frombuffer(data, stretch.dtype).reshape(stretch.rows, *stretch.shape)


def read_head(volume: Volume) -> dict[str, Any]:
    """What else was known of the event file at the end of the volume.

    Raises:
        Lost: the file is gone, or can't be opened now.
        Damaged: it is not as it was written.
    """
    head: dict[str, Any] = json.loads(read_column(volume, HEAD).tobytes())
    return head


@contextmanager
def _reading(path: str) -> Iterator[int]:
    """A descriptor of the file for the time of a `with`; whatever is wrong with the file is `Lost`."""
    try:
        # Without O_NONBLOCK, a FIFO in the place of the file would hang us.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise Lost(f"The cached file {path} is gone.") from error
    except OSError as error:
        raise Lost(f"The cached file {path} can't be read ({error.strerror}).") from error
    try:
        yield descriptor
    except OSError as error:
        raise Lost(f"The cached file {path} can't be read ({error.strerror}).") from error
    except (struct.error, ValueError) as error:
        raise Damaged(f"The cached file {path} is damaged.") from error
    finally:
        os.close(descriptor)


def _read(descriptor: int, start: int, length: int, size: int, tail: bytes) -> bytes:
    """Bytes of the file of `size` bytes, whose last are in `tail`."""
    if not 0 <= start <= start + length <= size:
        raise ValueError("The place lies outside of the file.")
    at = start - (size - len(tail))
    return tail[at : at + length] if at >= 0 else os.pread(descriptor, length, start)


def _index(about: dict[str, Any], rows: dict[str, tuple[int, Array]]) -> Array:
    """The index as the column that it is."""
    columns: dict[str, tuple[int, int, str, tuple[int, ...], int, int]] = {}
    back = _LIST_BYTES
    for name, (first, values) in reversed(rows.items()):
        back += -values.nbytes % _ALIGNMENT + values.nbytes
        columns[name] = first, len(values), values.dtype.str, values.shape[1:], crc32c(values.tobytes()), back
        back += _LIST_BYTES if len(values) else 0
    text = json.dumps({"format": FORMAT, **about, "columns": dict(reversed(columns.items()))}).encode()
    text += b" " * (-(len(text) + _TRAILER.size) % _ALIGNMENT)  # so that the trailer ends where the batch does
    return np.frombuffer(text + _TRAILER.pack(len(text), crc32c(text), _MAGIC), np.uint8)


def _write(path: str, columns: dict[str, Array]) -> None:
    import pyarrow as pa

    lists = []
    for values in columns.values():
        flat = values.reshape(-1)
        if flat.dtype.kind not in "iuf" or not flat.dtype.isnative:
            flat = flat.view(np.uint8)
        entries = pa.Array.from_buffers(pa.from_numpy_dtype(flat.dtype), len(flat), [None, pa.py_buffer(flat)])
        lists.append(pa.LargeListArray.from_arrays(pa.array([0, len(flat)], pa.int64()), entries))
    batch = pa.record_batch(lists, names=list(columns))
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    try:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
            writer.write_batch(batch)
    except OSError as error:  # without Arrow's own words around the system's
        raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from error


def _check(path: str) -> None:
    """See that columns lie where the index says: another version of pyarrow might lay them out otherwise."""
    try:
        read_head(open_volume(path))
    except Lost as error:
        raise OSError(errno.EIO, "what was written can't be read back") from error
