"""Hyperparameters as TensorBoard's plugin and PyTorch's writer log them."""

import pytest
from google.protobuf.struct_pb2 import DESCRIPTOR as STRUCT
from google.protobuf.struct_pb2 import ListValue, Value
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2, summary_v2
from torch.utils.tensorboard.summary import hparams

from zentracer_schema import FormatError
from zentracer_store.reading.hparams import MESSAGES, HparamInfo, Hparams, MetricInfo, PluginData, hparams_of


def content_of(proto):
    return proto.value[0].metadata.plugin_data.content


def test_the_messages_are_those_of_tensorboard():
    entry = plugin_data_pb2.DESCRIPTOR.message_types_by_name["SessionStartInfo"].nested_types_by_name["HparamsEntry"]
    known = {"HparamsEntry": entry}
    for file in (plugin_data_pb2.DESCRIPTOR, api_pb2.DESCRIPTOR, STRUCT):
        known |= dict(file.message_types_by_name)
    pool = PluginData.DESCRIPTOR.file.pool
    for name in MESSAGES:
        theirs, mine = known[name], pool.FindMessageTypeByName(f"zentracer.hparams.{name}")
        for field in mine.fields:
            other = theirs.fields_by_name[field.name]
            assert (field.number, field.is_repeated) == (other.number, other.is_repeated), field.full_name
            enum = other.type == other.TYPE_ENUM
            assert field.type == (field.TYPE_INT32 if enum else other.type), field.full_name
            group, group_of_other = field.containing_oneof, other.containing_oneof
            assert (group and group.name) == (group_of_other and group_of_other.name), field.full_name


def test_a_session_says_its_settings_and_when_it_began():
    proto = summary_v2.hparams_pb({"rate": 0.1, "layers": 3, "name": "x", "bias": True}, "trial", start_time_secs=12.5)
    assert hparams_of(content_of(proto)) == Hparams(
        {"rate": 0.1, "layers": 3.0, "name": "x", "bias": True}, proto_group(proto), started=12.5
    )


def proto_group(proto):
    return plugin_data_pb2.HParamsPluginData.FromString(content_of(proto)).session_start_info.group_name


def test_what_pytorch_writes_is_read():
    experiment, start, end = hparams({"rate": 0.1, "bias": False, "name": "x"}, {"loss": 0})
    assert dict(hparams_of(content_of(start)).settings) == {"rate": 0.1, "bias": False, "name": "x"}
    assert hparams_of(content_of(end)).status == "success"
    assert hparams_of(content_of(experiment)).metrics == (MetricInfo("loss"),)
    assert [info.name for info in hparams_of(content_of(experiment)).hparams] == ["rate", "bias", "name"]


def test_an_experiment_says_what_it_varies_and_measures():
    choices = ListValue(values=[Value(number_value=1), Value(string_value="a"), Value(bool_value=True), Value()])
    experiment = api_pb2.Experiment(
        hparam_infos=[
            api_pb2.HParamInfo(name="one", display_name="One", description="first", domain_discrete=choices),
            api_pb2.HParamInfo(name="two", domain_interval=api_pb2.Interval(min_value=-1, max_value=2)),
        ],
        metric_infos=[
            api_pb2.MetricInfo(
                name=api_pb2.MetricName(tag="loss", group="train"), display_name="Loss", description="what it costs"
            )
        ],
        time_created_secs=7.0,
    )
    data = plugin_data_pb2.HParamsPluginData(experiment=experiment)
    assert hparams_of(data.SerializeToString()) == Hparams(
        started=7.0,
        hparams=(
            HparamInfo("one", "One", "first", (1.0, "a", True, None)),
            HparamInfo("two", interval=(-1.0, 2.0)),
        ),
        metrics=(MetricInfo("loss", "train", "Loss", "what it costs"),),
    )


def test_what_keras_users_configure_is_read():
    proto = summary_v2.hparams_config_pb(
        [
            summary_v2.HParam("rate", summary_v2.RealInterval(0.1, 0.5)),
            summary_v2.HParam("opt", summary_v2.Discrete(["a", "b"])),
        ],
        [summary_v2.Metric("accuracy", group="validation")],
    )
    read = hparams_of(content_of(proto))
    assert read.hparams == (HparamInfo("rate", interval=(0.1, 0.5)), HparamInfo("opt", choices=("a", "b")))
    assert read.metrics == (MetricInfo("accuracy", "validation"),)


@pytest.mark.parametrize(("number", "word"), [(0, "unknown"), (1, "success"), (2, "failure"), (3, "running")])
def test_how_a_session_ended(number, word):
    end = plugin_data_pb2.SessionEndInfo(status=number, end_time_secs=9.0)
    data = plugin_data_pb2.HParamsPluginData(session_end_info=end)
    assert hparams_of(data.SerializeToString()) == Hparams(ended=9.0, status=word)


def test_a_status_of_a_later_version_is_unknown():
    data = PluginData()
    data.session_end_info.status = 77
    assert hparams_of(data.SerializeToString()).status == "unknown"


def test_a_null_setting_is_none_and_an_empty_content_says_nothing():
    data = PluginData()
    data.session_start_info.hparams.add(key="a").value.null_value = 0
    assert hparams_of(data.SerializeToString()).settings == {"a": None}
    assert hparams_of(b"") == Hparams()


def test_content_that_is_nonsense_is_refused():
    with pytest.raises(FormatError, match=r"^What a run says of its hyperparameters is not readable\.$"):
        hparams_of(b"\xff\xff")
