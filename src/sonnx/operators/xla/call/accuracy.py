"""A call is as accurate as the computation that it applies."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.xla.call.callee import require_callee


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """The computation's own bound."""
    callee = require_callee(attributes["computation"])
    return {"output": callee.bound(tuple(inputs.values()), order)}
