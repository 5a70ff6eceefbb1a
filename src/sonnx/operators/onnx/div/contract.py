"""Div: signature and types; its rules follow from them, and from where it is defined."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.operators.shared.divisors import DIVISIBLE
from sonnx.vocabulary.operator import Operand

CONTRACT = elementwise(
    "Div",
    versions=(13, 14),
    summary="Divides two tensors, element by element.",
    inputs=[Operand("A", "A", "the dividends"), Operand("B", "B", "the divisors")],
    output=Operand("C", "C", "the quotients"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    added={14: (DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)},
    ruling="D-DIV",
    defined=DIVISIBLE,
)
