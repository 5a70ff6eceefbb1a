"""Conv: signature, types, rules and shape rule."""

from sonnx.operators.onnx.conv.amend import default_kernel_shape, default_pads, on_images
from sonnx.operators.onnx.conv.geometry import CONVOLUTION, SPATIAL
from sonnx.operators.onnx.conv.rules import GOOD, RULES, B, W, X, Y
from sonnx.operators.shared.convolution_operator import ACCUMULATE
from sonnx.vocabulary.call import call
from sonnx.vocabulary.operator import Attribute, Contract

# Numbers are unlike wherever they may differ.
_SHOWN = call(
    "Conv",
    {"X": "float[2,3,1009,1013]", "W": "float[5,3,7,11]", "B": "float[5]"},
    {
        **GOOD.attributes,
        "strides": (13, 17),
        "pads": (19, 23, 29, 31),
        "dilations": (37, 47),
        "kernel_shape": (7, 11),
    },
)
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
    oldest=7,
    shown=_SHOWN,
)
