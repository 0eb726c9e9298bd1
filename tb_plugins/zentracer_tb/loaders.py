"""What TensorBoard imports at every start: one loader a tab, and nothing that could fail or take long.

TensorBoard dies where this import, `define_flags` or `fix_flags` raises, so the plugins themselves wait for `load`.
"""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from tensorboard.plugins import base_plugin

if TYPE_CHECKING:
    from zentracer_tb.weights import WeightsPlugin

PLUGIN_NAMES = tuple(
    f"zentracer_{kind}"
    for kind in (
        *("pulse", "clock", "parameters", "activations", "channels", "histograms", "delta", "capture"),
        *("phases", "devices", "spans", "graph", "session", "incident", "profile", "snapshot"),
    )
)
"""Summary plugin names of all kinds that the file format knows; written out, since the schema imports numpy."""

logger = logging.getLogger(__name__)


class WeightsLoader(base_plugin.TBLoader):  # type: ignore[misc]  # tensorboard has no types
    """Loads the Weights tab."""

    def fix_flags(self, flags: argparse.Namespace) -> None:
        """Keep TensorBoard from holding our tables in memory: we read the files ourselves."""
        try:
            samples = flags.samples_per_plugin
            if isinstance(samples, dict):
                for name in PLUGIN_NAMES:
                    samples.setdefault(name, 1)
        except Exception as error:  # TensorBoard dies of whatever is raised here
            logger.warning("ZenTracer could not set --samples_per_plugin (%s); TensorBoard may use more memory.", error)

    def load(self, context: base_plugin.TBContext) -> WeightsPlugin:
        """The plugin. TensorBoard catches what is raised here, and goes on without the tab."""
        from zentracer_tb.weights import WeightsPlugin

        return WeightsPlugin(context)
