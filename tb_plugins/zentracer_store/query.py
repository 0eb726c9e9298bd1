"""Answers what one picture asks: a column of a run's parameters, over steps and the module tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from zentracer_schema import ColumnSpec

from zentracer_store.cells import EVERY_NAN, Bins, Cells, bins_of, cells_of
from zentracer_store.columns import Array
from zentracer_store.distribution import distribution_of, quantiles_of
from zentracer_store.fold import ARRAYS, fold_rows, strata_of
from zentracer_store.marks import explaining
from zentracer_store.timeline import Timeline, Track
from zentracer_store.together import axis_of, getter
from zentracer_store.tree import Node, nodes_of

MOST_CELLS = 4_000_000
LARGEST_SIDE = 8192
_CELLS_AT_ONCE = 8_000_000


class QueryError(ValueError):
    """A question that has no answer; the message is a sentence for who asked."""


@dataclass(frozen=True)
class CellsQuery:
    """What to draw. Steps are half-open [start, end); None means from the first or to the end of what is recorded.

    `width` is the number of cells wanted in time, `height` the most nodes (None: no limit), `folded` module paths.
    """

    column: str
    start: float | None = None
    end: float | None = None
    width: int = 1000
    height: int | None = None
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class CellsAnswer:
    """`facts` for the header, `edges` [cells + 1], and arrays [rows, cells] in the order of `ARRAYS`."""

    facts: dict[str, Any]
    edges: Array
    arrays: dict[str, Array]


def answer_cells(timeline: Timeline, query: CellsQuery) -> CellsAnswer:
    """Reduce a timeline to the cells that `query` asks for.

    Raises:
        QueryError: there is no such column, the window is empty, or the answer would be too large.
    """
    column = timeline.column(query.column)
    if column is None:
        raise QueryError(f"No column {query.column!r} is recorded. There are {_names(timeline.columns)}.")
    edges = edges_of(timeline, query.start, query.end, query.width)
    nodes = nodes_of(timeline.rows, query.folded, query.height)
    lines = [
        (number, kind)
        for number, node in enumerate(nodes)
        for kind in (("value",) if node.leaf else ("fold", "smallest", "median", "largest"))
    ]
    cells = len(edges) - 1
    if len(lines) * cells > MOST_CELLS:
        raise QueryError(
            f"The picture would have {len(lines):,} rows of {cells:,} cells, over the limit of {MOST_CELLS:,} cells. "
            "Ask for a smaller width or height."
        )
    log = column.scale == "log"
    arrays = _fresh(len(lines), cells)
    place = {line: number for number, line in enumerate(lines)}
    seen = []
    for part in _portions(nodes, cells):
        rows = np.array([row for number in part for row in nodes[number].rows], np.intp)
        leaf = _leaf_cells(timeline, column, edges, rows)
        seen.append(leaf)
        _write(arrays, place, nodes, part, leaf, log=log)
    for number, folded in _folded_cells(timeline, column, edges, nodes):
        for name in ("mean", "min", "max"):
            arrays[name][place[number, "fold"]] = folded[name]
    facts = {
        "column": column.name,
        "scale": column.scale,
        "unit": column.unit,
        "from": float(edges[0]),
        "to": float(edges[-1]),
        "last": int(timeline.steps[-1]),
        "nodes": [
            {"path": n.path, "leaf": n.leaf, "leaves": len(n.rows), "folded_to_fit": n.folded_to_fit} for n in nodes
        ],
        "rows": [{"node": number, "stratum": kind} for number, kind in lines],
        "distribution": distribution_of(seen, log=log),
        "quantiles": quantiles_of(timeline, column.name),
        "samples": int(np.diff(np.searchsorted(timeline.steps, edges[[0, -1]]))[0]),
    }
    return CellsAnswer(facts, edges, arrays)


def edges_of(timeline: Timeline, start: float | None, end: float | None, width: int) -> Array:
    """Edges of the cells: one a sample while at most `width` samples are in the window, else `width` equal ones.

    Raises:
        QueryError: the window has no steps in it.
    """
    first = float(timeline.steps[0]) if start is None else start
    last = timeline.end if end is None else end
    if not first < last:
        raise QueryError(f"The window from step {first:g} to step {last:g} is empty. Ask for 'from' below 'to'.")
    steps = timeline.steps
    inside = steps[np.searchsorted(steps, first) : np.searchsorted(steps, last)]
    if len(inside) <= width:
        marks = [edge for track in timeline.tracks for edge in (track.gaps.start, track.gaps.end)]
        points = np.unique(np.concatenate([inside, [timeline.end], *marks]).astype(np.float64))
        edges: Array = np.concatenate([[first], points[(points > first) & (points < last)], [last]])
        if len(edges) <= 2 * width + 4:
            return edges
    return np.linspace(first, last, width + 1)


def _names(columns: Sequence[ColumnSpec]) -> str:
    return ", ".join(column.name for column in columns)


def _fresh(rows: int, cells: int) -> dict[str, Array]:
    kinds = {"mean": np.float32, "min": np.float32, "max": np.float32, "status": np.uint8}
    return {
        name: np.full((rows, cells), np.nan if name in ("mean", "min", "max") else 0, kinds.get(name, np.uint32))
        for name in ARRAYS
    }


def _portions(nodes: Sequence[Node], cells: int) -> Iterator[list[int]]:
    """Node numbers in portions whose rows, unfolded, still fit into memory."""
    portion: list[int] = []
    rows = 0
    for number, node in enumerate(nodes):
        if portion and (rows + len(node.rows)) * cells > _CELLS_AT_ONCE:
            yield portion
            portion, rows = [], 0
        portion.append(number)
        rows += len(node.rows)
    if portion:
        yield portion


def _leaf_cells(timeline: Timeline, column: ColumnSpec, edges: Array, rows: Array) -> Cells:
    """Cells [cells, rows] of the rows with these numbers."""
    at = np.full(len(timeline.rows), -1, np.intp)
    at[rows] = np.arange(len(rows))
    cells = None
    for track in timeline.tracks:
        wanted = at[track.rows] >= 0
        if not wanted.any():
            continue
        bins = bins_of(track, edges)
        part = _track_cells(track, column, bins, None if wanted.all() else np.flatnonzero(wanted))
        columns = at[track.rows[wanted]]
        if len(columns) == len(rows) and (columns == np.arange(len(rows))).all():
            return part
        cells = cells or Cells.empty(len(edges) - 1, len(rows))
        cells.put(columns, part)
    assert cells is not None  # every row is in one track
    return cells


def _track_cells(track: Track, column: ColumnSpec, bins: Bins, pick: Array | None) -> Cells:
    values = track.values(column.name, *bins.window)
    status = track.status(*bins.window)
    if values is None:
        values = np.full(status.shape, np.nan, np.float32)
    if pick is not None:
        values, status = values[:, pick], status[:, pick]
    return cells_of(values, status, bins, log=column.scale == "log", explained=explaining(column))


def _write(
    arrays: dict[str, Array],
    place: dict[tuple[int, str], int],
    nodes: Sequence[Node],
    part: Sequence[int],
    cells: Cells,
    *,
    log: bool,
) -> None:
    """Copy leaves, and the strata of folded nodes, into the answer."""
    leaf_lines, leaf_rows, at = [], [], 0
    for number in part:
        node = nodes[number]
        rows = np.arange(at, at + len(node.rows))
        at += len(node.rows)
        if node.leaf:
            leaf_lines.append(place[number, "value"])
            leaf_rows.append(rows[0])
            continue
        strata = strata_of(cells, rows, log=log)
        for stratum, values in strata.items():
            for name in ARRAYS:
                arrays[name][place[number, stratum]] = values[name]
        for name in ARRAYS[3:]:
            arrays[name][place[number, "fold"]] = strata["largest"][name]
        arrays["zeros"][place[number, "fold"]] = cells.zeros[:, rows].sum(axis=1)
    for name in ARRAYS:
        arrays[name][leaf_lines] = getattr(cells, name)[:, leaf_rows].T


def _folded_cells(
    timeline: Timeline, column: ColumnSpec, edges: Array, nodes: Sequence[Node]
) -> Iterator[tuple[int, dict[str, Array]]]:
    """Per folded node, mean, min and max of its rows folded by the column's rule at each sample."""
    home = np.empty(len(timeline.rows), np.intp)
    for number, track in enumerate(timeline.tracks):
        home[track.rows] = number
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, node in enumerate(nodes):
        if not node.leaf:
            groups.setdefault(tuple(np.unique(home[list(node.rows)]).tolist()), []).append(number)
    for tracks, numbers in groups.items():
        joined = [timeline.tracks[number] for number in tracks]
        rows = [np.array(nodes[number].rows) for number in numbers]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        sizes = np.array([timeline.rows[row].size for row in np.concatenate(rows)], np.float64)
        bins = bins_of(axis_of(joined), edges)
        get = getter(joined, np.concatenate(rows), *bins.window)
        folded = fold_rows(column, timeline.columns, get, sizes, starts)
        cells = cells_of(folded, None, bins, log=column.scale == "log", explained=EVERY_NAN)
        for place, number in enumerate(numbers):
            yield number, {name: getattr(cells, name)[:, place] for name in ("mean", "min", "max")}
