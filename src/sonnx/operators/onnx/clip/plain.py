"""Clip as plain C: one flat loop (D-CLIP-1, D-CLIP-2)."""

from math import prod

from sonnx.model.dtype import DType
from sonnx.model.plain import PlainKernel, PlainRequest


def plain(request: PlainRequest) -> PlainKernel:
    """Float16 is compared as float, which holds all of its values; what is kept are its own bits."""
    limited = request.inputs["input"]
    half, count = limited.dtype is DType.FLOAT16, prod(limited.sizes or ())
    floating = limited.dtype in {DType.FLOAT, DType.DOUBLE}
    return PlainKernel(
        "onnx/clip/plain.c",
        {"count": count, "last": count - 1},
        flags={"HALF": half, "FLOATING": floating, "UNORDERED": half or floating},
        helpers=("float_of_half",) if half else (),
    )
