"""ConvWithGeneralPadding: a sum over input features and the window, starting from 0."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array, held_type, zero
from sonnx.operators.shared.convolution import Axis, convolve
from sonnx.operators.xla.conv_with_general_padding.geometry import LEADING, along


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[b,c,p] = Σ_z Σ_k X'[b,z,p·stride+k·rhs_dilation] · W[c,z,k], where X' is X dilated, then padded.

    On IEEE types the sum is taken in that order, with the roundings of `accumulate` (D-XLA-5).
    """
    X, W = inputs["lhs"], inputs["rhs"]
    return {"output": slide(X, W, sliding(W, attributes), attributes["accumulate"])}


def sliding(W: Array, attributes: Mapping[str, Any]) -> tuple[Axis, ...]:
    """How the window slides along each spatial dimension."""
    strides, spread, taps = (
        list(map(int, attributes[name])) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    ends = [(int(low), int(high)) for low, high in attributes["padding"]]
    return along(W.shape[LEADING:], strides, ends, spread, taps)


def slide(X: Array, W: Array, axes: Sequence[Axis], accumulate: str) -> Array:
    """The convolution without a bias: every sum starts from 0."""
    dtype = held_type(X)
    nothing = np.full(len(W), zero(dtype), dtype=X.dtype)
    return convolve(X, W, nothing, axes, 1, dtype, accumulate)
