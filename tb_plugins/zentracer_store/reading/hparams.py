"""Reads hyperparameters as `tensorboard.plugins.hparams` and its imitators write them.

A run's settings, how it ended, and an experiment's lists of settings and metrics stand in the metadata of values that
are named `_hparams_/...` and hold nothing else. Field names and numbers are those of plugin_data.proto and api.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from zentracer_schema import FormatError

Setting = float | str | bool | None

STATUSES = ("unknown", "success", "failure", "running")

_F = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "zentracer.hparams"
_TYPES = {
    "double": _F.TYPE_DOUBLE,
    "int32": _F.TYPE_INT32,
    "bool": _F.TYPE_BOOL,
    "string": _F.TYPE_STRING,
    "enum": _F.TYPE_INT32,  # the same bytes on the wire; numbers of later releases stay readable
}

# message -> field lines: "name type number", "*" repeated, "@group" a member of the oneof `group`.
MESSAGES = {
    "HParamsPluginData": (
        "version int32 1",
        "experiment Experiment 2 @data",
        "session_start_info SessionStartInfo 3 @data",
        "session_end_info SessionEndInfo 4 @data",
    ),
    "SessionStartInfo": (
        "hparams HparamsEntry 1 *",
        "model_uri string 2",
        "monitor_url string 3",
        "group_name string 4",
        "start_time_secs double 5",
    ),
    "HparamsEntry": ("key string 1", "value Value 2"),
    "SessionEndInfo": ("status enum 1", "end_time_secs double 2"),
    "Experiment": (
        "name string 6",
        "description string 1",
        "user string 2",
        "time_created_secs double 3",
        "hparam_infos HParamInfo 4 *",
        "metric_infos MetricInfo 5 *",
    ),
    "HParamInfo": (
        "name string 1",
        "display_name string 2",
        "description string 3",
        "type enum 4",
        "domain_discrete ListValue 5 @domain",
        "domain_interval Interval 6 @domain",
    ),
    "MetricInfo": ("name MetricName 1", "display_name string 3", "description string 4", "dataset_type enum 5"),
    "MetricName": ("group string 1", "tag string 2"),
    "Interval": ("min_value double 1", "max_value double 2"),
    "ListValue": ("values Value 1 *",),
    "Value": (
        "null_value enum 1 @kind",
        "number_value double 2 @kind",
        "string_value string 3 @kind",
        "bool_value bool 4 @kind",
    ),
}


def _message_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="zentracer/hparams.proto", package=_PACKAGE, syntax="proto3")
    for name, lines in MESSAGES.items():
        message = file.message_type.add(name=name)
        for line in lines:
            field_name, type_name, number, *marks = line.split()
            made = message.field.add(name=field_name, number=int(number), label=_F.LABEL_OPTIONAL)
            if type_name in _TYPES:
                made.type = _TYPES[type_name]
            else:
                made.type, made.type_name = _F.TYPE_MESSAGE, f".{_PACKAGE}.{type_name}"
            for mark in marks:
                if mark == "*":
                    made.label = _F.LABEL_REPEATED
                else:
                    if not message.oneof_decl:
                        message.oneof_decl.add(name=mark[1:])
                    made.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.HParamsPluginData"))


PluginData: Any = _message_class()


@dataclass(frozen=True)
class HparamInfo:
    """A setting that an experiment varies: the values that it takes, or the smallest and the largest."""

    name: str
    display_name: str = ""
    description: str = ""
    choices: tuple[Setting, ...] = ()
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class MetricInfo:
    """A metric by which an experiment's runs are told apart: a tag, in a sub-run `group` where that is not empty."""

    tag: str
    group: str = ""
    display_name: str = ""
    description: str = ""


@dataclass(frozen=True)
class Hparams:
    """What one value says; the fields that it does not speak of are empty. Times are seconds since the epoch."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    group: str = ""
    started: float | None = None
    ended: float | None = None
    status: str | None = None
    hparams: tuple[HparamInfo, ...] = ()
    metrics: tuple[MetricInfo, ...] = ()


def hparams_of(content: bytes) -> Hparams:
    """What the `content` of a tag of sort hparams says.

    Raises:
        FormatError: it is not of this kind.
    """
    try:
        data = PluginData.FromString(content)
    except DecodeError as error:
        raise FormatError("What a run says of its hyperparameters is not readable.") from error
    match data.WhichOneof("data"):
        case "session_start_info":
            start = data.session_start_info
            settings = {entry.key: _setting(entry.value) for entry in start.hparams}
            return Hparams(settings, start.group_name, started=start.start_time_secs or None)
        case "session_end_info":
            end = data.session_end_info
            known = 0 <= end.status < len(STATUSES)
            return Hparams(ended=end.end_time_secs or None, status=STATUSES[end.status] if known else STATUSES[0])
        case "experiment":
            experiment = data.experiment
            return Hparams(
                started=experiment.time_created_secs or None,
                hparams=tuple(map(_info, experiment.hparam_infos)),
                metrics=tuple(
                    MetricInfo(metric.name.tag, metric.name.group, metric.display_name, metric.description)
                    for metric in experiment.metric_infos
                ),
            )
    return Hparams()


def _info(info: Any) -> HparamInfo:
    choices = tuple(_setting(value) for value in info.domain_discrete.values)
    bounds = info.domain_interval
    interval = (bounds.min_value, bounds.max_value) if info.HasField("domain_interval") else None
    return HparamInfo(info.name, info.display_name, info.description, choices, interval)


def _setting(value: Any) -> Setting:
    kind = value.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    setting: Setting = getattr(value, kind)
    return setting
