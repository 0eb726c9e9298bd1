"""Replaces secrets in a command line before it is recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

HIDDEN = "***"
_SECRET = re.compile(r"(key|token|secret|password|passwd|passphrase|pwd|credentials?|auth|bearer)$", re.IGNORECASE)
_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s@]+@")
# name=value and "name": "value" inside an argument, as in hydra overrides, query strings and JSON.
_PAIR = re.compile(r"""([A-Za-z_][\w.-]*)(["']?\s*(?:=|:(?!//))\s*)("[^"]*"|'[^']*'|[^\s&,;}\]"']+)""")
_HEADER = re.compile(r"\b(Bearer|Basic)\s+\S+", re.IGNORECASE)


def redact(arguments: Sequence[str]) -> list[str]:
    """`arguments` of a command with the values of secrets replaced by `***`.

    Hidden are the values after names such as key, token, secret or password (`--api-key X`, `api.token=X`,
    `{"password": "X"}`), and the credentials in URLs. A name counts by its parts: `--hf_token`, but not `--tokenizer`.
    """
    clean = []
    follows = False
    for argument in arguments:
        # The value of a secret may begin with one dash; two begin the next option.
        if follows and not argument.startswith("--"):
            clean.append(HIDDEN)
            follows = False
            continue
        follows = argument.startswith("-") and "=" not in argument and _names_a_secret(argument)
        clean.append(_within(argument))
    return clean


def _names_a_secret(name: str) -> bool:
    return any(_SECRET.search(part) for part in _PARTS.split(name))


def _within(argument: str) -> str:
    argument = _URL.sub(rf"\1{HIDDEN}@", argument)
    argument = _HEADER.sub(rf"\1 {HIDDEN}", argument)
    name, equals, _ = argument.partition("=")
    if equals and re.fullmatch(r"[-+\w.]+", name) and _names_a_secret(name):
        return f"{name}={HIDDEN}"
    return _PAIR.sub(lambda m: f"{m[1]}{m[2]}{HIDDEN}" if _names_a_secret(m[1]) else m[0], argument)
