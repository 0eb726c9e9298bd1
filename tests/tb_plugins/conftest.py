"""What the tests of the store and of the tabs share."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def unprivileged_path():
    """A directory, and for the time of the test a user whom permissions bind even where tests run as root."""
    path = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(path, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    yield path
    if root:
        os.seteuid(0)
    for directory, _, _ in os.walk(path):
        os.chmod(directory, 0o700)
    shutil.rmtree(path)
