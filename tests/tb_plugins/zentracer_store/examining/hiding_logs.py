"""Writes runs of which TensorBoard hides something: one function a case, each given the run's directory."""

import math
from pathlib import Path

import numpy as np

import zentracer_schema as schema
from tests.logs import EVENTS, WALL, Log
from zentracer_schema.messages import DATA_CLASS_SCALAR, DATA_CLASS_TENSOR

SECOND = EVENTS.replace("1700000000", "1700000050")


def log_in(run: Path, name: str = EVENTS) -> Log:
    """A log with its first record."""
    return Log(run / name).version()


def points(log: Log, steps, tag: str = "loss") -> Log:
    """Points of one tag, a second apart."""
    for step in steps:
        log.wall += 1
        log.scalars(step, **{tag: float(step)})
    return log


def tensor_event(step: int, values, plugin: str, data_class: int, tag: str = "loss", wall: float = WALL) -> bytes:
    """An event with a tensor."""
    array = np.asarray(values)
    event = schema.Event(wall_time=wall, step=step)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name, value.metadata.data_class = plugin, data_class
    value.tensor.dtype, value.tensor.tensor_content = schema.DATA_TYPES[array.dtype.name], array.tobytes()
    for side in array.shape:
        value.tensor.tensor_shape.dim.add(size=side)
    return event.SerializeToString()


def change(path: Path, record: int, at: int, bits: int = 1) -> None:
    """Flip bits of one byte of a record: `at` counts from its first byte, header included, or from its end."""
    data, start = bytearray(path.read_bytes()), 0
    for _ in range(record):
        start += 12 + schema.parse_length(data[start : start + 12]) + 4
    size = 12 + schema.parse_length(data[start : start + 12]) + 4
    data[start + (at if at >= 0 else size + at)] ^= bits
    path.write_bytes(data)


def whole(run: Path) -> None:
    """Nothing is hidden of it."""
    points(points(log_in(run), range(20)), range(20), "accuracy").append()


def damaged_data(run: Path) -> None:
    """A bit of a wall time is wrong: the record is an event all the same."""
    change(points(log_in(run), range(20)).append().path, 8, 12 + 3)


def damaged_event(run: Path) -> None:
    """A record is no event any more."""
    change(points(log_in(run), range(20)).append().path, 8, 12, 0xFF)


def damaged_length(run: Path) -> None:
    """The length of a record is wrong."""
    change(points(log_in(run), range(20)).append().path, 8, 1)


def nan_wall(run: Path) -> None:
    """A wall time is NaN."""
    log = points(log_in(run), range(7))
    log.add(schema.scalar_event(math.nan, 7, {"loss": 7.0}))
    points(log, range(8, 20)).append()


def restarted(run: Path) -> None:
    """A session that says where it starts counts some steps anew."""
    points(points(log_in(run).start(0), range(10)).start(6), range(6, 12)).append()


def restarted_three_times(run: Path) -> None:
    """The middle restart begins before the last one."""
    log = points(log_in(run).start(0), range(10))
    points(points(log.start(3), range(3, 9)).start(7), range(7, 15)).append()


def restarted_in_another_file(run: Path) -> None:
    """As a process that resumes does it."""
    points(log_in(run).start(0), range(10)).append()
    later = Log(run / SECOND, WALL + 50).version().start(6)
    points(later, range(6, 12)).append()


def began_anew(run: Path) -> None:
    """A second session counts from 0, and does not log a tag that the first did."""
    log = points(points(log_in(run).start(0), range(10)), range(10), "accuracy")
    points(log.start(0), range(4)).append()


def went_back(run: Path) -> None:
    """Steps go back, and no session start says so."""
    points(points(log_in(run), range(10)), range(6, 12)).append()


def went_back_without_a_version(run: Path) -> None:
    """The same in a file of the oldest kind, beside a tag that stays where it is."""
    log = points(points(Log(run / EVENTS), range(10)), [9, 10], "accuracy")
    points(log, range(6, 12)).append()


def repeated(run: Path) -> None:
    """One step again and again."""
    points(log_in(run), [5] * 20).append()


def doubles(run: Path) -> None:
    """Scalars in double precision."""
    log = log_in(run)
    for step in range(20):
        log.add(tensor_event(step, np.float64(step), "scalars", DATA_CLASS_SCALAR))
    log.append()


def floats(run: Path) -> None:
    """The same in single precision, which shows."""
    log = log_in(run)
    for step in range(20):
        log.add(tensor_event(step, np.float32(step), "scalars", DATA_CLASS_SCALAR))
    log.append()


def doubles_later(run: Path) -> None:
    """Single precision at first, double precision later; another tag the other way around."""
    log = log_in(run)
    for step in range(20):
        kinds = (np.float32, np.float64) if step < 8 else (np.float64, np.float32)
        for tag, kind in zip(("loss", "accuracy"), kinds, strict=True):
            log.add(tensor_event(step, kind(step), "scalars", DATA_CLASS_SCALAR, tag))
    log.append()


def lone_entries(run: Path) -> None:
    """Scalars that are vectors of one entry."""
    log = log_in(run)
    for step in range(20):
        log.add(tensor_event(step, np.array([step], np.float32), "scalars", DATA_CLASS_SCALAR))
    log.append()


def pairs(run: Path) -> None:
    """Scalars of which one is a vector of two entries."""
    log = points(log_in(run), range(7))
    log.add(tensor_event(7, np.ones(2, np.float32), "scalars", DATA_CLASS_SCALAR))
    points(log, range(8, 20)).append()


def no_entry(run: Path) -> None:
    """Scalars of which one is a tensor without its number."""
    log = points(log_in(run), range(7))
    event = schema.Event.FromString(tensor_event(7, np.float32(0), "scalars", DATA_CLASS_SCALAR))
    event.summary.value[0].tensor.tensor_content = b""
    points(log.add(event.SerializeToString()), range(8, 20)).append()


def infinite_wall(run: Path) -> None:
    """A wall time is infinite; its step goes back, which takes nothing away in the data server."""
    log = points(log_in(run), range(7))
    log.add(schema.scalar_event(math.inf, 3, {"loss": 7.0}))
    log.add(schema.scalar_event(-math.inf, 7, {"loss": 7.0}))
    points(log, range(8, 20)).append()


def mixed_classes(run: Path) -> None:
    """Scalars with a text between them."""
    log = points(log_in(run), range(7))
    log.add(text_event(7))
    points(log, range(8, 20)).append()


def text_event(step: int, tag: str = "loss") -> bytes:
    """An event with a text."""
    event = schema.Event(wall_time=WALL, step=step)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name, value.metadata.data_class = "text", DATA_CLASS_TENSOR
    value.tensor.dtype = schema.DATA_TYPES["string"]
    value.tensor.string_val.append(b"hello")
    return event.SerializeToString()


def went_back_in_an_old_version(run: Path) -> None:
    """Steps go back in a file of version 1, in which session starts mean nothing."""
    log = Log(run / EVENTS).add(version_event("brain.Event:1")).start(0)
    points(points(log, range(10)).start(2), range(6, 12)).append()


def version_that_changes(run: Path) -> None:
    """A file that says version 2 at first, and 1 after that."""
    log = points(points(log_in(run), range(10)), range(6, 9)).add(version_event("brain.Event:1"))
    points(points(log, range(9, 12)), range(10, 12)).append()


def version_event(version: str) -> bytes:
    """An event that tells the file's version."""
    return schema.Event(wall_time=WALL, file_version=version).SerializeToString()


def side_by_side(run: Path) -> None:
    """Two files that grew at the same time, each with a tag of its own."""
    points(log_in(run), range(20)).append()
    points(log_in(run, EVENTS.replace(".1.0", ".2.0")), range(20), "accuracy").append()


CASES = {
    case.__name__: case
    for case in (
        *(whole, damaged_data, damaged_event, damaged_length, nan_wall, restarted, restarted_three_times),
        *(restarted_in_another_file, began_anew, went_back, went_back_without_a_version, repeated, doubles),
        *(floats, side_by_side, doubles_later, lone_entries, infinite_wall, mixed_classes, pairs, no_entry),
        *(went_back_in_an_old_version, version_that_changes),
    )
}


def unclassified(run: Path) -> None:
    """Tensors of a plugin that nobody knows, which do not say what they are."""
    log = log_in(run)
    for step in range(20):
        log.add(tensor_event(step, np.ones(3, np.float32), "mine", 0, "vector"))
        log.add(tensor_event(step, np.ones(3, np.float32), "mine", DATA_CLASS_TENSOR, "told"))
    log.append()


def no_event(run: Path) -> None:
    """A whole record in which there is no event."""
    log = points(log_in(run), range(7))
    points(log.add(b"\xff\xff\xff\xff"), range(7, 20)).append()


def long(run: Path) -> None:
    """More values than TensorBoard keeps of a tag."""
    points(log_in(run), range(1_200)).append()


def long_and_restarted(run: Path) -> None:
    """More values than TensorBoard keeps of a tag, most of which a restart purges."""
    points(points(log_in(run).start(0), range(1_100)).start(200), range(200, 400)).append()


def long_and_damaged(run: Path) -> None:
    """More values than TensorBoard keeps of a tag, most of which are behind damage."""
    change(points(log_in(run), range(1_200)).append().path, 8, 12 + 3)


def long_and_late_doubles(run: Path) -> None:
    """More values than TensorBoard keeps of a tag, some of which the data server does not take."""
    log = log_in(run)
    for step in range(1_200):
        kind = np.float32 if step < 1_050 else np.float64
        log.add(tensor_event(step, kind(step), "scalars", DATA_CLASS_SCALAR))
    log.append()
