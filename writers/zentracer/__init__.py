"""ZenTracer shows what happens inside a network while it trains. `zentracer.torch.watch` records; TensorBoard shows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from zentracer.ambient import current_tracer
from zentracer.notice import ZenTracerWarning
from zentracer.read import read
from zentracer.tracer import Tracer

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Tracer", "ZenTracerWarning", "current_tracer", "read"]

_ADAPTERS = ("torch",)


def __getattr__(name: str) -> ModuleType:
    # Frameworks take seconds to import, so each waits until it is asked for.
    if name in _ADAPTERS:
        return importlib.import_module(f"zentracer.{name}")
    raise AttributeError(f"module 'zentracer' has no attribute {name!r}")
