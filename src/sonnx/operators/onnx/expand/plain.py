"""Expand as plain C: one flat loop over the output, whose index is taken apart (D-BCAST-1)."""

from itertools import groupby
from math import prod

from sonnx.model.plain import PlainKernel, PlainRequest


def plain(request: PlainRequest) -> PlainKernel:
    """Neighbouring axes that are repeated, or kept, are one axis here."""
    given, wanted = (kind.sizes or () for kind in (request.inputs["input"], request.outputs["output"]))
    aligned = (1,) * (len(wanted) - len(given)) + given
    axes = [(old == new, new) for old, new in zip(aligned, wanted, strict=True) if new != 1]
    runs = [(kept, prod(size for _, size in run)) for kept, run in groupby(axes, key=lambda axis: axis[0])]
    terms = []
    for number, (kept, size) in enumerate(runs):
        if kept:
            outer = _divided(prod(other for _, other in runs[number + 1 :]))
            # The first axis needs no remainder: the quotient is smaller than its size already.
            place = outer if number == 0 else f"{outer} % {size}"
            terms.append(_times(place, prod(other for kept, other in runs[number + 1 :] if kept)))
    return PlainKernel("onnx/expand/kernel.c", {"count": prod(wanted), "source": " + ".join(terms) or "0"})


def _divided(by: int) -> str:
    return "t" if by == 1 else f"t / {by}"


def _times(place: str, by: int) -> str:
    return place if by == 1 else f"{place} * {by}"
