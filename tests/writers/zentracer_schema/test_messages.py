"""Our messages carry the same bytes as TensorBoard's generated ones."""

import pytest

import zentracer_schema as schema

event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")


def every_event():
    """One event of each sort that TensorBoard's own classes can make."""
    event = event_pb2.Event(wall_time=12.5, step=-3)
    event.file_version = "brain.Event:2"
    yield event
    event = event_pb2.Event(wall_time=1.0, step=2**40)
    event.session_log.status = 1
    event.session_log.msg = "start"
    yield event
    event = event_pb2.Event(step=7, graph_def=b"graph")
    event.source_metadata.writer = "somebody"
    yield event
    event = event_pb2.Event(wall_time=2.0, step=7)
    value = event.summary.value.add(tag="loss", simple_value=0.5)
    value.metadata.plugin_data.plugin_name = "scalars"
    value.metadata.plugin_data.content = b"\x00\xff"
    value.metadata.display_name = "Loss"
    value.metadata.summary_description = "what it is"
    value.metadata.data_class = 1
    value = event.summary.value.add(tag="histogram")
    value.histo.min, value.histo.max, value.histo.num = -1.0, 3.0, 9.0
    value.histo.bucket_limit.extend([0.0, 4.0])
    value.histo.bucket.extend([4.0, 5.0])
    value = event.summary.value.add(tag="picture")
    value.image.height, value.image.width, value.image.colorspace = 2, 3, 4
    value.image.encoded_image_string = b"png"
    value = event.summary.value.add(tag="sound")
    value.audio.sample_rate, value.audio.content_type = 44100.0, "audio/wav"
    value = event.summary.value.add(tag="tensor")
    value.tensor.dtype = 1
    value.tensor.tensor_shape.dim.add(size=2, name="rows")
    value.tensor.tensor_content = bytes(8)
    yield event
    event = event_pb2.Event(step=8)
    tensor = event.summary.value.add(tag="typed", node_name="node").tensor
    tensor.float_val.extend([1.0, float("nan")])
    tensor.double_val.append(2.0)
    tensor.int_val.append(-3)
    tensor.string_val.append(b"text")
    tensor.int64_val.append(-(2**50))
    tensor.bool_val.append(True)
    tensor.half_val.append(15360)
    tensor.uint32_val.append(2**32 - 1)
    tensor.uint64_val.append(2**64 - 1)
    yield event


@pytest.mark.parametrize("theirs", list(every_event()), ids=str)
def test_an_event_round_trips_to_the_same_bytes(theirs):
    data = theirs.SerializeToString(deterministic=True)
    ours = schema.Event.FromString(data)
    assert ours.SerializeToString(deterministic=True) == data
    assert event_pb2.Event.FromString(ours.SerializeToString()) == theirs


def test_fields_are_read_by_the_names_tensorflow_gave_them():
    *_, theirs, _ = every_event()
    ours = schema.Event.FromString(theirs.SerializeToString())
    assert [value.WhichOneof("value") for value in ours.summary.value] == [
        value.WhichOneof("value") for value in theirs.summary.value
    ]
    assert ours.WhichOneof("what") == "summary"
    assert list(ours.summary.value[1].histo.bucket) == [4.0, 5.0]
    assert ours.summary.value[0].metadata.plugin_data.plugin_name == "scalars"


def test_unknown_fields_are_kept():
    theirs = event_pb2.Event(step=3)
    theirs.log_message.message = "not declared by us"
    data = theirs.SerializeToString()
    assert schema.Event.FromString(data).SerializeToString() == data
