"""A bounded run of what `make fuzz` does for long."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fuzzing import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_the_reader_holds_to_its_word_on_any_bytes(name):
    @settings(max_examples=150, deadline=None)
    @example(b"")
    @given(st.binary(max_size=1024))
    def attempt(data):
        TARGETS[name](data)

    attempt()
