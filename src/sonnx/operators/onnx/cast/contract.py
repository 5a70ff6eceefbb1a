"""Cast: signature and types; its rules follow from them."""

from sonnx.model.dtype import FOREIGN_NUMBERS, IEEE, INTEGERS, ONNX_NUMBERS, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.operators.rules.converting import Converting
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

_MADE = (*IEEE, *INTEGERS, DType.BOOL, DType.BFLOAT16)
_NUMBERS = {ONNX_NUMBERS[dtype]: dtype for dtype in _MADE}
_OTHERS = {number: dtype.value for dtype, number in ONNX_NUMBERS.items() if dtype not in _MADE}

CONTRACT = elementwise(
    "Cast",
    versions=(13, 19, 21, 23, 24, 25, 28),
    summary="Converts every element of a tensor to another type.",
    inputs=[Operand("input", "X", "the tensor to be converted")],
    output=Operand("output", "Y", "the converted tensor", _MADE),
    types=(DType.REAL, *_MADE),
    attributes=[
        Attribute("to", "element type", "the type to convert to, by its number in ONNX"),
        Attribute(
            "saturate",
            "integer",
            "of types outside the profile",
            default_in_onnx=1,
            holds=OneOf((1, 0)),
            since=19,
        ),
        Attribute(
            "round_mode",
            "text",
            "the same",
            default_in_onnx="up",
            holds=OneOf(("up", "down", "nearest")),
            since=24,
        ),
        Attribute(
            "domain",
            "text",
            "ieee: round to the type; real: floats stay exact",
            mode=True,
            default="ieee",
            holds=OneOf(("ieee", "real")),
        ),
    ],
    converts=Converting("input", "to", _NUMBERS, _OTHERS | FOREIGN_NUMBERS),
    ruling="D-CAST",
)
