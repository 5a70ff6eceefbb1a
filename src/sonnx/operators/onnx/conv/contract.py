"""Conv: signature, types, rules and shape rule."""

from sonnx.operators.onnx.conv.amend import default_kernel_shape, default_pads, on_images
from sonnx.operators.onnx.conv.geometry import CONVOLUTION, SPATIAL
from sonnx.operators.onnx.conv.rules import RULES, B, W, X, Y
from sonnx.operators.shared.convolution_operator import ACCUMULATE
from sonnx.vocabulary.operator import Attribute, Contract

_ONES = on_images((1,) * SPATIAL)

CONTRACT = Contract(
    name="Conv",
    versions=(11, 22),
    summary="Slides a kernel over an image and sums the products, starting from a bias.",
    inputs=(X, W, B),
    outputs=(Y,),
    attributes=(
        Attribute(
            "strides",
            "two integers",
            "steps of the kernel down lines and along columns",
            default_in_onnx=_ONES,
        ),
        Attribute(
            "pads",
            "four integers",
            "zeros before lines, before columns, after lines, after columns",
            default_in_onnx=default_pads,
        ),
        Attribute("dilations", "two integers", "distances between taps of the kernel", default_in_onnx=_ONES),
        Attribute(
            "group", "integer", "1: standard; the number of channels: depthwise", default_in_onnx=on_images(1)
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
        ACCUMULATE,
    ),
    rules=RULES,
    output_types=CONVOLUTION.output_types,
    uses_arithmetic=True,
    ruling="D-CONV",
)
