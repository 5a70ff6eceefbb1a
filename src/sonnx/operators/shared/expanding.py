"""The operator that does in a graph what broadcasting does inside others (D-ALL-5); constants behind it."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.graph import Node

REPEATING = "Expand"


def behind(node: Node, constants: Mapping[str, Any]) -> Mapping[str, Any]:
    """The constant whose elements a node's output has, all of them and no others; empty where there is none.

    It has a shape of its own. No element is lost: sizes above 1 stay (D-BCAST-2).
    """
    if (node.domain, node.operator) != ("", REPEATING) or not node.inputs:
        return {}
    held = constants.get(node.inputs[0])
    return {} if held is None else {name: held for name in node.outputs if name}
