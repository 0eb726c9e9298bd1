"""Writes logdirs that are out of the ordinary: `python -m tests.odd_logs KIND RUN_DIRECTORY`."""

import base64
import sys
import time
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util.tensor_util import make_tensor_proto

import zentracer_schema as schema


def scalars(run: Path) -> None:
    """Three series of another writer."""
    writer = EventFileWriter(str(run))
    for step in range(20):
        values = [Summary.Value(tag=tag, simple_value=step) for tag in ("loss", "accuracy", "learning_rate")]
        writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
    writer.close()


def newer(run: Path) -> None:
    """Tables in a format that this version does not know."""
    spec = schema.TableSpec(
        "parameters", "model", schema.PARAMETER_COLUMNS, rows=(schema.RowSpec("weight"),), format=schema.FORMAT + 1
    )
    table = np.ones((1, len(schema.PARAMETER_COLUMNS)), np.float32)
    payloads = [schema.file_version_event(time.time())]
    payloads += [schema.table_event(time.time(), step, spec, table, with_spec=step == 0) for step in range(5)]
    directory = run / "zentracer"
    directory.mkdir(parents=True)
    events = directory / f"events.out.tfevents.{time.time():.0f}.host.1.0"
    events.write_bytes(b"".join(map(schema.frame, payloads)))


def device(run: Path) -> None:
    """An event file that is a device."""
    run.mkdir(parents=True)
    (run / f"events.out.tfevents.{time.time():.0f}.host.1.0").symlink_to("/dev/null")


def mixed(run: Path) -> None:
    """What another writer leaves besides scalars: a histogram, text, an image."""
    writer = EventFileWriter(str(run))
    text = Summary.Value(
        tag="config",
        tensor=make_tensor_proto(np.array([b"lr 0.1"], object)),
        metadata=SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text")),
    )
    histogram = HistogramProto(min=0, max=1, num=3, sum=1, sum_squares=1, bucket_limit=[0.5, 1], bucket=[2, 1])
    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
    )
    image = Summary.Image(height=1, width=1, colorspace=1, encoded_image_string=pixel)
    for step in range(20):
        values = [Summary.Value(tag=f"{split}/loss", simple_value=1 / (1 + step)) for split in ("train", "validation")]
        values += [Summary.Value(tag="fc.weight", histo=histogram), Summary.Value(tag="sample", image=image)]
        writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=[*values, text])))
    writer.close()


def resumed(run: Path) -> None:
    """Two sessions: the second begins at step 600, which the first had passed at step 800."""
    _sessions(run, [(0, 800), (600, 1200)], continues=True)


def began_again(run: Path) -> None:
    """Two sessions that do not know of each other, both from step 0 on."""
    _sessions(run, [(0, 800), (0, 400)], continues=False)


def _sessions(run: Path, spans: list[tuple[int, int]], *, continues: bool) -> None:
    # Each session's update ratios lie in a decade of their own, so that a picture shows which one it is of.
    rows = tuple(schema.RowSpec(f"fc{k}.weight", module=f"fc{k}", class_name="Linear", shape=(4,)) for k in range(12))
    names = [column.name for column in schema.PARAMETER_COLUMNS]
    spec = schema.TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, rows=rows)
    wall = time.time() - 10_000
    directory = run / "zentracer"
    directory.mkdir(parents=True)
    for number, (first, end) in enumerate(spans):
        about = {
            "id": f"session-{number}",
            "continues": f"session-{number - 1}" if continues and number else None,
            "scopes": {"model": {"start_step": first}},
        }
        payloads = [schema.file_version_event(wall), schema.session_start_event(wall, first)]
        payloads.append(schema.message_event(wall, first, "session", "model", about))
        healthy = [0.0 if name.endswith("_fraction") else 0.01 for name in names]
        table = np.tile(np.array(healthy, np.float32), (len(rows), 1))
        table[:, names.index("status")] = schema.Status.SAMPLED
        table[:, names.index("update_ratio")] = 10.0 ** (-4 + number)
        for step in range(first, end, 10):
            wall += 1
            payloads.append(schema.table_event(wall, step, spec, table, with_spec=step == first))
        wall += 60
        events = directory / f"events.out.tfevents.{wall:.0f}.host.{number}.0"
        events.write_bytes(b"".join(map(schema.frame, payloads)))


KINDS = {writer.__name__: writer for writer in (scalars, newer, device, mixed, resumed, began_again)}

if __name__ == "__main__":
    KINDS[sys.argv[1]](Path(sys.argv[2]))
