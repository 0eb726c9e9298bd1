"""tbparse, TensorFlow and TensorBoard's data provider read what our tracer writes into tfevents."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tbparse
from tensorboard import context
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer

import zentracer.torch as zt
import zentracer_schema as schema
from tests.user_training import Training

STEPS = 10
UPDATE_RATIO = schema.scalar_tag("model", "update_ratio")
TENSORFLOW = Path(__file__).parents[1] / ".venv-tf/bin/python"


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """A run of ten recorded updates."""
    logdir = tmp_path_factory.mktemp("runs")
    training = Training()
    with zt.watch(training.model, training.optimizer, logdir=logdir / "a", every=1) as tracer:
        for _ in range(STEPS):
            tracer.log(loss=training(), split="train")
    return logdir


@pytest.fixture(scope="module")
def tables(logdir):
    """(tag, spec, {step: table}) of the parameters, by our own file format."""
    found = {}
    for path in sorted((logdir / "a/zentracer").glob("*.tfevents.*")):
        data = path.read_bytes()
        at = 0
        while at < len(data):
            size = schema.parse_length(data[at : at + schema.HEADER_BYTES])
            at += schema.HEADER_BYTES
            event = schema.Event.FromString(data[at : at + size])
            at += size + schema.FOOTER_BYTES
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name != "zentracer_parameters":
                    continue
                if description := value.metadata.plugin_data.content:  # on the first record only
                    tag, spec = value.tag, schema.TableSpec.from_json(description)
                found[event.step] = value.tensor
    return tag, spec, {step: schema.decode_table(spec, tensor) for step, tensor in found.items()}


def update_ratios(tables):
    """The median over parameters, as our plain scalar has it, by step."""
    _, spec, by_step = tables
    column = [column.name for column in spec.columns].index("update_ratio")
    return {step: float(np.median(table[:, column])) for step, table in by_step.items()}


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # tbparse's way with pandas
def test_tbparse_reads_scalars_and_tables(logdir, tables):
    reader = tbparse.SummaryReader(str(logdir), extra_columns={"dir_name"})
    scalars = reader.scalars
    ours = scalars[scalars["tag"] == UPDATE_RATIO]
    assert set(ours["dir_name"]) == {"a/zentracer"}
    assert dict(zip(ours["step"], ours["value"], strict=True)) == pytest.approx(update_ratios(tables), rel=1e-6)
    tag, _, by_step = tables
    tensors = reader.tensors[reader.tensors["tag"] == tag]
    for step, value in zip(tensors["step"], tensors["value"], strict=True):
        np.testing.assert_array_equal(value, by_step[step])


def test_tensorboards_provider_reads_scalars_and_tables(logdir, tables):
    multiplexer = EventMultiplexer(size_guidance={}, tensor_size_guidance={})
    multiplexer.AddRunsFromDirectory(str(logdir))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(logdir))
    everything = {"experiment_id": "", "downsample": 1000}
    tag, _, by_step = tables
    scalars = provider.read_scalars(context.RequestContext(), plugin_name="scalars", **everything)["a/zentracer"]
    shown = {datum.step: datum.value for datum in scalars[UPDATE_RATIO]}
    assert shown == pytest.approx(update_ratios(tables), rel=1e-6)
    arrays = provider.read_tensors(context.RequestContext(), plugin_name="zentracer_parameters", **everything)
    for datum in arrays["a/zentracer"][tag]:
        np.testing.assert_array_equal(datum.numpy, by_step[datum.step])


def test_tensorflow_reads_scalars_and_tables(logdir, tables):
    if not TENSORFLOW.exists():
        pytest.skip("There is no environment with TensorFlow. Make one: make setup-tf")
    tag, _, by_step = tables
    code = f"""
import glob, json, tensorflow as tf
scalars, sums = {{}}, {{}}
for path in sorted(glob.glob({str(logdir)!r} + "/a/zentracer/*.tfevents.*")):
    for event in tf.compat.v1.train.summary_iterator(path):
        for value in event.summary.value:
            if value.tag == {UPDATE_RATIO!r}:
                scalars[event.step] = value.simple_value
            if value.tag == {tag!r}:
                sums[event.step] = tf.make_ndarray(value.tensor).tolist()
print(json.dumps([scalars, sums]))
"""
    printed = subprocess.run([TENSORFLOW, "-c", code], check=True, capture_output=True, text=True).stdout
    scalars, arrays = json.loads(printed.splitlines()[-1])
    assert {int(step): value for step, value in scalars.items()} == pytest.approx(update_ratios(tables), rel=1e-6)
    assert {int(step) for step in arrays} == set(by_step)
    for step, values in arrays.items():
        np.testing.assert_array_equal(np.array(values, np.float32), by_step[int(step)])
