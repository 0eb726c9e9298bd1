"""Words the store's answers for the Weights tab. Knows nothing of HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from zentracer_store import Catalogue, Holding, Scope, SessionSpan, facts_of, has_loss

FORMAT = 1
LOOKS_AGAIN_S = 2


def runs_content(catalogue: Catalogue, *, server: str, logdir: str, problem: str | None) -> dict[str, Any]:
    """The list of runs. `problem` says why nothing at all can be read, where that is so."""
    return {
        "format": FORMAT,
        "server": server,
        "generation": catalogue.generation,
        "logdir": logdir,
        "problem": problem,
        "progress": asdict(catalogue.progress),
        "found": asdict(catalogue.counts),
        "looks_again_s": LOOKS_AGAIN_S,
        "runs": [vars(run) for run in catalogue.runs],  # asdict would copy all they hold, of thousands of runs
        "oddities": [asdict(oddity) for oddity in catalogue.oddities],
    }


def run_content(
    run: str,
    generation: int,
    scopes: tuple[Scope, ...],
    holdings: tuple[Holding, ...],
    sessions: tuple[tuple[SessionSpan, ...], ...],
) -> dict[str, Any]:
    """What is known of one run: its watched models, what else it holds, and in which sessions others wrote that."""
    return {
        "run": run,
        "generation": generation,
        "scopes": [_scope_content(scope) for scope in scopes],
        "catalogue": [asdict(holding) for holding in holdings],
        "sessions": [[_session_content(session) for session in directory] for directory in sessions],
    }


def _scope_content(scope: Scope) -> dict[str, Any]:
    timeline = scope.timeline
    return {
        "name": scope.name,
        "columns": [
            {
                "name": column.name,
                "label": column.label or column.name,
                "unit": column.unit,
                "scale": column.scale,
                "fold": column.fold,
                "healthy": column.healthy,
                "mode": column.mode,
                "error": column.error,
                "error_kind": column.error_kind,
                "since": column.since,
            }
            for column in timeline.columns
        ],
        "rows": [
            {
                "name": row.name,
                "aliases": row.aliases,
                "class": row.class_name,
                "module": row.module,
                "shape": row.shape,
                "dtype": row.dtype,
                "layout": row.layout,
                "trainable": row.trainable,
                "optimizer": row.optimizer,
                "group": row.group,
                "size": row.size,
            }
            for row in timeline.rows
        ],
        "modules": scope.modules,
        "steps": {"first": int(timeline.steps[0]), "last": int(timeline.steps[-1]), "count": len(timeline.steps)},
        "end": timeline.end,
        "planned": scope.planned,
        "sessions": [_session_content(session) for session in scope.sessions],
        "loss": has_loss(scope.chain),
        "facts": facts_of(scope.chain, timeline),
    }


def _session_content(session: SessionSpan) -> dict[str, Any]:
    lost = session.overwritten
    return {
        "id": session.id,
        "start_step": session.start_step,
        "wall": session.wall,
        "continues": session.continues,
        "first": session.first,
        "last": session.last,
        "overwritten": lost and {"from": lost.first, "to": lost.last, "samples": lost.samples},
        "offset": session.offset,
    }
