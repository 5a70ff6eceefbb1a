"""Mean: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Mean",
    versions=(13,),
    summary="Takes the mean of the elements that several tensors have at each place.",
    inputs=[Operand("data_", "X", "the tensors data_0, data_1, ..., at least one", variadic=True)],
    output=Operand("mean", "Y", "the means"),
    types=(DType.REAL, *IEEE),
    ruling="D-MEAN",
)
