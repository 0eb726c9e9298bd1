"""Histograms, text, images, tensors and messages as rows: what other programs logged comes out as it went in."""

import io
import json
import os
import wave

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from torch.utils.tensorboard.summary import hparams as torch_hparams

import zentracer_schema as schema
import zentracer_store.exporting.valued
from tests.logs import EVENTS, begin, write_run
from tests.tb_plugins.zentracer_store.examining.hiding_logs import tensor_event
from zentracer_schema import ColumnSpec, RowSpec, TableSpec
from zentracer_schema.messages import DATA_CLASS_TENSOR
from zentracer_store.exporting.tabular import EVERY_KIND, Choice, joined
from zentracer_store.exporting.whole import look_under, read_run

PNG = b"\x89PNG\r\n\x1a\nrest"


def write(run, *summaries, name=EVENTS):
    """An event file of summaries, at steps 0, 1, ..."""
    payloads = [Event(wall_time=1.0, file_version="brain.Event:2")]
    payloads += [Event(wall_time=2.0 + step, step=step, summary=one) for step, one in enumerate(summaries)]
    run.mkdir(parents=True, exist_ok=True)
    (run / name).write_bytes(b"".join(schema.frame(payload.SerializeToString()) for payload in payloads))


def rows_of(logdir, kind, told=None):
    found = look_under(str(logdir))
    runs = [read_run(name, files) for name, files in found.runs.items()]
    return joined(runs, kind, Choice(), pytest.fail if told is None else told.append).to_pylist()


def test_old_and_new_histograms_are_lists_of_limits_and_counts(tmp_path):
    old = Summary(value=[Summary.Value(tag="w")])
    old.value[0].histo.min, old.value[0].histo.max = 0.5, 2.5
    old.value[0].histo.bucket_limit.extend([1.0, 2.0, 3.0])
    old.value[0].histo.bucket.extend([1, 4, 2])
    write(tmp_path / "old", old)
    new = np.array([[0.5, 1, 1], [1, 2, 4], [2, 2.5, 2]])
    begin_other(tmp_path / "new", tensor_event(0, new, "histograms", DATA_CLASS_TENSOR, "w"))
    one, other = rows_of(tmp_path, "histograms")
    assert [row["run"] for row in (one, other)] == ["new", "old"]
    for row in (one, other):
        assert (row["tag"], row["step"]) == ("w", 0)
        assert (row["lefts"], row["rights"], row["counts"]) == ([0.5, 1, 2], [1, 2, 2.5], [1, 4, 2])


def begin_other(run, *payloads):
    run.mkdir(parents=True, exist_ok=True)
    framed = [schema.file_version_event(1.0), *payloads]
    (run / EVENTS).write_bytes(b"".join(map(schema.frame, framed)))


def test_text_is_a_row_for_each_string(tmp_path):
    write(tmp_path, text_pb("note", "hällo"), text_pb("note", np.array([["a", "b"], ["c", "=d"]])))
    rows = rows_of(tmp_path, "texts")
    assert [(row["step"], row["item"], row["text"]) for row in rows] == [
        (0, 0, "hällo"),
        *((1, number, word) for number, word in enumerate(["a", "b", "c", "=d"])),
    ]


def test_images_are_the_bytes_of_their_files(tmp_path):
    new = Summary(value=[Summary.Value(tag="digits")])
    new.value[0].metadata.plugin_data.plugin_name = "images"
    new.value[0].tensor.dtype = schema.DATA_TYPES["string"]
    new.value[0].tensor.tensor_shape.dim.add(size=4)
    new.value[0].tensor.string_val.extend([b"6", b"4", PNG + b"1", PNG + b"2"])
    old = Summary(value=[Summary.Value(tag="old", image=Summary.Image(width=6, height=4, encoded_image_string=PNG))])
    write(tmp_path, new, old)
    rows = rows_of(tmp_path, "images")
    assert [(row["tag"], row["step"], row["item"], row["data"]) for row in rows] == [
        ("digits", 0, 0, PNG + b"1"),
        ("digits", 0, 1, PNG + b"2"),
        ("old", 1, 0, PNG),
    ]
    assert {(row["mime"], row["width"], row["height"]) for row in rows} == {("image/png", 6, 4)}


def test_sounds_are_the_bytes_of_their_files(tmp_path):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(100))
    made = Summary(value=[Summary.Value(tag="voice")])
    made.value[0].audio.encoded_audio_string = out.getvalue()
    write(tmp_path, made)
    (row,) = rows_of(tmp_path, "audio")
    assert (row["mime"], row["data"]) == ("audio/wav", out.getvalue())


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (np.arange(6, dtype=np.float32).reshape(2, 3), "float32", [0, 1, 2, 3, 4, 5]),
        (np.array([1, -2], np.int8), "int8", [1, -2]),
        (np.array([True, False]), "bool", [1, 0]),
        (np.array([[0.5]], np.float16), "float16", [0.5]),
    ],
)
def test_tensors_are_their_type_shape_and_values(tmp_path, values, dtype, expected):
    begin_other(tmp_path, tensor_event(3, values, "mine", DATA_CLASS_TENSOR, "t"))
    (row,) = rows_of(tmp_path, "tensors")
    assert (row["dtype"], row["shape"], row["values"]) == (dtype, list(values.shape), expected)
    assert (row["integers"], row["strings"]) == (None, None)


@pytest.mark.parametrize(
    "values",
    [
        np.array([2**53 + 1, -1], np.int64),
        np.array([-(2**63), 2**63 - 1], np.int64),
        np.array([2**64 - 1], np.uint64),
        np.array(-(2**53) - 1, np.int64),
    ],
)
def test_integers_that_doubles_would_round_are_there_exactly(tmp_path, values):
    begin_other(tmp_path, tensor_event(3, values, "mine", DATA_CLASS_TENSOR, "t"))
    (row,) = rows_of(tmp_path, "tensors")
    assert row["values"] == values.reshape(-1).astype(float).tolist()
    assert [int(entry) for entry in row["integers"]] == values.reshape(-1).tolist()


def test_integers_that_doubles_hold_are_there_once(tmp_path):
    begin_other(tmp_path, tensor_event(3, np.array([2**53, -(2**53)], np.int64), "mine", DATA_CLASS_TENSOR, "t"))
    (row,) = rows_of(tmp_path, "tensors")
    assert (row["values"], row["integers"]) == ([2.0**53, -(2.0**53)], None)


def test_complex_tensors_are_real_and_imaginary_parts_in_turn(tmp_path):
    event = schema.Event(step=1)
    value = event.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name, value.metadata.data_class = "mine", DATA_CLASS_TENSOR
    value.tensor.dtype, value.tensor.tensor_content = 8, np.array([1 + 2j, 3 - 4j], np.complex64).tobytes()
    value.tensor.tensor_shape.dim.add(size=2)
    begin_other(tmp_path, event.SerializeToString())
    (row,) = rows_of(tmp_path, "tensors")
    assert (row["dtype"], row["shape"], row["values"]) == ("complex64", [2], [1, 2, 3, -4])


def test_tensors_of_strings_are_bytes(tmp_path):
    event = schema.Event(step=1)
    value = event.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name, value.metadata.data_class = "mine", DATA_CLASS_TENSOR
    value.tensor.dtype = schema.DATA_TYPES["string"]
    value.tensor.string_val.extend([b"\xff", b"b"])
    value.tensor.tensor_shape.dim.add(size=2)
    begin_other(tmp_path, event.SerializeToString())
    (row,) = rows_of(tmp_path, "tensors")
    assert (row["dtype"], row["shape"], row["values"], row["strings"]) == ("string", [2], None, [b"\xff", b"b"])
    assert row["integers"] is None


def test_graphs_are_their_bytes(tmp_path):
    begin_other(tmp_path, schema.Event(graph_def=b"graph").SerializeToString())
    (row,) = rows_of(tmp_path, "graphs")
    assert (row["tag"], row["data"]) == ("<graph_def>", b"graph")


def test_hyperparameters_are_a_row_each_with_how_the_run_ended(tmp_path):
    settings = {"lr": 0.1, "layers": 3.0, "optimizer": "adam", "amp": True}
    start = hparams_pb(settings, "g", start_time_secs=5.0)
    _, _, end = torch_hparams({"lr": 0.1}, {"loss": 0})
    write(tmp_path / "trial", start, end)
    rows = rows_of(tmp_path, "hparams")
    assert [(row["name"], row["value"], row["number"]) for row in rows] == [
        ("amp", "true", 1.0),
        ("layers", "3", 3.0),
        ("lr", "0.1", 0.1),
        ("optimizer", "adam", None),
    ]
    assert {(row["run"], row["group"], row["started"], row["ended"], row["status"]) for row in rows} == {
        ("trial", "g", 5.0, None, "success")
    }


def test_of_two_files_the_later_setting_counts(tmp_path):
    write(tmp_path, hparams_pb({"lr": 0.1, "seed": 1.0}), name=EVENTS)
    write(tmp_path, hparams_pb({"lr": 0.2}), name=EVENTS.replace("17", "18", 1))
    assert [(row["name"], row["number"]) for row in rows_of(tmp_path, "hparams")] == [("lr", 0.2), ("seed", 1.0)]


def test_hyperparameters_that_are_not_readable_are_told(tmp_path):
    made = hparams_pb({"lr": 0.1})
    made.value[0].metadata.plugin_data.content = b"\xff\xff"
    write(tmp_path, made)
    told = []
    assert rows_of(tmp_path, "hparams", told) == []
    (sentence,) = told
    assert sentence.endswith("What a run says of its hyperparameters is not readable.")


def test_messages_of_ours_are_their_json(tmp_path):
    begin(tmp_path).session("one", start_step=4).append()
    (row,) = rows_of(tmp_path, "session")
    assert json.loads(row["message"])["id"] == "one"
    assert row["run"] == "zentracer"


def test_bulk_tables_have_a_row_a_tensor_and_lists_where_a_column_holds_several(tmp_path):
    columns = (ColumnSpec("weight", dtype="uint32", length=4), ColumnSpec("count", dtype="uint32"))
    spec = TableSpec("histograms", "model", columns, (RowSpec("a"), RowSpec("b")))
    log = begin(tmp_path, name="zentracer.1700000000.host.1.0.ztrec")
    for step in (0, 7):
        log.table(step, spec, np.arange(10, dtype=np.uint32).reshape(2, 5) + step)
    log.append()
    rows = rows_of(tmp_path, "tensor_histograms")
    assert [(row["scope"], row["row"], row["step"], row["weight"], row["count"]) for row in rows] == [
        ("model", "a", 0, [0, 1, 2, 3], 4),
        ("model", "b", 0, [5, 6, 7, 8], 9),
        ("model", "a", 7, [7, 8, 9, 10], 11),
        ("model", "b", 7, [12, 13, 14, 15], 16),
    ]


def test_bulk_tables_of_mixed_types_and_changing_rows(tmp_path):
    columns = (ColumnSpec("index", dtype="uint32"), ColumnSpec("map", dtype="float16", length=2))
    spec = TableSpec("delta", "model", columns)
    log = begin(tmp_path, name="zentracer.1700000000.host.1.0.ztrec")
    log.table(0, spec, {"index": np.array([4], np.uint32), "map": np.array([[0.5, 1.5]], np.float16)})
    log.table(1, spec, {"index": np.array([5, 6], np.uint32), "map": np.ones((2, 2), np.float16)})
    log.append()
    rows = rows_of(tmp_path, "delta")
    assert [(row["step"], row["row"], row["index"], row["map"]) for row in rows] == [
        (0, None, 4, [0.5, 1.5]),
        (1, None, 5, [1, 1]),
        (1, None, 6, [1, 1]),
    ]


def test_what_is_damaged_is_left_out_and_told_once_a_tag(tmp_path):
    good = np.array([[0.0, 1.0, 5.0]])
    payloads = [
        tensor_event(step, good if step % 2 else good[0], "histograms", DATA_CLASS_TENSOR, "w") for step in range(6)
    ]
    begin_other(tmp_path, *payloads)
    told = []
    assert [row["step"] for row in rows_of(tmp_path, "histograms", told)] == [1, 3, 5]
    assert told == [
        "w of run .: 3 values could not be read and left out. A histogram is [bins, 3] numbers, the tensor is (3,) "
        "of float64."
    ]


def test_what_vanished_meanwhile_is_left_out_and_told(tmp_path):
    write(tmp_path, text_pb("note", "a"))
    found = look_under(str(tmp_path))
    run = read_run(".", found.runs["."])
    os.remove(tmp_path / EVENTS)
    told = []
    assert joined([run], "texts", Choice(), told.append).num_rows == 0
    assert told == [
        "note of run .: 1 value could not be read and left out. "
        "The record can't be read again (No such file or directory)."
    ]


@pytest.mark.parametrize("most", [1, 40, 1 << 30])
def test_batches_of_any_size_make_the_same_table(tmp_path, monkeypatch, most):
    monkeypatch.setattr(zentracer_store.exporting.valued, "BATCH_BYTES", most)
    write(tmp_path, *(text_pb("note", str(number)) for number in range(20)))
    assert [row["text"] for row in rows_of(tmp_path, "texts")] == [str(number) for number in range(20)]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_every_kind_has_a_table_where_there_is_nothing_of_it(tmp_path, kind):
    write_run(tmp_path / "a", steps=[])
    found = look_under(str(tmp_path))
    runs = [read_run(name, files) for name, files in found.runs.items()]
    table = joined(runs, kind, Choice(), pytest.fail)
    assert table.num_rows == 0
    assert table.column_names[0] == "run"
