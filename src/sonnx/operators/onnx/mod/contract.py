"""Mod: signature and types; its rules follow from them, and from where it is defined."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.operators.shared.divisors import DIVISIBLE
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

_SIGN = "1: remainders have the sign of the dividend; 0, of integers alone: that of the divisor"
CONTRACT = elementwise(
    "Mod",
    versions=(13, 28),
    summary="Takes what a division leaves, element by element.",
    inputs=[Operand("A", "A", "the dividends"), Operand("B", "B", "the divisors")],
    output=Operand("C", "C", "the remainders"),
    types=(DType.REAL, *IEEE, *INTEGERS),
    attributes=[Attribute("fmod", "integer", _SIGN, default_in_onnx=0, holds=OneOf((0, 1), integers=(0,)))],
    ruling="D-MOD",
    oldest=10,
    defined=DIVISIBLE,
)
