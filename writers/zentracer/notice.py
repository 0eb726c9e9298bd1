"""Says things to the user: one warning class, and a way to warn that never raises."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from contextlib import suppress
from importlib import metadata

TABS_GROUP = "tensorboard_plugins"


class ZenTracerWarning(UserWarning):
    """Something the user should know; training and recording go on."""


def tell(text: str) -> None:
    """Warn, from anywhere. Where warnings are turned into errors the text goes to standard error instead."""
    try:
        warnings.warn(text, ZenTracerWarning, stacklevel=2)
    except ZenTracerWarning:
        sys.stderr.write(f"ZenTracer: {text}\n")


def print_command(logdir: str, directory: str) -> None:
    """Say where the records go and how to look at them."""
    parent = os.path.dirname(os.path.normpath(logdir))
    with suppress(OSError, ValueError):  # nobody reads standard output, or it is closed
        print(f"ZenTracer records into {directory}. To watch: tensorboard --logdir {shlex.quote(parent or logdir)}")


def warn_without_tabs() -> None:
    """Warn where a TensorBoard is installed beside us that would not show our tabs. Imports none of it."""
    try:
        version = metadata.version("tensorboard")
    except metadata.PackageNotFoundError:
        return
    if not any(point.module.startswith("zentracer_tb") for point in metadata.entry_points(group=TABS_GROUP)):
        warnings.warn(
            f"TensorBoard {version} in this environment does not have ZenTracer's tabs. "
            "Install them beside it: pip install 'zentracer[tensorboard]'.",
            ZenTracerWarning,
            stacklevel=3,
        )
