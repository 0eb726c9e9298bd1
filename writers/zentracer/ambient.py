"""Knows which tracers are open in this process; the innermost is the one that code without a tracer at hand means."""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zentracer.tracer import Tracer

_open: list[Tracer] = []
_prepared = False


def enter(tracer: Tracer) -> None:
    """Make `tracer` the innermost one."""
    global _prepared
    if not _prepared:
        _prepared = True
        atexit.register(_close_all)
        os.register_at_fork(after_in_child=_open.clear)
    _open.append(tracer)


def leave(tracer: Tracer) -> None:
    """Forget `tracer`, wherever it stands."""
    if tracer in _open:
        _open.remove(tracer)


def current_tracer() -> Tracer | None:
    """The innermost open tracer, or None."""
    return _open[-1] if _open else None


def open_tracers() -> tuple[Tracer, ...]:
    """All open tracers, the outermost first."""
    return tuple(_open)


def _close_all() -> None:
    for tracer in reversed(open_tracers()):
        tracer.close()
