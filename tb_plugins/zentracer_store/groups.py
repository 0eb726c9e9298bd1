"""Reduces columns of a matrix in groups: the rows of each module to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zentracer_store.growing import Array

_FEW = 16
"""Groups of up to so many columns are quicker done column by column than by `reduceat`, which costs per group."""


@dataclass(frozen=True)
class Groups:
    """Some groups, each the numbers of its columns; none is empty."""

    members: tuple[Array, ...]

    @cached_property
    def lengths(self) -> Array:
        """Number of columns of each group."""
        return np.array([len(member) for member in self.members])

    @cached_property
    def owner(self) -> Array:
        """Number of the group of each column; every column must be in one."""
        owner = np.empty(int(self.lengths.sum()), np.intp)
        for number, member in enumerate(self.members):
            owner[member] = number
        return owner

    @cached_property
    def first(self) -> Any:
        """The first column of each group, as an index."""
        return index_of(np.array([member[0] for member in self.members]))

    @cached_property
    def by_size(self) -> list[tuple[Any, Array]]:
        """For each number of columns: the groups that have so many, as an index, and their columns [groups, size]."""
        same = [np.flatnonzero(self.lengths == size) for size in np.unique(self.lengths)]
        return [(index_of(group), np.stack([self.members[number] for number in group])) for group in same]

    @cached_property
    def _plan(self) -> list[tuple[Any, int, list[Any]]]:
        """Per size: the groups, the size, and the columns one by one, or all together where there are many."""
        plan = []
        for group, columns in self.by_size:
            size = columns.shape[1]
            picks = columns.T if size <= _FEW else [columns.ravel()]
            plan.append((group, size, [index_of(pick) for pick in picks]))
        return plan

    def reduce(self, ufunc: np.ufunc, values: Array) -> Array:
        """`ufunc` over the columns of each group: [n, columns] to [n, groups]."""
        result = np.empty((len(values), len(self.members)), values.dtype)
        for group, size, picks in self._plan:
            if size > _FEW:
                taken = values[:, picks[0]]
                result[:, group] = ufunc.reduceat(taken, np.arange(0, taken.shape[1], size), axis=1)
                continue
            total = np.array(values[:, picks[0]])
            for pick in picks[1:]:
                ufunc(total, values[:, pick], out=total)
            result[:, group] = total
        return result

    def dot(self, values: Array, weights: Array) -> Array:
        """The sum of products over the columns of each group: [n, columns], twice or [columns], to [n, groups]."""
        result = np.empty((len(values), len(self.members)), np.result_type(values, weights))
        for group, columns in self.by_size:
            shape = (len(columns), columns.shape[1])
            pick = index_of(columns.ravel())
            taken = values[:, pick].reshape(-1, *shape)
            other = weights[pick].reshape(shape) if weights.ndim == 1 else weights[:, pick].reshape(-1, *shape)
            result[:, group] = np.einsum("ngc,gc->ng" if weights.ndim == 1 else "ngc,ngc->ng", taken, other)
        return result


def index_of(numbers: Array | Sequence[int]) -> Any:
    """Numbers as a slice where they are evenly spaced, which numpy copies many times faster; else as they are."""
    numbers = np.asarray(numbers, np.intp)
    if not len(numbers):
        return numbers
    step = int(numbers[1] - numbers[0]) if len(numbers) > 1 else 1
    if step > 0 and (np.diff(numbers) == step).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1, step)
    return numbers
