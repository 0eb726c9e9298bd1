"""Says what to install where a package is missing that only reading logs needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MissingPackage(ImportError):
    """A package is not installed; the message says which, and what to install."""


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """Imports in this block may lack a package of the extra `tensorboard`.

    Raises:
        MissingPackage: one is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if not name or name.startswith("zentracer"):
            raise
        text = f"{what} needs {name}, which is not installed here. Install it: pip install 'zentracer[tensorboard]'."
        raise MissingPackage(text, name=name) from error
