"""Names the files of a run, and finds what earlier sessions left beside them."""

from __future__ import annotations

import itertools
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

import zentracer_schema as schema

DIRECTORY = "zentracer"
_NAME = re.compile(r"(?:events\.out\.tfevents|zentracer|rank_\d+)\.(\d+)\..+\.\d+\.\d+(?:\.ztrec)?")
_counter = itertools.count()
_HEAD_RECORDS = 16
_LARGEST_HEAD_BYTES = 64 << 20


@dataclass(frozen=True)
class Stem:
    """What the files have in common that a process begins together."""

    seconds: int
    host: str
    pid: int
    number: int
    rank: int = 0

    @property
    def events(self) -> str:
        """Name of the file that TensorBoard reads."""
        return f"events.out.tfevents.{self._middle}"

    @property
    def bulk(self) -> str:
        """Name of the file that TensorBoard passes over."""
        return f"{f'rank_{self.rank:04d}' if self.rank else 'zentracer'}.{self._middle}.ztrec"

    @property
    def _middle(self) -> str:
        return f"{self.seconds}.{self.host}.{self.pid}.{self.number}"


def new_stem(directory: Path, rank: int = 0) -> Stem:
    """A stem that sorts behind all files in `directory`: TensorBoard reads by name, and a resume must come last."""
    newest = max((seconds for seconds, _ in _found(directory)), default=0)
    host = re.sub(r"[^A-Za-z0-9_.-]", "_", socket.gethostname()) or "host"
    return Stem(max(int(time.time()), newest + 1), host, os.getpid(), next(_counter), rank)


def has_sessions(directory: Path) -> bool:
    """Whether somebody recorded into `directory` before."""
    return next(_found(directory), None) is not None


def latest_session(directory: Path, scope: str) -> str | None:
    """The id of the newest session of `scope` that left its record in `directory`."""
    for _, path in sorted(_found(directory), reverse=True):
        for message in _session_records(path):
            if scope in message.get("scopes", {}):
                return str(message["id"])
    return None


def _found(directory: Path) -> Iterator[tuple[int, Path]]:
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        match = _NAME.fullmatch(entry.name)
        if match:
            yield int(match[1]), Path(entry.path)


def _session_records(path: Path) -> Iterator[dict[str, Any]]:
    """Session records among the first records of a file; ends at whatever can't be read."""
    try:
        with path.open("rb") as file:
            for _ in range(_HEAD_RECORDS):
                header = file.read(schema.HEADER_BYTES)
                length = schema.parse_length(header) if len(header) == schema.HEADER_BYTES else None
                if length is None or length > _LARGEST_HEAD_BYTES:
                    return
                payload = file.read(length)
                footer = file.read(schema.FOOTER_BYTES)
                if len(footer) < schema.FOOTER_BYTES or not schema.footer_ok(payload, footer):
                    return
                for value in schema.Event.FromString(payload).summary.value:
                    tag = schema.parse_tag(value.tag)
                    if tag is not None and tag.kind == "session":
                        yield schema.decode_message(value.tensor)
    except (OSError, schema.FormatError, DecodeError):
        return
