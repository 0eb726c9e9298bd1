"""The examples of docs/export.md, done as a reader would do them."""

import re
from pathlib import Path

import duckdb
import pytest

from tests.logs import write_run, write_scalars
from zentracer.read import Log
from zentracer_store.exporting.tabular import EVERY_KIND

PAGE = (Path(__file__).parents[4] / "docs/export.md").read_text()
COMMAND = "zentracer export runs --to parquet"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def exported(tmp_path, monkeypatch, command):
    """The directory in which the page's command was given."""
    assert f"```\n{COMMAND}\n```" in PAGE
    write_scalars(tmp_path / "runs/baseline", {"loss": [3.0, 2.0, 1.0]})
    write_run(tmp_path / "runs/baseline", steps=range(3), update_ratio=lambda step: step / 4)
    monkeypatch.chdir(tmp_path)
    assert command(*COMMAND.split()[1:])[0] == 0
    return tmp_path


def test_the_files_are_those_of_the_page(exported):
    shown = re.search(r"```\nruns-parquet/\n(.*?)```", PAGE, flags=re.DOTALL)[1].split()
    out = exported / "runs-parquet"
    assert sorted(shown) == sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


def test_its_sql_finds_what_is_in_the_logs(exported):
    last, largest = [duckdb.sql(query).fetchall() for query in blocks("sql")]
    assert last == [("baseline", "loss", 2, 1.0)]
    assert sorted(largest) == [("baseline/zentracer", "a.bias", 0.5), ("baseline/zentracer", "a.weight", 0.5)]


def test_its_python_runs(exported):
    made = {}
    for block in blocks("python"):
        exec(block, made)
    assert made["scalars"]["value"].tolist() == [3.0, 2.0, 1.0]
    assert made["scalars"]["run"].tolist() == ["baseline"] * 3
    assert made["losses"]["value"].tolist() == [3.0, 2.0, 1.0]
    assert made["wide"]["a.bias"].tolist() == [0.0, 0.25, 0.5]


def test_every_option_is_on_the_page(command):
    options = set(re.findall(r"--\w+", command("export", "--help")[1])) - {"--help"}
    assert options <= set(re.findall(r"--\w+", PAGE))


def test_every_kind_and_every_method_is_on_the_page():
    named = set(re.findall(r"`(\w+)`", PAGE.split("### What is in the files")[1].split("### DuckDB")[0]))
    assert set(EVERY_KIND) <= named
    methods = {name for name in vars(Log) if not name.startswith("_")}
    assert methods == set(re.findall(r"`log\.(\w+)", PAGE.split("Every method returns")[1]))
