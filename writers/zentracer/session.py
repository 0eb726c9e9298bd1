"""Describes a session for its record: what is watched, where, and by which command."""

from __future__ import annotations

import math
import os
import platform
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

from zentracer.redact import redact


def new_session_id() -> str:
    """16 hex digits that no other session has."""
    return secrets.token_hex(8)


def session_record(
    key: str,
    *,
    continues: str | None,
    scopes: Mapping[str, Mapping[str, Any]],
    framework: str,
    rank: int,
    world_size: int,
) -> dict[str, Any]:
    """The session message. No environment, no source; secrets in the command line are replaced."""
    return {
        "id": key,
        "continues": continues,
        "started": time.time(),
        "command": redact(sys.argv),
        "python": platform.python_version(),
        "framework": framework,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "rank": rank,
        "world_size": world_size,
        "scopes": dict(scopes),
    }


def plain_value(value: object) -> Any:
    """`value` as JSON holds it: numbers, booleans, text and lists of them; anything else by its class name."""
    match value:
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case list() | tuple():
            return [plain_value(item) for item in value]
        case _:
            return type(value).__name__
