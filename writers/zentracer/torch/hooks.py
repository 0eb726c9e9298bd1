"""Connects tracers with PyTorch: hooks on the model and its optimizers, and seams in gradient clipping and scaling."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.nn.utils import clip_grad
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle


class Listener(Protocol):
    """What a tracer does when PyTorch calls. Each is called under its guard."""

    def on_forward(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A watched module is about to run."""

    def on_step_begin(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An optimizer is about to make its update."""

    def on_step_end(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """It has made it."""

    def on_clip(self, gradients: Sequence[Tensor], norm_type: float, total: Tensor) -> None:
        """`clip_grad_norm_` knows the norm and is about to scale."""

    def on_scaler_begin(self, scaler: GradScaler, optimizer: Optimizer) -> None:
        """A gradient scaler is about to step an optimizer, or to leave that out."""

    def on_scaler_end(self, scaler: GradScaler, optimizer: Optimizer) -> None:
        """It did either."""

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Run one of the above without ever raising."""


_listeners: dict[str, Listener] = {}


@dataclass(frozen=True)
class Hook:
    """A hook that survives pickling and copying: it holds a name only, and does nothing where no one listens to it."""

    key: str
    method: str

    def __call__(self, *args: Any) -> None:
        """Pass the call on."""
        if torch.compiler.is_compiling():
            return  # traced away, where it would break the graph
        listener = _listeners.get(self.key)
        if listener is not None:
            listener.call(getattr(listener, self.method), *args)


def listen(key: str, listener: Listener, model: nn.Module, optimizers: Sequence[Optimizer]) -> list[RemovableHandle]:
    """Hook a model and its optimizers up to `listener`, and open the seams. Undone by `stop_listening`."""
    _listeners[key] = listener
    if len(_listeners) == 1:
        _open_seams()
    handles = [
        module.register_forward_pre_hook(Hook(key, "on_forward"), with_kwargs=True)
        for module in modules_that_run(model)
    ]
    for optimizer in optimizers:
        handles.append(optimizer.register_step_pre_hook(Hook(key, "on_step_begin")))
        handles.append(optimizer.register_step_post_hook(Hook(key, "on_step_end")))
    return handles


def stop_listening(key: str, handles: Sequence[RemovableHandle]) -> None:
    """Take the hooks off again; the last listener closes the seams."""
    for handle in handles:
        handle.remove()
    if _listeners.pop(key, None) is not None and not _listeners:
        _close_seams()


def modules_that_run(model: nn.Module) -> list[nn.Module]:
    """The modules whose forward pass counts: the model, or the parts of a container that has no forward of its own."""
    if "forward" in vars(model) or type(model).forward is not nn.Module.forward:
        return [model]
    return [module for child in model.children() for module in modules_that_run(child)]


# The seams. `clip_grad_norm_` may have been imported by name, so what it calls is replaced, not the function itself;
# a scaler that skips a step calls no hook at all.

_SEAMS: tuple[tuple[Any, str, str], ...] = (
    (clip_grad, "_get_total_norm", "_total_norm"),
    (GradScaler, "step", "_step"),
)
_replaced: dict[str, Callable[..., Any]] = {}


def clipping_is_seen() -> bool:
    """Whether this PyTorch has the function through which clipping is seen."""
    return hasattr(clip_grad, "_get_total_norm")


def _total_norm(tensors: Any, norm_type: float = 2.0, *args: Any, **kwargs: Any) -> Tensor:
    gradients = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    total: Tensor = _replaced["_get_total_norm"](gradients, norm_type, *args, **kwargs)
    for listener in list(_listeners.values()):
        listener.call(listener.on_clip, gradients, norm_type, total)
    return total


@functools.wraps(GradScaler.step)
def _step(self: GradScaler, optimizer: Optimizer, *args: Any, **kwargs: Any) -> float | None:
    listeners = list(_listeners.values()) if self.is_enabled() else []
    for listener in listeners:
        listener.call(listener.on_scaler_begin, self, optimizer)
    result: float | None = _replaced["step"](self, optimizer, *args, **kwargs)
    for listener in listeners:
        listener.call(listener.on_scaler_end, self, optimizer)
    return result


def _open_seams() -> None:
    for owner, name, ours in _SEAMS:
        # What is left in place when somebody else replaced ours in the meantime stays connected.
        if hasattr(owner, name) and name not in _replaced:
            _replaced[name] = getattr(owner, name)
            setattr(owner, name, globals()[ours])


def _close_seams() -> None:
    for owner, name, ours in _SEAMS:
        if getattr(owner, name, None) is globals()[ours]:
            setattr(owner, name, _replaced.pop(name))
