"""What pyproject.toml cannot say: the two source roots, and building the frontend into one of them."""

import shutil
import subprocess
import warnings
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
FRONTEND = ROOT / "frontend"
MANIFEST = ROOT / "tb_plugins/zentracer_tb/static/manifest.json"
HOW = "Install Node 20 or newer, then run: cd frontend && npm ci && npm run build"

PACKAGES = {
    "zentracer": "writers/zentracer",
    "zentracer_schema": "writers/zentracer_schema",
    "zentracer_store": "tb_plugins/zentracer_store",
    "zentracer_tb": "tb_plugins/zentracer_tb",
}


def frontend_state() -> str:
    """`built`, `missing`, or `stale` where a source is newer than what was built from it."""
    if not MANIFEST.exists():
        return "missing"
    sources = [FRONTEND / "package-lock.json", FRONTEND / "build.mjs", *(FRONTEND / "src").rglob("*")]
    newest = max((path.stat().st_mtime for path in sources if path.is_file()), default=0.0)
    return "stale" if newest > MANIFEST.stat().st_mtime else "built"


def build_frontend(*, needed: bool) -> None:
    """Build frontend/ into the package unless that is done; without npm, fail where it is `needed`."""
    state = frontend_state()
    if state == "built":
        return
    trouble = None
    if not (FRONTEND / "package.json").exists():
        trouble = f"The built frontend is {state} and frontend/, which makes it, is not here."
    elif not shutil.which("npm"):
        trouble = f"The built frontend is {state} and npm, which makes it, is not on PATH. {HOW}"
    if trouble and (needed and state == "missing"):
        raise SystemExit(trouble)
    if trouble:
        warnings.warn(trouble, stacklevel=2)
        return
    for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
        subprocess.run(command, cwd=FRONTEND, check=True)


class BuildPy(build_py):
    """Also what an editable install runs; there a tab without frontend is better than no install."""

    def run(self) -> None:
        build_frontend(needed=not self.editable_mode)
        super().run()


class Sdist(sdist):
    """Carries the built files, so that installing it needs no Node."""

    def run(self) -> None:
        build_frontend(needed=True)
        super().run()


def all_packages() -> list[str]:
    """Every import package of both roots, the top ones first."""
    inner = [f"{name}.{sub}" for name, path in PACKAGES.items() if Path(path).exists() for sub in find_packages(path)]
    return [*PACKAGES, *inner]


setup(
    cmdclass={"build_py": BuildPy, "sdist": Sdist},
    packages=all_packages(),
    package_dir=PACKAGES,
    package_data={"": ["py.typed"], "zentracer_tb": ["static/*"]},
)
