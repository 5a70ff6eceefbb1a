"""IsInf: signature and types; its rules follow from them."""

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import elementwise
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Attribute, Operand

CONTRACT = elementwise(
    "IsInf",
    versions=(10, 20),
    summary="Tells where the elements of a tensor are infinite.",
    inputs=[Operand("X", "X", "the tensor")],
    output=Operand("Y", "Y", "true where X is an infinity of a sign that is asked for", (DType.BOOL,)),
    types=(DType.REAL, *IEEE),
    added={20: (DType.FLOAT16,)},
    attributes=[
        Attribute(
            "detect_negative", "integer", "1: minus infinity counts", default_in_onnx=1, holds=OneOf((1, 0))
        ),
        Attribute(
            "detect_positive", "integer", "1: plus infinity counts", default_in_onnx=1, holds=OneOf((1, 0))
        ),
    ],
    ruling="D-ISNAN",
)
