"""Collapse only moves values."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.shared.moved import no_error
from sonnx.operators.xla.collapse.shapes import collapsed_shape


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], _order: str
) -> Mapping[str, Array]:
    """The result is the exact one."""
    return {"output": no_error(collapsed_shape(inputs["operand"].shape, attributes["dimensions"]))}
