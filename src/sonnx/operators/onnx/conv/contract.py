"""Conv: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.conv.amend import default_kernel_shape, default_pads, on_images
from sonnx.operators.onnx.conv.attribute_rules import ATTRIBUTE_RULES
from sonnx.operators.onnx.conv.geometry import SPATIAL, output_shape
from sonnx.operators.onnx.conv.rules import OPERAND_RULES, TYPES
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Attribute, Contract, Operand


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The type of X and the number of kernel positions on each spatial axis (D-CONV-1)."""
    X, shape = call.inputs["X"], output_shape(call)
    # A batch size that is open keeps its name.
    batch = X.shape[:1] if X.shape else ()
    return {"Y": TensorType(X.dtype, None if shape is None else (*batch, *shape[1:]))}


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
        Attribute(
            "strides",
            "two integers",
            "steps of the kernel down lines and along columns",
            default_in_onnx=on_images((1,) * SPATIAL),
        ),
        Attribute(
            "pads",
            "four integers",
            "zeros before lines, before columns, after lines, after columns",
            default_in_onnx=default_pads,
        ),
        Attribute(
            "dilations",
            "two integers",
            "distances between taps of the kernel",
            default_in_onnx=on_images((1,) * SPATIAL),
        ),
        Attribute(
            "group",
            "integer",
            "1: standard; the number of channels: depthwise",
            default_in_onnx=on_images(1),
        ),
        Attribute(
            "kernel_shape",
            "two integers",
            "lines and columns of W",
            default_in_onnx=default_kernel_shape,
            default_because="an absent `kernel_shape` is that of `W`",
        ),
        Attribute(
            "auto_pad",
            "text",
            "NOTSET: the pads are the ones written",
            default="NOTSET",
            default_in_onnx=on_images("NOTSET"),
        ),
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
    ruling="D-CONV",
)
