"""Conv: ConvWithGeneralPadding with the padding that SAME or VALID stands for (D-XLA-4)."""

from collections.abc import Sequence

from sonnx.operators.shared.convolution import convolution
from sonnx.operators.xla.conv_with_general_padding.geometry import BY_WORD
from sonnx.terms.tensors import Given, Made
from sonnx.terms.tracing import tensorwise


def conv(lhs: Given, rhs: Given, *, window_strides: Sequence[int], padding: str) -> Made:
    """The pairs of numbers that the word stands for, and no dilation."""
    written = {"window_strides": window_strides, "padding": padding}
    return convolution(lhs, rhs, None, BY_WORD.axes({"lhs": lhs, "rhs": rhs}, written))


DEFINITION = tensorwise(conv)
