"""What tests of the tracer share."""

import pytest

from zentracer import ambient


@pytest.fixture(autouse=True)
def no_tracer_is_left_open():
    """A tracer that a test forgets would record the next one's training."""
    yield
    left = ambient.open_tracers()
    for tracer in left:
        tracer.close()
    assert not left
