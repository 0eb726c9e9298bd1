"""Sees what one optimizer's step does to the totals: gradient norms, learning rates, scaling, skipped updates."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.linalg import vector_norm
from torch.optim import Optimizer

from zentracer.torch.batch import is_plain
from zentracer.torch.reduce import masked, norms

FEW = 1 << 18
"""Entries up to which PyTorch's own norm on a CPU is good enough for a total."""


class Watched:
    """One watched optimizer and what has been seen on the way to its coming update."""

    def __init__(self, name: str, optimizer: Optimizer, *, first: bool) -> None:
        self.name = name
        self.first = first
        self._optimizer = weakref.ref(optimizer)
        self.steps_seen = 0
        self.scaler: Any = None
        self.forget()

    def forget(self) -> None:
        """The update is over; what was seen was about it."""
        self.gradient_norm: Tensor | None = None
        self.norm_before_clip: Tensor | None = None
        self.found_inf: Any = None
        self.loss_scale: Any = None
        self.grad_scale: Tensor | None = None
        self.has_closure = False
        self.skipped = False
        self.forget_clipping()

    def forget_clipping(self) -> None:
        """A new forward pass begins: gradients that were clipped before it were not applied."""
        self.clipped: dict[int, Tensor] = {}
        self._clipped_total: Tensor | None = None

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer itself.

        Raises:
            ReferenceError: it is gone.
        """
        optimizer = self._optimizer()
        if optimizer is None:
            raise ReferenceError(f"The optimizer {self.name!r} is gone.")
        return optimizer

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Its parameter groups; none once it is gone."""
        optimizer = self._optimizer()
        return [] if optimizer is None else optimizer.param_groups

    def is_(self, optimizer: object) -> bool:
        """Whether `optimizer` is the watched one."""
        return self._optimizer() is optimizer

    def parameters(self) -> list[Tensor]:
        """All its parameters that have a gradient."""
        return [p for group in self.groups for p in group["params"] if p.grad is not None]

    def see_clipping(self, gradients: Sequence[Tensor], norm_type: float, total: Tensor, *, each: bool) -> None:
        """`clip_grad_norm_` found `total` for `gradients` and is about to scale them.

        `each` asks for the norm of every tensor. What is clipped twice keeps its first norm.
        """
        if self._clipped_total is not None:
            return
        places = {id(gradient) for gradient in gradients}
        mine = self.parameters()
        clipped = [p for p in mine if id(p.grad) in places and id(p) not in self.clipped]
        if not clipped:
            return
        whole = len(clipped) == len(mine) == len(gradients) and float(norm_type) == 2.0
        if whole:
            self._clipped_total = total
        if each or not whole:
            found = [p.grad for p in clipped if p.grad is not None]
            if all(is_plain(gradient) for gradient in found):
                norms = _finite_norms(found) if each else norms_of(found)
                self.clipped.update(zip(map(id, clipped), norms, strict=True))

    def see_gradients(self, *, closure: bool) -> None:
        """The update is about to be made: take the norm of what it will apply, and what the scaler says of it."""
        self.steps_seen += 1
        self.has_closure = closure
        self.grad_scale = getattr(self.optimizer, "grad_scale", None)
        self._see_scaler(getattr(self.optimizer, "found_inf", 0.0))
        if not closure:
            self._see_norms()
        # On the host a look is free; a device would have to be waited for.
        if isinstance(self.found_inf, Tensor) and self.found_inf.device.type == "cpu":
            self.skipped = bool(self.found_inf > 0)

    def see_skip(self) -> None:
        """The scaler found an overflow and left the update out."""
        self.skipped = True
        self._see_scaler(1.0)
        self._see_norms()

    def _see_scaler(self, found_inf: Any) -> None:
        if self.scaler is not None:
            scale = getattr(self.scaler, "_scale", None)  # get_scale() would wait for the device
            self.loss_scale = scale.clone() if isinstance(scale, Tensor) else None
            self.found_inf = found_inf

    def _see_norms(self) -> None:
        mine = self.parameters()
        gradients = [p.grad for p in mine if p.grad is not None]
        if not gradients or not all(is_plain(gradient) for gradient in gradients):
            return
        norms = norms_of(gradients)
        total = vector_norm(_together(norms))
        before = self._clipped_total
        if before is None and self.clipped:
            before = vector_norm(
                _together([self.clipped.get(id(p), norm) for p, norm in zip(mine, norms, strict=True)])
            )
        if self.grad_scale is not None:
            total = total / self.grad_scale
            before = None if before is None else before / self.grad_scale
        self.gradient_norm, self.norm_before_clip = total, before

    def learning_rates(self) -> dict[str, Any]:
        """The learning rate of each group, as `<name>/<group>`."""
        found: dict[str, Any] = {}
        for index, group in enumerate(self.groups):
            rate = group.get("lr")
            found[f"{self.name}/{index}"] = rate.detach().clone() if isinstance(rate, Tensor) else rate
        return found


def norms_of(gradients: list[Tensor]) -> list[Tensor]:
    """The L2 norm of each of `gradients`, in float32 (float64 where they are)."""
    wide = torch.float64
    if any(gradient.dtype is wide for gradient in gradients):
        return [vector_norm(g, dtype=wide if g.dtype is wide else torch.float32) for g in gradients]
    # float32 also for halves: their own sums overflow at 65,504.
    large = {i for i, g in enumerate(gradients) if g.numel() > FEW and g.device.type == "cpu"}
    if not large:
        return list(torch._foreach_norm(gradients, 2, dtype=torch.float32))
    return [
        norms(gradient.reshape(1, -1))[0].to(torch.float32)
        if place in large
        else vector_norm(gradient, dtype=torch.float32)
        for place, gradient in enumerate(gradients)
    ]


def _finite_norms(gradients: list[Tensor]) -> list[Tensor]:
    """The same over finite entries. On the host only what needs it is measured again."""
    norms = norms_of(gradients)
    for place, (gradient, norm) in enumerate(zip(gradients, norms, strict=True)):
        if gradient.device.type != "cpu":
            norms[place] = vector_norm(torch.nan_to_num(gradient, 0.0, 0.0, 0.0), dtype=norm.dtype)
        elif gradient.numel() and not 1e-12 < float(norm) < 1e15:
            norms[place] = masked(gradient.reshape(1, -1))[0, 0]
    return norms


def _together(norms: Sequence[Tensor]) -> Tensor:
    device = norms[0].device
    return torch.stack([norm.to(device) for norm in norms])
