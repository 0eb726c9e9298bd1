"""Builds the protobuf messages of event files at run time, in a pool of their own.

Names and numbers are TensorFlow's (event.proto, summary.proto, tensor.proto); fields that nothing here reads are left
out and kept as unknown fields. Generated code would tie us to one protobuf release and would clash with the same file
names that TensorBoard and TensorFlow register.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_F = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _F.TYPE_DOUBLE,
    "float": _F.TYPE_FLOAT,
    "int64": _F.TYPE_INT64,
    "int32": _F.TYPE_INT32,
    "uint32": _F.TYPE_UINT32,
    "uint64": _F.TYPE_UINT64,
    "bool": _F.TYPE_BOOL,
    "string": _F.TYPE_STRING,
    "bytes": _F.TYPE_BYTES,
    "enum": _F.TYPE_INT32,  # the same bytes on the wire; numbers of later releases stay readable
}

# message -> field lines: "name type number", "*" repeated, "@group" a member of the oneof `group`.
_MESSAGES = {
    "Event": (
        "wall_time double 1",
        "step int64 2",
        "file_version string 3 @what",
        "graph_def bytes 4 @what",
        "summary Summary 5 @what",
        "session_log SessionLog 7 @what",
        "tagged_run_metadata bytes 8 @what",
        "meta_graph_def bytes 9 @what",
        "source_metadata SourceMetadata 10",
    ),
    "SourceMetadata": ("writer string 1",),
    "SessionLog": ("status enum 1", "checkpoint_path string 2", "msg string 3"),
    "Summary": ("value Summary.Value 1 *",),
    "Summary.Image": (
        "height int32 1",
        "width int32 2",
        "colorspace int32 3",
        "encoded_image_string bytes 4",
    ),
    "Summary.Audio": (
        "sample_rate float 1",
        "num_channels int64 2",
        "length_frames int64 3",
        "encoded_audio_string bytes 4",
        "content_type string 5",
    ),
    "Summary.Value": (
        "node_name string 7",
        "tag string 1",
        "metadata SummaryMetadata 9",
        "simple_value float 2 @value",
        "obsolete_old_style_histogram bytes 3 @value",
        "image Summary.Image 4 @value",
        "histo HistogramProto 5 @value",
        "audio Summary.Audio 6 @value",
        "tensor TensorProto 8 @value",
    ),
    "SummaryMetadata": (
        "plugin_data SummaryMetadata.PluginData 1",
        "display_name string 2",
        "summary_description string 3",
        "data_class enum 4",
    ),
    "SummaryMetadata.PluginData": ("plugin_name string 1", "content bytes 2"),
    "HistogramProto": (
        "min double 1",
        "max double 2",
        "num double 3",
        "sum double 4",
        "sum_squares double 5",
        "bucket_limit double 6 *",
        "bucket double 7 *",
    ),
    "TensorShapeProto": ("dim TensorShapeProto.Dim 2 *", "unknown_rank bool 3"),
    "TensorShapeProto.Dim": ("size int64 1", "name string 2"),
    "TensorProto": (
        "dtype enum 1",
        "tensor_shape TensorShapeProto 2",
        "version_number int32 3",
        "tensor_content bytes 4",
        "float_val float 5 *",
        "double_val double 6 *",
        "int_val int32 7 *",
        "string_val bytes 8 *",
        "scomplex_val float 9 *",
        "int64_val int64 10 *",
        "bool_val bool 11 *",
        "dcomplex_val double 12 *",
        "half_val int32 13 *",
        "uint32_val uint32 16 *",
        "uint64_val uint64 17 *",
    ),
}
_PACKAGE = "zentracer.events"

SESSION_START = 1
SESSION_STOP = 2
DATA_CLASS_SCALAR = 1
DATA_CLASS_TENSOR = 2
DATA_CLASS_BLOB_SEQUENCE = 3


def _add_field(message: descriptor_pb2.DescriptorProto, line: str) -> None:
    name, type_name, number, *marks = line.split()
    field = message.field.add(name=name, number=int(number), label=_F.LABEL_OPTIONAL)
    if type_name in _SCALARS:
        field.type = _SCALARS[type_name]
    else:
        field.type = _F.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{type_name}"
    for mark in marks:
        if mark == "*":
            field.label = _F.LABEL_REPEATED
        else:
            if not message.oneof_decl:
                message.oneof_decl.add(name=mark[1:])
            field.oneof_index = 0


def _build() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="zentracer/events.proto", package=_PACKAGE, syntax="proto3")
    made: dict[str, descriptor_pb2.DescriptorProto] = {}
    for path, lines in _MESSAGES.items():
        outer, _, inner = path.partition(".")
        message = made[outer].nested_type.add(name=inner) if inner else file.message_type.add(name=outer)
        made[path] = message
        for line in lines:
            _add_field(message, line)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())  # Add() is gone from protobuf 7
    return pool


_POOL = _build()


def _message_class(name: str) -> Any:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


# The classes are made from data, so no checker can know their fields: `Any` is the honest type.
Event: Any = _message_class("Event")
Summary: Any = _message_class("Summary")
SummaryMetadata: Any = _message_class("SummaryMetadata")
SessionLog: Any = _message_class("SessionLog")
HistogramProto: Any = _message_class("HistogramProto")
TensorProto: Any = _message_class("TensorProto")
TensorShapeProto: Any = _message_class("TensorShapeProto")
