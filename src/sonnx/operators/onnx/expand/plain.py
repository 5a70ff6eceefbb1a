"""Expand as plain C: one flat loop over the output, whose index is taken apart (D-BCAST-1)."""

from itertools import groupby
from math import prod

from sonnx.model.plain import PlainKernel, PlainRequest, place, position


def plain(request: PlainRequest) -> PlainKernel:
    """Neighbouring axes that are repeated, or kept, are one axis here."""
    given, wanted = (kind.sizes or () for kind in (request.inputs["input"], request.outputs["output"]))
    aligned = (1,) * (len(wanted) - len(given)) + given
    pairs = list(zip(aligned, wanted, strict=True))
    axes = [(old == new, new) for old, new in pairs if new != 1]
    runs = [(kept, prod(size for _, size in run)) for kept, run in groupby(axes, key=lambda axis: axis[0])]
    sizes = [size for _, size in runs]
    kept = [axis for axis, (kept, _) in enumerate(runs) if kept]
    source = position([place("t", sizes, axis) for axis in kept], [sizes[axis] for axis in kept])
    # The contract says the same of all axes, one by one.
    every = [place("t", wanted, axis) if old == new else "" for axis, (old, new) in enumerate(pairs)]
    values: dict[str, str | int] = {
        "count": prod(wanted),
        "last": prod(wanted) - 1,
        "source": source,
        "place": position(every, aligned),
        "read": prod(given),
    }
    return PlainKernel("onnx/expand/plain.c", values)
