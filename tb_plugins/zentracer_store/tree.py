"""Arranges rows under their modules, and folds modules until a picture fits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from zentracer_schema import RowSpec

_SEPARATOR = re.compile(r"[./]")


@dataclass(frozen=True)
class Node:
    """One line of the picture: a row (`leaf`), or a folded module with all rows below it."""

    path: str
    rows: tuple[int, ...]
    leaf: bool
    folded_to_fit: bool = False


@dataclass(frozen=True)
class _Module:
    path: str
    depth: int
    rows: tuple[int, ...]


def nodes_of(rows: Sequence[RowSpec], folded: Collection[str] = (), height: int | None = None) -> tuple[Node, ...]:
    """The lines to draw, in row order: modules in `folded` as one line, all other rows as their own.

    More than `height` lines fold further: all modules of the deepest level, then of the level above, until they fit or
    only the top level is left.
    """
    modules = _modules(rows)
    by_user = frozenset(folded)
    to_fit: frozenset[str] = frozenset()
    nodes = _lines(rows, modules, by_user, to_fit)
    depth = max((module.depth for module in modules), default=0)
    while height is not None and len(nodes) > height and depth > 0:
        # A module of one row gains nothing by folding, and its name would be lost.
        to_fit |= {module.path for module in modules if module.depth == depth and len(module.rows) > 1}
        nodes = _lines(rows, modules, by_user, to_fit)
        depth -= 1
    return nodes


def module_paths(rows: Sequence[RowSpec]) -> tuple[str, ...]:
    """Every module that has rows below it, outermost first, in row order."""
    return tuple(module.path for module in _modules(rows))


def _modules(rows: Sequence[RowSpec]) -> list[_Module]:
    found: dict[str, tuple[int, list[int]]] = {}
    for number, row in enumerate(rows):
        for depth, path in enumerate(_ancestors(row.module), start=1):
            found.setdefault(path, (depth, []))[1].append(number)
    return [_Module(path, depth, tuple(below)) for path, (depth, below) in found.items()]


def _ancestors(path: str) -> list[str]:
    """`a.b.c` and everything it is part of, outermost first."""
    if not path:
        return []
    return [path[: mark.start()] for mark in _SEPARATOR.finditer(path)] + [path]


def _lines(
    rows: Sequence[RowSpec], modules: Sequence[_Module], by_user: frozenset[str], to_fit: frozenset[str]
) -> tuple[Node, ...]:
    line: dict[int, Node] = {}
    # Outermost first, so an outer fold wins over those inside it.
    for module in sorted(modules, key=lambda module: module.depth):
        if module.path in by_user or module.path in to_fit:
            free = tuple(number for number in module.rows if number not in line)
            node = Node(module.path, free, leaf=False, folded_to_fit=module.path not in by_user)
            line.update(dict.fromkeys(free, node))
    nodes = []
    for number, row in enumerate(rows):
        node = line.get(number) or Node(row.name, (number,), leaf=True)
        if node.rows[0] == number:
            nodes.append(node)
    return tuple(nodes)
