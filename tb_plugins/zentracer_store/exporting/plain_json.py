"""JSON that every reader takes, whatever the values."""

from __future__ import annotations

import base64
import json
import math
from decimal import Decimal
from typing import Any


def json_of(value: Any) -> str:
    """`value` as JSON: bytes as base64; what JSON can't say as "NaN", "Infinity" and "-Infinity"."""
    try:
        text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False)
    except ValueError:
        text = json.dumps(_finite(value), default=_plain, ensure_ascii=False)
    # Half a surrogate pair, which JSON may hold as an escape, is no text.
    return text if _is_text(text) else json.dumps(_finite(value), default=_plain)


def base64_of(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value)
    return base64_of(value)


def _finite(value: Any) -> Any:
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case list():
            return [_finite(one) for one in value]
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case _:
            return value


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
