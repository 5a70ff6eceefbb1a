"""Conv: the sum of products over channels, lines and columns of the kernel, starting from the bias."""

from collections.abc import Sequence

from sonnx.operators.onnx.conv.geometry import CONVOLUTION
from sonnx.operators.shared.convolution import convolution
from sonnx.terms.tensors import Given, Made
from sonnx.terms.term import integer
from sonnx.terms.tracing import tensorwise


def conv(
    X: Given,
    W: Given,
    B: Given | None,
    *,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    group: int,
) -> Made:
    """The sum starts at the bias and takes one term after the other: channel, line, column (D-CONV-6).

    Zeros around X take part in it (D-CONV-5); the channels of X may be in groups (D-CONV-2).
    """
    told = {"strides": strides, "pads": pads, "dilations": dilations}
    return convolution(X, W, B, CONVOLUTION.axes({"X": X, "W": W}, told), integer(group))


DEFINITION = tensorwise(conv)
