"""Equal: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Equal",
    versions=(13, 19),
    summary="Tells where the elements of two tensors are equal.",
    inputs=[Operand("A", "A", "the elements on the left"), Operand("B", "B", "the elements on the right")],
    output=Operand("C", "C", "true where A is equal to B", (DType.BOOL,)),
    types=(DType.REAL, *IEEE, *INTEGERS, DType.BOOL, DType.STRING),
    added={19: (DType.STRING,)},
    ruling="D-COMPARE",
)
