"""Keeps stored columns that were read lately in memory, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from weakref import ref

from zentracer_store.contents.growing import Array

BUDGET_BYTES = 512 << 20


class Shelved:
    """Rows that are read from their file when first asked for, and again when the shelf took them back meanwhile."""

    __slots__ = ("__weakref__", "_kept", "_read", "_rows", "_shelf")

    def __init__(self, shelf: Shelf, rows: int, read: Callable[[], Array]) -> None:
        self._shelf = shelf
        self._rows = rows
        self._read = read
        self._kept: Array | None = None

    def __len__(self) -> int:
        return self._rows

    def values(self) -> Array:
        """All the rows, not to be written to.

        Raises:
            Lost: they are gone.
        """
        values = self._kept
        if values is None:
            values = self._read()  # two threads may both read it, which does no harm
        self._kept = values  # first: whoever has to make room finds it
        if not self._shelf.note(self, values.nbytes):
            self._kept = None
        return values

    def forget(self) -> None:
        """Let go of the rows. Who works with them keeps them alive until done."""
        self._kept = None


class Shelf:
    """Counts what stored blocks keep in memory, and makes those used longest ago forget when it is too much.

    Blocks are known by weak references: what a dropped run kept is free at once.
    """

    def __init__(self, most_bytes: int = BUDGET_BYTES) -> None:
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._noted: OrderedDict[ref[Shelved], int] = OrderedDict()
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """What is kept. Blocks that are no more count until room is needed."""
        return self._bytes

    def place(self, rows: int, read: Callable[[], Array]) -> Shelved:
        """A stored block of so many rows, which `read` reads from their file."""
        return Shelved(self, rows, read)

    def note(self, block: Shelved, size: int) -> bool:
        """Note that a block was used; says whether it may keep its `size` bytes."""
        if size > self.most_bytes:
            return False
        with self._lock:
            self._bytes += size - self._noted.pop(ref(block), 0)
            self._noted[ref(block)] = size
            if self._bytes > self.most_bytes:
                self._make_room()
        return True

    def _make_room(self) -> None:
        for known in [known for known in self._noted if known() is None]:
            self._bytes -= self._noted.pop(known)
        while self._bytes > self.most_bytes:
            known, size = self._noted.popitem(last=False)
            self._bytes -= size
            if (block := known()) is not None:
                block.forget()
