"""Expand only moves values."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.broadcast.shapes import equal_ranks, largest_sizes
from sonnx.operators.shared.moved import no_error


def error_bound(
    inputs: Mapping[str, Array], _attributes: Mapping[str, Any], _order: str
) -> Mapping[str, Array]:
    """The IEEE result is the exact one."""
    shapes = [inputs["input"].shape, tuple(inputs["shape"].tolist())]
    return {"output": no_error(largest_sizes(equal_ranks(shapes)))}
