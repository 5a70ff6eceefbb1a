"""A call is as accurate as the computation that it applies."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """The computation's own bound."""
    return {"output": attributes["computation"].bound(tuple(inputs.values()), order)}
