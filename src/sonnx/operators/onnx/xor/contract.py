"""Xor: signature and types; its rules follow from them."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Xor",
    versions=(7,),
    summary="Tells where exactly one of the elements of two tensors is true.",
    inputs=[Operand("A", "A", "the elements on the left"), Operand("B", "B", "the elements on the right")],
    output=Operand("C", "C", "true where exactly one of them is", (DType.BOOL,)),
    types=(DType.BOOL,),
    ruling="D-LOGIC",
)
