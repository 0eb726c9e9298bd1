"""docs/limits.md: every limit on the page is the one in the code, and has a test that goes over it."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from werkzeug.test import Client

import zentracer_schema as schema
from tests.logs import begin, parameters, row, write_run
from tests.tb_plugins.zentracer_tb.test_weights import Tab
from zentracer_schema.tables import LARGEST_ROWS
from zentracer_store import Store, parse_places
from zentracer_store.caching.cache import Cache
from zentracer_store.discover import discover

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (\w[^|]*) \| ([\d,]+(?: [GM]iB)?) \|", PAGE, re.MULTILINE))

# Each limit: the constant, and the test that goes over it.
LIMITS = {
    "bytes of a record": (
        "zentracer_store.reading.tail:LARGEST_RECORD",
        "zentracer_store/reading/test_tail.py::test_a_record_over_the_limit_is_skipped_and_told",
    ),
    "bytes searched behind damage for the next record": (
        "zentracer_store.reading.resync:MOST_SEARCHED",
        "zentracer_store/reading/test_tail.py::test_the_search_for_a_record_has_an_end",
    ),
    "rows of a table": (
        "zentracer_schema.tables:LARGEST_ROWS",
        "test_limits.py::test_a_table_of_too_many_rows_is_skipped_and_told",
    ),
    "tags of a file": (
        "zentracer_store.contents.takers:MOST_TAGS",
        "zentracer_store/contents/test_file_contents.py::test_tags_over_the_limit_are_not_read_and_told_once",
    ),
    "oddities told of a file": (
        "zentracer_store.contents.file_contents:MOST_ODDITIES",
        "zentracer_store/test_store.py::test_damage_without_end_is_told_up_to_a_limit",
    ),
    "oddities listed in all": (
        "zentracer_store.store:MOST_LISTED",
        "zentracer_store/test_store.py::test_of_very_many_oddities_the_newest_of_each_file_are_listed",
    ),
    "unmarked restarts of a file": (
        "zentracer_store.runs.restarts:MOST_RESTARTS",
        "zentracer_store/runs/test_restarts.py::test_a_counter_that_begins_anew_for_ever_is_left_as_it_is",
    ),
    "directories below a log directory": (
        "zentracer_store.discover:MOST_DIRECTORIES",
        "test_limits.py::test_too_many_directories_are_told",
    ),
    "cells of an answer": (
        "zentracer_store.pictures.query:MOST_CELLS",
        "zentracer_store/pictures/test_query.py::test_a_picture_over_the_limit_of_cells_is_refused",
    ),
    "width and height of an answer": (
        "zentracer_store.pictures.query:LARGEST_SIDE",
        "test_limits.py::test_an_answer_over_the_largest_side_is_refused",
    ),
    "runs in one answer": (
        "zentracer_tb.weights:MOST_RUNS",
        "zentracer_tb/test_cells_route.py::test_more_runs_than_the_limit_are_refused",
    ),
    "open streams": (
        "zentracer_tb.stream:MOST_STREAMS",
        "zentracer_tb/test_stream.py::test_one_more_than_may_be_is_refused_until_another_ends",
    ),
    "bytes of a request's body": (
        "zentracer_tb.http:MOST_BODY_BYTES",
        "test_limits.py::test_a_request_with_a_large_body_is_refused",
    ),
    "processes that read logs": (
        "zentracer_store.caching.ingest:MOST_WORKERS",
        "zentracer_store/caching/test_ingest.py::test_there_are_as_many_processes_as_the_work_is_worth",
    ),
    "bytes of cached columns on disk": (
        "zentracer_store.caching.cachedir:MOST_BYTES",
        "zentracer_store/caching/test_cachedir.py::test_what_was_used_longest_ago_goes_first",
    ),
    "bytes of cached columns in memory": (
        "zentracer_store.caching.shelf:BUDGET_BYTES",
        "zentracer_store/caching/test_shelf.py::test_what_is_kept_are_the_blocks_used_last",
    ),
    "bytes of tiles in memory": (
        "zentracer_store.pictures.kept:KEPT_BYTES",
        "zentracer_store/pictures/test_kept.py::test_what_was_used_longest_ago_goes_first",
    ),
}


def test_every_limit_on_the_page_is_known_here():
    assert set(ROWS) == set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_the_page_gives_the_limit_of_the_code(name):
    module, _, constant = LIMITS[name][0].partition(":")
    amount, _, unit = ROWS[name].partition(" ")
    told = int(amount.replace(",", "")) << {"": 0, "MiB": 20, "GiB": 30}[unit]
    assert getattr(import_module(module), constant) == told


@pytest.mark.parametrize("name", LIMITS)
def test_a_test_goes_over_the_limit(name):
    path, _, test = LIMITS[name][1].partition("::")
    assert f"\ndef {test}(" in (Path(__file__).parent / path).read_text(encoding="utf-8")


def test_a_table_of_too_many_rows_is_skipped_and_told(tmp_path):
    log = begin(tmp_path / "a")
    spec = schema.TableSpec("devices", "model", (schema.ColumnSpec("step", dtype="float64"),), None)
    values = np.zeros((LARGEST_ROWS + 1, 1))
    log.table(0, spec, values).table(1, parameters(["w"]), np.zeros((1, len(schema.PARAMETER_COLUMNS)), np.float32))
    log.append()
    write_run(tmp_path / "b", rows=[row("w")])
    store = Store(parse_places(str(tmp_path)), Cache(tmp_path / "cache"))
    store.look()
    texts = [oddity.text for oddity in store.catalogue().oddities]
    assert len(texts) == 1
    assert "1,000,001" in texts[0]
    assert store.scopes("a")[1][0].timeline.steps.tolist() == [1]
    store.close()


def test_too_many_directories_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr("zentracer_store.discover.MOST_DIRECTORIES", 5)
    for number in range(9):
        (tmp_path / str(number)).mkdir()
    (problem,) = discover(parse_places(str(tmp_path))).problems
    assert problem.text.startswith(f"{tmp_path} has more than 5 directories; the rest is not looked into.")


def test_an_answer_over_the_largest_side_is_refused(tmp_path):
    write_run(tmp_path / "a")
    answer = Tab(tmp_path).ask("/cells?run=a&column=update_ratio&width=8193")
    assert (answer.status_code, answer.json["error"]) == (
        400,
        "'width' must be a whole number from 1 to 8,192, got '8193'.",
    )


def test_a_request_with_a_large_body_is_refused(tmp_path):
    client = Client(Tab(tmp_path).apps["/runs"])
    assert client.get("/runs", data=b"x" * (64 << 10)).status_code == 200
    answer = client.get("/runs", data=b"x" * ((64 << 10) + 1))
    assert answer.status_code == 413
    assert answer.json["error"] == (
        "The request's body has 65,537 bytes, over the limit of 65,536. Send none: no route reads one."
    )


def test_no_pattern_of_a_request_and_nothing_compressed_is_ever_worked_on():
    modules = {"re", "re2", "regex", "zlib", "gzip", "bz2", "lzma", "zipfile", "tarfile"}
    for path in (ROOT / "tb_plugins/zentracer_tb").rglob("*.py"):
        imported = set(re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert not imported & modules, path
