"""JSON that every reader takes."""

import json
import math
from decimal import Decimal

import pytest

from zentracer_store.exporting.plain_json import json_of


def refuse(constant):
    pytest.fail(f"{constant} is no JSON")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ([1.5, None, True], [1.5, None, True]),
        ([math.nan, math.inf, -math.inf, 1.0], ["NaN", "Infinity", "-Infinity", 1.0]),
        ({"a": {"b": [math.nan]}}, {"a": {"b": ["NaN"]}}),
        ([b"\x89PNG", None], ["iVBORw==", None]),
        ([Decimal(2**64 - 1)], [2**64 - 1]),
        ({"half": "\ud800", "nan": math.nan}, {"half": "\ud800", "nan": "NaN"}),
        ("h\u00e4llo", "h\u00e4llo"),
    ],
)
def test_it_is_read_again(value, read):
    text = json_of(value)
    assert json.loads(text, parse_constant=refuse) == read
    assert text.encode().decode() == text


def test_text_stays_readable():
    assert json_of({"a": "h\u00e4llo"}) == '{"a": "h\u00e4llo"}'
