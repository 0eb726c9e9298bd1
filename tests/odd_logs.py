"""Writes logdirs that are out of the ordinary: `python -m tests.odd_logs KIND RUN_DIRECTORY`."""

import sys
import time
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

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


KINDS = {writer.__name__: writer for writer in (scalars, newer, device)}

if __name__ == "__main__":
    KINDS[sys.argv[1]](Path(sys.argv[2]))
