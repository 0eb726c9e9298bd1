"""Reads hyperparameters as `tensorboard.plugins.hparams` and its imitators write them.

A run's settings, how it ended, and an experiment's lists of settings and metrics stand in the metadata of values that
are named `_hparams_/...` and hold nothing else. Field names and numbers are those of plugin_data.proto and api.proto.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError

from zentracer_schema import FormatError
from zentracer_schema.protos import message_classes

Setting = float | str | bool | None

STATUSES = ("unknown", "success", "failure", "running")

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


PluginData: Any = message_classes("hparams", MESSAGES)["HParamsPluginData"]


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
