"""Lets one process at a time write event files in a directory."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from contextlib import suppress
from pathlib import Path

from zentracer.descriptor import Descriptor

LOCK_NAME = "zentracer.lock"


def take_lock(directory: Path) -> Descriptor | None:
    """A descriptor that holds the directory's lock until it is closed; None while another process holds it.

    The kernel lets go of it when the process ends, however that happens. The file says who holds it, for a human.

    Raises:
        OSError: the lock file can't be opened.
    """
    descriptor = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass  # a file system without locks: processes can't be told apart there, and one a run is the rule
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"host": socket.gethostname(), "pid": os.getpid()}).encode(), 0)
    return Descriptor(descriptor)
