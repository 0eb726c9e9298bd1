"""Finds out from TensorBoard's flags where the event files are, and keeps one store for all tabs."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any

from zentracer_store import Place, Store, parse_places

_stores: dict[tuple[Place, ...], Store] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Where:
    """Where to look, as the user wrote it, and why nothing can be read where that is so."""

    shown: str
    places: tuple[Place, ...]
    problem: str | None = None


def where_to_look(context: Any) -> Where:
    """The places that TensorBoard was started on. `context` is a TBContext; its logdir is empty under --logdir_spec."""
    flags = context.flags
    provider: str = getattr(flags, "grpc_data_provider", "")
    if provider:
        return Where(
            provider,
            (),
            f"TensorBoard gets its data from --grpc_data_provider={provider}, but this tab reads event files itself. "
            "Start TensorBoard with --logdir on a machine that can reach them.",
        )
    logdir: str = getattr(flags, "logdir", "") or context.logdir
    spec: str = "" if logdir else getattr(flags, "logdir_spec", "") or ""
    places = parse_places(logdir, spec)
    problem = None if places else "TensorBoard was started without a log directory. Give it --logdir."
    return Where(_short(logdir) if logdir else spec, places, problem)


def store_at(places: tuple[Place, ...]) -> Store:
    """The store of these places, one for the whole process."""
    with _lock:
        if places not in _stores:
            _stores[places] = Store(places)
        return _stores[places]


def _short(path: str) -> str:
    """A path as people write it, from the home directory on."""
    if not path or "://" in path:
        return path
    whole, home = os.path.abspath(os.path.expanduser(path)), os.path.expanduser("~")
    return "~" + whole[len(home) :] if home != "/" and whole.startswith(home + os.sep) else whole
