"""Names what a record is about: `zentracer/<scope>/<kind>/<hash>` and the plain scalars beside it."""

from __future__ import annotations

import re
from typing import NamedTuple

from zentracer_schema.kinds import KINDS

_SCOPE = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TABLE = re.compile(r"zentracer/([A-Za-z0-9_.-]{1,64})/([a-z]+)/([0-9a-f]{8})")
RESERVED_SCOPES = frozenset({"metrics", *KINDS})


class TableTag(NamedTuple):
    """The parts of a tag that names a table or message of ours."""

    scope: str
    kind: str
    hash: str


def check_scope(name: str) -> str:
    """`name` if it may name a watched model.

    Raises:
        ValueError: it has other characters than letters, digits, `_`, `.` and `-`, is empty, is longer than 64, or is
            `metrics` or the name of a kind.
    """
    if not isinstance(name, str) or not _SCOPE.fullmatch(name):
        raise ValueError(
            f"Scope names hold 1 to 64 letters, digits, '_', '.' or '-', got {name!r}. Choose another name=."
        )
    if name in RESERVED_SCOPES:
        raise ValueError(
            f"The scope name {name!r} is taken by the file format. Choose another name=, such as {name + '_model'!r}."
        )
    return name


def table_tag(scope: str, kind: str, spec_hash: str) -> str:
    """The tag of a table or message."""
    return f"zentracer/{scope}/{kind}/{spec_hash}"


def parse_tag(tag: str) -> TableTag | None:
    """The parts of one of our tags; None for anybody else's, and for kinds that this version does not know."""
    match = _TABLE.fullmatch(tag)
    if match is None or match[2] not in KINDS:
        return None
    return TableTag(match[1], match[2], match[3])


def scalar_tag(scope: str, name: str) -> str:
    """The tag of a plain scalar that the tracer derives, such as `update_ratio`."""
    return f"zentracer/{scope}/{name}"


def metric_tag(scope: str, name: str, split: str | None = None) -> str:
    """The tag of a plain scalar that the user logged."""
    return f"zentracer/{scope}/metrics/{split}/{name}" if split else f"zentracer/{scope}/metrics/{name}"
