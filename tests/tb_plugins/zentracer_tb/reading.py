"""Reads the server's binary answers as docs/http.md describes them."""

from __future__ import annotations

import json
import math
import struct

import numpy as np


def unpack(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """The header and the arrays by name."""
    (length,) = struct.unpack_from("<I", data)
    assert (4 + length) % 8 == 0
    header = json.loads(data[4 : 4 + length])
    arrays = {}
    for one in header["arrays"]:
        assert one["offset"] % 8 == 0
        dtype = np.dtype(one["dtype"])
        assert dtype.str == one["dtype"]
        count = math.prod(one["shape"])
        arrays[one["name"]] = np.frombuffer(data, dtype, count, 4 + length + one["offset"]).reshape(one["shape"])
    return header, arrays
