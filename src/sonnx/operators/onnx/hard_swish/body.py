"""HardSwish: each element times its HardSigmoid."""

from collections.abc import Sequence

from sonnx.operators.onnx.hard_sigmoid import OPERATOR as HARD_SIGMOID
from sonnx.operators.onnx.mul import OPERATOR as MUL
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyNode

# The float nearest to 1/6.
_SIXTH = float.fromhex("0x1.555556p-3")


def body(_call: Call) -> Sequence[BodyNode]:
    """Y = X · HardSigmoid(X; 1/6, 1/2) (D-HARDSWISH); so -inf, whose HardSigmoid is 0, gives a NaN."""
    return (
        BodyNode(HARD_SIGMOID, ("X",), ("slope",), {"alpha": _SIXTH, "beta": 0.5}),
        BodyNode(MUL, ("X", "slope"), ("Y",)),
    )
