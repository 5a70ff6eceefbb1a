"""Figures of the ConvWithGeneralPadding page: holes, padding of both signs, and which comes first."""

from sonnx.drawing.layout import Block, above, beside, code, key, note, plain, sheet, to, words
from sonnx.drawing.svg import BLUE, FADED, GREEN, GREEN_INK, ORANGE, RED_INK, ZERO
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_figures import area, base_area, padding, plane, sliding, taps

_REMOVALS = ((5, (-1, 2)), (5, (0, -2)), (4, (2, -1)), (3, (-5, 5)))
_KEY = ((BLUE, "element of lhs"), (ZERO, "inserted zero"))


def _spread(step: int) -> Axis:
    return Axis(2, 1, step, 0, 0, step)


def _order(first: Axis, second: Axis, said: str, verdict: str, ink: str) -> Block:
    middle = base_area((1, 2), first)
    return beside(
        words(said),
        area((1, 2)),
        to(ink),
        area(middle),
        to(ink),
        area(base_area(middle, second)),
        words(verdict, ink=ink),
    )


_DILATE, _PAD = Axis(1, 1, 1, 0, 0, 3), Axis(1, 1, 1, -1, 1)

FIGURES = (
    sheet(
        "xla-conv-with-general-padding-dilations",
        "ConvWithGeneralPadding: the two dilations",
        "A dilated base area has zeros between its elements, which take part in sums; a dilated window has "
        "holes, and no product is formed there.",
        "On the left a base area of 3 lines and 2 columns becomes one of 5 lines and 4 columns: a line of "
        "zeros between its lines, two columns of zeros between its columns. On the right a window of 2 by 2 "
        "elements is spread over 3 lines and 4 columns with its elements in the corners.",
        beside(
            above(
                code("lhs_dilation = [2, 3]"),
                note("the base area: zeros between"),
                plane(_spread(2), _spread(3), (3, 2)),
                note("lines 2\u00b7(3 \u2212 1) + 1 = 5, columns 3\u00b7(2 \u2212 1) + 1 = 4"),
            ),
            above(
                code("rhs_dilation = [2, 3]"),
                note("the window: holes that meet nothing"),
                taps(_spread(2), _spread(3)),
                note("lines 2\u00b7(2 \u2212 1) + 1 = 3, columns 3\u00b7(2 \u2212 1) + 1 = 4"),
            ),
            gap=24,
            align=0,
        ),
    ),
    sheet(
        "xla-conv-with-general-padding-deconvolution",
        "ConvWithGeneralPadding: a base dilation of 2",
        "A base dilation spreads the input, so that the output is larger than the input: a deconvolution.",
        "The base area 1, 2, 3 becomes 0, 0, 1, 0, 2, 0, 3, 0, 0. The window 1, 10, 100 stands at seven "
        "positions and gives 100, 10, 201, 20, 302, 30 and 3.",
        above(
            code("lhs_dilation = [2], padding = [(2, 2)]"),
            sliding((1, 2, 3), (1, 10, 100), Axis(3, 1, 1, 2, 2, base_dilation=2)),
            key((ORANGE, "window"), *_KEY, (GREEN, "output")),
        ),
    ),
    sheet(
        "xla-conv-with-general-padding-negative",
        "ConvWithGeneralPadding: padding of both signs",
        "A negative number takes places away at its end, a positive one adds zeros at its end.",
        "Four examples. Padding (-1, 2) makes 1 2 3 4 5 into 2 3 4 5 0 0. Padding (0, -2) leaves 1 2 3. "
        "Padding (2, -1) makes 1 2 3 4 into 0 0 1 2 3. Padding (-5, 5) makes 1 2 3 into three zeros.",
        above(
            *(
                beside(code(plain(ends)), padding(range(1, size + 1), Axis(1, 1, 1, *ends)))
                for size, ends in _REMOVALS
            ),
            key(*_KEY, (FADED, "removed")),
        ),
    ),
    sheet(
        "xla-conv-with-general-padding-order",
        "ConvWithGeneralPadding: dilated first, then padded",
        "Dilation comes before padding, so padding counts places of the dilated base area.",
        "The base area 1, 2 with dilation 3 and padding (-1, 1). Dilated first it is 1, 0, 0, 2, then "
        "padded 0, 0, 2, 0, which is right. Padded first it would be 2, 0, then dilated 2, 0, 0, 0, which "
        "is wrong.",
        above(
            code("lhs_dilation = [3], padding = [(\u22121, 1)]"),
            _order(_DILATE, _PAD, "dilated, then padded", "right", GREEN_INK),
            _order(_PAD, _DILATE, "padded, then dilated", "wrong", RED_INK),
            gap=18,
        ),
    ),
)
