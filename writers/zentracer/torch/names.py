"""Finds a model's parameters and modules by the names that its author knows, whatever it is wrapped in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

_TRANSPARENT = frozenset({"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_AS_OUT_IN = (nn.Linear, nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)


@dataclass(frozen=True)
class NamedParameter:
    """A parameter, its names and the module that owns it. `shape` is in the orientation that `layout` says."""

    parameter: nn.Parameter
    name: str
    aliases: tuple[str, ...]
    module: str
    class_name: str
    shape: tuple[int, ...]
    layout: str


def named_parameters(model: nn.Module) -> list[NamedParameter]:
    """Every parameter once, in model order, by its first name; tied ones have the others as aliases.

    Lazy parameters that have no shape yet, parameters on the meta device and empty ones are left out.
    """
    first: dict[int, tuple[nn.Parameter, str, str, nn.Module]] = {}
    names: dict[int, list[str]] = {}
    for path, module in _walk(model, "", ()):
        for key, parameter in module._parameters.items():
            if parameter is None or nn.parameter.is_lazy(parameter) or parameter.is_meta or not parameter.numel():
                continue
            first.setdefault(id(parameter), (parameter, key, path, module))
            names.setdefault(id(parameter), []).append(f"{path}.{key}" if path else key)
    found = []
    for index, (parameter, _key, path, module) in first.items():
        name, *others = dict.fromkeys(names[index])
        shape, layout = _canonical(module, tuple(parameter.shape))
        found.append(NamedParameter(parameter, name, tuple(others), path, class_name(module), shape, layout))
    return found


def named_modules(model: nn.Module) -> dict[str, str]:
    """Class name of every module below `model`, by path."""
    return {path: class_name(module) for path, module in _walk(model, "", ()) if path}


def class_name(module: nn.Module) -> str:
    """The class of a module, or of what a wrapper wraps."""
    for child, inner in module._modules.items():
        if inner is not None and _is_transparent(module, child):
            return class_name(inner)
    return type(module).__name__


def _walk(module: nn.Module, path: str, above: tuple[nn.Module, ...]) -> Iterator[tuple[str, nn.Module]]:
    if any(module is outer for outer in above):
        return
    yield path, module
    for child, inner in module._modules.items():
        if inner is None:
            continue
        below = path if _is_transparent(module, child) else f"{path}.{child}" if path else child
        yield from _walk(inner, below, (*above, module))


def _is_transparent(module: nn.Module, child: str) -> bool:
    """Whether `child` is what `module` merely wraps, so that its name says nothing."""
    if child == "module":
        return isinstance(module, DataParallel | DistributedDataParallel)
    return child in _TRANSPARENT


def _canonical(module: nn.Module, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """Shape and layout of a parameter of `module`, outputs first."""
    if len(shape) < 2:
        return shape, ""
    kernel = ", kernel" * (len(shape) - 2)
    transposed = (shape[1], shape[0], *shape[2:])
    match module:
        case _ if isinstance(module, _TRANSPOSED):
            return transposed, f"[out, in{kernel}]"
        # Transformers' Conv1D is a linear layer whose weight is stored [in, out].
        case _ if type(module).__name__ == "Conv1D" and len(shape) == 2:
            return transposed, "[out, in]"
        case _ if isinstance(module, _CONVOLUTIONS):
            return shape, f"[out, in{kernel}]"
        case _ if isinstance(module, _AS_OUT_IN) and len(shape) == 2:
            return shape, "[out, in]"
        case _ if isinstance(module, nn.Embedding | nn.EmbeddingBag):
            return shape, "[entries, width]"
        case _:
            return shape, "as stored"
