"""docs/doctor.md names what the doctor finds."""

import re
from pathlib import Path
from typing import get_args

from zentracer_store.examining.hidden import Kind, Reader

PAGE = (Path(__file__).parents[4] / "docs/doctor.md").read_text()


def test_every_kind_of_what_is_hidden_is_on_the_page():
    named = re.findall(r"^\| `([\w ]+)` \|", PAGE, flags=re.MULTILINE)
    assert sorted(named) == sorted(get_args(Kind))
    assert set(get_args(Reader)) <= set(re.findall(r"`(\w+)`", PAGE))


def test_every_option_is_on_the_page(command):
    options = set(re.findall(r"--\w+", command("doctor", "--help")[1])) - {"--help"}
    assert options <= set(re.findall(r"--\w+", PAGE))
