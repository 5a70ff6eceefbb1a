"""The list of operators: a new one is a new folder and one line here."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from sonnx.model.graph import Node
from sonnx.model.tensor_type import Dialect
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rewriting import Rewriting

# The folders in `onnx/` and in `xla/`, in the order in which everything lists them.
_ONNX = (
    "clip",
    "conv",
    "where",
    "broadcast",
    "expand",
    "abs",
    "add",
    "and_",
    "bit_shift",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "div",
    "equal",
    "floor",
    "greater",
    "greater_or_equal",
    "hard_sigmoid",
    "hard_swish",
    "identity",
    "is_inf",
    "is_nan",
    "leaky_relu",
    "less",
    "less_or_equal",
    "max",
    "mean",
    "min",
    "mod",
    "mul",
    "neg",
    "not_",
    "or_",
    "prelu",
    "reciprocal",
    "relu",
    "round",
    "sign",
    "sqrt",
    "sub",
    "sum",
    "thresholded_relu",
    "xor",
)
_XLA = (
    "broadcast",
    "call",
    "clamp",
    "collapse",
    "concatenate",
    "convert_element_type",
    "conv",
    "conv_with_general_padding",
)
# Operators that the profile does not have, for which normalizing writes others: modules of `rewritten/`.
_REWRITTEN = ("pow",)


def _found(home: str, folders: Sequence[str]) -> tuple[Operator, ...]:
    return tuple(import_module(f"sonnx.operators.{home}.{folder}").OPERATOR for folder in folders)


ONNX_OPERATORS = _found("onnx", _ONNX)
XLA_OPERATORS = _found("xla", _XLA)
OPERATORS = ONNX_OPERATORS + XLA_OPERATORS
# Those that a model can hold as a node, by the name in ONNX's own domain.
NODE_OPERATORS = {op.name: op for op in ONNX_OPERATORS if op.contract.versions}
# What is written in place of operators of ONNX's own domain, by their names.
REWRITINGS: Mapping[str, Rewriting] = {
    found.name: found
    for found in (import_module(f"sonnx.operators.rewritten.{name}").REWRITING for name in _REWRITTEN)
}
# The domain of a graph's own operators.
_DOMAINS: Mapping[Dialect, str] = {"onnx": "", "xla": "xla"}
# A call is a node too, but one that names a function.
_BY_KEY = {op.key: op for op in (*NODE_OPERATORS.values(), *XLA_OPERATORS) if not op.calls}
# Every name by which `operator` finds one, in small letters; ONNX's own come first.
_BY_NAME: dict[str, Operator] = {}
for _each in OPERATORS:
    _BY_NAME.setdefault(_each.identifier, _each)
    _BY_NAME.setdefault(_each.name.lower(), _each)
for _each in XLA_OPERATORS:
    _BY_NAME.setdefault(_each.folder, _each)
    _BY_NAME.setdefault(_each.contract.name.lower(), _each)


def node_operator(node: Node, dialect: Dialect) -> Operator | None:
    """The operator that a node uses, if it uses one; XLA operations are none of ONNX's, nor vice versa."""
    return _BY_KEY.get((node.domain, node.operator)) if node.domain == _DOMAINS[dialect] else None


def rewriting(node: Node, dialect: Dialect) -> Rewriting | None:
    """What normalizing may write in place of a node whose operator the profile does not have."""
    if dialect != "onnx" or node.domain or node.overload or node_operator(node, dialect) is not None:
        return None
    return REWRITINGS.get(node.operator)


def operator(name: str) -> Operator:
    """Find an operator by its name, such as `Clip`, `clip` or `xla.Clamp`.

    Names of XLA operations need no `xla.` where no operator of ONNX has them. Raises ValueError with the
    names there are.
    """
    found = _BY_NAME.get(str(name).lower())
    if found is not None:
        return found
    raise ValueError(f"no operator {str(name)[:60]!r}; there are {', '.join(op.name for op in OPERATORS)}")
