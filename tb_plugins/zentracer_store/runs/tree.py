"""Arranges rows under their modules, and folds modules until a picture fits."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from zentracer_schema import RowSpec

_FOLDINGS = 16
"""Kept of one tree: a picture that is moved asks for the same lines again and again."""

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


class Tree:
    """The modules over some rows."""

    def __init__(self, rows: Sequence[RowSpec]) -> None:
        self._leaves = tuple(Node(row.name, (number,), leaf=True) for number, row in enumerate(rows))
        self._modules = _modules(rows)
        self._fitted = lru_cache(_FOLDINGS)(self._fit)

    def nodes(self, folded: Collection[str] = (), height: int | None = None) -> tuple[Node, ...]:
        """The lines to draw, in row order: modules in `folded` as one line, all other rows as their own.

        More than `height` lines fold further: all modules of the deepest level, then of the level above, until they
        fit or only the top level is left.
        """
        return self._fitted(frozenset(folded), height)

    def _fit(self, by_user: frozenset[str], height: int | None) -> tuple[Node, ...]:
        to_fit: frozenset[str] = frozenset()
        nodes = self._lines(by_user, to_fit)
        depth = max((module.depth for module in self._modules), default=0)
        while height is not None and len(nodes) > height and depth > 0:
            # A module of one row gains nothing by folding, and its name would be lost.
            to_fit |= {m.path for m in self._modules if m.depth == depth and len(m.rows) > 1}
            nodes = self._lines(by_user, to_fit)
            depth -= 1
        return nodes

    def _lines(self, by_user: frozenset[str], to_fit: frozenset[str]) -> tuple[Node, ...]:
        line: list[Node] = list(self._leaves)
        # Outermost first, so an outer fold wins over those inside it.
        for module in self._modules:
            if module.path in by_user or module.path in to_fit:
                free = tuple(number for number in module.rows if line[number].leaf)
                node = Node(module.path, free, leaf=False, folded_to_fit=module.path not in by_user)
                for number in free:
                    line[number] = node
        return tuple(node for number, node in enumerate(line) if node.rows[0] == number)


def _modules(rows: Sequence[RowSpec]) -> tuple[_Module, ...]:
    """Every module that has rows below it, outermost first."""
    within: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        within.setdefault(row.module, []).append(number)
    found: dict[str, tuple[int, list[int]]] = {}
    for module, numbers in within.items():
        for depth, path in enumerate(_ancestors(module), start=1):
            found.setdefault(path, (depth, []))[1].extend(numbers)
    modules = [_Module(path, depth, tuple(sorted(below))) for path, (depth, below) in found.items()]
    return tuple(sorted(modules, key=lambda module: module.depth))


def _ancestors(path: str) -> list[str]:
    """`a.b.c` and everything it is part of, outermost first."""
    if not path:
        return []
    return [path[: mark.start()] for mark in _SEPARATOR.finditer(path)] + [path]
