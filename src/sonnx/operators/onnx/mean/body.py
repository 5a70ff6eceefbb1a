"""Mean: the Sum of the tensors, divided by how many there are."""

from collections.abc import Sequence

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.div import OPERATOR as DIV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.sum import OPERATOR as SUM
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyConstant, BodyNode


def body(call: Call) -> Sequence[BodyNode | BodyConstant]:
    """Sum(X0, X1, ...) / n, every sum and the quotient rounded (D-MEAN)."""
    first = call.inputs["data_0"]
    sizes = first.sizes or ()
    return (
        BodyConstant("n", TensorType(first.dtype, ()), (len(call.inputs),)),
        BodyConstant("shape", TensorType(DType.INT64, (len(sizes),)), sizes),
        BodyNode(SUM, tuple(call.inputs), ("sum",)),
        BodyNode(EXPAND, ("n", "shape"), ("divisors",)),
        BodyNode(DIV, ("sum", "divisors"), ("mean",)),
    )
