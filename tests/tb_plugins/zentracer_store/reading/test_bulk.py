"""Scalars taken in bulk are those that parsing each record would give, in the same order."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.util import tensor_util

import zentracer_schema as schema
from tests.logs import EVENTS, parameters, table
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.reading.bulk import Bulk
from zentracer_store.reading.records import Records
from zentracer_store.reading.wire import scalar_event_of


def plain(tag, number):
    return Summary.Value(tag=tag, simple_value=number)


def described(tag, number):
    value = Summary.Value(tag=tag, simple_value=number)
    value.metadata.plugin_data.plugin_name = "scalars"
    value.metadata.display_name = tag.upper()
    return value


def tensor32(tag, number):
    value = scalar_pb(tag, number).value[0]
    value.tag = tag
    return value


def tensor64(tag, number):
    value = Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(np.float64(number)))
    value.metadata.plugin_data.plugin_name = "scalars"
    return value


def packed(tag, number):
    value = tensor32(tag, 0)
    value.tensor.tensor_content = struct.pack("<f", number)
    del value.tensor.float_val[:]
    return value


def undescribed(tag, number):
    return Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(np.float32(number)))


def whole(tag, number):
    value = Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto(np.int64(len(tag))))
    value.metadata.plugin_data.plugin_name = "scalars"
    return value


def vector(tag, number):
    return Summary.Value(tag=tag, tensor=tensor_util.make_tensor_proto([number, 1.0]))


def ours(tag, number):
    return plain(parameters(["w"]).tag, number)


SPELLINGS = (plain, described, tensor32, tensor64, packed)
VALUES = (*SPELLINGS, undescribed, whole, vector, ours)


def event(step, values, wall=1.0):
    return Event(wall_time=wall, step=step, summary=Summary(value=values)).SerializeToString()


class Slow(Bulk):
    """Leaves all to the parser."""

    def find(self, records):
        return [], np.arange(len(records))


def read(payloads, *, slow=False, at_a_time=10**9):
    contents = FileContents(EVENTS)
    pairs = [(100 * number, payload) for number, payload in enumerate(payloads)]
    for start in range(0, len(pairs), at_a_time):
        if slow:
            contents._bulk = Slow()
        contents.feed(Records.of(pairs[start : start + at_a_time]))
    return contents


def state(contents):
    columns = {name: column.part(0, len(column)).tobytes() for name, column in contents.columns()}
    return contents.head(), columns


def found(payloads):
    return Bulk().find(Records.of(enumerate(payloads)))[0]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_scalar_is_taken_in_bulk(spelling):
    payloads = [event(step, [spelling("loss", step / 7)], wall=step / 3) for step in range(1, 301)]
    assert sum(len(part.rows) for part in found(payloads)) == 300
    contents = read(payloads)
    steps, walls, values = contents.points_of("loss")
    assert steps.tolist() == list(range(1, 301))
    assert walls.tolist() == [step / 3 for step in range(1, 301)]
    expected = np.arange(1, 301) / 7
    assert values.tolist() == (expected if spelling is tensor64 else np.float32(expected)).tolist()


@pytest.mark.parametrize("spelling", [undescribed, whole, vector, ours])
def test_anything_else_is_left_to_the_parser(spelling):
    assert found([event(step + 1, [spelling("loss", 1.0)]) for step in range(100)]) == []


def test_several_values_of_one_event_are_taken_together():
    values = {f"tag{number}": float(number) for number in range(5)}
    payloads = [schema.scalar_event(1.0, step, values) for step in range(1, 100)]
    (part,) = found(payloads)
    assert part.values.shape == (99, 5)
    assert read(payloads).points.column("value").tolist() == 99 * [0, 1, 2, 3, 4]


NUMBERS = st.one_of(st.sampled_from([0.0, -0.0, np.nan, np.inf, -np.inf]), st.floats(width=32))
STEPS = st.one_of(st.integers(0, 300), st.sampled_from([-1, -(1 << 63), (1 << 63) - 1, 1 << 14, 1 << 21, 1 << 35]))
TAGS = st.sampled_from(["a", "b", "loss", "lass", "train/loss", "é", ""])
KINDS = st.sampled_from(VALUES)
SCALARS = st.builds(
    lambda kinds, steps, wall: [
        event(step, [kind(tag, number) for kind, tag, number in kinds], wall) for step in steps
    ],
    st.lists(st.tuples(KINDS, TAGS, NUMBERS), min_size=1, max_size=3),
    st.lists(STEPS, min_size=1, max_size=60),
    st.one_of(st.floats(0, 2e9), st.sampled_from([np.nan, np.inf])),
)
OTHERS = st.sampled_from(
    [
        [schema.session_start_event(1.0, 3)],
        [schema.session_stop_event(1.0, 3)],
        [schema.file_version_event(1.0)],
        [b"\xff\xff"],
        [b""],
        [Event(wall_time=2.0, graph_def=b"graph").SerializeToString()],
        [schema.message_event(1.0, 0, "session", "model", {"id": "one"})],
        [schema.table_event(1.0, 5, parameters(["w"]), table(1), with_spec=True)],
        [schema.table_event(1.0, 4, parameters(["w"]), table(1), with_spec=False)],
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(SCALARS, OTHERS), max_size=12), st.booleans(), st.sampled_from([40, 10**9]), st.randoms())
def test_bulk_and_parser_agree_on_any_mixture(runs, mixed, at_a_time, random):
    payloads = [payload for run in runs for payload in run]
    if mixed:
        random.shuffle(payloads)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("zentracer_store.reading.bulk.FEWEST", 2)
        patched.setattr("zentracer_store.reading.bulk._FEWEST_OF_TEMPLATE", 1)
        fast = read(payloads, at_a_time=at_a_time)
    assert state(fast) == state(read(payloads, slow=True, at_a_time=at_a_time))


def test_a_tag_over_the_limit_is_left_out_in_bulk_too(monkeypatch):
    monkeypatch.setattr("zentracer_store.contents.takers.MOST_TAGS", 2)
    payloads = [event(step, [plain(tag, 1.0) for tag in ("a", "bb", "c")]) for step in range(1, 100)]
    payloads += [event(step, [plain(tag, 2.0)]) for step in range(1, 100) for tag in ("c", "a", "ddd")]
    fast, slow = read(payloads), read(payloads, slow=True)
    assert state(fast) == state(slow)
    assert len(fast.points) == 3 * 99
    assert [oddity.text for oddity in fast.oddities] == ["The file has over 2 tags; the further ones are not read."]


def test_more_tags_than_are_worth_a_template_are_parsed():
    payloads = [event(step, [plain(f"tag{number:03}", number)]) for step in range(1, 4) for number in range(500)]
    assert found(payloads) == []
    assert state(read(payloads)) == state(read(payloads, slow=True))


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x09",
        Event(step=3).SerializeToString(),
        Event(wall_time=1.0, step=3).SerializeToString(),
        schema.session_start_event(1.0, 3),
        event(3, [plain("a", 1.0)])[:-1],
        event(3, [plain("a", 1.0)]) + event(4, [plain("a", 1.0)]),  # merged by protobuf
        event(3, [plain("a", 1.0)]) + b"\x10\x05",  # a second step, which counts
        event(3, [Summary.Value(tag="a", simple_value=1.0)]).replace(b"\x0a\x01a", b"\x0a\x01\xff"),
    ],
)
def test_events_laid_out_in_another_way_are_no_templates(payload):
    assert scalar_event_of(payload) is None


def test_a_value_that_stands_twice_is_no_template():
    # protobuf takes the last of two, so no single place holds it
    inner = b"\x0a\x01a" + b"\x15" + struct.pack("<f", 1.0) + b"\x15" + struct.pack("<f", 2.0)
    summary = b"\x0a" + bytes([len(inner)]) + inner
    payload = b"\x09" + struct.pack("<d", 1.0) + b"\x2a" + bytes([len(summary)]) + summary
    assert schema.Event.FromString(payload).summary.value[0].simple_value == 2.0
    assert scalar_event_of(payload) is None


def test_what_one_file_taught_holds_in_another_of_the_same_tags_only():
    # The second file's records are longer by a zero, which is no field: equal but for their length.
    first = [event(step, [plain("a", 1.0)]) for step in range(1, 100)]
    second = [payload + b"\0" for payload in first]
    for payloads in (first, second, first):
        assert state(read(payloads)) == state(read(payloads, slow=True))
    assert len(read(first).points) == 99
    assert len(read(second).points) == 0
