"""A tracer that does nothing, for when tracing is switched off."""

from __future__ import annotations

from typing import Any

from zentracer.torch.tracer import Tracer


class SilentTracer(Tracer):
    """What `watch` returns under ZENTRACER_DISABLED=1."""

    def __init__(self) -> None:
        """Nothing to hold."""
        self.session_id = None
        self.full_samples = 0

    @property
    def step(self) -> int:
        """Nothing counts."""
        return 0

    @property
    def cost_s(self) -> float:
        """Nothing costs."""
        return 0.0

    def log(self, *unnamed: Any, split: str | None = None, **values: Any) -> None:
        """Nothing."""

    def flush(self) -> bool:
        """Nothing to wait for."""
        return True

    def detach(self) -> None:
        """Nothing to take off."""

    def close(self) -> None:
        """Nothing to close."""

    @property
    def closed(self) -> bool:
        """Always."""
        return True
