"""Follows the training of one PyTorch model: what its hooks do."""

from __future__ import annotations

import os
import secrets
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

import zentracer.tracer
from zentracer.pulse import Pulse
from zentracer.schedule import Schedule
from zentracer.session import plain_value
from zentracer.torch.hooks import listen, modules_that_run, stop_listening
from zentracer.torch.names import class_name, named_modules, named_parameters
from zentracer.torch.optimizers import Watched
from zentracer.torch.sampler import Sampler
from zentracer.torch.transfer import Numbers, keep


class Tracer(zentracer.tracer.Tracer):
    """An open recording of one PyTorch model and its optimizers. Made by `watch`."""

    def __init__(
        self,
        place: zentracer.tracer.Place,
        schedule: Schedule,
        model: nn.Module,
        optimizers: Mapping[str, Optimizer],
        *,
        exact: bool,
        settings: object = None,
    ) -> None:
        super().__init__(place, schedule, keep=keep, fetch=Numbers, describe=self._facts)
        self.settings = settings
        self._model = weakref.ref(model)
        self._watched = [Watched(name, o, first=not at) for at, (name, o) in enumerate(optimizers.items())]
        self._samplers = {
            watched.name: Sampler(
                place.scope, watched, tuple(other for other in self._watched if other is not watched), exact=exact
            )
            for watched in self._watched
        }
        self._key = secrets.token_hex(8)
        self._handles: list[RemovableHandle] = []
        self._seen_before: dict[str, int] = {}  # steps that each optimizer had made before its scaler stepped it

    def watches(self, model: nn.Module, optimizers: Sequence[Optimizer] | None = None) -> bool:
        """Whether this is the model; with `optimizers`, also whether these are its optimizers."""
        if self._model() is not model:
            return False
        if optimizers is None:
            return True
        return len(optimizers) == len(self._watched) and all(
            watched.is_(optimizer) for watched, optimizer in zip(self._watched, optimizers, strict=True)
        )

    def attach(self) -> None:
        """Hook the model and its optimizers up. When the model is collected, the tracer closes."""
        model = self._model()
        assert model is not None
        self._handles = listen(self._key, self, model, [watched.optimizer for watched in self._watched])
        finalizer = weakref.finalize(model, _close_unreferenced, weakref.ref(self))
        finalizer.atexit = False

    def detach(self) -> None:
        """Take every hook off the model and its optimizers. `log` still works, for the last step."""
        stop_listening(self._key, self._handles)
        self._handles = []

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Run one of the methods below. A forked process records only if it makes updates."""
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            return  # a question to the device would spoil the graph that is being captured
        if self.pid != os.getpid():
            if function != self.on_step_begin:
                return
            self.guard.run(self.reopen)
        self.guard.run(function, *args)

    @property
    def cost_s(self) -> float:
        """Seconds that recording took so far: CPU time of both threads, and what full samples took on a GPU."""
        return super().cost_s + sum(sampler.device_s for sampler in self._samplers.values())

    # What PyTorch calls, by way of the hooks.

    def on_forward(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A forward pass; counted in train mode, where gradients are asked for."""
        model = self._model()
        if model is None or not (module.training and torch.is_grad_enabled()):
            return
        # A copy of the model (an average of it, say) has copies of its hooks.
        if not any(module is own for own in modules_that_run(model)):
            return
        first = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x.dim()), None)
        self.forward_began(0 if first is None else first.shape[0])
        for watched in self._watched:
            watched.forget_clipping()

    def on_step_begin(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An update begins."""
        watched = self._find(optimizer)
        if watched is None:
            return
        if watched.first:
            self.update_began()
        # args[0] is the optimizer itself.
        closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        with torch.no_grad():
            watched.see_gradients(closure=closure is not None)
            if closure is not None:
                self._tell_once(
                    "closure",
                    "step(closure) computes gradients inside the step, where they are not measured yet: "
                    "gradient columns stay empty.",
                )
            model = self._model()
            if self.sampled and not watched.skipped and model is not None:
                self._sample(watched, lambda sampler: sampler.before(model))

    def on_step_end(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An update has been made, or a fused optimizer has left it out by itself."""
        watched = self._find(optimizer)
        if watched is None:
            return
        if watched.skipped:
            self._skip(watched)
            return
        if self.sampled:
            with torch.no_grad():
                self._sample(watched, lambda sampler: self._hold(watched, sampler))
        if watched.first:
            self.update_ended(self._pulse(watched))
        watched.forget()

    def on_clip(self, gradients: Sequence[Tensor], norm_type: float, total: Tensor) -> None:
        """Gradients are about to be clipped."""
        for watched in self._watched:
            with torch.no_grad():
                watched.see_clipping(gradients, norm_type, total, each=self.sampled)

    def on_scaler_begin(self, scaler: GradScaler, optimizer: Optimizer) -> None:
        """A scaler steps an optimizer, if it finds no overflow."""
        watched = self._find(optimizer)
        if watched is not None:
            watched.scaler = scaler
            self._seen_before[watched.name] = watched.steps_seen

    def on_scaler_end(self, scaler: GradScaler, optimizer: Optimizer) -> None:
        """It has found one if no hook was called."""
        watched = self._find(optimizer)
        if watched is None:
            return
        if watched.steps_seen == self._seen_before.get(watched.name):
            with torch.no_grad():
                watched.see_skip()
            self._skip(watched)
        watched.scaler = None

    # Inside.

    def _find(self, optimizer: Optimizer) -> Watched | None:
        return next((watched for watched in self._watched if watched.is_(optimizer)), None)

    def _skip(self, watched: Watched) -> None:
        if watched.first:
            self.update_skipped(self._pulse(watched))
        else:
            self.other_update_skipped()
        watched.forget()

    def _pulse(self, watched: Watched) -> Pulse:
        rates: dict[str, Any] = {}
        for each in self._watched:
            rates |= each.learning_rates()
        return Pulse(
            watched.gradient_norm,
            watched.norm_before_clip,
            watched.found_inf,
            watched.loss_scale,
            self.step_seconds,
            rates,
        )

    def _hold(self, watched: Watched, sampler: Sampler) -> None:
        made = sampler.after(self.step, time.time())
        if made is not None:
            self.hold(f"parameters of {watched.name}", *made)

    def _sample(self, watched: Watched, take: Callable[[Sampler], None]) -> None:
        """Let the sampler of an optimizer work. Where memory runs out it goes on with less, or not at all."""
        sampler = self._samplers.get(watched.name)
        if sampler is None:
            return
        try:
            take(sampler)
        except (MemoryError, RuntimeError) as error:
            # Devices have an error of their own for this, which is a RuntimeError; a CPU has only the words.
            words = ("out of memory", "can't allocate memory")
            if isinstance(error, RuntimeError) and not any(word in str(error) for word in words):
                raise
            if sampler.keeps_weights:
                sampler.drop_buffers()
                what = "Updates are not measured from here on: that took a copy of the weights."
            else:
                del self._samplers[watched.name]
                what = "Parameters are not measured from here on."
            self._tell_once(what, f"Memory ran out while sampling {watched.name}. {what} The pulse goes on.")

    def _facts(self) -> dict[str, Any]:
        """What the session record says of the model."""
        model = self._model()
        assert model is not None
        parameters = named_parameters(model)
        return {
            "model": class_name(model),
            "parameters": sum(named.parameter.numel() for named in parameters),
            "tensors": len(parameters),
            "modules": named_modules(model),
            "optimizers": {
                watched.name: {
                    "class": type(watched.optimizer).__name__,
                    "settings": {key: plain_value(value) for key, value in watched.optimizer.defaults.items()},
                }
                for watched in self._watched
            },
        }


def _close_unreferenced(reference: weakref.ref[Tracer]) -> None:
    """The model is gone; a garbage collection may run this anywhere, so nothing waits here."""
    tracer = reference()
    if tracer is not None:
        tracer.abandon()
