"""HardSwish: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "HardSwish",
    versions=(14, 22),
    summary="Multiplies every element by its hard sigmoid.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the products"),
    types=(DType.REAL, *IEEE),
    ruling="D-HARDSWISH",
)
