"""What TensorBoard takes a tag for, and which values the data server takes for one of such a tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zentracer_schema import DATA_TYPES
from zentracer_schema.messages import DATA_CLASS_BLOB_SEQUENCE, DATA_CLASS_SCALAR

_OWN_PLUGINS = frozenset(
    {"scalars", "images", "audio", "histograms", "text", "hparams", "pr_curves", "graphs", "mesh", "custom_scalars"}
    | {"graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model", "npmi"}
)
"""Plugins whose values TensorBoard shows although their data class was not said."""

_PYTHON_KEEPS = {"scalars": 1000, "histograms": 500, "pr_curves": 100}
_PYTHON_KEEPS_OTHERS = 10
_BLOBS = frozenset({"images", "audio", "graphs", "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model"})
_OLD_FIELDS = {"simple_value": "scalars", "histo": "histograms", "image": "images", "audio": "audio"}
"""The plugin that TensorBoard files values of older writers under."""

SCALAR, TENSOR, BLOBS, NUMBERS = 1, 2, 4, 8
"""What the data server can take a value for; the last one marks tensors of numbers."""

_SERVER_KEEPS = {SCALAR: 1000, TENSOR: 100, BLOBS: 10}

_ANYTHING = SCALAR | TENSOR | BLOBS | NUMBERS
_FITS = {"simple_value": SCALAR, "histo": TENSOR, "image": BLOBS, "audio": BLOBS}
_STRING, _FLOAT = DATA_TYPES["string"], DATA_TYPES["float32"]


def fits(value: Any) -> int:
    """What the data server can take a value for, as flags."""
    kind = value.WhichOneof("value")
    if kind != "tensor":
        return _FITS.get(kind, _ANYTHING)
    tensor = value.tensor
    rank = len(tensor.tensor_shape.dim)
    if tensor.dtype == _STRING:
        return TENSOR | (BLOBS if rank == 1 else 0)
    single = tensor.dtype == _FLOAT and not rank and (tensor.float_val or tensor.tensor_content)
    return TENSOR | NUMBERS | (SCALAR if single else 0)


@dataclass(frozen=True)
class Fact:
    """What a tag's first value tells of it. `is_tensor`: it is no value of the older kinds."""

    plugin: str
    data_class: int
    is_tensor: bool

    @property
    def is_scalar(self) -> bool:
        """Whether TensorBoard takes the tag for scalars."""
        return self.plugin == "scalars" or self.data_class == DATA_CLASS_SCALAR

    @property
    def needs_class(self) -> bool:
        """Whether no TensorBoard shows the tag, since nothing says what class of data it holds."""
        return self.is_tensor and not self.data_class and bool(self.plugin) and self.plugin not in _OWN_PLUGINS

    @property
    def in_server(self) -> int:
        """What the data server takes the tag for: it drops values that do not fit."""
        if self.is_scalar:
            return SCALAR
        return BLOBS if self.plugin in _BLOBS or self.data_class == DATA_CLASS_BLOB_SEQUENCE else TENSOR

    @property
    def most_in_python(self) -> int:
        """Values of the tag that the Python loader keeps, unless told otherwise."""
        return _PYTHON_KEEPS.get(self.plugin, _PYTHON_KEEPS_OTHERS)

    @property
    def most_in_server(self) -> int:
        """Values of the tag that the data server keeps, unless told otherwise."""
        return _SERVER_KEEPS[self.in_server]


def fact_of(value: Any) -> Fact:
    """What a value tells of its tag, if it is the first."""
    metadata = value.metadata
    plugin = _OLD_FIELDS.get(value.WhichOneof("value"), metadata.plugin_data.plugin_name)
    return Fact(plugin, metadata.data_class, value.HasField("tensor"))
