"""What TensorBoard takes a tag for, and what each value can be taken for."""

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

SCALAR, TENSOR, BLOBS, NUMBERS, SINGLE = 1, 2, 4, 8, 16
"""What the data server can take a value for; then, whether it is a tensor of numbers, and whether it is one entry."""

_SERVER_KEEPS = {SCALAR: 1000, TENSOR: 100, BLOBS: 10}

_ANYTHING = SCALAR | TENSOR | BLOBS | NUMBERS | SINGLE
_FITS = {"simple_value": SCALAR | SINGLE, "histo": TENSOR, "image": BLOBS, "audio": BLOBS}
_STRING, _FLOAT = DATA_TYPES["string"], DATA_TYPES["float32"]


def fits(value: Any) -> int:
    """What a value can be taken for, as flags."""
    kind = value.WhichOneof("value")
    if kind != "tensor":
        return _FITS.get(kind, _ANYTHING)
    tensor = value.tensor
    sides = tensor.tensor_shape.dim
    single = SINGLE if all(side.size == 1 for side in sides) and _has_entries(tensor) else 0
    if tensor.dtype == _STRING:
        return TENSOR | single | (BLOBS if len(sides) == 1 else 0)
    return TENSOR | NUMBERS | single | (SCALAR if single and not sides and tensor.dtype == _FLOAT else 0)


def _has_entries(tensor: Any) -> bool:
    if tensor.tensor_content or tensor.float_val:
        return True
    return any(field.name.endswith("_val") for field, _ in tensor.ListFields())


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
    def needs_single(self) -> bool:
        """Whether the Python loader shows nothing of the tag where one of its values is not one entry."""
        return self.plugin == "scalars"

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
