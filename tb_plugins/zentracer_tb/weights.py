"""The Weights tab: its routes, each a thin one over a function that knows nothing of HTTP."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tensorboard.plugins import base_plugin
from werkzeug import Request, Response

from zentracer_store import LARGEST_SIDE, CellsQuery, Lost, QueryError, Scope, View, answer_cells, sample_of, values_at
from zentracer_tb import http
from zentracer_tb.answers import run_content, runs_content
from zentracer_tb.http import Refused
from zentracer_tb.parts import side_by_side
from zentracer_tb.stream import Streams
from zentracer_tb.views import Views
from zentracer_tb.where import store_at, where_to_look

STATIC = Path(__file__).parent / "static"
ENTRY = "weights"
MOST_SESSIONS = 1_000_000
MOST_RUNS = 16
logger = logging.getLogger(__name__)

SERVER = secrets.token_hex(8)
"""Tells one process from the next: generations begin anew in each."""

_NOT_BUILT = """
export function render() {
  document.body.textContent =
    "The pages of ZenTracer are not built. In its repository run `npm ci && npm run build` inside frontend/, " +
    "or install a released wheel. Then reload this page.";
}
"""


class WeightsPlugin(base_plugin.TBPlugin):  # type: ignore[misc]  # tensorboard has no types
    """Shows every parameter over the steps of a run."""

    plugin_name = "zentracer_weights"

    def __init__(self, context: Any, static: Path = STATIC) -> None:
        self._static = static
        self._where = where_to_look(context)
        self._store = store_at(self._where.places)
        self._streams = Streams(self._store, SERVER)
        self._views = Views()

    def is_active(self) -> bool:
        """Always: the tab says what it looked for where it finds nothing."""
        return True

    def data_plugin_names(self) -> tuple[str, ...]:
        """The kinds of records that the tab reads."""
        return ("zentracer_parameters", "zentracer_clock", "zentracer_pulse", "zentracer_session")

    def frontend_metadata(self) -> Any:
        """Where the page's module is, under the name that carries its hash."""
        return base_plugin.FrontendMetadata(es_module_path=self._entry(), tab_name="Weights")

    def get_plugin_apps(self) -> dict[str, http.App]:
        """All routes."""
        return {
            "/runs": http.route(self._runs),
            "/run": http.route(self._recovering(self._run)),
            "/cells": http.route(self._recovering(self._cells)),
            "/at": http.route(self._recovering(self._at)),
            "/sample": http.route(self._recovering(self._sample)),
            "/steps": http.route(self._recovering(self._steps)),
            "/stream": http.route(self._streams.answer),
            "/static/*": http.route(self._serve_static),
            "/not_built.js": http.route(lambda request: http.text_answer(_NOT_BUILT, "text/javascript; charset=utf-8")),
        }

    def _entry(self) -> str:
        try:
            manifest = json.loads((self._static / "manifest.json").read_text())
        except (OSError, ValueError):
            manifest = None
        name = manifest.get(ENTRY) if isinstance(manifest, dict) else None
        built = isinstance(name, str) and (self._static / name).is_file()
        return f"/static/{name}" if built else "/not_built.js"

    def _recovering(self, handler: http.Handler) -> http.Handler:
        """`handler`, which may find that cached columns are gone: the logs still have everything."""

        def answer(request: Request) -> Response:
            try:
                return handler(request)
            except Lost as lost:
                sentences = [self._recover(run, lost) for run in request.args.getlist("run")]
                raise Refused(503, sentences[0]) from lost

        return answer

    def _recover(self, run: str, lost: Lost) -> str:
        """Have a run read again, and say so."""
        self._store.recover(run)
        return f"{lost} It is read again from its log."

    def _runs(self, request: Request) -> Response:
        self._store.ask()
        self._store.freshen()
        content = runs_content(
            self._store.catalogue(), server=SERVER, logdir=self._where.shown, problem=self._where.problem
        )
        # States change with time, without anything being read: the content itself is the only true tag.
        text = http.json_of(content)
        return http.json_answer(request, text, hashlib.sha256(text.encode()).hexdigest()[:16])

    def _run(self, request: Request) -> Response:
        run, generation, scopes = self._scopes(request)
        content = run_content(run, generation, scopes, self._store.holdings(run), self._store.sessions(run))
        return http.json_answer(request, content, _etag(generation))

    def _cells(self, request: Request) -> Response:
        query = CellsQuery(
            column=_required(request, "column"),
            start=http.number(request, "from"),
            end=http.number(request, "to"),
            width=http.whole(request, "width", 1000, LARGEST_SIDE) or 1000,
            height=http.whole(request, "height", None, LARGEST_SIDE),
            folded=tuple(unquote(path) for path in request.args.get("fold", "").split(",") if path),
            axis=request.args.get("axis") or "step",
        )
        check = self._views.watch(request)
        runs = list(dict.fromkeys(request.args.getlist("run")))
        if len(runs) > 1:
            return self._cells_of_several(request, runs, query, check)
        run, generation, scope = self._scope(request)
        if kept := http.unchanged(request, _etag(generation)):
            return kept
        answer = answer_cells(scope.timeline, query, check=check)
        header = {"run": run, "scope": scope.name, "generation": generation, "edges": "edges", **answer.facts}
        return http.binary_answer(request, header, {"edges": answer.edges, **answer.arrays}, _etag(generation))

    def _cells_of_several(
        self, request: Request, runs: Sequence[str], query: CellsQuery, check: Callable[[], None]
    ) -> Response:
        """The same window of several runs; one that has no answer says why, and hides none of the others."""
        if len(runs) > MOST_RUNS:
            raise Refused(400, f"One answer has at most {MOST_RUNS} runs, got {len(runs)}.")
        found = {run: self._scope_or_why(request, run) for run in runs}
        etag = f"{SERVER}-" + ".".join("none" if isinstance(one, str) else str(one[0]) for one in found.values())
        if kept := http.unchanged(request, etag):
            return kept
        header, arrays = side_by_side(found, query, check, self._why)
        return http.binary_answer(request, header, arrays, etag)

    def _scope_or_why(self, request: Request, run: str) -> tuple[int, Scope] | str:
        """Generation and scope of one run out of several, or why there is none."""
        try:
            _, generation, scope = self._scope(request, run)
        except Exception as error:  # a defect of ours on one run must not cost the others their answer
            return self._why(run, error)
        return generation, scope

    def _why(self, run: str, error: Exception) -> str:
        """Why one run out of several has no answer. What is lost of it is read again."""
        if isinstance(error, Lost):
            return self._recover(run, error)
        if not isinstance(error, Refused | QueryError):
            logger.error("The cells of run %s failed.", run, exc_info=error)
            return f"ZenTracer failed on this run ({type(error).__name__}); the log says more."
        return str(error)

    def _at(self, request: Request) -> Response:
        _, generation, scope = self._scope(request)
        column = _required(request, "column")
        if scope.timeline.column(column) is None:
            raise Refused(404, f"No column {column!r} is recorded in scope {scope.name!r}.")
        step, values, status = values_at(scope.timeline, column, _step(request))
        content = {"step": step, "values": [http.jsonable(value) for value in values], "status": status}
        return http.json_answer(request, content, _etag(generation))

    def _sample(self, request: Request) -> Response:
        _, generation, scope = self._scope(request)
        name = _required(request, "row")
        row = scope.timeline.row_index.get(name)
        if row is None:
            raise Refused(404, f"There is no row {name!r} in scope {scope.name!r}.")
        step = _step(request)
        sample = sample_of(scope.timeline, row, step)
        if sample is None:
            raise Refused(404, f"Nothing of {name!r} is recorded at step {step:g}.")
        values = {column: http.jsonable(value) for column, value in sample.values.items()}
        content = {"step": sample.step, "next_step": sample.next_step, "values": values, "status": sample.status}
        return http.json_answer(request, content, _etag(generation))

    def _steps(self, request: Request) -> Response:
        run, generation, scope = self._scope(request)
        timeline = scope.timeline
        arrays = {"steps": timeline.steps.astype("<f8"), "wall": timeline.walls, "session": timeline.sessions}
        header = {"run": run, "scope": scope.name, "generation": generation}
        return http.binary_answer(request, header, arrays, _etag(generation))

    def _serve_static(self, request: Request) -> Response:
        return http.static_answer(request, self._static, request.path.partition("/static/")[2])

    def _scopes(self, request: Request, run: str | None = None) -> tuple[str, int, tuple[Scope, ...]]:
        run = run or _required(request, "run")
        self._store.ask(run)
        found = self._store.scopes(run, _view(request))
        if found is None:
            raise Refused(404, f"There is no run {run!r} in {self._where.shown or 'the log directory'}.")
        return run, *found

    def _scope(self, request: Request, run: str | None = None) -> tuple[str, int, Scope]:
        """The scope that is asked for; the first one where the request names none."""
        run, generation, scopes = self._scopes(request, run)
        if not scopes:
            raise Refused(404, f"Run {run!r} has no parameter tables yet.")
        name = request.args.get("scope") or scopes[0].name
        scope = next((scope for scope in scopes if scope.name == name), None)
        if scope is None:
            names = ", ".join(scope.name for scope in scopes)
            raise Refused(404, f"Run {run!r} has no scope {name!r}. There are {names}.")
        return run, generation, scope


def _required(request: Request, name: str) -> str:
    value = request.args.get(name, "")
    if not value:
        raise Refused(400, f"The request needs {name!r}.")
    return value


def _view(request: Request) -> View:
    until = http.whole(request, "until", None, MOST_SESSIONS, least=0)
    shift = request.args.get("shift", "")
    if shift not in ("", "0", "1"):
        raise Refused(400, f"'shift' must be 0 or 1, got {shift!r}.")
    return View(until, shift == "1")


def _step(request: Request) -> float:
    step = http.number(request, "step")
    if step is None:
        raise Refused(400, "The request needs 'step'.")
    return step


def _etag(generation: int) -> str:
    return f"{SERVER}-{generation}"
