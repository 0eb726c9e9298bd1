"""What a stranger gets from pip: distributions of a clean checkout, installed into an empty environment."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Standard output of `command`; an AssertionError with all it printed where it fails."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def without_node(folder: Path) -> str:
    """A PATH on which there is what a build needs, but no npm."""
    folder.mkdir()
    for tool in ("sh", "uname", "cat"):
        (folder / tool).symlink_to(shutil.which(tool))
    return str(folder)


def fresh_environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of a new virtual environment with `packages`."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    run(python, "-m", "pip", "install", "--quiet", *packages, cwd=folder)
    return python


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The source distribution of a clean checkout, and the wheel made of that where there is no Node."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / name).exists():  # else removed, and not yet committed
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out, cwd=checkout)
    (sdist,) = out.glob("*.tar.gz")
    path = without_node(out / "bin")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", out, sdist, cwd=out, PATH=path)
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


def test_the_wheel_holds_all_packages_their_types_and_the_built_frontend(distributions):
    names = set(zipfile.ZipFile(distributions[1]).namelist())
    for package in ("zentracer", "zentracer_schema", "zentracer_store", "zentracer_tb"):
        assert f"{package}/__init__.py" in names
        assert f"{package}/py.typed" in names
    manifest = json.loads(zipfile.ZipFile(distributions[1]).read("zentracer_tb/static/manifest.json"))
    assert {f"zentracer_tb/static/{manifest['weights']}{end}" for end in ("", ".gz")} <= names
    strangers = {name.partition("/")[0] for name in names} - {
        "zentracer",
        "zentracer_schema",
        "zentracer_store",
        "zentracer_tb",
    }
    assert {name.partition("-")[0] for name in strangers} == {"zentracer"}, "only our packages and their .dist-info"


def test_the_source_distribution_holds_what_the_frontend_is_built_from(distributions):
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"setup.py", "LICENSE", "frontend/package-lock.json", "frontend/build.mjs"} <= names
    assert any(name.startswith("frontend/src/panels/weights/") for name in names)
    assert not any("node_modules" in name for name in names)


def test_a_training_machine_needs_the_base_only(distributions, tmp_path):
    python = fresh_environment(tmp_path / "venv", distributions[1])
    installed = run(python, "-m", "pip", "list", "--format", "freeze", cwd=tmp_path).lower()
    assert "tensorboard" not in installed
    run(python, "-W", "error", "-c", "import zentracer, zentracer_schema", cwd=tmp_path)


def test_beside_tensorboard_the_wheel_brings_its_tabs(distributions, tmp_path):
    python = fresh_environment(tmp_path / "venv", f"{distributions[1]}[tensorboard]")
    run(python, "-m", "pip", "check", cwd=tmp_path)
    code = """
import json
from tensorboard import default, program
server = program.TensorBoard(default.get_plugins())
server.configure(logdir=".", port=0, load_fast="false")
from urllib.request import urlopen
address = server.launch()
print(json.dumps(json.load(urlopen(address + "data/plugins_listing"))["zentracer_weights"]))
module = json.load(urlopen(address + "data/plugins_listing"))["zentracer_weights"]["loading_mechanism"]["module_path"]
assert urlopen(address.rstrip("/") + module).headers["Content-Type"].startswith("text/javascript")
"""
    tab = json.loads(run(python, "-c", code, cwd=tmp_path).splitlines()[-1])
    assert tab["tab_name"] == "Weights"
    assert tab["enabled"] is True


@pytest.mark.parametrize("protobuf", ["4.25.*", "7.*"])
def test_the_file_format_works_with_the_oldest_and_newest_protobuf(protobuf, tmp_path):
    tools = ["numpy", "google-crc32c", "pytest", "pytest-timeout", "hypothesis"]
    python = fresh_environment(tmp_path / "venv", f"protobuf=={protobuf}", *tools)
    tests = ROOT / "tests/writers/zentracer_schema"
    report = run(python, "-m", "pytest", "-p", "no:cacheprovider", tests, cwd=ROOT, PYTHONPATH=str(ROOT / "writers"))
    assert " passed" in report
