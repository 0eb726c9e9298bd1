"""Exports: every point of the logs is in the files, as DuckDB, Arrow and the csv module read them."""

import csv
import json
import math
import os

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import zentracer_schema as schema
import zentracer_store.exporting.narrow
from tests.logs import EVENTS, Log, begin, parameters, table, write_run, write_scalars
from zentracer_store.exporting.export import export
from zentracer_store.exporting.partition import Refused
from zentracer_store.exporting.tabular import Choice

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def points_in(path):
    """Every scalar of an event file, record by record: (tag, step, wall time, value)."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        length = schema.parse_length(data[at : at + 12])
        event = schema.Event.FromString(data[at + 12 : at + 12 + length])
        at += 12 + length + 4
        found += [(value.tag, event.step, event.wall_time, value.simple_value) for value in event.summary.value]
    return found


def same(one, other):
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


def test_duckdb_reads_every_point_of_every_run(tmp_path):
    rng = np.random.default_rng(1)
    names = ["a", "deep/er run=1 %20", "1", "überlauf", "=cmd()"]
    for name in names:
        values = {tag: rng.standard_normal(50).tolist() for tag in ("loss", "z/accuracy", "=1")}
        values["loss"][7], values["loss"][8] = math.nan, -math.inf
        write_scalars(tmp_path / "logs" / name, values)
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    assert (done.runs, done.files, dict(done.rows), done.left_out, done.odd) == (5, 5, {"scalars": 750}, [], [])
    query = "SELECT run, tag, step, wall_time, value FROM read_parquet(?, hive_types_autocast = false)"
    rows = duckdb.execute(query, [str(tmp_path / "out/kind=scalars/*/*.parquet")]).fetchall()
    expected = [(name, *point) for name in names for point in points_in(tmp_path / "logs" / name / EVENTS)]
    assert len(rows) == len(expected) == 750
    for row, point in zip(sorted(rows, key=lambda r: r[:3]), sorted(expected, key=lambda p: p[:3]), strict=True):
        assert all(map(same, row, point))


def test_rows_are_sorted_by_tag_and_step_and_keep_their_order_within_a_step(tmp_path):
    log = Log(tmp_path / "logs/a" / EVENTS).version()
    for step, value in ((1, 2.0), (1, 4.0), (2, 1.0), (3, 3.0)):
        log.scalars(step, b=value).scalars(step, a=value)
    log.append()
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    rows = pq.read_table(tmp_path / "out/kind=scalars/run=a/part-0.parquet").to_pylist()
    keys = [(row["tag"], row["step"]) for row in rows]
    assert keys == sorted(keys)
    assert [row["value"] for row in rows if (row["tag"], row["step"]) == ("a", 1)] == [2.0, 4.0]


def test_points_that_a_later_session_wrote_anew_are_there_and_marked(tmp_path):
    log = Log(tmp_path / "logs/a" / EVENTS).version().start(0)
    for step in range(10):
        log.scalars(step, loss=step)
    log.start(6)
    for step in range(6, 12):
        log.scalars(step, loss=100 + step)
    log.append()
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    found = str(tmp_path / "out/kind=scalars/*/*.parquet")
    current = duckdb.execute("SELECT value FROM read_parquet(?) WHERE NOT superseded ORDER BY step", [found]).fetchall()
    assert [value for (value,) in current] == [*range(6), *range(106, 112)]
    old = duckdb.execute("SELECT step, value, session FROM read_parquet(?) WHERE superseded", [found]).fetchall()
    assert [(step, value) for step, value, _ in old] == [(step, step) for step in range(6, 10)]


def test_tables_are_a_kind_of_their_own_with_a_column_a_statistic(tmp_path):
    write_run(tmp_path / "logs/a", steps=range(4), update_ratio=lambda step: step / 8)
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    assert dict(done.rows) == {"parameters": 8}
    query = 'SELECT run, "row", max(update_ratio) FROM read_parquet(?) GROUP BY ALL ORDER BY ALL'
    rows = duckdb.execute(query, [str(tmp_path / "out/kind=parameters/*/*.parquet")]).fetchall()
    assert rows == [("a/zentracer", "a.bias", 0.375), ("a/zentracer", "a.weight", 0.375)]


@pytest.mark.parametrize(
    "names",
    [["1", "001"], ["NULL", "null", "None"], ["nan", "1.5"], ["true"], ["2024-01-01"], ["1", NO_VALUE], [NO_VALUE]],
)
def test_names_of_runs_stay_what_they_are_in_every_reader(tmp_path, names):
    for name in names:
        write_scalars(tmp_path / "logs" / name, {"loss": [1.0]})
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    query = "SELECT run FROM read_parquet(?, hive_types_autocast = false)"
    rows = duckdb.execute(query, [str(tmp_path / "out/kind=scalars/*/*.parquet")]).fetchall()
    assert sorted(run for (run,) in rows) == sorted(names)
    text = ds.HivePartitioning(pa.schema([("run", pa.string())]), null_fallback="")
    frame = pd.read_parquet(tmp_path / "out/kind=scalars", partitioning=text)
    assert sorted(frame["run"]) == sorted(names)


def test_arrow_reads_the_folders_as_one_data_set(tmp_path):
    for name in ("a/b", "c"):
        write_scalars(tmp_path / "logs" / name, {"loss": [1.0, 2.0]})
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    read = ds.dataset(tmp_path / "out/kind=scalars", partitioning="hive").to_table().to_pydict()
    assert read["run"] == ["a/b", "a/b", "c", "c"]
    assert read["value"] == [1.0, 2.0, 1.0, 2.0]


def test_csv_holds_the_same_points_and_no_formulas(tmp_path):
    write_scalars(tmp_path / "logs/=run", {"=1+1": [0.1, -2.5], "loss": [math.nan]})
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "csv", Choice())
    assert dict(done.rows) == {"scalars": 3}
    with open(tmp_path / "out/kind=scalars/run=%3Drun/part-0.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["tag", "step", "wall_time", "session", "superseded", "value"]
    assert [(row[0], row[1], row[5]) for row in rows] == [
        ("'=1+1", "0", "0.10000000149011612"),
        ("'=1+1", "1", "-2.5"),
        ("loss", "0", "nan"),
    ]
    query = "SELECT run, sum(value) FILTER (NOT isnan(value)) FROM read_csv(?) GROUP BY run"
    ((run, total),) = duckdb.execute(query, [str(tmp_path / "out/kind=scalars/*/*.csv")]).fetchall()
    assert (run, round(total, 6)) == ("=run", -2.4)


def test_only_what_is_chosen_is_written(tmp_path):
    import re

    for name in ("sweep/1", "sweep/2", "other"):
        write_scalars(tmp_path / "logs" / name, {"train/loss": [1.0], "eval/loss": [1.0], "lr": [1.0]})
    write_run(tmp_path / "logs/sweep/1")
    choice = Choice(re.compile("^sweep"), re.compile("loss"), frozenset({"scalars"}))
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", choice)
    assert dict(done.rows) == {"scalars": 4}
    folders = sorted(path.name for path in (tmp_path / "out/kind=scalars").iterdir())
    assert folders == ["run=sweep%2F1", "run=sweep%2F2"]


def test_what_cannot_be_read_is_left_out_and_told_and_the_rest_is_there(tmp_path):
    whole = write_scalars(tmp_path / "logs/a", {"loss": [1.0, 2.0, 3.0]})
    data = bytearray(whole.read_bytes())
    data[-60] ^= 1  # in the second record of three
    whole.write_bytes(data)
    os.mkfifo(tmp_path / "logs/a" / f"{EVENTS}.pipe")
    write_scalars(tmp_path / "logs/b", {"loss": [1.0]})
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    assert dict(done.rows) == {"scalars": 3}
    assert len(done.left_out) == 2
    assert any("is damaged and is skipped" in text and f"a/{EVENTS}, byte" in text for text in done.left_out)
    assert any("FIFO" in text for text in done.left_out)
    assert json.loads((tmp_path / "out/_export.json").read_text())["left_out"] == done.left_out


def test_the_list_in_the_export_says_what_each_run_gave(tmp_path):
    write_scalars(tmp_path / "logs/a", {"loss": [1.0, 2.0]})
    write_run(tmp_path / "logs/a", steps=[0])
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    told = json.loads((tmp_path / "out/_export.json").read_text())
    assert (told["format"], told["form"], told["logdir"]) == (1, "parquet", str(tmp_path / "logs"))
    assert told["runs"] == [
        {"run": "a", "trial": "a", "folder": "run=a", "rows": {"scalars": 2}},
        {"run": "a/zentracer", "trial": "a", "folder": "run=a%2Fzentracer", "rows": {"parameters": 2}},
    ]


def test_a_name_too_long_for_a_folder_is_shortened_and_told(tmp_path):
    name = "x" * 200 + "/" + "y" * 200
    write_scalars(tmp_path / "logs" / name, {"loss": [1.0]})
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    assert done.shortened == [name]
    (told,) = json.loads((tmp_path / "out/_export.json").read_text())["runs"]
    assert told["run"] == name
    assert (tmp_path / "out/kind=scalars" / told["folder"] / "part-0.parquet").exists()


def test_an_export_is_refused_before_anything_is_read(tmp_path):
    write_scalars(tmp_path / "logs/a", {"loss": [1.0]})
    with pytest.raises(Refused, match="holds the logs themselves"):
        export(str(tmp_path / "logs"), str(tmp_path / "logs"), "parquet", Choice())
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["a"]


def test_progress_counts_bytes_as_they_are_read_and_files_as_they_are_written(tmp_path):
    sizes = [write_scalars(tmp_path / "logs" / name, {"loss": [1.0] * 9}).stat().st_size for name in "abc"]
    told = []
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice(), progress=told.append)
    steps = list(dict.fromkeys((one.files, one.bytes) for one in told))
    assert steps == [
        *((0, sizes[0]), (1, sizes[0])),
        *((1, sum(sizes[:2])), (2, sum(sizes[:2]))),
        *((2, sum(sizes)), (3, sum(sizes))),
    ]
    assert {(one.files_total, one.bytes_total) for one in told} == {(3, sum(sizes))}
    assert [one.done for one in told][-1]


@pytest.mark.parametrize("most", [1, 30, 10_000])
def test_many_series_share_a_batch_and_long_ones_do_not_get_lost(tmp_path, monkeypatch, most):
    monkeypatch.setattr(zentracer_store.exporting.narrow, "BATCH_ROWS", most)
    values = {f"tag{number:02}": [float(number)] * (number + 1) for number in range(20)}
    write_scalars(tmp_path / "logs/a", values)
    export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    read = pq.read_table(tmp_path / "out/kind=scalars/run=a/part-0.parquet").to_pydict()
    assert list(zip(read["tag"], read["value"], strict=True)) == [
        (tag, value) for tag in sorted(values) for value in values[tag]
    ]


def test_a_full_disk_leaves_nothing_and_is_no_crash(tmp_path):
    import resource
    import signal

    write_scalars(tmp_path / "logs/a", {"loss": np.random.default_rng(0).random(20_000).tolist()})
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


def test_a_description_in_one_file_serves_the_tables_of_another(tmp_path):
    spec = parameters(["w"])
    begin(tmp_path / "logs/a").table(0, spec, table(1)).append()
    other = begin(tmp_path / "logs/a", name=EVENTS.replace("1.0", "1.1"), start=None)
    other.described.add(spec.tag)
    other.table(1, spec, table(1)).append()
    done = export(str(tmp_path / "logs"), str(tmp_path / "out"), "parquet", Choice())
    assert dict(done.rows) == {"parameters": 2}
    assert done.odd == []
