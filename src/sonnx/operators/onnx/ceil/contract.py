"""Ceil: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Ceil",
    versions=(13,),
    summary="Rounds every element up to an integer.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "the least integers that are not below the elements"),
    types=(DType.REAL, *IEEE),
    ruling="D-ROUND",
)
