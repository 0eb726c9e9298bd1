"""ZenTracer's file format: framing, messages, tags and table descriptions. `docs/file-format.md` says it in words."""

from zentracer_schema.columns import CLOCK_COLUMNS, PARAMETER_COLUMNS, pulse_columns
from zentracer_schema.events import (
    belongs_in_bulk,
    decode_message,
    file_version_event,
    message_event,
    message_spec,
    scalar_event,
    session_start_event,
    session_stop_event,
    table_event,
)
from zentracer_schema.framing import (
    FOOTER_BYTES,
    HEADER_BYTES,
    crc32c,
    footer_ok,
    frame,
    masked_crc,
    parse_length,
)
from zentracer_schema.kinds import KINDS, LARGEST_EVENT_BYTES, Kind
from zentracer_schema.messages import Event, HistogramProto, SessionLog, Summary, SummaryMetadata, TensorProto
from zentracer_schema.specs import FORMAT, ColumnSpec, FormatError, NewerFormatError, RowSpec, TableSpec
from zentracer_schema.status import Status
from zentracer_schema.tables import DATA_TYPES, Table, decode_numeric, decode_table, encode_table
from zentracer_schema.tags import TableTag, check_scope, metric_tag, parse_tag, scalar_tag, table_tag

__all__ = [
    "CLOCK_COLUMNS",
    "DATA_TYPES",
    "FOOTER_BYTES",
    "FORMAT",
    "HEADER_BYTES",
    "KINDS",
    "LARGEST_EVENT_BYTES",
    "PARAMETER_COLUMNS",
    "ColumnSpec",
    "Event",
    "FormatError",
    "HistogramProto",
    "Kind",
    "NewerFormatError",
    "RowSpec",
    "SessionLog",
    "Status",
    "Summary",
    "SummaryMetadata",
    "Table",
    "TableSpec",
    "TableTag",
    "TensorProto",
    "belongs_in_bulk",
    "check_scope",
    "crc32c",
    "decode_message",
    "decode_numeric",
    "decode_table",
    "encode_table",
    "file_version_event",
    "footer_ok",
    "frame",
    "masked_crc",
    "message_event",
    "message_spec",
    "metric_tag",
    "parse_length",
    "parse_tag",
    "pulse_columns",
    "scalar_event",
    "scalar_tag",
    "session_start_event",
    "session_stop_event",
    "table_event",
    "table_tag",
]
