"""Brings numbers from a device to the host without making the training thread wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def sent(values: Sequence[bool], device: torch.device) -> Tensor:
    """`values` as a tensor on a device. An ordinary copy to a GPU would wait for all that is queued there."""
    if device.type == "cuda":
        return torch.tensor(values, pin_memory=True, device="cpu").to(device, non_blocking=True)
    return torch.tensor(values, device=device)


class Arriving:
    """A tensor on its way to the host."""

    def __init__(self, tensor: Tensor) -> None:
        self._event: torch.cuda.Event | None = None
        if tensor.device.type == "cuda":
            self._host = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
            self._host.copy_(tensor, non_blocking=True)
            self._event = torch.cuda.Event()
            self._event.record(torch.cuda.current_stream(tensor.device))
        else:
            # Other accelerators: whoever reads it waits for it.
            self._host = tensor

    @property
    def ready(self) -> bool:
        """Whether `read` returns at once."""
        return self._event is None or self._event.query()

    def read(self) -> Tensor:
        """The tensor on the host; waits for the device where it must."""
        if self._event is not None:
            self._event.synchronize()
        return self._host.cpu()


class Stopwatch:
    """Adds up the time that a CUDA device spends on work between `start` and `stop`. Never waits; other devices: 0."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._spent_s = 0.0
        self._began: torch.cuda.Event | None = None
        self._laps: deque[tuple[torch.cuda.Event, torch.cuda.Event]] = deque()

    def start(self) -> None:
        """Work of ours begins."""
        if self._device.type == "cuda":
            self._began = self._mark()

    def stop(self) -> None:
        """It has been queued."""
        if self._began is not None:
            self._laps.append((self._began, self._mark()))
            self._began = None

    def read(self) -> float:
        """Seconds of the laps that the device has finished."""
        while self._laps and self._laps[0][1].query():
            began, ended = self._laps.popleft()
            self._spent_s += began.elapsed_time(ended) / 1000.0
        return self._spent_s

    def _mark(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event


class Numbers:
    """Numbers of one step, some of them tensors of one element on any device."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self._arriving: list[tuple[list[int], Arriving]] = []
        away: dict[torch.device, list[int]] = {}
        for index, value in enumerate(self._values):
            if isinstance(value, Tensor) and value.device.type != "cpu":
                away.setdefault(value.device, []).append(index)
        for device, places in away.items():
            # MPS has no float64.
            dtype = torch.float64 if device.type == "cuda" else torch.float32
            together = torch.stack([self._values[place].reshape(()).to(dtype) for place in places])
            self._arriving.append((places, Arriving(together)))

    @property
    def ready(self) -> bool:
        """Whether `read` returns at once."""
        return all(arriving.ready for _, arriving in self._arriving)

    def read(self) -> list[float]:
        """All numbers, in their order."""
        for places, arriving in self._arriving:
            for place, number in zip(places, arriving.read().tolist(), strict=True):
                self._values[place] = number
        return [float(value) for value in self._values]


def keep(value: Any) -> Any:
    """`value` as it may be kept until it is read: a float, or a private copy of a tensor of one element.

    Raises:
        TypeError: it is neither a number nor a tensor.
        ValueError: it holds more than one element, or none.
    """
    if isinstance(value, Tensor):
        if value.numel() != 1 or value.is_complex():
            raise ValueError(value.shape)
        # The loop may go on to change it in place.
        return value.detach().clone()
    if isinstance(value, str | bytes):
        raise TypeError(value)
    return float(value)
