"""Exports and the doctor on logs with random damage: neither fails, and another run is not touched by it."""

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tensorboard.plugins.text.summary_v2 import text_pb

import zentracer_schema as schema
from tests.logs import EVENTS, begin, parameters, table, write_scalars
from tests.tb_plugins.zentracer_store.examining.hiding_logs import tensor_event
from zentracer_schema import ColumnSpec, RowSpec, TableSpec
from zentracer_schema.messages import DATA_CLASS_SCALAR, DATA_CLASS_TENSOR
from zentracer_store.examining.doctor import examine
from zentracer_store.exporting.export import export
from zentracer_store.exporting.tabular import Choice

BULK = TableSpec("histograms", "model", (ColumnSpec("weight", dtype="uint32", length=4),), (RowSpec("w"),))


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """The payloads of a log with something of every kind in it."""
    log = begin(tmp_path_factory.mktemp("log")).session("one", start_step=0)
    spec = parameters(["w"])
    for step in range(3):
        log.table(step, spec, table(1)).scalars(step, loss=1.0)
        log.table(step, BULK, np.ones((1, 4), np.uint32))
        log.add(tensor_event(step, np.ones((2, 3)), "histograms", DATA_CLASS_TENSOR, "h"))
        log.add(tensor_event(step, np.ones(3, np.float16), "mine", DATA_CLASS_TENSOR, "t"))
        log.add(tensor_event(step, np.float64(1), "scalars", DATA_CLASS_SCALAR, "double"))
        text = schema.Event(
            step=step, wall_time=1.0, summary=schema.Summary.FromString(text_pb("n", "x").SerializeToString())
        )
        log.add(text.SerializeToString())
    return [framed[12:-4] for framed in log.pending]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data(), st.booleans())
def test_damage_is_survived(records, tmp_path, data, sealed):
    """With `sealed` the checksums are made anew, so that what is damaged is parsed."""
    logdir, out = tmp_path / "logs", tmp_path / "out"
    shutil.rmtree(logdir, ignore_errors=True)
    write_scalars(logdir / "whole", {"loss": [1.0, 2.0]})
    payloads = list(records)
    for _ in range(data.draw(st.integers(1, 4))):
        number = data.draw(st.integers(0, len(payloads) - 1))
        payload = bytearray(payloads[number])
        if payload:
            payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
        payloads[number] = (
            bytes(payload[: data.draw(st.integers(0, len(payload)))]) if data.draw(st.booleans()) else bytes(payload)
        )
    frames = [schema.frame(payload) for payload in payloads]
    if not sealed:
        frames = [schema.frame(records[n])[:12] + payload + frames[n][-4:] for n, payload in enumerate(payloads)]
    (logdir / "damaged").mkdir()
    (logdir / "damaged" / EVENTS).write_bytes(b"".join(frames))
    for form in ("parquet", "csv"):
        done = export(str(logdir), str(out), form, Choice(), force=True)
        assert done.rows["scalars"] >= 2
        assert (out / f"kind=scalars/run=whole/part-0.{form}").exists()
    report = examine(str(logdir))
    assert {run.name: run.points for run in report.runs}["whole"] == 2
