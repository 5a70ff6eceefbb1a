"""Expand as plain C: one flat loop over the output, whose index is taken apart (D-BCAST-1)."""

from itertools import groupby
from math import prod

from sonnx.model.plain import PlainKernel, PlainRequest, place, position


def plain(request: PlainRequest) -> PlainKernel:
    """Neighbouring axes that are repeated, or kept, are one axis here."""
    given, wanted = (kind.sizes or () for kind in (request.inputs["input"], request.outputs["output"]))
    aligned = (1,) * (len(wanted) - len(given)) + given
    axes = [(old == new, new) for old, new in zip(aligned, wanted, strict=True) if new != 1]
    runs = [(kept, prod(size for _, size in run)) for kept, run in groupby(axes, key=lambda axis: axis[0])]
    sizes = [size for _, size in runs]
    kept = [axis for axis, (kept, _) in enumerate(runs) if kept]
    source = position([place("t", sizes, axis) for axis in kept], [sizes[axis] for axis in kept])
    return PlainKernel("onnx/expand/plain.c", {"count": prod(wanted), "source": source})
