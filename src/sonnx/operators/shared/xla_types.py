"""The element types of the XLA operations (D-XLA-6), and `real` beside them, and words of their rules."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.tensor_type import Size, TensorType
from sonnx.operators.rules.contracts import Words

FLOATS = (*IEEE, DType.BFLOAT16)
COMPLEX = (DType.COMPLEX64, DType.COMPLEX128)
# What has an order.
ORDERED = (DType.REAL, DType.BOOL, *INTEGERS, *FLOATS)
# What a convolution adds up.
SUMMED = (DType.REAL, *INTEGERS, *FLOATS)
TYPES = (*ORDERED, *COMPLEX)


# What XLA's operations say otherwise of rules that are made from data.
OPERAND_WORDS: Words = {
    "types of operand": {
        "statement": "`operand` must be an array of one of XLA's element types, or of reals.",
        "reason": "XLA has no strings.",
        "restricts_onnx": False,
        "ruling": "D-XLA-6",
    },
}
OUTPUT_WORDS: Words = {
    "shape of output": {
        "reason": "A declared shape that differs would make later operations read other elements."
    },
    "type of output": {"reason": "No operation but ConvertElementType converts.", "ruling": "D-ALL-3"},
}


def xla_type(dtype: DType | None, shape: tuple[Size, ...] | None) -> TensorType:
    """A type that is printed as XLA spells it."""
    return TensorType(dtype, shape, dialect="xla")
