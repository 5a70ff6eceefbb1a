"""Not: signature and types; its rules follow from them."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Not",
    versions=(1,),
    summary="Tells where the elements of a tensor are false.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "true where X is false", (DType.BOOL,)),
    types=(DType.BOOL,),
    ruling="D-LOGIC",
)
