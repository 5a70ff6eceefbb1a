"""Shapes of Conv, from types and attributes alone; and what `auto_pad` stands for (D-CONV-8)."""

from collections.abc import Sequence

from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.operands import extents
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_operator import LEADING, Convolution, Ends, Read, Sizes, Told, slide
from sonnx.operators.shared.convolution_trials import Rulings
from sonnx.vocabulary.call import Call

SPATIAL = 2
RANK = LEADING + SPATIAL
AUTO_PADS = SAME_UPPER, SAME_LOWER, VALID = "SAME_UPPER", "SAME_LOWER", "VALID"
_RULINGS = Rulings(zeros="D-CONV-5", padding="D-CONV-5", places="D-CONV-1", order="D-CONV-6", bias="D-CONV-4")


def along(_image: Sizes, kernel: Sizes, told: Told, read: Read = integers) -> tuple[Axis, ...] | None:
    """How the kernel slides along lines and columns; None where a rule on the attributes is broken."""
    strides, dilations, pads = (read(told.get(name)) for name in ("strides", "dilations", "pads"))
    if pads is None or len(pads) != 2 * SPATIAL or min(pads) < 0:
        return None
    return slide(kernel, strides, dilations, tuple(zip(pads[:SPATIAL], pads[SPATIAL:], strict=True)))


def _met(told: Told, ends: Ends) -> Told:
    return {**told, "strides": (1,) * SPATIAL, "pads": pads_of(ends)}


def pads_of(ends: Ends) -> tuple[int, ...]:
    """The beginnings of all axes, then the ends."""
    return (*(begin for begin, _ in ends), *(end for _, end in ends))


CONVOLUTION = Convolution("X", "W", "Y", along, _met, _RULINGS, bias="B", rank=RANK)


def resolve(auto_pad: str, image: Sizes, axes: Sequence[Axis]) -> tuple[int, ...]:
    """Find the pads that SAME_UPPER, SAME_LOWER or VALID means where a kernel slides so along an image."""
    if auto_pad not in AUTO_PADS:
        raise ValueError(f"auto_pad = {auto_pad!r} stands for no pads; there are {', '.join(AUTO_PADS)}")
    same = [axis.same(size) for axis, size in zip(axes, image, strict=True)]
    # The odd element goes to the end for SAME_UPPER and to the beginning for SAME_LOWER.
    ends = {
        SAME_UPPER: [(axis.begin, axis.end) for axis in same],
        SAME_LOWER: [(axis.end, axis.begin) for axis in same],
        VALID: [(0, 0)] * len(same),
    }
    return pads_of(ends[auto_pad])


def channels(call: Call) -> int | None:
    """The channels of X."""
    X = extents(call, "X", RANK)
    return None if X is None else X[1]


def group(call: Call) -> int | None:
    """The attribute `group` where it is 1 or the number of channels of X; else None."""
    value, number = call.attributes.get("group", 0), channels(call)
    if number is None or not is_integer(value) or value < 1 or value not in (1, number):
        return None
    return int(value)
