"""What is said of the environment, and what is advised."""

import resource
import sys
from importlib import metadata

import pytest

from zentracer_store.examining.environment import Environment, environment

WHOLE = {"zentracer": "1", "tensorboard": "2.21.0", "pyarrow": "15", "scipy": "1.11"}


def made(versions, tabs=("zentracer_weights",)):
    return Environment("3.11.0", versions, tabs, data_server=True, descriptors=1024)


def test_this_environment_is_told_as_it_is():
    here = environment()
    assert here.python == ".".join(map(str, sys.version_info[:3]))
    assert here.versions["tensorboard"] == metadata.version("tensorboard") == here.tensorboard
    assert here.versions["numpy"] == metadata.version("numpy")
    assert here.tabs == ("zentracer_weights",)
    assert here.descriptors == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert here.troubles() == []


def test_the_data_server_is_there_where_its_program_is():
    files = metadata.files("tensorboard-data-server") or []
    assert environment().data_server == any(file.name == "server" for file in files)


def test_a_few_descriptors_are_left_to_other_things():
    assert made(WHOLE).most_open_files == 960
    assert Environment("3.11.0", WHOLE, (), data_server=False, descriptors=10).most_open_files == 0


@pytest.mark.parametrize(
    ("here", "trouble", "advice"),
    [
        (
            made({"zentracer": "1"}),
            "TensorBoard is not installed in this environment, so nothing here shows ZenTracer's tabs.",
            "On the machine that shows the logs: pip install 'zentracer[tensorboard]'.",
        ),
        (
            made(WHOLE, tabs=()),
            "TensorBoard 2.21.0 of this environment does not have ZenTracer's tabs.",
            "Install them beside it: pip install 'zentracer[tensorboard]'. Restart a TensorBoard that runs.",
        ),
        (
            made({"tensorboard": "2.21.0", "scipy": "1.11"}),
            "The extra 'tensorboard' is not whole here: pyarrow missing.",
            "Install all of it: pip install 'zentracer[tensorboard]'.",
        ),
    ],
)
def test_what_keeps_the_tabs_from_showing_is_told_with_what_to_do(here, trouble, advice):
    assert here.troubles() == [(trouble, advice)]
