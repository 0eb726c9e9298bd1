"""Keeps what was worked out, up to so many bytes: what was used last stays."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from zentracer_store.contents.growing import Array

KEPT_BYTES = 256 << 20
"""Of one process, whatever the number of runs that are looked at."""


class Sized(Protocol):
    """What is kept knows its size."""

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""


T = TypeVar("T", bound=Sized)


class Kept:
    """Results by key. A key says all that the result was made of, so a result never becomes wrong, only unused.

    A result may say its place. The one that stood there before it was made of less, as of a log that has grown since:
    nobody asks for it again, and it goes at once.

    Safe from any thread. Two that ask for the same at once both work it out: neither waits for the other, whose client
    may be gone.
    """

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._results: OrderedDict[bytes, Any] = OrderedDict()
        self._places: dict[bytes, bytes] = {}  # key of the result there
        self._placed: dict[bytes, bytes] = {}  # place of the result
        self.nbytes = 0

    def get(self, key: bytes, make: Callable[[], T], place: bytes | None = None) -> T:
        """The result of `key`, by `make` where it is not kept."""
        with self._lock:
            found: T | None = self._results.get(key)
            if found is not None:
                self._results.move_to_end(key)
                return found
        made = make()
        with self._lock:
            if key not in self._results:
                self._results[key] = made
                self.nbytes += made.nbytes
                if place is not None:
                    if place in self._places:
                        self._drop(self._places[place])
                    self._places[place], self._placed[key] = key, place
            while self.nbytes > self._most_bytes:
                self._drop(next(iter(self._results)))
        return made

    def _drop(self, key: bytes) -> None:
        self.nbytes -= self._results.pop(key).nbytes
        if key in self._placed:
            del self._places[self._placed.pop(key)]


KEPT = Kept()


def key_of(*parts: Array | str | bytes | int | float | tuple[Any, ...] | None) -> bytes:
    """A key that differs where any of the parts does."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, (str, bytes, int, float, tuple, type(None))):
            data = part if isinstance(part, bytes) else repr(part).encode()
        else:
            data = part.dtype.str.encode() + part.tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
