"""Shapes of the XLA convolutions, from types and attributes alone."""

from collections.abc import Mapping, Sequence
from typing import Any

from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import Extents, extents, sizes, static
from sonnx.operators.shared.convolution import Axis, output_sizes
from sonnx.vocabulary.call import Call

SAME, VALID = "SAME", "VALID"
# Before the spatial dimensions come batch and features.
LEADING = 2
_ENDS = 2


def spatial(call: Call) -> int | None:
    """The number of spatial dimensions; None where `lhs` has no such rank."""
    lhs = extents(call, "lhs")
    return None if lhs is None or len(lhs) < LEADING else len(lhs) - LEADING


def positive(call: Call, name: str) -> tuple[int, ...] | None:
    """An attribute with an integer from 1 up for each spatial dimension; else None."""
    values, number = integers(call.attributes.get(name)), spatial(call)
    if values is None or len(values) != number or any(value < 1 for value in values):
        return None
    return values


def pairs(value: object) -> tuple[tuple[int, int], ...] | None:
    """A list of pairs (low, high) of integers; None for anything else."""
    if not isinstance(value, (list, tuple)):
        return None
    found = [pair for item in value if (pair := integers(item)) is not None and len(pair) == _ENDS]
    return tuple((pair[0], pair[1]) for pair in found) if len(found) == len(value) else None


def window(call: Call) -> tuple[int, ...] | None:
    """The spatial sizes of `rhs`, where there is one from 1 up for each spatial dimension."""
    rhs, number = sizes(call, "rhs"), spatial(call)
    if (
        rhs is None
        or number is None
        or len(rhs) != number + LEADING
        or any(size < 1 for size in rhs[LEADING:])
    ):
        return None
    return rhs[LEADING:]


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """What SAME means along one dimension; the odd zero goes to the high end (D-XLA-4)."""
    total = Axis(kernel, stride, 1, 0, 0).same_total(size)
    return total // 2, total - total // 2


def resolved(
    padding: str, base: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    """The pairs that SAME or VALID stands for."""
    if padding == VALID:
        return ((0, 0),) * len(base)
    return tuple(map(same_padding, base, kernel, strides))


def along(
    kernel: Sequence[int],
    strides: Sequence[int],
    ends: Sequence[tuple[int, int]],
    spread: Sequence[int],
    taps: Sequence[int],
) -> tuple[Axis, ...]:
    """One axis for each spatial dimension: window, stride, padding, distances of elements and of taps."""
    return tuple(
        Axis(size, int(stride), int(tap), int(low), int(high), int(step))
        for size, stride, (low, high), step, tap in zip(kernel, strides, ends, spread, taps, strict=True)
    )


def sliding(W: Any, attributes: Mapping[str, Any]) -> tuple[Axis, ...]:
    """How a window W, of which the shape is known, slides along each spatial dimension."""
    names = ("window_strides", "padding", "lhs_dilation", "rhs_dilation")
    return along(W.shape[LEADING:], *(attributes[name] for name in names))


def general_attributes(inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes of ConvWithGeneralPadding that say what those of Conv say (D-XLA-4)."""
    base, window = (inputs[name].shape[LEADING:] for name in ("lhs", "rhs"))
    strides = tuple(map(int, attributes["window_strides"]))
    ones = (1,) * len(base)
    return {
        **attributes,
        "padding": resolved(attributes["padding"], base, window, strides),
        "lhs_dilation": ones,
        "rhs_dilation": ones,
    }


def axes(call: Call) -> tuple[Axis, ...] | None:
    """How `rhs` slides along each spatial dimension; None where a rule is broken that it depends on."""
    if "axes" not in call.memo:
        call.memo["axes"] = _axes(call)
    found: tuple[Axis, ...] | None = call.memo["axes"]
    return found


def _axes(call: Call) -> tuple[Axis, ...] | None:
    kernel, strides, padding = window(call), positive(call, "window_strides"), call.attributes.get("padding")
    base = base_sizes(call)
    if kernel is None or strides is None or base is None:
        return None
    ones: tuple[int, ...] | None = (1,) * len(kernel)
    if "lhs_dilation" in call.attributes:
        spread, taps = positive(call, "lhs_dilation"), positive(call, "rhs_dilation")
        ends = pairs(padding)
    else:
        spread = taps = ones
        known = isinstance(padding, str) and padding in (SAME, VALID)
        ends = resolved(str(padding), base, kernel, strides) if known else None
    if spread is None or taps is None or ends is None or len(ends) != len(kernel):
        return None
    return along(kernel, strides, ends, spread, taps)


def base_sizes(call: Call) -> tuple[int, ...] | None:
    """The spatial sizes of `lhs`; the batch and the features may be open."""
    lhs = extents(call, "lhs")
    return None if lhs is None or len(lhs) < LEADING else static(lhs[LEADING:])


def output_shape(call: Call) -> Extents | None:
    """Batch, output features and one position for each placement of the window; it may be empty."""
    lhs, rhs, sliding, base = extents(call, "lhs"), extents(call, "rhs"), axes(call), base_sizes(call)
    if lhs is None or rhs is None or sliding is None or base is None:
        return None
    return (lhs[0], rhs[0], *output_sizes(base, sliding))


def padded_shape(call: Call) -> Extents | None:
    """The shape of the base area, dilated and padded."""
    lhs, sliding, base = extents(call, "lhs"), axes(call), base_sizes(call)
    if lhs is None or sliding is None or base is None:
        return None
    return (*lhs[:LEADING], *(axis.padded_size(size) for size, axis in zip(base, sliding, strict=True)))


def made_shapes(call: Call) -> list[tuple[int, ...]]:
    """The shapes of the padded base area and of the result, as far as they are known."""
    shapes = (static(shape) for shape in (output_shape(call), padded_shape(call)) if shape is not None)
    return [shape for shape in shapes if shape is not None]
