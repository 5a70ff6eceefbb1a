"""ConvWithGeneralPadding: a sum over input features and the window, starting from 0 (D-XLA-5)."""

from collections.abc import Sequence

from sonnx.operators.shared.convolution import convolution
from sonnx.operators.xla.conv_with_general_padding.geometry import GENERAL
from sonnx.terms.tensors import Given, Made
from sonnx.terms.tracing import tensorwise


def conv_with_general_padding(
    lhs: Given,
    rhs: Given,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
) -> Made:
    """Any number of spatial dimensions: the base area is dilated, then padded, then the window slides."""
    written = {"window_strides": window_strides, "padding": padding}
    dilated = {"lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation}
    return convolution(lhs, rhs, None, GENERAL.axes({"lhs": lhs, "rhs": rhs}, {**written, **dilated}))


DEFINITION = tensorwise(conv_with_general_padding)
