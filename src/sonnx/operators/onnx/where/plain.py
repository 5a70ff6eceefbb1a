"""Where as plain C: one flat loop that copies (D-WHERE-1, D-WHERE-2)."""

from math import prod

from sonnx.model.plain import PlainKernel, PlainRequest


def plain(request: PlainRequest) -> PlainKernel:
    """Every element type is moved alike."""
    count = prod(request.outputs["output"].sizes or ())
    return PlainKernel("onnx/where/plain.c", {"count": count, "last": count - 1})
