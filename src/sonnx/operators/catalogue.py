"""The list of operators: a new one is a new folder and one line here."""

from sonnx.model.operator import Operator
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE

__all__ = [
    "BROADCAST",
    "CLIP",
    "CONV",
    "EXPAND",
    "NODE_OPERATORS",
    "OPERATORS",
    "WHERE",
    "operator",
]

OPERATORS: tuple[Operator, ...] = (CLIP, CONV, WHERE, BROADCAST, EXPAND)
# Those that a model can hold as a node, by the name in ONNX's own domain.
NODE_OPERATORS = {op.name: op for op in OPERATORS if op.contract.versions}


def operator(name: str) -> Operator:
    """Find an operator by its name, such as `Clip` or `clip`; raises ValueError with the names there are."""
    found = next((op for op in OPERATORS if op.folder == str(name).lower()), None)
    if found is None:
        raise ValueError(
            f"no operator {str(name)[:60]!r}; there are {', '.join(op.name for op in OPERATORS)}"
        )
    return found
