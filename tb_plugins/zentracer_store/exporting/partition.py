"""Makes directories of data files that appear whole or not at all, laid out as `key=value` folders."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

MARKER = "_export.json"
"""Stands in every export. Readers of such folders pass over names that begin with an underscore."""

LONGEST_NAME = 255
"""Bytes that file systems allow a name."""

_NULL = "__HIVE_DEFAULT_PARTITION__"
"""Stands for no value where it is the name of a folder."""

_HASH_DIGITS = 12
_MOST_OF_NAME = 200
_FRESH_S = 60.0


class Refused(Exception):
    """The export can't go where it should; the message is a sentence that says what to do."""


def partition(**keys: str) -> str:
    """The relative directory of some keys, as Hive lays it out: `kind=scalars/run=a%2Fb`."""
    return os.path.join(*(_folder(key, value) for key, value in keys.items()))


def _folder(key: str, value: str) -> str:
    # What reads Hive's layout undoes the percent signs. A value too long for a name keeps its beginning.
    name = f"{key}={_quoted(value)}"
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()[:_HASH_DIGITS]
    beginning = name[: LONGEST_NAME - _HASH_DIGITS - 1]
    return f"{re.sub('%.?$', '', beginning)}~{digest}"


def is_shortened(value: str, key: str = "run") -> bool:
    """Whether `value` is too long for the name of a folder."""
    return len(f"{key}={_quoted(value)}") > LONGEST_NAME


def _quoted(value: str) -> str:
    quoted = quote(value, safe="")
    return quoted.replace("_", "%5F") if quoted == _NULL else quoted


@contextmanager
def replacing(out: str, *, force: bool = False, keep: str | None = None) -> Iterator[Path]:
    """A directory to fill. When the block ends well it becomes `out`, and where it does not it is removed.

    So nobody ever sees half of it; what an export to `out` left that was killed is removed. With `force` it takes the
    place of an export that is there; of anything else it never does. `keep` is a directory that must not be `out` nor
    inside it.

    Raises:
        Refused: something is at `out` that must stay.
    """
    target = Path(os.path.realpath(out))
    _sweep(target)
    refuse(out, force=force, keep=keep)
    target.parent.mkdir(parents=True, exist_ok=True)
    making = _beside(target, "partial")
    try:
        making.mkdir()
        with _held(making):
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
    for above in target.parents:
        if above.exists() and not above.is_dir():
            raise Refused(f"{above} is a file, so {out} can't be in it. Give another --out.")
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


def _beside(target: Path, ending: str) -> Path:
    """A new name beside `target` that says what it belongs to."""
    return target.parent / f"{_beginning(target)}{secrets.token_hex(4)}.{ending}"


def _beginning(target: Path) -> str:
    return f".{os.fsencode(target.name)[:_MOST_OF_NAME].decode('utf-8', 'ignore')}."


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Holds a lock on a directory, which ends with the process. Gives whether nobody else does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # it is held, or the file system knows no locks
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _sweep(target: Path) -> None:
    """Undo what exports to `target` left that were killed.

    One in the making is removed, unless it is held, or so young that it may not be held yet. One that was being
    replaced comes back where nothing has taken its place.
    """
    ours = re.compile(rf"{re.escape(_beginning(target))}[0-9a-f]{{8}}\.(partial|old)")
    with suppress(OSError):
        for folder in list(target.parent.iterdir()):
            match = ours.fullmatch(folder.name)
            if match is None or folder.is_symlink() or not folder.is_dir() or not _is_of_an_export(folder):
                continue
            if match[1] == "partial":
                _remove_unless_held(folder)
            elif target.exists():
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.rename(target)


def _remove_unless_held(folder: Path) -> None:
    with _held(folder) as free:
        if free and time.time() - folder.stat().st_mtime > _FRESH_S:
            shutil.rmtree(folder, ignore_errors=True)


def _is_of_an_export(folder: Path) -> bool:
    return all(entry.name.startswith("kind=") or entry.name == MARKER for entry in folder.iterdir())


def _put(making: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        making.rename(target)  # takes the place of an empty directory
        return
    old = _beside(target, "old")
    try:
        target.rename(old)
        making.rename(target)
    finally:
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.rename(target)
