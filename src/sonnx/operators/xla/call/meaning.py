"""Call: what the computation gives for the arguments; in a graph, its body in place of the call."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y = computation(A_0, ..., A_n): executing a function is executing its body (D-GRAPH-3)."""
    return {"output": attributes["computation"].body(tuple(inputs.values()))}
