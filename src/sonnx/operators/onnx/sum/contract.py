"""Sum: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Sum",
    versions=(13,),
    summary="Adds the elements that several tensors have at each place.",
    inputs=[Operand("data_", "X", "the tensors data_0, data_1, ..., at least one", variadic=True)],
    output=Operand("sum", "Y", "the sums"),
    types=(DType.REAL, *IEEE),
    ruling="D-SUM",
)
