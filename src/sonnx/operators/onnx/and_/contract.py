"""And: signature and types; its rules follow from them."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "And",
    versions=(7,),
    summary="Tells where the elements of both tensors are true.",
    inputs=[Operand("A", "A", "the elements on the left"), Operand("B", "B", "the elements on the right")],
    output=Operand("C", "C", "true where both are", (DType.BOOL,)),
    types=(DType.BOOL,),
    ruling="D-LOGIC",
)
