"""Call: what the computation gives for the arguments; in a graph, its body in place of the call."""

from collections.abc import Mapping
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.operators.xla.call.callee import require_callee


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y = computation(A_0, ..., A_n): executing a function is executing its body (D-GRAPH-3)."""
    return {"output": require_callee(attributes["computation"]).body(tuple(inputs.values()))}


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], order: str
) -> Mapping[str, Array]:
    """A call is as accurate as the computation that it applies."""
    return {"output": require_callee(attributes["computation"]).bound(tuple(inputs.values()), order)}
