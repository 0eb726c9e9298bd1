"""Parquet and CSV files: what is written is read again, and no cell of a CSV file is a formula."""

import csv
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from zentracer_store.exporting.batches import TEXT, codes
from zentracer_store.exporting.sheets import Sheet, plain

UNSAFE = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
SAFE = ["loss", "a=b", "", "'=quoted", " =1", "1-1"]


def cells(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_text_that_a_spreadsheet_would_run_is_quoted_and_other_text_is_not(tmp_path):
    table = pa.table({"tag": pa.array([*UNSAFE, *SAFE, None])})
    with Sheet(tmp_path / "a.csv", "csv", table.schema) as sheet:
        sheet.write([table])
    assert cells(tmp_path / "a.csv") == [["tag"], *([f"'{cell}"] for cell in UNSAFE), *([cell] for cell in SAFE), []]


def test_names_that_repeat_are_quoted_too():
    table = pa.table({"tag": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.int32()), ["loss", "=cmd()"])})
    assert plain(table)["tag"].to_pylist() == ["'=cmd()", "loss", "'=cmd()"]


def test_headers_that_a_spreadsheet_would_run_are_quoted():
    assert plain(pa.table({"=1": [1]})).column_names == ["'=1"]


def test_numbers_stay_numbers(tmp_path):
    values = [-0.5, 1e300, 0.1, math.nan, math.inf, -math.inf, None]
    table = pa.table({"step": pa.array([-1, *range(6)]), "value": pa.array(values), "old": pa.array([True] * 7)})
    with Sheet(tmp_path / "a.csv", "csv", table.schema) as sheet:
        sheet.write([table])
    header, *rows = cells(tmp_path / "a.csv")
    assert header == ["step", "value", "old"]
    assert [row[0] for row in rows] == ["-1", "0", "1", "2", "3", "4", "5"]
    read = [float(row[1]) for row in rows[:6]]
    assert read[:3] == values[:3]
    assert math.isnan(read[3])
    assert read[4:] == values[4:6]
    assert rows[6][1] == ""
    assert rows[0][2] == "true"


def test_lists_become_json_and_bytes_base64():
    table = pa.table(
        {"edges": pa.array([[0.5, math.nan], [], None]), "shape": pa.array([[1], [2], [3]], pa.list_(pa.int64(), 1)),
         "data": pa.array([b"\x89PNG", b"", None]), "parts": [[b"\x89PNG", None], [], None]}
    )  # fmt: skip
    assert plain(table).to_pydict() == {
        "edges": ['[0.5, "NaN"]', "[]", None],
        "shape": ["[1]", "[2]", "[3]"],
        "data": ["iVBORw==", "", None],
        "parts": ['["iVBORw==", null]', "[]", None],
    }


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_parts_follow_each_other_and_are_counted(tmp_path, form):
    schema = pa.schema([pa.field("tag", TEXT), pa.field("step", pa.int64())])
    parts = [pa.table([codes(pa.array([0, 0]).to_numpy(), [tag]), pa.array([0, 1])], schema=schema) for tag in "abc"]
    path = tmp_path / f"a.{form}"
    with Sheet(path, form, schema) as sheet:
        sheet.write(parts)
    assert sheet.rows == 6
    if form == "csv":
        read = cells(path)[1:]
    else:
        table = pq.read_table(path)
        assert table.schema.field("tag").type == pa.string()
        read = [[tag, str(step)] for tag, step in zip(*table.to_pydict().values(), strict=True)]
    assert read == [[tag, step] for tag in "abc" for step in "01"]


def test_a_text_with_commas_quotes_and_lines_stays_one_cell(tmp_path):
    text = 'a, "b"\nc'
    table = pa.table({"text": [text], "step": [1]})
    with Sheet(tmp_path / "a.csv", "csv", table.schema) as sheet:
        sheet.write([table])
    assert cells(tmp_path / "a.csv") == [["text", "step"], [text, "1"]]
