"""Clamp only selects values."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.shared.moved import no_error


def error_bound(
    inputs: Mapping[str, Array], _attributes: Mapping[str, Any], _order: str
) -> Mapping[str, Array]:
    """The result is the exact one."""
    return {"output": no_error(inputs["operand"].shape)}
