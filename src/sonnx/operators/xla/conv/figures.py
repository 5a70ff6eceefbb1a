"""Figures of the XLA Conv page: where SAME puts its zeros, without and with strides."""

from collections.abc import Iterator

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    GREEN,
    GREEN_INK,
    MINUS,
    ORANGE,
    ORANGE_INK,
    SOFT,
    ZERO,
    Cell,
    arrow,
    grid,
    rect,
    span,
    text,
)
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.xla.conv_with_general_padding.figures import area, padded, results
from sonnx.operators.xla.conv_with_general_padding.geometry import same_padding

_SIDE = 34
_WEIGHTS = (1, 10, 100, 1000)


def _axis(size: int, kernel: int, stride: int) -> Axis:
    return Axis(kernel, stride, 1, *same_padding(size, kernel, stride))


# --- where the zeros go ----------------------------------------------------------------------

_ELEMENTS = (1, 2, 3)
_KERNELS = (2, 3, 4)
_MOST_LOW = 1


def _same_row(top: float, kernel: int) -> Iterator[str]:
    axis, weights = _axis(len(_ELEMENTS), kernel, 1), _WEIGHTS[:kernel]
    middle = top + _SIDE / 2
    yield grid(44, top, [[Cell(str(weight), ORANGE) for weight in weights]], 44, _SIDE)
    left = 256 + (_MOST_LOW - axis.begin) * _SIDE
    yield grid(left, top, [area(padded(_ELEMENTS, axis))], _SIDE)
    yield text(256, top + _SIDE + 16, f"low {axis.begin}, high {axis.end}", size=12, ink=SOFT)
    yield arrow(484, middle, 528, middle)
    found = results(_ELEMENTS, weights, axis)
    yield grid(546, top, [[Cell(str(value), GREEN) for value in found]], 56, _SIDE)


def _same() -> Iterator[str]:
    heads = ((44, "window", ORANGE_INK), (256, "lhs, padded", SOFT), (546, "output", GREEN_INK))
    for x, label, ink in heads:
        yield text(x, 32, label, size=14, bold=True, ink=ink)
    for row, kernel in enumerate(_KERNELS):
        yield from _same_row(56 + 78 * row, kernel)
    keys = ((BLUE, "element of lhs", 44), (ZERO, "inserted zero", 186))
    for look, name, x in keys:
        yield rect(x, 294, 18, 18, look)
        yield text(x + 26, 303, name)


# --- strides ---------------------------------------------------------------------------------

_STRIDE, _KERNEL = 2, 3


def _stride_row(top: float, size: int) -> Iterator[str]:
    axis, values = _axis(size, _KERNEL, _STRIDE), range(1, size + 1)
    places, found = padded(values, axis), results(values, _WEIGHTS[:_KERNEL], axis)
    left = 44 + (_MOST_LOW - axis.begin) * _SIDE
    yield grid(left, top, [area(places)], _SIDE)
    for position, value in enumerate(found):
        x, y = left + position * _STRIDE * _SIDE, top + _SIDE + 12 + 12 * (position % 2)
        yield span(x + 3, y, x + _KERNEL * _SIDE - 3, y, ORANGE_INK, 4)
        yield grid(338 + 60 * position, top, [[Cell(str(value), GREEN)]], 60, _SIDE)
    yield arrow(292, top + _SIDE / 2, 326, top + _SIDE / 2)
    positions = f"positions \u2308{size} / {_STRIDE}\u2309 = {len(found)}"
    needed = (
        f"zeros {_STRIDE}\u00b7({len(found)} {MINUS} 1) + {_KERNEL} {MINUS} {size} = {axis.begin + axis.end}"
    )
    yield text(536, top + 6, positions, size=12, mono=True)
    yield text(536, top + 28, needed, size=12, mono=True)


def _strides() -> Iterator[str]:
    window = ", ".join(map(str, _WEIGHTS[:_KERNEL]))
    yield text(44, 32, f"window ({window}), stride {_STRIDE}", size=14, mono=True, bold=True)
    for row, size in enumerate((5, 4)):
        yield from _stride_row(66 + 92 * row, size)
    yield text(44, 256, "The bars show where the window stands.", ink=ORANGE_INK)


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-conv-same",
        "Conv: the zeros of SAME for windows of 2, 3 and 4",
        "SAME adds as many zeros as give one position for each element; an odd one goes to the high end.",
        "The base area 1, 2, 3 three times. A window of 2 needs one zero, at the high end, and gives 21, "
        "32, 3. A window of 3 needs one at each end and gives 210, 321, 32. A window of 4 needs one at the "
        "low and two at the high end and gives 3210, 321, 32.",
        (760, 328),
        _same,
    ),
    compose(
        "xla-conv-same-strides",
        "Conv: the zeros of SAME with stride 2",
        "With a stride, SAME gives the size divided by it, rounded up, and only as many zeros as the last "
        "position needs.",
        "A window of 3 with stride 2. Five elements get a zero at each end and three positions, which give "
        "210, 432 and 54. Four elements get one zero, at the high end, and two positions, which give 321 "
        "and 43.",
        (760, 280),
        _strides,
    ),
)
