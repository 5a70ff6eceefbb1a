"""Neg: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, SIGNED, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Neg",
    versions=(13,),
    summary="Gives every element the other sign.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the opposite elements"),
    types=(DType.REAL, *IEEE, *SIGNED),
    ruling="D-NEG",
)
