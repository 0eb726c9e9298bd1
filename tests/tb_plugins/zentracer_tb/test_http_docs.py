"""docs/http.md: every request on the page is asked, and answers as the page says."""

import json
import math
import os
import re
from pathlib import Path

import pytest

from tests.logs import write_run
from tests.tb_plugins.zentracer_tb.reading import unpack
from tests.tb_plugins.zentracer_tb.test_weights import Tab

PAGE = Path(__file__).parents[3] / "docs/http.md"
EXCHANGES = re.findall(r"```\nGET (\S+)\n```\n\n```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    logdir = tmp_path_factory.mktemp("runs")
    path = write_run(
        logdir / "a",
        steps=range(0, 50, 10),
        rows=["net.weight", "net.bias"],
        update_ratio=lambda step: [math.nan if step == 20 else 0.001, 0.002],
        weight_nan_fraction=lambda step: [step == 20, 0],
    )
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return Tab(logdir)


def test_every_route_has_an_exchange():
    assert {path.partition("?")[0] for path, _ in EXCHANGES} == {"runs", "run", "cells", "at", "sample", "steps"}


@pytest.mark.parametrize(("path", "expected"), EXCHANGES, ids=[path for path, _ in EXCHANGES])
def test_the_answer_is_the_one_on_the_page(tab, path, expected):
    answer = tab.ask("/" + path)
    got = unpack(answer.data)[0] if answer.content_type == "application/octet-stream" else answer.json
    agree(got, json.loads(expected), path)


def agree(got, expected, where):
    """What the page shows is so; `…` ends a list that goes on."""
    match expected:
        case dict():
            for key, value in expected.items():
                assert key in got, f"{where}: {key}"
                agree(got[key], value, f"{where}.{key}")
        case list():
            shown = expected[:-1] if expected[-1:] == ["…"] else expected
            assert len(got) == len(shown) or expected[-1:] == ["…"], where
            for number, value in enumerate(shown):
                agree(got[number], value, f"{where}[{number}]")
        case float():
            assert got == pytest.approx(expected, rel=1e-5), where
        case _:
            assert got == expected, where
