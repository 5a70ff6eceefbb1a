"""IsNaN: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "IsNaN",
    versions=(13, 20),
    summary="Tells where the elements of a tensor are NaNs.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "true where X is a NaN", (DType.BOOL,)),
    types=(DType.REAL, *IEEE),
    ruling="D-ISNAN",
)
