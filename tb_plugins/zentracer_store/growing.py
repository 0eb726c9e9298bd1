"""An array that grows while others read it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Growing:
    """An array that grows along its first axis. What was appended never changes, so a prefix taken earlier stays
    valid while another thread appends."""

    def __init__(self, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self._data: Array = np.empty((0, *shape), dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def room(self, more: int) -> Array:
        """The place for `more` entries after the last one; they count once `keep` is called."""
        needed = self._length + more
        if needed > len(self._data):
            larger = np.empty((max(needed, len(self._data) * 3 // 2, 16), *self._data.shape[1:]), self._data.dtype)
            larger[: self._length] = self._data[: self._length]
            self._data = larger
        return self._data[self._length : needed]

    def keep(self, more: int) -> None:
        """Count `more` entries that were written into `room`."""
        self._length += more

    def extend(self, values: Any) -> None:
        """Append `values`, whose first axis is this one's."""
        self.room(len(values))[...] = values
        self.keep(len(values))

    def first(self, count: int) -> Array:
        """The first `count` entries, without a copy."""
        return self._data[:count]
