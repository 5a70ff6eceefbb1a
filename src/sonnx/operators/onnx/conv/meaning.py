"""Conv: the sum of products over channels, lines and columns of the kernel, starting from the bias."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array, held_type, zero
from sonnx.operators.onnx.conv.geometry import SPATIAL
from sonnx.operators.shared.convolution import Axis, convolve


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[b,c,m,n] = B[c] + Σ_ci Σ_kl Σ_kc padded X[b,ci,m·s0+kl·d0,n·s1+kc·d1] · W[c,ci,kl,kc].

    On IEEE types the sum is taken in that order, with the roundings of `accumulate` (D-CONV-6).
    """
    X, W = inputs["X"], inputs["W"]
    dtype = held_type(X)
    B = inputs.get("B")
    if B is None:
        B = np.full(len(W), zero(dtype), dtype=X.dtype)
    Y = convolve(X, W, B, sliding(W, attributes), int(attributes["group"]), dtype, attributes["accumulate"])
    return {"Y": Y}


def sliding(W: Array, attributes: Mapping[str, Any]) -> list[Axis]:
    """How the kernel slides along each spatial axis."""
    strides, dilations, pads = (list(map(int, attributes[name])) for name in ("strides", "dilations", "pads"))
    return list(map(Axis, W.shape[2:], strides, dilations, pads[:SPATIAL], pads[SPATIAL:]))
