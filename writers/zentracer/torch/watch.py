"""Begins to record a model: checks what it was given, settles what is in the way, opens a tracer."""

from __future__ import annotations

import errno
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

import zentracer_schema as schema
from zentracer import ambient
from zentracer.files import DIRECTORY, has_sessions
from zentracer.notice import ZenTracerWarning, print_command, warn_without_tabs
from zentracer.schedule import Schedule
from zentracer.sink import is_recording
from zentracer.torch.hooks import clipping_is_seen
from zentracer.torch.silent import SilentTracer
from zentracer.torch.tracer import Tracer
from zentracer.tracer import Place

Optimizers = Optimizer | Sequence[Optimizer] | Mapping[str, Optimizer]
RECORDED = ("parameters",)
"""Kinds whose spacing `every` can set."""


def watch(
    model: nn.Module,
    optimizer: Optimizers,
    *,
    logdir: str | os.PathLike[str],
    name: str = "model",
    start_step: int = 0,
    step: Callable[[], int] | None = None,
    every: int | Mapping[str, int] | None = None,
    budget: float = 0.02,
    mode: str | None = None,
    distributed: bool = False,
    session: bool = True,
) -> Tracer:
    """Record the training of `model` into `<logdir>/zentracer`. Nothing else in the script need change.

    `optimizer` is one, a list, or a dict of names; updates of the first one are the steps. After a resume give
    `start_step`, or a `step` callable that knows the count. Full samples are spaced so that recording costs at most
    `budget` of the time of training; `every=n` takes one each n steps instead. `session=False` leaves out the record of
    command, host and model. With ZENTRACER_DISABLED=1 in the environment nothing is done at all.

    Raises:
        TypeError: `model` is no module, `optimizer` no optimizer, or an option is of another type than it should be.
        ValueError: an option is out of range, or model and optimizer have no parameter in common.
        OSError: nothing can be written into `logdir`.
    """
    if os.environ.get("ZENTRACER_DISABLED", "") not in ("", "0"):
        return SilentTracer()
    optimizers = _checked_optimizers(model, optimizer)
    schedule = Schedule(budget=_checked_budget(budget), every=_checked_every(every))
    if mode not in (None, "exact"):
        raise ValueError(f"mode={mode!r} is not there yet. This version measures exactly: leave mode= out.")
    if distributed:
        raise ValueError("distributed=True is not there yet. Watch on rank 0; what it records is right for all ranks.")
    rank, world_size = _rank()
    path = _checked_logdir(logdir)
    place = Place(
        schema.check_scope(name),
        path,
        # The script may change its working directory; the recording stays where it began.
        Path(os.path.abspath(path), DIRECTORY),
        _first_step(start_step, step),
        step,
        session,
        f"torch {torch.__version__}",
        rank,
        world_size,
    )
    settings = (start_step, step, every, budget, mode, session)
    known, replaced = _make_way(place, model, list(optimizers.values()), settings)
    if known is not None:
        return known
    fresh = not is_recording(place.directory)
    restarts = place.start_step == 0 and (replaced or (fresh and has_sessions(place.directory)))
    tracer = Tracer(place, schedule, model, optimizers, exact=mode == "exact", settings=settings)
    try:
        tracer.open()
    except OSError as error:
        raise type(error)(
            error.errno, f"Nothing can be written into {place.directory}: {error.strerror}. Choose another logdir="
        ) from error
    tracer.attach()
    if fresh:
        print_command(path, str(place.directory))
        warn_without_tabs()
    if not tracer.writes_plain_scalars and rank == 0:
        _warn(
            f"Another process records into {place.directory}. This one adds .ztrec files beside its files, which "
            "ZenTracer's tabs show, and no plain scalars. Give it a logdir of its own to have those too."
        )
    elif restarts:
        _warn(
            f"{place.directory} already holds a session{', which is closed now' if replaced else ''}. "
            "This one starts at step 0 and wins where their steps overlap. "
            "Give start_step= to resume, or a fresh logdir= or name= to keep both."
        )
    if not clipping_is_seen():
        _warn(f"PyTorch {torch.__version__} clips where it can't be seen; norms before clipping stay empty.")
    return tracer


def _make_way(
    place: Place, model: nn.Module, optimizers: Sequence[Optimizer], settings: object
) -> tuple[Tracer | None, bool]:
    """The tracer that already does what is asked, or None; and whether one of the same scope had to be closed."""
    replaced = False
    for tracer in ambient.open_tracers():
        if not isinstance(tracer, Tracer):
            continue
        here = (tracer.place.directory.absolute(), tracer.place.scope) == (place.directory.absolute(), place.scope)
        if here and tracer.watches(model, optimizers):
            if tracer.settings != settings:
                _warn(
                    f"This model is already recorded into {place.directory}; the new settings are not applied. "
                    "Call close() on its tracer first to change them."
                )
            return tracer, False
        if here or tracer.watches(model):
            tracer.close()
            replaced = replaced or here
    return None, replaced


def _checked_optimizers(model: object, given: object) -> dict[str, Optimizer]:
    if not isinstance(model, nn.Module):
        raise TypeError(f"watch needs a torch.nn.Module, got {_kind(model)}. Pass the model itself.")
    match given:
        case Mapping():
            named = {str(key): value for key, value in given.items()}
        case list() | tuple():
            named = {f"optimizer_{index}": value for index, value in enumerate(given)}
        case _:
            named = {"optimizer": given}
    if not named:
        raise ValueError("watch needs at least one optimizer, got none.")
    found = {}
    own = {id(parameter) for parameter in model.parameters()}
    for key, value in named.items():
        inner = _unwrapped(value)
        if inner is None:
            raise TypeError(
                f"watch needs a torch.optim.Optimizer, a list or a dict of them, got {_kind(value)}. "
                "Pass the optimizer whose step() trains the model."
            )
        if not any(id(p) in own for group in inner.param_groups for p in group["params"]):
            raise ValueError(
                f"The optimizer {key!r} shares no parameter with the model. Pass the one that was made from "
                "model.parameters(), after the model was moved, wrapped or rebuilt."
            )
        found[key] = inner
    if len({id(value) for value in found.values()}) < len(found):
        raise ValueError("The same optimizer was given twice. Give each once.")
    return found


def _unwrapped(optimizer: object) -> Optimizer | None:
    """The optimizer whose `step` runs, inside wrappers such as Accelerate's; None where there is none."""
    inner = getattr(optimizer, "optimizer", None)
    if isinstance(inner, Optimizer):
        return _unwrapped(inner)
    return optimizer if isinstance(optimizer, Optimizer) else None


def _checked_budget(budget: object) -> float:
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0.0 <= budget <= 1.0:
        raise ValueError(f"budget= is the share of the time of training to spend, 0 to 1, got {budget!r}.")
    return float(budget)


def _checked_every(every: object) -> int | None:
    if isinstance(every, Mapping):
        unknown = sorted(str(kind) for kind in every if kind not in RECORDED)
        if unknown:
            raise ValueError(
                f"every= names {', '.join(unknown)}, which this version does not sample. It samples: "
                f"{', '.join(RECORDED)}."
            )
        every = every.get("parameters")
    if every is None:
        return None
    if isinstance(every, bool) or not isinstance(every, int):
        raise TypeError(f"every= is a number of steps or a dict of them by kind, got {every!r}.")
    if every < 1:
        raise ValueError(f"every= needs n >= 1, got {every}.")
    return every


def _first_step(start_step: object, step: object) -> int:
    if isinstance(start_step, bool) or not isinstance(start_step, int):
        raise TypeError(f"start_step= is a whole number, got {start_step!r}.")
    if start_step < 0:
        raise ValueError(f"start_step= is the number of updates made before, at least 0, got {start_step}.")
    if step is None:
        return start_step
    if not callable(step):
        raise TypeError(f"step= is a function that returns the current step, got {step!r}. For a number: start_step=.")
    if start_step:
        raise ValueError("Give either start_step= or step=, not both: step= says where the count stands.")
    first = step()
    try:
        number = int(first)
    except (TypeError, ValueError):
        number = -1
    if number < 0 or not math.isfinite(number):
        raise ValueError(f"step= must return a whole number from 0 on, got {first!r}.")
    return number


def _checked_logdir(logdir: Any) -> str:
    if not isinstance(logdir, str | os.PathLike) or not os.fspath(logdir):
        raise TypeError(f"logdir= is the path of a directory, got {logdir!r}.")
    path = os.fspath(logdir)
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(
            errno.ENOTDIR, f"logdir= must be a directory, {path} is a file. Choose another logdir="
        )
    return str(path)


def _rank() -> tuple[int, int]:
    """Rank and number of processes, from the process group or from what torchrun leaves in the environment."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def _kind(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def _warn(text: str) -> None:
    warnings.warn(text, ZenTracerWarning, stacklevel=3)
