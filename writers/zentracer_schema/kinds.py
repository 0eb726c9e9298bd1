"""Lists the kinds of data that a run may hold, and where each is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Kind:
    """One kind of record.

    `time_keyed`: its rows carry the step inside, and the event's step counts milliseconds since the epoch.
    `bulk`: written to `.ztrec` whatever its size; the others go there only above `LARGEST_EVENT_BYTES`.
    """

    name: str
    payload: Literal["table", "message"]
    time_keyed: bool = False
    bulk: bool = False

    @property
    def plugin_name(self) -> str:
        """The summary plugin name that TensorBoard files the records under."""
        return f"zentracer_{self.name}"


KINDS = {
    kind.name: kind
    for kind in (
        Kind("pulse", "table", time_keyed=True),
        Kind("clock", "table"),
        Kind("parameters", "table"),
        Kind("activations", "table"),
        Kind("channels", "table", bulk=True),
        Kind("histograms", "table", bulk=True),
        Kind("delta", "table", bulk=True),
        Kind("capture", "table", bulk=True),
        Kind("phases", "table", time_keyed=True),
        Kind("devices", "table", time_keyed=True),
        Kind("spans", "message", time_keyed=True),
        Kind("graph", "message"),
        Kind("session", "message"),
        Kind("incident", "message", time_keyed=True),
        Kind("profile", "message"),
        Kind("snapshot", "message"),
    )
}

LARGEST_EVENT_BYTES = 64 * 1024
"""A message above this goes to `.ztrec`: TensorBoard's Python loader parses every byte of an event file."""
