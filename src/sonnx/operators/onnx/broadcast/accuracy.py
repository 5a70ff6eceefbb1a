"""Broadcast only moves values."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.broadcast.shapes import equal_ranks, largest_sizes
from sonnx.operators.shared.moved import no_error


def error_bound(
    inputs: Mapping[str, Array], _attributes: Mapping[str, Any], _order: str
) -> Mapping[str, Array]:
    """The IEEE result is the exact one."""
    shape = largest_sizes(equal_ranks([tensor.shape for tensor in inputs.values()]))
    return {f"Z{name[1:]}": no_error(shape) for name in inputs}
