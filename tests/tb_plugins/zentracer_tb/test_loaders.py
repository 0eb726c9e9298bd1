"""What TensorBoard imports at every start must be light, and must never raise."""

import argparse
import json
import subprocess
import sys

import pytest

import zentracer_schema as schema
from zentracer_tb.loaders import PLUGIN_NAMES, WeightsLoader


def test_importing_the_loaders_loads_no_numpy_and_nothing_of_ours_but_itself():
    script = (
        "import sys, json\n"
        "from tensorboard.plugins import base_plugin\n"
        "before = set(sys.modules)\n"
        "import zentracer_tb.loaders\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = json.loads(answer.stdout)
    assert [name for name in loaded if name.split(".")[0] not in sys.stdlib_module_names] == [
        "zentracer_tb",
        "zentracer_tb.loaders",
    ]


def test_importing_the_plugin_loads_no_framework():
    script = (
        "import sys, zentracer_tb.weights\n"
        "found = {'torch', 'tensorflow', 'jax', 'keras', 'pandas', 'scipy', 'pyarrow'} & sys.modules.keys()\n"
        "print(found or 'none')"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout == "none\n"


def test_every_kind_of_the_file_format_is_named():
    assert set(PLUGIN_NAMES) == {kind.plugin_name for kind in schema.KINDS.values()}


def test_tensorboard_keeps_one_sample_of_our_tables_unless_the_user_says_otherwise():
    flags = argparse.Namespace(samples_per_plugin={"scalars": 500, "zentracer_parameters": 7})
    WeightsLoader().fix_flags(flags)
    assert flags.samples_per_plugin == {
        **dict.fromkeys(PLUGIN_NAMES, 1),
        "scalars": 500,
        "zentracer_parameters": 7,
    }


@pytest.mark.parametrize("samples", [None, "scalars=500", 3])
def test_flags_of_another_shape_are_left_alone(samples):
    flags = argparse.Namespace(samples_per_plugin=samples)
    WeightsLoader().fix_flags(flags)
    assert flags.samples_per_plugin == samples


def test_flags_that_cannot_be_read_are_told_and_do_not_raise(caplog):
    WeightsLoader().fix_flags(argparse.Namespace())
    assert caplog.messages == [
        "ZenTracer could not set --samples_per_plugin ('Namespace' object has no attribute 'samples_per_plugin'); "
        "TensorBoard may use more memory."
    ]


def test_the_loader_needs_no_flags_of_its_own():
    parser = argparse.ArgumentParser()
    WeightsLoader().define_flags(parser)
    assert vars(parser.parse_args([])) == {}
