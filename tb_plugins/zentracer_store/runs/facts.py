"""Says in words what a run is: model, size, optimizer, learning rate, how it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.runs.chains import Part
from zentracer_store.runs.timeline import MOST_ENTRIES, Timeline

_MOST_RESTARTS = 3


def facts_of(chain: Sequence[Part], timeline: Timeline) -> list[tuple[str, str]]:
    """Name and value of each fact that the chain's records hold."""
    told = chain[-1].facts
    clock, pulse = latest(chain, "clock"), latest(chain, "pulse")
    facts = [("Model", _model(told, timeline)), ("Size", f"{large(_size(timeline))} parameters")]
    optimizers = _optimizers(told, timeline)
    if optimizers:
        facts.append(("Optimizer", optimizers))
    rates = [value for name, value in pulse.items() if name.startswith("learning_rate/") and np.isfinite(value)]
    if rates:
        facts.append(("Learning rate", ", ".join(dict.fromkeys(f"{rate:.4g}" for rate in rates))))
    if (interval := clock.get("interval", 0.0)) >= 1:
        facts.append(("Recorded", "every step" if interval == 1 else f"every {interval:,.0f} steps"))
    overhead = clock.get("overhead", np.nan)
    if np.isfinite(overhead):
        facts.append(("Overhead", f"{100 * overhead:.1f} % of a step"))
    restarts = [f"{part.start_step:,}" for part in chain[1:]]
    if restarts:
        which = "restart at" if len(restarts) <= _MOST_RESTARTS else "the latest restarts at"
        facts.append(("Sessions", f"{len(chain)}, {which} {', '.join(restarts[-_MOST_RESTARTS:])}"))
    if dropped := clock.get("dropped", 0.0):
        facts.append(("Dropped", f"{dropped:,.0f} records"))
    return facts


def latest(chain: Sequence[Part], kind: str) -> dict[str, float]:
    """The last value of each column of a kind's tables; of several learning rates each its own."""
    values: dict[str, float] = {}
    for part in chain:
        for segment in part.segments:
            if segment.spec.kind != kind or not segment.count:
                continue
            for column in segment.spec.columns:
                data = segment.column(column.name, segment.count - 1, segment.count)
                if data is not None and data.size:
                    values[column.name] = float(data.ravel()[-1])
    return values


def has_loss(chain: Sequence[Part]) -> bool:
    """Whether the pulse carries a loss: NaN stands where none was logged."""
    return any(bool(np.isfinite(loss).any()) for loss in _losses(chain))


def _losses(chain: Sequence[Part]) -> list[Array]:
    pulses = [segment for part in chain for segment in part.segments if segment.spec.kind == "pulse"]
    return [loss for segment in pulses if (loss := segment.column("loss", 0, segment.count)) is not None]


def _model(told: dict[str, Any], timeline: Timeline) -> str:
    tensors = f"{len(timeline.rows)} tensor{'s' if len(timeline.rows) != 1 else ''}"
    model = told.get("model")
    return f"{model}, {tensors}" if isinstance(model, str) and model else tensors


def _size(timeline: Timeline) -> int:
    return sum(min(row.size, MOST_ENTRIES) for row in timeline.rows)


def _optimizers(told: dict[str, Any], timeline: Timeline) -> str:
    kept = told.get("optimizers")
    names = []
    for name, about in (kept if isinstance(kept, dict) else {}).items():
        known = about.get("class") if isinstance(about, dict) else None
        names.append(known if isinstance(known, str) else str(name))
    return ", ".join(names or dict.fromkeys(row.optimizer for row in timeline.rows if row.optimizer))


def large(number: int) -> str:
    """A count as people say it: 12,400, from a million on 25.6 M."""
    for size, letter in ((10**9, "G"), (10**6, "M")):
        if number >= size:
            return f"{number / size:.1f} {letter}"
    return f"{number:,}"
