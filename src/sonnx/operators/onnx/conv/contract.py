"""Conv: signature, types, rules and shape rule."""

from collections.abc import Mapping
from math import prod

from sonnx.model.call import Call
from sonnx.model.lengths import Lengths, summed
from sonnx.model.operator import Attribute, Contract, Operand
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.conv.attribute_rules import ATTRIBUTE_RULES
from sonnx.operators.onnx.conv.geometry import output_shape, padded_sizes
from sonnx.operators.onnx.conv.rules import OPERAND_RULES, TYPES


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The type of X and the number of kernel positions on each spatial axis (D-CONV-1)."""
    X, shape = call.inputs["X"], output_shape(call)
    # A batch size that is open keeps its name.
    batch = X.shape[:1] if X.shape else ()
    return {"Y": TensorType(X.dtype, None if shape is None else (*batch, *shape[1:]))}


def working_types(call: Call) -> tuple[TensorType, ...]:
    """X with its padding."""
    X, padded = call.inputs["X"], padded_sizes(call)
    return () if padded is None else (TensorType(X.dtype, (*(X.shape or ())[:2], *padded)),)


def lengths(call: Call, given: Mapping[str, Lengths]) -> Lengths:
    """Those of a bias and as many products as one output channel's kernel has taps."""
    return summed(given["X"], given["W"], given.get("B", Lengths()), prod((call.inputs["W"].sizes or ())[1:]))


CONTRACT = Contract(
    name="Conv",
    versions=(11, 22),
    summary="Slides a kernel over an image and sums the products, starting from a bias.",
    inputs=(
        Operand("X", "X", "the image: batch, channels, lines, columns", TYPES),
        Operand("W", "W", "the kernel: output channels, channels per group, lines, columns", TYPES),
        Operand(
            "B",
            "B",
            "the bias: one value per output channel; absent, it is zero",
            TYPES,
            optional=True,
        ),
    ),
    outputs=(Operand("Y", "Y", "the result: batch, output channels, lines, columns", TYPES),),
    attributes=(
        Attribute("strides", "two integers", "steps of the kernel down lines and along columns"),
        Attribute(
            "pads",
            "four integers",
            "zeros before lines, before columns, after lines, after columns",
        ),
        Attribute("dilations", "two integers", "distances between taps of the kernel"),
        Attribute("group", "integer", "1: standard; the number of channels: depthwise"),
        Attribute("kernel_shape", "two integers", "lines and columns of W"),
        Attribute("auto_pad", "text", "NOTSET: the pads are the ones written", default="NOTSET"),
        Attribute(
            "accumulate",
            "text",
            "separate: two roundings per term; fused: one",
            mode=True,
            default="separate",
        ),
    ),
    rules=OPERAND_RULES + ATTRIBUTE_RULES,
    output_types=output_types,
    uses_arithmetic=True,
    working_types=working_types,
    lengths=lengths,
)
