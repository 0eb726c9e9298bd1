"""Answers what one picture asks: a column of a run's parameters, over steps and the module tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.pictures.cells import MARKS
from zentracer_store.pictures.distribution import answer_of, quantiles_of
from zentracer_store.pictures.grid import Tile, tiles_of
from zentracer_store.pictures.kept import KEPT, Kept, key_of
from zentracer_store.pictures.picture import ARRAYS, Lines, Picture
from zentracer_store.runs.along import laid_along
from zentracer_store.runs.axis import Axis, AxisError, axis_of
from zentracer_store.runs.timeline import Timeline

MOST_CELLS = 4_000_000
LARGEST_SIDE = 8192

_WORKERS = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "zentracer_cells")
"""Tiles are worked out side by side: nearly all of it is in numpy, which lets other threads run."""


class QueryError(ValueError):
    """A question that has no answer; the message is a sentence for who asked."""


@dataclass(frozen=True)
class CellsQuery:
    """What to draw. The window is half-open [start, end); None means from the first or to the end of what is recorded.

    `width` is the number of cells wanted in time, `height` the most nodes (None: no limit), `folded` module paths.
    `axis` is one of those of `axis_of`, and what the window and the edges of cells are given in.
    """

    column: str
    start: float | None = None
    end: float | None = None
    width: int = 1000
    height: int | None = None
    folded: tuple[str, ...] = ()
    axis: str = "step"


@dataclass(frozen=True)
class CellsAnswer:
    """`facts` for the header, `edges` [cells + 1], and arrays [rows, cells] in the order of `ARRAYS`."""

    facts: dict[str, Any]
    edges: Array
    arrays: dict[str, Array]


def _nothing() -> None:
    """Somebody always waits."""


def _why(_: int, error: Exception) -> str:
    if not isinstance(error, QueryError):
        raise error
    return str(error)


def answer_several(
    timelines: Sequence[Timeline],
    query: CellsQuery,
    *,
    kept: Kept = KEPT,
    check: Callable[[], None] = _nothing,
    why: Callable[[int, Exception], str] = _why,
) -> list[CellsAnswer | str]:
    """The same window of several timelines, by default over all that any of them recorded.

    `MOST_CELLS` is for all together. One that has no answer says why, and hides none of the others: `why` words what
    was raised for the timeline at that place, or raises it to end the work for all.
    """
    bounds: list[tuple[float, float]] = []
    for timeline in timelines:
        with suppress(Exception):  # whatever it is, the answer below meets it again
            laid = laid_along(timeline, _axis_of(timeline, query.axis))
            bounds.append((float(laid.steps[0]), laid.end))
    if bounds:
        start = min(begin for begin, _ in bounds) if query.start is None else query.start
        end = max(stop for _, stop in bounds) if query.end is None else query.end
        query = replace(query, start=start, end=end)
    answers: list[CellsAnswer | str] = []
    most = MOST_CELLS
    for place, timeline in enumerate(timelines):
        try:
            answer = answer_cells(timeline, query, kept=kept, check=check, most=most)
        except Exception as error:  # a defect of ours on one run must not cost the others their answer
            answers.append(why(place, error))
            continue
        answers.append(answer)
        most = max(most - answer.arrays["mean"].size, 0)
    return answers


def answer_cells(
    timeline: Timeline,
    query: CellsQuery,
    *,
    kept: Kept = KEPT,
    check: Callable[[], None] = _nothing,
    most: int = MOST_CELLS,
) -> CellsAnswer:
    """Reduce a timeline to the cells that `query` asks for, at most `most` of them.

    `check` is called between tiles, and may raise to end the work.

    Raises:
        QueryError: there is no such column or axis, the window is empty, or the answer would be too large.
    """
    column = timeline.column(query.column)
    if column is None:
        names = ", ".join(column.name for column in timeline.columns)
        raise QueryError(f"No column {query.column!r} is recorded. There are {names}.")
    nodes = timeline.tree.nodes(query.folded, query.height)
    axis = _axis_of(timeline, query.axis)
    laid = laid_along(timeline, axis)
    start = float(laid.steps[0]) if query.start is None else query.start
    end = laid.end if query.end is None else query.end
    if not start < end:
        raise QueryError(
            f"The window from {axis.name} {start:g} to {axis.name} {end:g} is empty. Ask for 'from' below 'to'."
        )
    picture = Picture(timeline, axis, column, nodes, kept=kept, check=check)
    tiles = tiles_of(laid, start, end, query.width, most // len(picture.lines))
    cells = sum(tile.last - tile.first for tile in tiles)
    # Even cells may be one more than was asked for, where the window begins inside one.
    if len(picture.lines) * (cells - 1) > most:
        raise QueryError(
            f"The picture would have {len(picture.lines):,} rows of {cells:,} cells, over the limit of {most:,} "
            "cells. Ask for a smaller width or height."
        )
    made = list(_WORKERS.map(picture.tile, tiles))
    origins = tuple(track.origin(0, len(track.steps)) for track in timeline.tracks)
    quantiles = kept.get(key_of("quantiles", column.name, origins), lambda: quantiles_of(timeline, column.name))
    shown = [slice(tile.first, tile.last) for tile in tiles]
    facts = {
        "column": column.name,
        "scale": column.scale,
        "unit": column.unit,
        "from": start,
        "to": end,
        "last": laid.steps[-1].item(),
        "axis": {"name": axis.name, "label": axis.label, "unit": axis.unit},
        "pauses": [{"from": one.start, "to": one.end, "step": one.step, "idle_s": one.idle_s} for one in axis.pauses],
        "nodes": [
            {"path": n.path, "leaf": n.leaf, "leaves": len(n.rows), "folded_to_fit": n.folded_to_fit} for n in nodes
        ],
        "rows": [{"node": number, "stratum": kind} for number, kind in picture.lines],
        "distribution": answer_of([(lines.spread, some) for lines, some in zip(made, shown, strict=True)]),
        "quantiles": quantiles.values,
        "samples": int(np.diff(np.searchsorted(laid.steps, [start, end]))[0]),
    }
    return CellsAnswer(facts, _edges(tiles), _arrays(made, shown, (len(picture.lines), cells)))


def _axis_of(timeline: Timeline, name: str) -> Axis:
    try:
        return axis_of(timeline, name)
    except AxisError as error:
        raise QueryError(str(error)) from error


def _edges(tiles: Sequence[Tile]) -> Array:
    begins = [tile.edges[tile.first : tile.last] for tile in tiles]
    return np.concatenate([*begins, tiles[-1].edges[tiles[-1].last :][:1]])


def _arrays(made: Sequence[Lines], shown: Sequence[slice], shape: tuple[int, int]) -> dict[str, Array]:
    """The shown cells of all tiles as one array a name; those that must be equal are one and the same."""
    counts = np.min_scalar_type(max(lines.most for lines in made))
    blank = np.zeros(shape, np.uint8)
    arrays: dict[str, Array] = {}
    for name in ("min", *ARRAYS):
        found = [lines.arrays.get(name) for lines in made]
        dtype = next((array.dtype for array in found if array is not None), None)
        if dtype is None:
            arrays[name] = blank
        elif name != "min" and all(array is lines.arrays["min"] for array, lines in zip(found, made, strict=True)):
            arrays[name] = arrays["min"]
        elif name not in arrays:
            arrays[name] = np.zeros(shape, counts if name in ("count", *MARKS) else dtype)
            at = 0
            for array, some in zip(found, shown, strict=True):
                if array is not None:
                    arrays[name][:, at : at + some.stop - some.start] = array[:, some]
                at += some.stop - some.start
    return {name: arrays[name] for name in ARRAYS}
