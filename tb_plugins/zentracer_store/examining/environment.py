"""Looks at what is installed beside us: which TensorBoard, how it would read, and whether it has our tabs."""

from __future__ import annotations

import importlib.util
import platform
import resource
from dataclasses import dataclass
from importlib import metadata

TABS_GROUP = "tensorboard_plugins"
OURS = "zentracer_tb"
PACKAGES = (
    *("zentracer", "tensorboard", "tensorboard-data-server", "tensorflow", "tensorflow-cpu"),
    *("numpy", "protobuf", "pyarrow", "scipy", "google-crc32c", "pandas", "torch"),
)
"""Distributions whose versions decide what is read and shown."""

_SPARE_DESCRIPTORS = 64
"""What a TensorBoard keeps open besides event files, roughly."""


@dataclass(frozen=True)
class Environment:
    """This Python and what is installed in it. `descriptors` is the most files that a process started here may open."""

    python: str
    versions: dict[str, str]
    tabs: tuple[str, ...]
    data_server: bool
    descriptors: int

    @property
    def tensorboard(self) -> str | None:
        """The version of TensorBoard, None where there is none."""
        return self.versions.get("tensorboard")

    @property
    def most_open_files(self) -> int:
        """Event files that TensorBoard's data server can hold open here, about."""
        return max(self.descriptors - _SPARE_DESCRIPTORS, 0)

    def troubles(self) -> list[tuple[str, str]]:
        """What keeps our tabs from showing, each with what to do."""
        if self.tensorboard is None:
            return [
                (
                    "TensorBoard is not installed in this environment, so nothing here shows ZenTracer's tabs.",
                    "On the machine that shows the logs: pip install 'zentracer[tensorboard]'.",
                )
            ]
        found = []
        if not self.tabs:
            found.append(
                (
                    f"TensorBoard {self.tensorboard} of this environment does not have ZenTracer's tabs.",
                    "Install them beside it: pip install 'zentracer[tensorboard]'. Restart a TensorBoard that runs.",
                )
            )
        lacking = [name for name in ("pyarrow", "scipy") if name not in self.versions]
        if lacking:
            text = f"The extra 'tensorboard' is not whole here: {' and '.join(lacking)} missing."
            found.append((text, "Install all of it: pip install 'zentracer[tensorboard]'."))
        return found


def environment() -> Environment:
    """What is installed here. Imports none of it."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    points = metadata.entry_points(group=TABS_GROUP)
    return Environment(
        python=platform.python_version(),
        versions=versions,
        tabs=tuple(sorted(point.name for point in points if point.module.partition(".")[0] == OURS)),
        data_server=_has_data_server(),
        descriptors=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )


def _has_data_server() -> bool:
    """Whether the data server's program is there: its package is empty on platforms that it was not built for."""
    spec = importlib.util.find_spec("tensorboard_data_server")
    if spec is None or spec.submodule_search_locations is None:
        return False
    distribution = metadata.distribution("tensorboard-data-server")
    return any(path.name == "server" and path.parent.name == "bin" for path in distribution.files or ())
