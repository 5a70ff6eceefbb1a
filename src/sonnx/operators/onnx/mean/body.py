"""Mean: the Sum of the tensors, divided by how many there are."""

from collections.abc import Sequence

from sonnx.operators.onnx.div import OPERATOR as DIV
from sonnx.operators.onnx.sum import OPERATOR as SUM
from sonnx.operators.shared.filling import filled
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyConstant, BodyNode


def body(call: Call) -> Sequence[BodyNode | BodyConstant]:
    """Sum(X0, X1, ...) / n, every sum and the quotient rounded (D-MEAN)."""
    return (
        *filled("n", len(call.inputs), call.inputs["data_0"]),
        BodyNode(SUM, tuple(call.inputs), ("sum",)),
        BodyNode(DIV, ("sum", "n"), ("mean",)),
    )
