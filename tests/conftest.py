"""What all tests share."""

import os
import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache():
    """Keeps the tests, and the servers that they start, out of the user's cache."""
    with tempfile.TemporaryDirectory(prefix="zentracer-cache-") as folder:
        os.environ["ZENTRACER_CACHE_DIR"] = folder
        yield Path(folder)
        del os.environ["ZENTRACER_CACHE_DIR"]
