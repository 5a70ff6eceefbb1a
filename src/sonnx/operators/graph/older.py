"""Models of operator sets before the first that the profile covers: which of them can be written anew."""

from collections.abc import Sequence
from dataclasses import replace

from sonnx.model.graph import Graph, Node
from sonnx.operators.catalogue import node_operator, rewriting
from sonnx.operators.shared.constants import held_constant
from sonnx.vocabulary.operator import OLDEST_OPSET

# From this operator set on, shapes are broadcast without an attribute that says so.
OLDEST_WRITTEN_ANEW = 7


def kept_old(nodes: Sequence[Node], opset: int) -> list[str]:
    """The operators, each once, of which nobody here knows what they mean in an old operator set."""
    found = (node.operator for node in nodes if not node.domain and not _known_in(node, opset))
    return list(dict.fromkeys(found))


def _known_in(node: Node, opset: int) -> bool:
    if held_constant(node) is not None:
        return True
    operator, other = node_operator(node, "onnx"), rewriting(node, "onnx")
    if operator is not None:
        return newer_version(node) is not None and operator.contract.oldest <= opset
    return other is not None and other.oldest <= opset


def newer_version(node: Node) -> int | None:
    """The version of a node's operator in the first operator set that the profile covers, if it has one."""
    operator = node_operator(node, "onnx")
    versions = operator.contract.versions if operator is not None else ()
    return max((each for each in versions if each <= OLDEST_OPSET), default=None)


def is_to_be_raised(graph: Graph) -> bool:
    """Tell whether a model of an old operator set can be written as one that the profile covers."""
    opsets = [version for domain, version in graph.opsets if domain == ""]
    if len(opsets) != 1 or graph.functions or not OLDEST_WRITTEN_ANEW <= opsets[0] < OLDEST_OPSET:
        return False
    return not kept_old(graph.nodes, opsets[0])


def raised(graph: Graph) -> Graph:
    """The model with the first operator set that the profile covers; its nodes are as they were."""
    opsets = tuple((domain, version if domain else OLDEST_OPSET) for domain, version in graph.opsets)
    return replace(graph, opsets=opsets)
