"""What one file holds: sessions, tables, scalars of any writer, and what was odd."""

import json

import numpy as np
import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.util import tensor_util

import zentracer_schema as schema
from tests.logs import EVENTS, Log, parameters, table
from zentracer_store.contents import sessions, tables
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Growing
from zentracer_store.contents.tables import IN_COLUMNS
from zentracer_store.reading.fetch import Moved, read_value
from zentracer_store.reading.histograms import histogram_of
from zentracer_store.reading.records import Records
from zentracer_store.reading.tail import Tail

SPEC = parameters(["w"])


def read(*payloads, name=EVENTS):
    contents = FileContents(name)
    contents.feed(Records.of(enumerate(payloads)))
    return contents


def read_file(path, *payloads):
    """The contents of a real file, where what came too early is read again."""
    path.write_bytes(b"".join(schema.frame(payload) for payload in payloads))
    contents = FileContents(str(path))
    contents.feed(Tail(str(path)).read().records)
    return contents


def record(step, spec=SPEC, values=None, *, with_spec=True, wall=1.0):
    return schema.table_event(wall, step, spec, table(1) if values is None else values, with_spec=with_spec)


def event(step, summary, wall=1.0):
    return Event(wall_time=wall, step=step, summary=Summary.FromString(summary.SerializeToString())).SerializeToString()


def told(contents):
    return [oddity.text for oddity in contents.oddities]


@pytest.mark.parametrize(
    "value",
    [
        Summary.Value(tag="loss", simple_value=0.5),
        Summary.Value(tag="loss", tensor=tensor_util.make_tensor_proto(np.float64(0.5))),
        Summary.Value(tag="loss", tensor=tensor_util.make_tensor_proto(np.float16(0.5))),
        scalar_pb("loss", 0.5).value[0],
    ],
)
def test_a_scalar_in_any_spelling_is_a_point(value):
    value.tag = "loss"
    contents = read(event(7, Summary(value=[value]), wall=3.0))
    steps, walls, values = contents.points_of("loss")
    assert (steps.tolist(), walls.tolist(), values.tolist()) == ([7], [3.0], [0.5])
    assert contents.last_step == 7


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_whole_numbers_are_scalars_too(dtype):
    value = Summary.Value(tag="n", tensor=tensor_util.make_tensor_proto(dtype(3)))
    assert read(event(0, Summary(value=[value]))).points_of("n")[2].tolist() == [3.0]


def test_other_values_are_sorted_and_indexed():
    histogram = Summary.Value(tag="h1")
    histogram.histo.num = 1
    image = Summary.Value(tag="img")
    image.image.height = 1
    contents = read(
        event(0, Summary(value=[histogram, image])),
        event(0, histogram_pb("h2", [1.0, 2.0])),
        event(0, text_pb("t", "hello")),
        event(0, Summary(value=[Summary.Value(tag="v", tensor=tensor_util.make_tensor_proto([1.0, 2.0]))])),
    )
    assert {info.tag: info.sort for info in contents.tags} == {
        "h1": "histogram",
        "img": "image",
        "h2": "histogram",
        "t": "text",
        "v": "tensor",
    }
    assert not len(contents.points)
    assert contents.records.column("tag").tolist() == [0, 1, 2, 3, 4]
    assert contents.records.column("offset").tolist() == [0, 0, 1, 2, 3]
    assert contents.records.column("place").tolist() == [0, 1, 0, 0, 0]


def test_values_of_a_second_sort_under_one_tag_are_kept_under_a_name_of_their_own_and_told_once():
    vector = Summary.Value(tag="loss", tensor=tensor_util.make_tensor_proto([1.0, 2.0]))
    contents = read(schema.scalar_event(0.0, 0, {"loss": 1.0}), *[event(1, Summary(value=[vector]))] * 3)
    assert told(contents) == [
        "loss holds values of two sorts: what is tensor and not scalar is listed as loss (tensor)."
    ]
    assert [(info.tag, info.sort, info.source) for info in contents.tags] == [
        ("loss", "scalar", None),
        ("loss (tensor)", "tensor", "loss"),
    ]
    assert contents.records.column("tag").tolist() == [1, 1, 1]
    assert contents.points_of("loss")[0].tolist() == [0]


def test_tables_become_columns_by_row():
    values = table(2, weight_norm=[1, 2])
    spec = parameters(["a", "b"])
    contents = read(record(0, spec, values), record(5, spec, 2 * values, with_spec=False))
    (segment,) = contents.segments
    assert segment.steps(2).tolist() == [0, 5]
    assert segment.column("weight_norm", 0, 2).tolist() == [[1, 2], [2, 4]]
    assert segment.column("status", 0, 1).dtype == np.uint8
    assert contents.last_step == 5


def test_tables_of_mixed_dtypes_become_columns_where_a_row_has_one_entry():
    columns = (schema.ColumnSpec("f"), schema.ColumnSpec("n", dtype="int64", length=2))
    spec = schema.TableSpec("activations", "model", columns, SPEC.rows)
    contents = read(record(0, spec, {"f": np.array([0.5], np.float32), "n": np.array([[1, 2]])}))
    (segment,) = contents.segments
    assert segment.column("f", 0, 1).tolist() == [[0.5]]
    assert segment.column("n", 0, 1) is None  # several entries a row


def test_rows_of_a_pulse_follow_each_other():
    spec = schema.TableSpec("pulse", "model", schema.pulse_columns(["sgd/0"]))
    rows = np.arange(3 * len(spec.columns), dtype=np.float64).reshape(3, -1)
    contents = read(record(1000, spec, rows[:2]), record(2000, spec, rows[2:], with_spec=False))
    (segment,) = contents.segments
    assert segment.column("loss", 0, 3).tolist() == rows[:, 1].tolist()
    assert segment.steps(3).tolist() == [1000, 1000, 2000]
    assert contents.last_step is None  # milliseconds are no step


def test_tables_that_come_before_their_description_wait_for_it(tmp_path):
    contents = read_file(tmp_path / EVENTS, record(0, with_spec=False), record(1, with_spec=False))
    assert contents.undescribed == {SPEC.tag}
    assert not contents.segments
    contents.describe({SPEC.tag: SPEC})
    assert contents.segments[0].steps(2).tolist() == [0, 1]
    contents.feed(Records.of([(9, record(2, with_spec=False))]))
    assert contents.segments[0].count == 3


def test_tables_without_a_description_are_told_once_asked_for():
    contents = read(record(0, with_spec=False))
    contents.tell_undescribed()
    contents.tell_undescribed()
    assert told(contents) == [f"{SPEC.tag} has no description so far: it shows once a file of the run has one."]


def test_a_newer_format_is_skipped_and_told_once_with_tag_and_version():
    spec = schema.TableSpec("parameters", "model", SPEC.columns, SPEC.rows, format=schema.FORMAT + 1)
    contents = read(*[record(step, spec) for step in range(5)], record(0))
    assert told(contents) == [
        f"{spec.tag} is skipped. Written in format 2, this version reads up to 1: upgrade zentracer to see it."
    ]
    assert [segment.spec for segment in contents.segments] == [SPEC]


def test_a_kind_of_a_newer_version_is_told():
    value = Summary.Value(tag="zentracer/model/dreams/0123abcd", simple_value=1)
    value.metadata.plugin_data.plugin_name = "zentracer_dreams"
    assert told(read(event(0, Summary(value=[value])))) == [
        "zentracer/model/dreams/0123abcd is of a kind (zentracer_dreams) that this version does not know: "
        "upgrade zentracer to see it."
    ]


def test_a_description_that_is_nonsense_is_told_and_costs_its_tag_only():
    good = record(0)
    bad = schema.Event.FromString(record(0, parameters(["other"])))
    bad.summary.value[0].metadata.plugin_data.content = b"{}"
    contents = read(bad.SerializeToString(), good)
    assert told(contents) == [
        "The description of a table is not readable ('format'). "
        f"Such records of {parameters(['other']).tag} are skipped."
    ]
    assert len(contents.segments) == 1


def test_a_table_that_does_not_fit_its_description_is_told_and_skipped():
    short = schema.Event.FromString(record(1))
    short.summary.value[0].tensor.tensor_content = b"1234"
    contents = read(record(0), short.SerializeToString(), record(2))
    assert contents.segments[0].steps(2).tolist() == [0, 2]
    assert len(told(contents)) == 1
    assert "is not rows of 22 float32" in told(contents)[0]


def test_a_description_of_another_scope_is_refused():
    payload = schema.Event.FromString(record(0))
    payload.summary.value[0].metadata.plugin_data.content = parameters(["w"], scope="other").json
    assert "The description says scope 'other' and kind 'parameters'." in told(read(payload.SerializeToString()))[0]


def test_a_pulse_whose_description_names_rows_is_told_and_costs_nothing_else():
    pulse = schema.TableSpec("pulse", "model", (schema.ColumnSpec("step", dtype="float64"),), (schema.RowSpec("r"),))
    contents = read(record(0, pulse, np.zeros((1, 1))), record(0))
    assert told(contents) == [
        f"The description of a pulse names rows; it has a row for each moment. Such records of {pulse.tag} are skipped."
    ]
    assert [segment.spec for segment in contents.segments] == [SPEC]


def test_a_record_that_is_no_event_is_told_with_its_offset():
    contents = read(schema.scalar_event(0.0, 0, {"loss": 1.0}), b"\xff\xff", schema.scalar_event(0.0, 1, {"loss": 2.0}))
    contents.feed(Records.of([(9, b"\xff")]))
    (oddity,) = contents.oddities
    assert (oddity.text, oddity.offset) == ("The record (2 bytes) is no event and is skipped.", 1)
    assert contents.points_of("loss")[0].tolist() == [0, 1]


def test_a_repeated_step_keeps_the_first_record_and_is_told():
    contents = read(record(3, values=table(1, weight_norm=1)), record(3, values=table(1, weight_norm=2)))
    assert contents.segments[0].column("weight_norm", 0, 1).tolist() == [[1]]
    assert told(contents) == [f"{SPEC.tag} repeats step 3; the first record of it counts."]


def test_steps_that_go_back_without_a_mark_begin_a_new_session_and_are_told():
    contents = read(record(0), record(10), record(5))
    assert [segment.steps(segment.count).tolist() for segment in contents.segments] == [[0, 10], [5]]
    assert contents.sessions.all[-1].start_step == 5
    assert told(contents) == [f"The steps of {SPEC.tag} go back from 10 to 5 without a new session."]


def test_a_counter_that_goes_back_for_ever_begins_only_so_many_sessions_and_is_told(monkeypatch):
    monkeypatch.setattr(sessions, "MOST_RESTARTS", 2)
    monkeypatch.setattr(tables, "MOST_RESTARTS", 2)
    monkeypatch.setattr(tables, "_COUNTS_TOLD", (3,))
    steps = [5, 0, 4, 1, 8, 2, 3, 9, 7, 10]
    contents = FileContents(EVENTS)
    for offset, step in enumerate(steps):
        contents.feed(Records.of([(offset, record(step))]))
        contents = saved(contents)
    kept = [segment.steps(segment.count).tolist() for segment in contents.segments]
    assert kept == [[5], [0, 4], [1, 8, 9, 10]]
    assert told(contents)[1:] == [
        "The steps of the file have gone back 2 times without a new session: "
        f"further records of {SPEC.tag} that go back are left out.",
        f"3 records of {SPEC.tag} that go back are left out so far.",
    ]


def test_a_session_is_known_by_its_id_among_thousands_and_after_it_was_restored(tmp_path):
    log = Log(tmp_path / "f").version()
    for key in ("one", "two", "three"):
        log.start().session(key).table(0, SPEC, table(1))
    contents = saved(read(*payloads_of(log.append().path)))
    before = len(contents.sessions.all)
    contents.feed(Records.of([(9, schema.message_event(1.0, 0, "session", "model", {"id": "two", "scopes": {}}))]))
    assert len(contents.sessions.all) == before
    assert contents.sessions.current("model") == [session.id for session in contents.sessions.all].index("two")


def test_a_session_record_belongs_to_the_start_before_it(tmp_path):
    log = Log(tmp_path / "f").version().start(4).session("one", None, start_step=4).table(4, SPEC, table(1)).append()
    contents = read(*payloads_of(log.path))
    session = contents.sessions.all[contents.segments[0].session]
    assert (session.id, session.start_step, session.start_of("model")) == ("one", 4, 4)


def test_a_second_session_in_one_file_has_its_own_tables(tmp_path):
    log = Log(tmp_path / "f").version().start().session("one").table(0, SPEC, table(1))
    log.session("two", "one", start_step=0).table(0, SPEC, table(1)).append()
    contents = read(*payloads_of(log.path))
    assert [contents.sessions.all[segment.session].id for segment in contents.segments] == ["one", "two"]


def test_a_second_start_in_one_file_keeps_what_was_before_it(tmp_path):
    log = Log(tmp_path / "f").version().start().table(0, SPEC, table(1)).table(1, SPEC, table(1))
    log.start(1).table(1, SPEC, table(1)).append()
    contents = read(*payloads_of(log.path))
    assert [segment.steps(segment.count).tolist() for segment in contents.segments] == [[0, 1], [1]]
    assert [contents.sessions.all[segment.session].start_step for segment in contents.segments] == [0, 1]


def test_a_session_record_that_is_repeated_changes_nothing(tmp_path):
    log = Log(tmp_path / "f").version().start().session("one").table(0, SPEC, table(1))
    log.session("one").table(1, SPEC, table(1)).append()
    contents = read(*payloads_of(log.path))
    assert [segment.count for segment in contents.segments] == [2]


def test_scopes_of_one_process_keep_their_sessions_apart(tmp_path):
    other = parameters(["w"], scope="other")
    log = Log(tmp_path / "f").version().start().session("one").session("two", scope="other", start_step=7)
    log.table(0, SPEC, table(1)).table(7, other, table(1)).append()
    contents = read(*payloads_of(log.path))
    assert [contents.sessions.all[s.session].id for s in contents.segments] == ["one", "two"]


def test_a_session_record_without_an_id_is_told():
    payload = schema.message_event(0.0, 0, "session", "model", {"continues": None})
    assert told(read(payload))[0].startswith("A session record has no id. Such records of zentracer/model/session/")


def test_a_session_record_of_a_newer_format_is_told():
    payload = schema.Event.FromString(schema.message_event(0.0, 0, "session", "model", {"id": "x"}))
    payload.summary.value[0].tensor.string_val[0] = b'{"id":"x","format":9}'
    assert "Written in format 9" in told(read(payload.SerializeToString()))[0]


def test_tags_over_the_limit_are_not_read_and_told_once(monkeypatch):
    monkeypatch.setattr("zentracer_store.contents.takers.MOST_TAGS", 3)
    contents = read(*[schema.scalar_event(0.0, 0, {f"t{number}": 1.0}) for number in range(6)])
    assert len(contents.tags) == len(contents.points) == 3
    assert told(contents) == ["The file has over 3 tags; the further ones are not read."]


def payloads_of(path):
    data, found = path.read_bytes(), []
    while data:
        length = schema.parse_length(data[:12])
        found.append(data[12 : 12 + length])
        data = data[16 + length :]
    return found


def saved(contents):
    """What comes back of contents that went to disk as JSON and columns."""
    columns = {name: column.part(0, len(column)) for name, column in contents.columns()}

    def column(name):
        values = columns[name]
        made = Growing(values.dtype, values.shape[1:])
        made.extend(values)
        return made

    return FileContents.restore(json.loads(json.dumps(contents.head())), column)


def state(contents):
    columns = {name: column.part(0, len(column)).tobytes() for name, column in contents.columns()}
    return contents.head(), columns, contents.tags, contents.specs, contents.oddities, contents.undescribed


def everything(tmp_path):
    """Payloads of every kind: tables of two sessions, one without description, others' values, damage, marks."""
    pulse = schema.TableSpec("pulse", "model", schema.pulse_columns(["sgd/0"]))
    rows = np.arange(len(pulse.columns), dtype=np.float64).reshape(1, -1)
    lost = parameters(["lost"])
    log = Log(tmp_path / "log").version().start().session("one", start_step=0).scalars(0, loss=1.0, accuracy=0.5)
    log.table(0, SPEC, table(1)).table(1000, pulse, rows).scalars(1, loss=0.5).add(b"\xff")
    log.add(record(1, lost, with_spec=False)).start(1).session("two", "one", start_step=1).scalars(1, loss=2.0)
    log.table(1, SPEC, table(1, update_norm=np.nan)).add(event(1, histogram_pb("loss", [1.0])))
    log.add(Event(wall_time=1.0, graph_def=b"graph").SerializeToString())
    log.scalars(2, loss=3.0).table(2, SPEC, table(1, weight_nan_fraction=0.5)).table(2, SPEC, table(1))
    log.add(record(2, lost, with_spec=False)).add(record(0)).scalars(3, loss=4.0).append()
    return payloads_of(log.path)


def test_saved_at_any_record_and_restored_contents_go_on_as_if_nothing_had_happened(tmp_path):
    payloads = everything(tmp_path)
    whole = read(*payloads)
    for cut in range(len(payloads) + 1):
        contents = saved(read(*payloads[:cut]))
        contents.feed(Records.of(list(enumerate(payloads))[cut:]))
        assert state(contents) == state(whole)
    assert state(saved(whole)) == state(whole)


def test_points_and_records_know_their_sessions(tmp_path):
    contents = read(*everything(tmp_path))
    assert contents.points_of("loss")[2].tolist() == [1, 0.5, 2, 3, 4]
    loss = contents.points.column("tag") == [info.tag for info in contents.tags].index("loss")
    assert contents.session_of_points()[loss].tolist() == [1, 1, 2, 2, 3]
    assert contents.session_of_records().tolist() == [1, 2, 2, 2]
    assert [session.start_step for session in contents.sessions.all] == [None, 0, 1, 0]


def test_graphs_are_indexed_under_names_of_their_own():
    contents = read(
        Event(wall_time=1.0, graph_def=b"a").SerializeToString(),
        Event(wall_time=2.0, meta_graph_def=b"b").SerializeToString(),
        Event(wall_time=3.0, step=7, tagged_run_metadata={"tag": "t"}).SerializeToString(),
        Event(wall_time=4.0, graph_def=b"c").SerializeToString(),
    )
    tags = ["<graph_def>", "<meta_graph_def>", "<run_metadata>"]
    assert [(info.tag, info.sort) for info in contents.tags] == [(tag, "graph") for tag in tags]
    assert contents.records.column("tag").tolist() == [0, 1, 2, 0]
    assert contents.records.column("offset").tolist() == [0, 1, 2, 3]


def filled(kind):
    """A record of a kind as the schema package writes it, and what stands in it."""
    if schema.KINDS[kind].payload == "message":
        return schema.message_event(1.0, 3, kind, "model", {"id": "one"}), None
    if kind == "pulse":
        spec = schema.TableSpec("pulse", "model", schema.pulse_columns(["sgd/0"]))
    else:
        spec = schema.TableSpec(kind, "model", (schema.ColumnSpec("a"), schema.ColumnSpec("b")), SPEC.rows)
    values = np.arange(len(spec.columns), dtype=spec.shared_dtype).reshape(1, -1)
    return schema.table_event(1.0, 3, spec, values, with_spec=True), spec


@pytest.mark.parametrize("kind", schema.KINDS)
def test_every_kind_is_in_columns_or_indexed(kind):
    payload, spec = filled(kind)
    contents = read(payload)
    assert not contents.oddities
    (info,) = contents.tags
    assert (info.sort, info.plugin) == (schema.KINDS[kind].payload, f"zentracer_{kind}")
    if kind in IN_COLUMNS:
        (segment,) = contents.segments
        assert [float(segment.column(c.name, 0, 1).item()) for c in spec.columns] == list(range(len(spec.columns)))
        assert not len(contents.records)
    else:
        assert not contents.segments
        assert contents.records.column("step").tolist() == [3]
    assert contents.specs == ({} if spec is None else {spec.tag: spec})
    assert contents.last_step == (3 if kind in IN_COLUMNS and not schema.KINDS[kind].time_keyed else None)


def test_an_indexed_value_is_read_again_from_its_file(tmp_path):
    first, second = (histogram_pb("h", [number]) for number in (1.0, 2.0))
    both = Summary(value=[*Summary.FromString(first.SerializeToString()).value, *second.value])
    contents = read_file(tmp_path / EVENTS, event(0, first), event(1, both))
    where = [contents.records.column(name).tolist() for name in ("offset", "length", "place")]
    values = [read_value(contents.path, *place) for place in zip(*where, strict=True)]
    assert [histogram_of(value).counts.sum() for value in values] == [1, 1, 1]
    assert [histogram_of(value).lefts[0] for value in values] == [1.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda path: path.unlink(), "The record can't be read again (No such file or directory)."),
        (lambda path: path.write_bytes(b""), "The file is shorter than it was: the record is no longer there."),
        (lambda path: path.write_bytes(bytes(1000)), "The file was changed: the record is no longer there."),
    ],
)
def test_a_value_whose_file_was_changed_is_told(tmp_path, change, sentence):
    contents = read_file(tmp_path / EVENTS, event(0, histogram_pb("h", [1.0])))
    change(tmp_path / EVENTS)
    with pytest.raises(Moved) as error:
        read_value(contents.path, 0, contents.records.column("length")[0], 0)
    assert str(error.value) == sentence


def test_a_table_that_waits_in_a_file_that_vanished_is_told(tmp_path):
    contents = read_file(tmp_path / EVENTS, record(0, with_spec=False))
    (tmp_path / EVENTS).unlink()
    contents.describe({SPEC.tag: SPEC})
    assert told(contents) == [
        f"{SPEC.tag} came before its description, and then: The record can't be read again (No such file or "
        "directory). It is left out."
    ]


def test_what_only_describes_a_tag_says_what_its_values_will_be():
    described = Summary.Value(tag="loss")
    described.metadata.plugin_data.plugin_name = "scalars"
    described.metadata.display_name = "Loss"
    contents = read(event(0, Summary(value=[described])), schema.scalar_event(0.0, 1, {"loss": 2.0}))
    assert [(info.sort, info.display_name) for info in contents.tags] == [("scalar", "Loss")]
    assert contents.points_of("loss")[2].tolist() == [2.0]
    assert not len(contents.records)


def test_hyperparameters_that_stand_in_metadata_are_indexed():
    start = Summary.Value(tag="_hparams_/session_start_info")
    start.metadata.plugin_data.plugin_name, start.metadata.plugin_data.content = "hparams", b"\x12\x00"
    contents = read(event(0, Summary(value=[start])))
    assert [(info.sort, info.content) for info in contents.tags] == [("hparams", b"\x12\x00")]
    assert len(contents.records) == 1


@pytest.mark.parametrize(
    ("dtype", "sort"), [(np.complex64, "tensor"), (np.float16, "scalar"), (np.uint64, "scalar"), (np.bool_, "scalar")]
)
def test_a_single_number_is_a_scalar_where_it_is_real(dtype, sort):
    value = Summary.Value(tag="n", tensor=tensor_util.make_tensor_proto(np.array(1, dtype)))
    assert [info.sort for info in read(event(0, Summary(value=[value]))).tags] == [sort]


def test_one_number_in_a_list_is_a_scalar_where_its_writer_says_so():
    value = Summary.Value(tag="n", tensor=tensor_util.make_tensor_proto([5.0]))
    assert read(event(0, Summary(value=[value]))).tags[0].sort == "tensor"
    value.metadata.plugin_data.plugin_name = "scalars"
    assert read(event(0, Summary(value=[value]))).points_of("n")[2].tolist() == [5.0]


def test_names_made_for_a_second_sort_meet_no_tag_of_that_name():
    vector = Summary.Value(tag="loss", tensor=tensor_util.make_tensor_proto([1.0, 2.0]))
    scalars = schema.scalar_event(0.0, 0, {"loss (tensor)": 1.0, "loss": 1.0})
    contents = read(scalars, event(1, Summary(value=[vector])), schema.scalar_event(0.0, 2, {"loss (tensor)'": 1.0}))
    assert [info.tag for info in contents.tags] == [
        "loss (tensor)",
        "loss",
        "loss (tensor)'",
        "loss (tensor)' (scalar)",
    ]
