"""Lays parameters of one size beside each other as the rows of a matrix, so that one operation serves them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from zentracer.torch.reduce import CHUNK, sum_dtype

_MEASURABLE = frozenset({torch.float32, torch.float64, torch.float16, torch.bfloat16})


@dataclass(frozen=True)
class Batch:
    """Parameters with the same number of entries, [m, n] in all.

    `rows` are their places in the table. `owned`: an optimizer of ours changes them. `snapshot` [m, n] keeps their
    values from before the update, None where that is not asked for; `views` are its rows in the parameters' shapes.
    `stack` is a buffer [m, n] shared with other batches, None where m is 1 and the tensor itself can be read.
    """

    rows: tuple[int, ...]
    parameters: tuple[Tensor, ...]
    owned: bool
    snapshot: Tensor | None
    views: tuple[Tensor, ...]
    stack: Tensor | None
    stack_views: tuple[Tensor, ...]

    @property
    def length(self) -> int:
        """n, the entries of each of the parameters."""
        return self.parameters[0].numel()

    @property
    def sum_dtype(self) -> torch.dtype:
        """The dtype in which its entries are summed."""
        return sum_dtype(self.parameters[0].dtype)

    def weights(self) -> Tensor:
        """The parameters as a matrix [m, n]; takes the snapshot where there is one."""
        if self.snapshot is not None:
            torch._foreach_copy_(self.views, self.parameters)
            return self.snapshot
        if self.stack is not None:
            torch._foreach_copy_(self.stack_views, self.parameters)
            return self.stack
        return self.weight(0)

    def gradients(self) -> Tensor | None:
        """Their gradients as a matrix [m, n], zeros for those without; None where there is nothing to measure."""
        if not self.owned or not any(self.has_gradients):
            return None
        if self.stack is None:
            return self.gradient(0)
        found = [p.grad for p in self.parameters]
        pairs = [(view, g) for view, g in zip(self.stack_views, found, strict=True) if g is not None and is_plain(g)]
        if len(pairs) < len(found):
            self.stack.zero_()
        torch._foreach_copy_([view for view, _ in pairs], [gradient for _, gradient in pairs])
        return self.stack

    def updates(self) -> Tensor | None:
        """What the update took away, W_before - W_after [m, n], in place of the snapshot; None without one."""
        if self.snapshot is not None:
            torch._foreach_sub_(self.views, self.parameters)
        return self.snapshot

    @property
    def has_gradients(self) -> list[bool]:
        """For each parameter whether it has a gradient that can be measured."""
        return [p.grad is not None and is_plain(p.grad) for p in self.parameters]

    def weight(self, place: int) -> Tensor:
        """One of the parameters as a matrix [1, n]."""
        return self.parameters[place].detach().reshape(1, -1)

    def gradient(self, place: int) -> Tensor:
        """The gradient of one of them as a matrix [1, n]."""
        gradient = self.parameters[place].grad
        assert gradient is not None
        return gradient.detach().reshape(1, -1)

    def update(self, place: int) -> Tensor:
        """What `updates` found for one of them, as a matrix [1, n]."""
        assert self.snapshot is not None
        return self.snapshot[place : place + 1]


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor can be reduced as it is: dense, real, and whole in this process."""
    if tensor.layout is not torch.strided or tensor.dtype not in _MEASURABLE:
        return False
    # Not a DTensor, whose sums would be collectives.
    return type(tensor) in (Tensor, nn.Parameter) or not hasattr(tensor, "placements")


def make_batches(members: Iterable[tuple[int, Tensor, bool]], *, snapshots: bool, stack_limit: int) -> list[Batch]:
    """Batches of (row, parameter, whether it is owned), all on one device.

    Parameters of at most `stack_limit` entries are put together, up to `CHUNK` entries a batch; larger ones stay alone.
    """
    alike: dict[tuple[int, torch.dtype, bool], list[tuple[int, Tensor]]] = {}
    for row, parameter, owned in members:
        alike.setdefault((parameter.numel(), sum_dtype(parameter.dtype), owned), []).append((row, parameter))
    parts = [
        (dtype, owned, part)
        for (length, dtype, owned), found in alike.items()
        for part in _cut(found, max(1, CHUNK // length) if length <= stack_limit else 1)
    ]
    sizes: dict[torch.dtype, int] = {}
    for dtype, _, part in parts:
        if len(part) > 1:
            sizes[dtype] = max(sizes.get(dtype, 0), len(part) * part[0][1].numel())
    stacks = {dtype: torch.empty(size, dtype=dtype, device=parts[0][2][0][1].device) for dtype, size in sizes.items()}
    return [_batch(part, dtype, owned, snapshots and owned, stacks) for dtype, owned, part in parts]


def _cut(found: list[tuple[int, Tensor]], size: int) -> Iterator[list[tuple[int, Tensor]]]:
    for start in range(0, len(found), size):
        yield found[start : start + size]


def _batch(
    part: list[tuple[int, Tensor]], dtype: torch.dtype, owned: bool, keep: bool, stacks: dict[torch.dtype, Tensor]
) -> Batch:
    rows, parameters = zip(*part, strict=True)
    shape = (len(part), parameters[0].numel())
    snapshot = torch.empty(shape, dtype=dtype, device=parameters[0].device) if keep else None
    stack = stacks[dtype][: shape[0] * shape[1]].view(shape) if len(part) > 1 else None
    return Batch(rows, parameters, owned, snapshot, _views(snapshot, parameters), stack, _views(stack, parameters))


def _views(matrix: Tensor | None, parameters: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    if matrix is None:
        return ()
    return tuple(row.view(parameter.shape) for row, parameter in zip(matrix.unbind(0), parameters, strict=True))
