"""Figures of the ConvWithGeneralPadding page: holes, padding of both signs, and which comes first."""

from collections.abc import Iterator, Sequence

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    FADED,
    GREEN,
    GREEN_INK,
    MINUS,
    ORANGE,
    ORANGE_INK,
    RED,
    RED_INK,
    SOFT,
    ZERO,
    Cell,
    Look,
    arrow,
    check_mark,
    cross,
    grid,
    line,
    rect,
    span,
    text,
)
from sonnx.model.dtype import DType
from sonnx.operators.shared.convolution import Axis, pad
from sonnx.operators.xla.conv_with_general_padding.meaning import slide

_SIDE = 34


def padded(values: Sequence[int], axis: Axis) -> list[int]:
    """What the window slides along: the elements of one dimension, dilated, then padded."""
    X = np.array(values, np.int32).reshape(1, 1, -1)
    return [int(value) for value in pad(X, [axis], DType.INT32)[0, 0]]


def results(values: Sequence[int], weights: Sequence[int], axis: Axis) -> list[int]:
    """The convolution of one dimension."""
    X, W = (np.array(part, np.int32).reshape(1, 1, -1) for part in (values, weights))
    return [int(value) for value in slide(X, W, [axis], "separate")[0, 0]]


def area(values: Sequence[int]) -> list[Cell]:
    """The cells of a base area: every 0 was inserted, as the examples hold none."""
    return [Cell(str(value), BLUE if value else ZERO) for value in values]


def _signed(number: int) -> str:
    return str(number).replace("-", MINUS)


def _pair(low: int, high: int) -> str:
    return f"({_signed(low)}, {_signed(high)})"


# --- dilations -------------------------------------------------------------------------------

_SPREAD = (2, 3)


def _spread_base() -> list[list[Cell]]:
    X = np.arange(1, 7, dtype=np.int32).reshape(1, 1, 3, 2)
    axes = [Axis(1, 1, 1, 0, 0, step) for step in _SPREAD]
    return [area([int(value) for value in row]) for row in pad(X, axes, DType.INT32)[0, 0]]


def _spread_window() -> list[list[Cell]]:
    lines, columns = (Axis(2, 1, step, 0, 0).extent for step in _SPREAD)

    def cell(i: int, j: int) -> Cell:
        on = i % _SPREAD[0] == 0 and j % _SPREAD[1] == 0
        return Cell("abcd"[i // _SPREAD[0] * 2 + j // _SPREAD[1]], ORANGE) if on else Cell()

    return [[cell(i, j) for j in range(columns)] for i in range(lines)]


def _dilations() -> Iterator[str]:
    top, side = 96, _SIDE
    base = [[Cell(str(2 * i + j + 1), BLUE) for j in range(2)] for i in range(3)]
    window = [[Cell("ab"[j], ORANGE) for j in range(2)], [Cell("cd"[j], ORANGE) for j in range(2)]]
    panels = (
        (44, "lhs_dilation", "the base area: zeros between", base, _spread_base(), BLUE_INK),
        (400, "rhs_dilation", "the window: holes that meet nothing", window, _spread_window(), ORANGE_INK),
    )
    for left, name, note, small, large, ink in panels:
        yield text(left, 30, f"{name} = [{_SPREAD[0]}, {_SPREAD[1]}]", size=14, mono=True, bold=True)
        yield text(left, 54, note, ink=SOFT)
        tall = side * len(large) / 2
        yield grid(left, top + tall - side * len(small) / 2, small, side)
        yield arrow(left + 2 * side + 12, top + tall, left + 2 * side + 54, top + tall, ink)
        yield grid(left + 2 * side + 76, top, large, side)
        wide = len(large[0])
        right = left + 2 * side + 76
        below = top + side * len(large) + 16
        yield span(right + 2, below, right + wide * side - 2, below, ink)
        sizes = f"columns {_SPREAD[1]}\u00b7(2 {MINUS} 1) + 1 = {wide}"
        yield text(right, below + 22, sizes, size=12, mono=True)
        sizes = f"lines   {_SPREAD[0]}\u00b7({len(small)} {MINUS} 1) + 1 = {len(large)}"
        yield text(right, below + 44, sizes.replace(" ", "\u00a0"), size=12, mono=True)


# --- deconvolution ---------------------------------------------------------------------------

_INPUT, _WEIGHTS = (1, 2, 3), (1, 10, 100)
_DECONVOLUTION = Axis(3, 1, 1, 2, 2, base_dilation=2)


def _deconvolution() -> Iterator[str]:
    left, top, side = 44, 92, 32
    places = padded(_INPUT, _DECONVOLUTION)
    found = results(_INPUT, _WEIGHTS, _DECONVOLUTION)
    yield text(left, 30, "lhs_dilation = [2], padding = [(2, 2)]", size=14, mono=True, bold=True)
    yield text(left, 60, "base area, dilated and padded", ink=BLUE_INK)
    yield grid(left, top - 12, [area(places)], side)
    sums_at = left + len(places) * side + 36
    yield text(left, top + 42, "the window at its positions", ink=ORANGE_INK)
    yield text(sums_at, top + 42, "products that are not 0", ink=SOFT)
    yield text(700, top + 42, "output", ink=GREEN_INK, anchor="end")
    for position, value in enumerate(found):
        y = top + 58 + position * side
        row = [Cell(str(weight), ORANGE) for weight in _WEIGHTS]
        yield grid(left + position * side, y, [row], side)
        terms = zip(places[position:], _WEIGHTS, strict=False)
        written = " + ".join(f"{x}\u00b7{weight}" for x, weight in terms if x)
        yield text(sums_at, y + side / 2, written, size=14, mono=True)
        yield grid(642, y, [[Cell(str(value), GREEN)]], 58, side)


# --- negative padding ------------------------------------------------------------------------

_REMOVALS = ((5, (-1, 2)), (5, (0, -2)), (4, (2, -1)), (3, (-5, 5)))


def _removal(left: float, top: float, size: int, low: int, high: int) -> Iterator[str]:
    values = range(1, size + 1)
    kept = padded(values, Axis(1, 1, 1, low, high))
    shift = low if low > 0 else 0
    yield text(left, top, f"padding = [{_pair(low, high)}]", size=14, mono=True, bold=True)
    above = [Cell(str(value), BLUE if value in kept else FADED) for value in values]
    yield grid(left + shift * _SIDE, top + 20, [above], _SIDE)
    for place, value in enumerate(values):
        if value not in kept:
            x, y = left + (shift + place) * _SIDE, top + 20
            yield line(x + 5, y + _SIDE - 5, x + _SIDE - 5, y + 5, Look(stroke=RED.stroke, width=2))
    yield grid(left + (shift - low) * _SIDE, top + 66, [area(kept)], _SIDE)


def _negative() -> Iterator[str]:
    for panel, (size, (low, high)) in enumerate(_REMOVALS):
        yield from _removal(44 + 372 * (panel % 2), 32 + 138 * (panel // 2), size, low, high)
    keys = ((BLUE, "element", 44), (FADED, "removed", 148), (ZERO, "inserted zero", 256))
    for look, name, x in keys:
        yield rect(x, 304, 18, 18, look)
        yield text(x + 26, 313, name)
    yield text(416, 313, "above: lhs; below: lhs, padded", ink=SOFT)


# --- first dilated, then padded --------------------------------------------------------------


def _order() -> Iterator[str]:
    values, step, low, high = (1, 2), 3, -1, 1
    dilating, padding = Axis(1, 1, 1, 0, 0, step), Axis(1, 1, 1, low, high)
    branches = (
        (140, "dilate", "then pad", dilating, padding, GREEN_INK),
        (520, "pad", "then dilate", padding, dilating, RED_INK),
    )
    head = f"lhs_dilation = [{step}], padding = [{_pair(low, high)}]"
    yield text(380, 30, head, size=14, mono=True, bold=True, anchor="middle")
    yield grid(380 - _SIDE, 52, [area(values)], _SIDE)
    for left, one, other, first, second, ink in branches:
        middle = padded(values, first)
        last = padded(middle, second)
        centre = left + 2 * _SIDE
        yield arrow(380 + (-22 if left < 380 else 22), 92, centre, 134, ink)
        yield text(left - 14, 155, one, size=14, ink=ink, anchor="end")
        yield grid(centre - len(middle) * _SIDE / 2, 138, [area(middle)], _SIDE)
        yield arrow(centre, 178, centre, 212, ink)
        yield text(left - 14, 233, other, size=14, ink=ink, anchor="end")
        yield grid(centre - len(last) * _SIDE / 2, 216, [area(last)], _SIDE)
    yield check_mark(140 + 4 * _SIDE + 30, 233, 11, GREEN_INK)
    yield cross(520 + 4 * _SIDE + 30, 233, 10, RED.stroke)


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-conv-with-general-padding-dilations",
        "ConvWithGeneralPadding: the two dilations",
        "A dilated base area has zeros between its elements, which take part in sums; a dilated window has "
        "holes, and no product is formed there.",
        "On the left a base area of 3 lines and 2 columns becomes one of 5 lines and 4 columns: a line of "
        "zeros between its lines, two columns of zeros between its columns. On the right a window of 2 by 2"
        " elements a, b, c, d is spread over 3 lines and 4 columns with a, b, c, d in the corners.",
        (760, 352),
        _dilations,
    ),
    compose(
        "xla-conv-with-general-padding-deconvolution",
        "ConvWithGeneralPadding: a base dilation of 2",
        "A base dilation spreads the input, so that the output is larger than the input: a deconvolution.",
        "The base area 1, 2, 3 becomes 0, 0, 1, 0, 2, 0, 3, 0, 0. The window 1, 10, 100 stands at seven "
        "positions and gives 100, 10, 201, 20, 302, 30 and 3.",
        (760, 398),
        _deconvolution,
    ),
    compose(
        "xla-conv-with-general-padding-negative",
        "ConvWithGeneralPadding: padding of both signs",
        "A negative number takes places away at its end, a positive one adds zeros at its end.",
        "Four examples. Padding (-1, 2) makes 1 2 3 4 5 into 2 3 4 5 0 0. Padding (0, -2) leaves 1 2 3. "
        "Padding (2, -1) makes 1 2 3 4 into 0 0 1 2 3. Padding (-5, 5) makes 1 2 3 into three zeros.",
        (760, 340),
        _negative,
    ),
    compose(
        "xla-conv-with-general-padding-order",
        "ConvWithGeneralPadding: dilated first, then padded",
        "Dilation comes before padding, so padding counts places of the dilated base area.",
        "The base area 1, 2 with dilation 3 and padding (-1, 1). Dilated first it is 1, 0, 0, 2, then "
        "padded 0, 0, 2, 0, which is right. Padded first it would be 2, 0, then dilated 2, 0, 0, 0, which "
        "is wrong.",
        (760, 276),
        _order,
    ),
)
