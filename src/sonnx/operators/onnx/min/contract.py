"""Min: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Min",
    versions=(13,),
    summary="Takes the smallest of the elements that several tensors have at each place.",
    inputs=[Operand("data_", "X", "the tensors data_0, data_1, ..., at least one", variadic=True)],
    output=Operand("min", "Y", "the smallest elements"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    ruling="D-MINMAX",
)
