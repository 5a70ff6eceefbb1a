"""Cast: signature and types; its rules follow from them."""

from sonnx.model.dtype import DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.operators.shared.converting import DOMAIN, ONNX, ONNX_TYPES
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

_SATURATE, _ROUND_MODE = OneOf((1, 0)), OneOf(("up", "down", "nearest"))
CONTRACT = elementwise(
    "Cast",
    versions=(13, 19, 21, 23, 24, 25, 28),
    summary="Converts every element of a tensor to another type.",
    inputs=[Operand("input", "X", "the tensor to be converted")],
    output=Operand("output", "Y", "the converted tensor", ONNX_TYPES),
    types=(DType.REAL, *ONNX_TYPES),
    attributes=[
        Attribute("to", "element type", "the type to convert to, by its number in ONNX"),
        Attribute("saturate", "integer", "of no type here", default_in_onnx=1, holds=_SATURATE, since=19),
        Attribute("round_mode", "text", "the same", default_in_onnx="up", holds=_ROUND_MODE, since=24),
        DOMAIN,
    ],
    converts=ONNX,
    ruling="D-CAST",
)
