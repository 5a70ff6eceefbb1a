"""The element types of the XLA operations (D-XLA-6), and `real` beside them, and rules on outputs."""

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.tensor_type import Size, TensorType
from sonnx.operators.rules.contracts import Words
from sonnx.operators.rules.declarations import ShapeOf, declared_shape, declared_type
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.rule import Rule

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


def output_rules(
    identifier: str, shape_of: ShapeOf, good: Call, wrong_shape: str, wrong_type: str
) -> tuple[Rule, ...]:
    """The rules on a declared output: the shape that follows, and the element type of the first operand."""
    first = next(iter(good.inputs))
    right = str(xla_type(good.inputs[first].dtype, shape_of(good)))

    def example(declared: str) -> Call:
        return call(
            good.operator,
            {name: str(kind) for name, kind in good.inputs.items()},
            good.attributes,
            {"output": declared},
        )

    return (
        Rule(
            f"{identifier}.output.D1",
            "`output` must have the shape that the operands and attributes give.",
            "A declared shape that differs would make later operations read other elements.",
            False,
            declared_shape("output", shape_of, *good.inputs),
            failing=example(wrong_shape),
            passing=example(right),
            ruling="D-ALL-3",
        ),
        Rule(
            f"{identifier}.output.D2",
            f"`output` must have the element type of `{first}`.",
            "No operation but ConvertElementType converts.",
            False,
            declared_type("output", first),
            failing=example(wrong_type),
            passing=example(right),
            ruling="D-ALL-3",
        ),
    )
