"""Sign: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Sign",
    versions=(13,),
    summary="Says on which side of zero every element lies: -1, 0 or 1.",
    inputs=[Operand("input", "X", "the tensor")],
    output=Operand("output", "Y", "the signs"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    ruling="D-SIGN",
)
