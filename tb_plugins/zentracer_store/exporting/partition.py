"""Makes directories of data files that appear whole or not at all, laid out as `key=value` folders."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

MARKER = "_export.json"
"""Stands in every export. Readers of such folders pass over names that begin with an underscore."""

LONGEST_NAME = 255
"""Bytes that file systems allow a name."""

_HASH_DIGITS = 12


class Refused(Exception):
    """The export can't go where it should; the message is a sentence that says what to do."""


def partition(**keys: str) -> str:
    """The relative directory of some keys, as Hive lays it out: `kind=scalars/run=a%2Fb`."""
    return os.path.join(*(_folder(key, value) for key, value in keys.items()))


def _folder(key: str, value: str) -> str:
    # What reads Hive's layout undoes the percent signs. A value too long for a name keeps its beginning.
    name = f"{key}={quote(value, safe='')}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()[:_HASH_DIGITS]
    beginning = name[: LONGEST_NAME - _HASH_DIGITS - 1]
    return f"{re.sub('%.?$', '', beginning)}~{digest}"


def is_shortened(value: str, key: str = "run") -> bool:
    """Whether `value` is too long for the name of a folder."""
    return len(f"{key}={quote(value, safe='')}") > LONGEST_NAME


@contextmanager
def replacing(out: str, *, force: bool = False, keep: str | None = None) -> Iterator[Path]:
    """A directory to fill. When the block ends well it becomes `out`, and where it does not it is removed.

    So nobody ever sees half of it. With `force` it takes the place of an export that is there; of anything else it
    never does. `keep` is a directory that must not be `out` nor inside it.

    Raises:
        Refused: something is at `out` that must stay.
    """
    target = Path(os.path.realpath(out))
    refuse(out, force=force, keep=keep)
    target.parent.mkdir(parents=True, exist_ok=True)
    making = target.parent / f".{target.name}.{secrets.token_hex(4)}.partial"
    making.mkdir()
    try:
        yield making
        refuse(out, force=force, keep=keep)  # it took a while: something may have come there meanwhile
        _put(making, target)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def refuse(out: str, *, force: bool, keep: str | None = None) -> None:
    """Say what keeps an export from going to `out`.

    Raises:
        Refused: something does.
    """
    target = Path(os.path.realpath(out))
    if keep is not None and Path(os.path.realpath(keep)).is_relative_to(target):
        raise Refused(f"{out} holds the logs themselves. Give another --out.")
    if not target.exists():
        return
    if not target.is_dir():
        raise Refused(f"{out} is a file. Give another --out.")
    if not any(target.iterdir()):
        return
    if not (target / MARKER).is_file():
        raise Refused(f"{out} is not empty and holds no export. Give another --out.")
    if not force:
        raise Refused(f"{out} holds an export already. Replace it with --force, or give another --out.")


def _put(making: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        making.rename(target)  # takes the place of an empty directory
        return
    old = target.parent / f".{target.name}.{secrets.token_hex(4)}.old"
    target.rename(old)
    try:
        making.rename(target)
    except OSError:
        with suppress(OSError):
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
