"""Or: signature and types; its rules follow from them."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Or",
    versions=(7,),
    summary="Tells where an element of two tensors is true, or both are.",
    inputs=[Operand("A", "A", "the elements on the left"), Operand("B", "B", "the elements on the right")],
    output=Operand("C", "C", "true where one of them is, or both are", (DType.BOOL,)),
    types=(DType.BOOL,),
    ruling="D-LOGIC",
)
