"""The protobuf messages of event files.

Names and numbers are TensorFlow's (event.proto, summary.proto, tensor.proto); fields that nothing here reads are left
out.
"""

from __future__ import annotations

from typing import Any

from zentracer_schema.protos import message_classes

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
SESSION_START = 1
SESSION_STOP = 2
DATA_CLASS_SCALAR = 1
DATA_CLASS_TENSOR = 2
DATA_CLASS_BLOB_SEQUENCE = 3


_CLASSES = message_classes("events", _MESSAGES)

# The classes are made from data, so no checker can know their fields: `Any` is the honest type.
Event: Any = _CLASSES["Event"]
Summary: Any = _CLASSES["Summary"]
SummaryMetadata: Any = _CLASSES["SummaryMetadata"]
SessionLog: Any = _CLASSES["SessionLog"]
HistogramProto: Any = _CLASSES["HistogramProto"]
TensorProto: Any = _CLASSES["TensorProto"]
TensorShapeProto: Any = _CLASSES["TensorShapeProto"]
