"""Shapes of a convolution, from types and attributes alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.operands import Extents, extents, sizes, static
from sonnx.operators.shared.convolution import Axis
from sonnx.vocabulary.call import Call

SPATIAL = 2
RANK = 2 + SPATIAL


def positive(values: tuple[int, ...] | None) -> bool:
    """Tell whether there is one integer from 1 up for each spatial axis."""
    return values is not None and len(values) == SPATIAL and all(value >= 1 for value in values)


def axes(call: Call) -> tuple[Axis, ...] | None:
    """How W slides along lines and columns; None where a rule on W or an attribute is broken."""
    if "axes" not in call.memo:
        call.memo["axes"] = _axes(call)
    found: tuple[Axis, ...] | None = call.memo["axes"]
    return found


def _axes(call: Call) -> tuple[Axis, ...] | None:
    weights = sizes(call, "W", RANK)
    strides, dilations = (
        integers(call.attributes.get("strides")),
        integers(call.attributes.get("dilations")),
    )
    pads = integers(call.attributes.get("pads"))
    if weights is None or strides is None or dilations is None or pads is None:
        return None
    proper = positive(weights[2:]) and positive(strides) and positive(dilations)
    if not proper or len(pads) != 2 * SPATIAL or min(pads) < 0:
        return None
    return axes_of(weights[2:], strides, dilations, pads)


def axes_of(
    kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int]
) -> tuple[Axis, ...]:
    """How a kernel slides along lines and columns."""
    begins, ends = pads[:SPATIAL], pads[SPATIAL:]
    return tuple(Axis(*map(int, each)) for each in zip(kernel, strides, dilations, begins, ends, strict=True))


def sliding(W: Any, attributes: Mapping[str, Any]) -> list[Axis]:
    """How a kernel W, of which the shape is known, slides along each spatial axis."""
    return list(axes_of(W.shape[2:], *(attributes[name] for name in ("strides", "dilations", "pads"))))


def other_rank(call: Call) -> int | None:
    """The rank of X, or where that is open the rank of W, if it is not that of images; else None.

    Then one rule on the rank says all there is to say: nothing is known of how long attributes must be.
    """
    for name in ("X", "W"):
        shape = extents(call, name)
        if shape is not None:
            return None if len(shape) == RANK else len(shape)
    return None


def channels(call: Call) -> int | None:
    """The channels of X."""
    X = extents(call, "X", RANK)
    return None if X is None else X[1]


def image_sizes(call: Call) -> tuple[int, ...] | None:
    """The spatial sizes of X; the batch and the channels may be open."""
    X = extents(call, "X", RANK)
    return None if X is None else static(X[2:])


def padded_sizes(call: Call) -> tuple[int, ...] | None:
    """The spatial sizes of X with its padding."""
    image, sliding = image_sizes(call), axes(call)
    if image is None or sliding is None:
        return None
    return tuple(size + axis.begin + axis.end for size, axis in zip(image, sliding, strict=True))


def output_shape(call: Call) -> Extents | None:
    """The shape of Y (D-CONV-1), the batch as in X; None where a rule is broken that it depends on."""
    X, W, sliding = extents(call, "X", RANK), sizes(call, "W", RANK), axes(call)
    image = image_sizes(call)
    if X is None or image is None or W is None or sliding is None:
        return None
    positions = tuple(axis.output_size(size) for size, axis in zip(image, sliding, strict=True))
    return (X[0], W[0], *positions) if min(positions) >= 1 else None


def group(call: Call) -> int | None:
    """The attribute `group` where it is 1 or the number of channels of X; else None."""
    value, number = call.attributes.get("group", 0), channels(call)
    if number is None or not is_integer(value) or value < 1 or value not in (1, number):
        return None
    return int(value)
