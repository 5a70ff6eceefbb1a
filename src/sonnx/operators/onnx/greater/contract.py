"""Greater: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Greater",
    versions=(13,),
    summary="Tells where the elements of one tensor are above those of another.",
    inputs=[Operand("A", "A", "the elements on the left"), Operand("B", "B", "the elements on the right")],
    output=Operand("C", "C", "true where A is above B", (DType.BOOL,)),
    types=(DType.REAL, *IEEE, *INTEGERS),
    ruling="D-COMPARE",
)
