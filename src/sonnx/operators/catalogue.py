"""The list of operators: a new one is a new folder and one line here."""

from collections.abc import Mapping

from sonnx.model.graph import Node
from sonnx.model.operator import Operator
from sonnx.model.tensor_type import Dialect
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.operators.xla.broadcast import OPERATOR as XLA_BROADCAST
from sonnx.operators.xla.call import OPERATOR as XLA_CALL
from sonnx.operators.xla.clamp import OPERATOR as XLA_CLAMP
from sonnx.operators.xla.collapse import OPERATOR as XLA_COLLAPSE
from sonnx.operators.xla.concatenate import OPERATOR as XLA_CONCATENATE
from sonnx.operators.xla.conv import OPERATOR as XLA_CONV
from sonnx.operators.xla.conv_with_general_padding import OPERATOR as XLA_CONV_WITH_GENERAL_PADDING
from sonnx.operators.xla.convert_element_type import OPERATOR as XLA_CONVERT_ELEMENT_TYPE

__all__ = [
    "BROADCAST",
    "CLIP",
    "CONV",
    "EXPAND",
    "NODE_OPERATORS",
    "ONNX_OPERATORS",
    "OPERATORS",
    "WHERE",
    "XLA_BROADCAST",
    "XLA_CALL",
    "XLA_CLAMP",
    "XLA_COLLAPSE",
    "XLA_CONCATENATE",
    "XLA_CONV",
    "XLA_CONVERT_ELEMENT_TYPE",
    "XLA_CONV_WITH_GENERAL_PADDING",
    "XLA_OPERATORS",
    "node_operator",
    "operator",
]

ONNX_OPERATORS: tuple[Operator, ...] = (CLIP, CONV, WHERE, BROADCAST, EXPAND)
XLA_OPERATORS: tuple[Operator, ...] = (
    XLA_BROADCAST,
    XLA_CALL,
    XLA_CLAMP,
    XLA_COLLAPSE,
    XLA_CONCATENATE,
    XLA_CONVERT_ELEMENT_TYPE,
    XLA_CONV,
    XLA_CONV_WITH_GENERAL_PADDING,
)
OPERATORS = ONNX_OPERATORS + XLA_OPERATORS
# Those that a model can hold as a node, by the name in ONNX's own domain.
NODE_OPERATORS = {op.name: op for op in ONNX_OPERATORS if op.contract.versions}
# The domain of a graph's own operators.
_DOMAINS: Mapping[Dialect, str] = {"onnx": "", "xla": "xla"}
# A call is a node too, but one that names a function.
_BY_KEY = {op.key: op for op in (*NODE_OPERATORS.values(), *XLA_OPERATORS) if op is not XLA_CALL}


def node_operator(node: Node, dialect: Dialect) -> Operator | None:
    """The operator that a node uses, if it uses one; XLA operations are none of ONNX's, nor vice versa."""
    return _BY_KEY.get((node.domain, node.operator)) if node.domain == _DOMAINS[dialect] else None


def operator(name: str) -> Operator:
    """Find an operator by its name, such as `Clip`, `clip` or `xla.Clamp`.

    Names of XLA operations need no `xla.` where no operator of ONNX has them. Raises ValueError with the
    names there are.
    """
    wanted = str(name).lower()
    for op in OPERATORS:
        if wanted in (op.identifier, op.name.lower()):
            return op
    for op in XLA_OPERATORS:
        if wanted in (op.folder, op.contract.name.lower()):
            return op
    raise ValueError(f"no operator {str(name)[:60]!r}; there are {', '.join(op.name for op in OPERATORS)}")
