"""Files that strangers' programs wrote, where a copy of them lies beside the repository, held against TensorBoard.

TensorBoard's own loader is asked for all it keeps, tag by tag and value by value. What may differ is a closed list:

- `purged`: TensorBoard dropped a point because a later one of its tag, or a later start of the writer, stands at the
  same step or an earlier one. We keep it.

(The loader can drop what stands behind a bad record, too, and can show a point twice; these files have neither, so
neither is allowed here.)
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tensorboard import data_compat, dataclass_compat
from tensorboard.backend.event_processing import plugin_event_accumulator as accumulators
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.util import tensor_util

from zentracer_store import Store, parse_places
from zentracer_store.reading.blobs import blobs_of
from zentracer_store.reading.fetch import read_event, read_value
from zentracer_store.reading.histograms import histogram_of
from zentracer_store.reading.hparams import Hparams, hparams_of
from zentracer_store.reading.tensors import array_of, strings_of
from zentracer_store.reading.texts import text_of

LOGS = Path(__file__).resolve().parents[4] / "shared/real_logs"
FOLDERS = sorted(path.name for path in LOGS.iterdir() if path.is_dir()) if LOGS.is_dir() else []

pytestmark = pytest.mark.skipif(not FOLDERS, reason=f"{LOGS} is not there")


@cache
def contents_of(folder):
    """What each file of a folder holds, by its path."""
    store = Store(parse_places(str(LOGS / folder)))
    try:
        store.look()
        catalogue = store.catalogue()
        assert catalogue.progress.done
        assert catalogue.runs
        assert catalogue.counts.unreadable == 0
        assert not any(run.tables for run in catalogue.runs)
        assert all(store.scopes(run.name)[1] == () for run in catalogue.runs)
        assert not [oddity.text for oddity in catalogue.oddities if "ZenTracer failed" in oddity.text]
        return {
            str(LOGS / folder / path): contents
            for run in catalogue.runs
            for path, contents in store.contents(run.name).items()
        }
    finally:
        store.close()


def theirs_of(path, *, purge):
    """All that TensorBoard's loader has of a file or directory."""
    tensors = dict.fromkeys(("scalars", "histograms", "images", "audio", "text", "hparams", "pr_curves"), 0)
    loader = accumulators.EventAccumulator(
        str(path),
        size_guidance={accumulators.TENSORS: 0},
        tensor_size_guidance=tensors,
        purge_orphaned_data=purge,
    )
    loader.Reload()
    return loader


def rows(frame, *columns):
    return zip(*(frame.column(name).tolist() for name in columns), strict=True)


def ours_of(contents):
    """By tag and in file order: (step, wall time, a function that gives the value) of each."""
    found = {info.tag: [] for info in contents.tags}
    for tag, step, wall, value in rows(contents.points, "tag", "step", "wall", "value"):
        found[contents.tags[tag].tag].append((step, wall, lambda value=value: value))
    for tag, step, wall, *where in rows(contents.records, "tag", "step", "wall", "offset", "length", "place"):
        info = contents.tags[tag]
        if info.tag.startswith("<"):
            value = lambda where=where: read_event(contents.path, *where[:2])  # noqa: E731
        else:
            value = lambda where=where: read_value(contents.path, *where)  # noqa: E731
        found[info.tag].append((step, wall, value))
    return found


def check_value(info, ours, theirs):
    """Whether a value of ours is that of TensorBoard, as stored and as decoded."""
    if info.sort == "scalar":
        assert np.array_equal(ours, tensor_util.make_ndarray(theirs).item(), equal_nan=True)
        return
    event = Event()
    event.summary.value.add().ParseFromString(ours.SerializeToString())
    (migrated,) = dataclass_compat.migrate_event(data_compat.migrate_event(event), {})
    assert migrated.summary.value[0].tensor == theirs
    if ours.WhichOneof("value") is None:
        return
    expected = tensor_util.make_ndarray(theirs)
    if info.sort == "histogram":
        read = histogram_of(ours)
        table = np.stack([read.lefts, read.rights, read.counts], axis=1)
        assert np.array_equal(table.astype(np.float32), expected.astype(np.float32))
    elif info.sort == "image":
        read = blobs_of(ours, "image")
        assert [blob.data for blob in read] == list(expected[2:])
        assert (read[0].width, read[0].height) == (int(expected[0]), int(expected[1]))
        assert {blob.mime for blob in read} == {"image/png"}
    elif info.sort == "text":
        assert text_of(ours).tolist() == np.vectorize(lambda raw: raw.decode(), otypes=[object])(expected).tolist()
    elif expected.dtype == object:
        assert strings_of(ours.tensor).reshape(-1).tolist() == expected.reshape(-1).tolist()
    else:
        assert np.array_equal(array_of(ours.tensor), expected, equal_nan=expected.dtype.kind in "fc")


def check_metadata(info, loader):
    theirs = loader.SummaryMetadata(info.tag)
    assert info.display_name in (theirs.display_name, "")  # for older values TensorBoard makes one from the tag
    assert info.description == theirs.summary_description
    if info.plugin:
        assert (info.plugin, info.content) == (theirs.plugin_data.plugin_name, theirs.plugin_data.content)
    if info.sort == "hparams":
        assert hparams_of(info.content) != Hparams()


def is_graph(tag, loader):
    """Whether a tag is one of those that TensorBoard makes of events that are no summaries."""
    return tag == "__run_graph__" or loader.SummaryMetadata(tag).plugin_data.plugin_name == "graph_tagged_run_metadata"


def check_graphs(ours, loader):
    """Graphs have names of their own in TensorBoard and no tag; the last of each kind counts there."""
    theirs = loader.Tags()
    assert ("<graph_def>" in ours) == ("__run_graph__" in theirs[accumulators.TENSORS])
    assert ("<meta_graph_def>" in ours) == bool(theirs[accumulators.META_GRAPH])
    for _, _, event in ours.get("<graph_def>", [])[-1:]:
        (graph,) = loader.Tensors("__run_graph__")[-1].tensor_proto.string_val
        assert event().graph_def == graph
    for _, _, event in ours.get("<meta_graph_def>", [])[-1:]:
        assert event().meta_graph_def
    metadata = [tag for tag in theirs[accumulators.TENSORS] if tag != "__run_graph__" and is_graph(tag, loader)]
    assert len(metadata) == len(ours.get("<run_metadata>", []))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_tag_and_value_of_every_file_is_that_of_tensorboards_loader(folder):
    compared = 0
    for path, contents in contents_of(folder).items():
        loader, ours = theirs_of(path, purge=False), ours_of(contents)
        tags = loader.Tags()
        info_of = {info.tag: info for info in contents.tags}
        check_graphs(ours, loader)
        names = {tag for tag in tags[accumulators.TENSORS] if not is_graph(tag, loader)}
        only_described = {tag for tag in info_of if tag not in names and not tag.startswith("<")}
        assert names <= set(info_of)
        assert all(value().WhichOneof("value") is None for tag in only_described for _, _, value in ours[tag])
        for tag in names:
            check_metadata(info_of[tag], loader)
            events = loader.Tensors(tag)
            assert [(event.step, event.wall_time) for event in events] == [(step, wall) for step, wall, _ in ours[tag]]
            for event, (_, _, value) in zip(events, ours[tag], strict=True):
                check_value(info_of[tag], value(), event.tensor_proto)
                compared += 1
    assert compared


@pytest.mark.parametrize("folder", FOLDERS)
def test_of_whole_directories_tensorboards_loader_lacks_only_what_it_purged(folder):
    directories = {}
    for path, contents in sorted(contents_of(folder).items()):
        directories.setdefault(str(Path(path).parent), []).append(contents)
    classes = {"same": 0, "purged": 0}
    for directory, files in directories.items():
        loader = theirs_of(directory, purge=True)
        starts, series = [], {}
        for order, contents in enumerate(files):
            for session in contents.sessions.all[1:]:
                starts.append((order, session.start_step))
            for tag, points in ours_of(contents).items():
                series.setdefault(tag, []).extend((order, step, wall) for step, wall, _ in points)
        for tag in [tag for tag in loader.Tags()[accumulators.TENSORS] if not is_graph(tag, loader)]:
            theirs = [(event.step, event.wall_time) for event in loader.Tensors(tag)]
            for place, (file, step, wall) in enumerate(series[tag]):
                if theirs and theirs[0] == (step, wall):
                    theirs.pop(0)
                    classes["same"] += 1
                    continue
                later = any(other <= step for _, other, _ in series[tag][place + 1 :])
                started = any(begun >= file and begin <= step for begun, begin in starts)
                assert later or started, f"{directory}: {tag} lacks step {step}"
                classes["purged"] += 1
            assert theirs == []
    assert classes["same"]
