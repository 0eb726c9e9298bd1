"""Takes the numbers out of many scalar events at once, without parsing each.

The events of one tag differ in wall time, step and value only, and a writer lays them out alike: records of one length,
whose step takes as many bytes, have these at the same places. So one event of each such template is parsed, and all
whose other bytes equal its own are arrays of numbers. Anything else is left to the parser.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array
from zentracer_store.reading.records import Records
from zentracer_store.reading.wire import STEP, WALL, Place, scalar_event_of

LONGEST = 1024
"""Longer records are left to the parser, which takes longer for them than a call costs."""

FEWEST = 16
"""Records alike that are worth looking for what they share."""

_FEWEST_OF_TEMPLATE = 4
_ATTEMPTS = 8
_MOST_STEP_BYTES = 10

_FACTORS = np.random.default_rng().integers(0, 1 << 63, LONGEST // 8, np.uint64) * np.uint64(2) + np.uint64(1)
"""Odd, and unknown to whoever writes logs: nobody can make many templates fall together."""

_Key = tuple[int, int, tuple[Place, ...], bytes]

_PARSED: dict[_Key, tuple[Any, ...] | None] = {}
_MOST_PARSED = 1 << 13


@dataclass(eq=False)
class Layout:
    """Records of one length with their numbers at the same places, and the templates among them.

    `words` are the templates' bytes as u64 [templates, words], zero where the numbers lie. `numbers` are the tags of
    the values [templates, values] as the owner numbers them, -1 for a tag that is left out; `new` holds, by template,
    the values by which the owner does so.
    """

    step_bytes: int
    places: tuple[Place, ...]
    mask: Array
    new: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.words = np.empty((0, len(self.mask)), np.uint64)
        self.numbers = np.empty((0, len(self.places)), np.int64)
        self._hashes = np.empty(0, np.uint64)  # sorted, and the template of each
        self._ids = np.empty(0, np.int64)

    def hashed(self, words: Array) -> Array:
        """A number for each row of `words`, the same for rows of one template."""
        sums = np.zeros(len(words), np.uint64)
        for column, mask in enumerate(self.mask.tolist()):
            if mask:
                sums += (words[:, column] & np.uint64(mask)) * _FACTORS[column]
        return sums

    def unnumbered(self, rows: Array, templates: Array) -> list[tuple[int, int]]:
        """Templates among these whose tags have no numbers yet, each with the first of the `rows` that are of it."""
        if not self.new:
            return []
        nowhere = np.iinfo(np.int64).max
        firsts = np.full(len(self.words), nowhere)
        np.minimum.at(firsts, templates, rows)
        return [(int(firsts[template]), template) for template in self.new if firsts[template] < nowhere]

    def knows(self, hashes: Array) -> Array:
        """Whether there is a template of each hash."""
        return np.isin(hashes, self._hashes)

    def add(self, words: Array, hashes: Array, values: list[tuple[Any, ...]]) -> None:
        """Take in templates: the masked words, hash and summary values of each."""
        ids = np.arange(len(self.words), len(self.words) + len(hashes))
        self.new |= dict(zip(ids.tolist(), values, strict=True))
        self.words = np.concatenate((self.words, words))
        self.numbers = np.concatenate((self.numbers, np.full((len(ids), len(self.places)), -1)))
        hashes, ids = np.concatenate((self._hashes, hashes)), np.concatenate((self._ids, ids))
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._ids = hashes[order], ids[order]

    def match(self, words: Array, hashes: Array) -> Array:
        """The template of each row, -1 where it is of none."""
        if not len(self._hashes):
            return np.full(len(words), -1)
        places = np.searchsorted(self._hashes, hashes).clip(max=len(self._hashes) - 1)
        ids = self._ids[places]
        same = (self._hashes[places] == hashes) & ((words & self.mask) == self.words[ids]).all(axis=1)
        return np.where(same, ids, -1)


@dataclass(frozen=True)
class Found:
    """Scalar events of one layout: `rows` are their numbers among the records, `values` [rows, values of an event]."""

    layout: Layout
    rows: Array
    templates: Array
    walls: Array
    steps: Array
    values: Array


class Bulk:
    """The layouts that one file's scalar events turned out to have."""

    def __init__(self) -> None:
        self._layouts: dict[int, list[Layout]] = {}

    def find(self, records: Records) -> tuple[list[Found], Array]:
        """The scalar events among `records`, and the numbers of those that are left to the parser, rising.

        Of what is found, the owner numbers the tags (`Layout.new`) before it uses them.
        """
        if len(records) < FEWEST:
            return [], np.arange(len(records))
        raw = np.frombuffer(records.data, np.uint8)
        found = []
        taken = np.zeros(len(records), np.bool_)
        for key, rows in _groups(raw, records):
            length = key >> 4
            bytes_of = np.zeros((len(rows), -(-length // 8) * 8), np.uint8)
            bytes_of[:, :length] = np.lib.stride_tricks.sliding_window_view(raw, length)[records.starts[rows]]
            for layout, at, templates in self._match(key, length, bytes_of):
                walls = _number(bytes_of, at, WALL, "<f8")
                finite = np.isfinite(walls)
                if not finite.all():  # the others take the time of the record before them: the parser knows that
                    at, templates, walls = at[finite], templates[finite], walls[finite]
                if not len(at):
                    continue
                steps = _steps(bytes_of, at, layout.step_bytes)
                values = np.stack([_number(bytes_of, at, *place) for place in layout.places], axis=1)
                found.append(Found(layout, rows[at], templates, walls, steps, values))
                taken[rows[at]] = True
        return found, np.flatnonzero(~taken)

    def _match(self, key: int, length: int, bytes_of: Array) -> list[tuple[Layout, Array, Array]]:
        """For each layout, which rows of the records of one key are of it, and of which template."""
        words = bytes_of.view("<u8")
        left = np.arange(len(words))
        matched: dict[int, list[tuple[Array, Array]]] = {}
        layouts = self._layouts.setdefault(key, [])

        def take(layout: Layout, hashes: Array) -> Array:
            templates = layout.match(words[left], hashes)
            hit = templates >= 0
            if hit.any():
                matched.setdefault(layouts.index(layout), []).append((left[hit], templates[hit]))
            return left[~hit]

        for layout in layouts:
            if len(left):
                left = take(layout, layout.hashed(words[left]))
        for attempt in range(_ATTEMPTS):
            if len(left) < _FEWEST_OF_TEMPLATE:
                break
            example = bytes_of[left[len(left) * attempt // _ATTEMPTS], :length].tobytes()
            event = scalar_event_of(example)
            if event is None:
                continue
            layout = next((known for known in layouts if known.places == event.places), None) or _layout(event, length)
            if layout not in layouts:
                layouts.append(layout)
            hashes = layout.hashed(words[left])
            _learn(layout, bytes_of[left, :length], words[left], hashes)
            left = take(layout, hashes)
        return [
            (layouts[number], np.concatenate([at for at, _ in parts]), np.concatenate([ids for _, ids in parts]))
            for number, parts in matched.items()
        ]


def _learn(layout: Layout, bytes_of: Array, words: Array, hashes: Array) -> None:
    """Add the templates of rows that are of none so far, where enough rows are alike."""
    kinds, firsts, counts = np.unique(hashes, return_index=True, return_counts=True)
    firsts = firsts[(counts >= _FEWEST_OF_TEMPLATE) & ~layout.knows(kinds)]
    masked = words[firsts] & layout.mask
    values = [
        _values_of(layout, bytes_of[first].tobytes(), template.tobytes())
        for first, template in zip(firsts.tolist(), masked, strict=True)
    ]
    kept = np.array([parsed is not None for parsed in values], np.bool_)
    if kept.any():
        layout.add(masked[kept], hashes[firsts[kept]], [parsed for parsed in values if parsed is not None])


def _values_of(layout: Layout, example: bytes, template: bytes) -> tuple[Any, ...] | None:
    """The summary values of a template, from an example of it; None where it is laid out in another way.

    The runs of a sweep have the same templates: one that was parsed for some file is known for all.
    """
    key = (len(example), layout.step_bytes, layout.places, template)
    try:
        return _PARSED[key]
    except KeyError:
        pass
    event = scalar_event_of(example)
    values = event.values if event is not None and event.places == layout.places else None
    if len(_PARSED) >= _MOST_PARSED:
        _PARSED.clear()
    _PARSED[key] = values
    return values


def _layout(event: Any, length: int) -> Layout:
    mask = np.zeros(-(-length // 8) * 8, np.uint8)
    mask[:length] = 255
    mask[WALL : WALL + 8] = 0
    mask[STEP : STEP + event.step_bytes] = 0
    for at, dtype in event.places:
        mask[at : at + int(dtype[-1])] = 0
    return Layout(event.step_bytes, event.places, mask.view("<u8"))


def _groups(raw: Array, records: Records) -> list[tuple[int, Array]]:
    """Records that may be scalar events, by length and by how many bytes their step takes: key, and their numbers."""
    starts, lengths = records.starts, records.lengths
    rows = np.flatnonzero((lengths <= LONGEST) & (lengths > STEP))
    rows = rows[raw[starts[rows]] == 0x09]
    firsts, sizes = starts[rows], lengths[rows]
    going = raw[firsts + STEP - 1] == 0x10
    step_bytes = np.zeros(len(rows), np.int64)
    last = len(raw) - 1
    for place in range(_MOST_STEP_BYTES):
        step_bytes += going
        going &= raw[(firsts + STEP + place).clip(max=last)] >= 0x80
        if not going.any():
            break
    fits = (STEP + step_bytes < sizes) & ~going
    keys = (sizes << 4 | step_bytes)[fits]
    rows = rows[fits]
    order = np.argsort(keys, kind="stable")
    rows = rows[order]
    kinds, begins, counts = np.unique(keys[order], return_index=True, return_counts=True)
    groups = zip(kinds.tolist(), begins.tolist(), counts.tolist(), strict=True)
    return [(key, rows[begin : begin + count]) for key, begin, count in groups if count >= FEWEST]


def _number(bytes_of: Array, at: Array, place: int, dtype: str) -> Array:
    """The numbers of a dtype that lie at `place` in the rows `at`."""
    count, width = bytes_of.shape
    column: Array = np.ndarray(count, dtype, bytes_of, place, (width,))  # they are where they are, aligned or not
    return column[at].astype(np.float64)


def _steps(bytes_of: Array, at: Array, count: int) -> Array:
    steps = np.zeros(len(at), np.uint64)
    for place in range(count):
        part = bytes_of[at, STEP + place].astype(np.uint64) & np.uint64(127)
        steps |= part << np.uint64(7 * place)
    return steps.view(np.int64)
