"""Figures of the XLA Conv page: where SAME puts its zeros, without and with strides."""

from sonnx.drawing.layout import Block, above, beside, key, note, sheet
from sonnx.drawing.svg import BLUE, GREEN, ORANGE, ZERO
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_figures import sliding

_WEIGHTS = (1, 10, 100, 1000)
_KEY = key((ORANGE, "window"), (BLUE, "element of lhs"), (ZERO, "inserted zero"), (GREEN, "output"))


def _same(size: int, kernel: int, stride: int) -> Block:
    return sliding(range(1, size + 1), _WEIGHTS[:kernel], Axis(kernel, stride).same(size))


def _counted(size: int, zeros: int) -> Block:
    positions = f"positions \u2308{size} / 2\u2309 = {-(-size // 2)}"
    return above(
        note(positions), note(f"zeros 2\u00b7({-(-size // 2)} \u2212 1) + 3 \u2212 {size} = {zeros}"), gap=4
    )


FIGURES = (
    sheet(
        "xla-conv-same",
        "Conv: the zeros of SAME for windows of 2, 3 and 4",
        "SAME adds as many zeros as give one position for each element; an odd one goes to the high end.",
        "The base area 1, 2, 3 three times. A window of 2 needs one zero, at the high end, and gives 21, "
        "32, 3. A window of 3 needs one at each end and gives 210, 321, 32. A window of 4 needs one at the "
        "low and two at the high end and gives 3210, 321, 32.",
        above(*(_same(3, kernel, 1) for kernel in (2, 3, 4)), _KEY, gap=24),
    ),
    sheet(
        "xla-conv-same-strides",
        "Conv: the zeros of SAME with stride 2",
        "With a stride, SAME gives the size divided by it, rounded up, and only as many zeros as the last "
        "position needs.",
        "A window of 3 with stride 2. Five elements get a zero at each end and three positions, which give "
        "210, 432 and 54. Four elements get one zero, at the high end, and two positions, which give 321 "
        "and 43.",
        above(
            *(
                beside(_same(size, 3, 2), _counted(size, Axis(3, 2).same_total(size)), gap=14)
                for size in (5, 4)
            ),
            _KEY,
            gap=24,
        ),
    ),
)
