"""Reduces a matrix in groups: the rows of each module to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zentracer_store.contents.growing import Array


@dataclass(frozen=True)
class Groups:
    """Some groups, each the numbers of its members; none is empty."""

    members: tuple[Array, ...]

    @cached_property
    def lengths(self) -> Array:
        """Number of members of each group."""
        return np.array([len(member) for member in self.members])

    @cached_property
    def owner(self) -> Array:
        """Number of the group of each member; all that there are must be in one."""
        owner = np.empty(int(self.lengths.sum()), np.intp)
        for number, member in enumerate(self.members):
            owner[member] = number
        return owner

    @cached_property
    def by_size(self) -> list[tuple[Any, Array]]:
        """For each size: the groups of so many members, as an index, and their members [groups, size]."""
        same = [np.flatnonzero(self.lengths == size) for size in np.unique(self.lengths)]
        return [(index_of(group), np.stack([self.members[number] for number in group])) for group in same]

    def reduce(self, ufunc: np.ufunc, values: Array) -> Array:
        """`ufunc` over the members of each group: [members, n] to [groups, n]."""
        result = np.empty((len(self.members), values.shape[1]), values.dtype)
        for group, stacked in self.stacked(values):
            result[group] = ufunc.reduce(stacked, axis=1)
        return result

    def stacked(self, values: Array) -> Iterator[tuple[Any, Array]]:
        """For each size: the groups of so many members, as an index, and their values, [groups, size, n]."""
        for group, members in self.by_size:
            yield group, values[index_of(members.ravel())].reshape(*members.shape, values.shape[1])

    def dot(self, values: Array, weights: Array) -> Array:
        """The sum of products over each group's members: [n, members], twice or [members], to [n, groups]."""
        result = np.empty((len(values), len(self.members)), np.result_type(values, weights))
        for group, members in self.by_size:
            shape = members.shape
            pick = index_of(members.ravel())
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
