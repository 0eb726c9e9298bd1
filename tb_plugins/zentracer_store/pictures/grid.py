"""Divides an axis into cells that stay where they are while a picture is moved and grows.

Their edges are the samples, or multiples of a power of two; never those of the window. Tiles are fixed numbers of them,
so that what was worked out of a tile serves every window that touches it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.runs.timeline import Timeline

TILE = 128
"""Cells of a tile, or samples where each has a cell."""


@dataclass(frozen=True)
class Tile:
    """Some cells, of which a window shows `first` to `last` (exclusive).

    `width` is that of each cell where they are multiples of it, of which this is tile `number`; None where the samples
    give the edges.
    """

    edges: Array
    first: int
    last: int
    width: float | None = None
    number: int = 0


def tiles_of(timeline: Timeline, start: float, end: float, width: int, most: int) -> list[Tile]:
    """The tiles of a window [start, end): a cell for each sample while at most `width` are there, else even cells.

    Nor may there be over `most` cells of samples, of which gaps may make many more than there are samples.

    With one cell a sample, gaps and pauses have cells of their own, and so has what lies before the first or after the
    last. Of even cells there are at most `width` + 1, and over half as many.
    """
    inside = np.searchsorted(timeline.steps, [start, end])
    if inside[1] - inside[0] <= width:
        tiles = _by_sample(timeline, start, end)
        if sum(tile.last - tile.first for tile in tiles) <= min(2 * width + 4, most):
            return tiles
    return even_tiles(start, end, width)


def even_tiles(start: float, end: float, width: int) -> list[Tile]:
    """Tiles of even cells over [start, end)."""
    each = 2.0 ** math.ceil(math.log2((end - start) / width))
    each = max(each, math.ulp(max(abs(start), abs(end))))  # narrower ones would have no edges of their own
    begin, stop = math.floor(start / each), math.ceil(end / each)
    tiles = []
    for number in range(begin // TILE, (stop - 1) // TILE + 1):
        at = number * TILE
        tiles.append(Tile(even_edges(each, number), max(begin - at, 0), min(stop - at, TILE), each, number))
    return tiles


def even_edges(width: float, number: int) -> Array:
    """The edges of tile `number` of even cells."""
    edges: Array = (np.arange(TILE + 1) + number * TILE) * width
    return edges


def _by_sample(timeline: Timeline, start: float, end: float) -> list[Tile]:
    steps = timeline.steps
    begins, ends = float(steps[0]), timeline.end
    tiles = []
    if start < begins:
        tiles.append(_outside(start, min(end, begins)))
    first = max(int(np.searchsorted(steps, start, "right")) - 1, 0) // TILE
    last = (int(np.searchsorted(steps, end)) - 1) // TILE
    for number in range(first, last + 1):
        within = steps[number * TILE : (number + 1) * TILE]
        limit = float(steps[(number + 1) * TILE]) if (number + 1) * TILE < len(steps) else ends
        edges = _points(timeline, within, limit)
        lo = max(int(np.searchsorted(edges, start, "right")) - 1, 0)
        hi = min(int(np.searchsorted(edges, end)), len(edges) - 1)
        if lo < hi:
            tiles.append(Tile(edges, lo, hi))
    if end > ends:
        tiles.append(_outside(max(start, ends), end))
    return tiles


def _points(timeline: Timeline, within: Array, limit: float) -> Array:
    """The samples' steps, and where they cease to hold and gaps end among them, up to `limit`."""
    marks = [
        edge[(edge > within[0]) & (edge < limit)].astype(np.float64)
        for track in timeline.tracks
        for edge in (track.ends, track.gaps.start, track.gaps.end)
    ]
    points: Array = np.unique(np.concatenate([within.astype(np.float64), *marks, [limit]]))
    return points


def _outside(start: float, end: float) -> Tile:
    return Tile(np.array([start, end]), 0, 1)
