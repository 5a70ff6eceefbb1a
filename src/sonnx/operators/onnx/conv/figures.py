"""Figures of the Conv page: attributes, the two kinds of convolution, the order of the sum."""

from fractions import Fraction

from sonnx.drawing.layout import Block, above, beside, cells, code, key, note, sheet, table, to, words
from sonnx.drawing.svg import BLUE, BLUE_INK, GREEN, ORANGE, PURPLE_INK, RED_INK, ZERO, Cell, Look, stack
from sonnx.model.dtype import DType
from sonnx.numeric.rounding import nearest
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_figures import plane, steps, taps

_DIGITS = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


def _spans(dilations: tuple[int, int]) -> Block:
    lines, columns = (Axis(3, dilation=each) for each in dilations)
    reach = [
        f"{d}\u00b7(3 \u2212 1) + 1 = {axis.extent}"
        for d, axis in zip(dilations, (lines, columns), strict=True)
    ]
    return above(
        code(f"dilations = {list(dilations)}"),
        note(f"lines {reach[0]}"),
        note(f"columns {reach[1]}"),
        taps(lines, columns),
        gap=6,
    )


def _planes(count: int, size: int, window: int, look: Look) -> Block:
    """Channels behind one another, with a window in each."""
    rows = [
        [Cell("", look if i < window and j < window else Look("#ffffff")) for j in range(size)]
        for i in range(size)
    ]
    side, shift = 20.0, 14.0
    back = shift * (count - 1)
    wide = side * size + back
    return Block(wide, wide, lambda x, y: stack(x, y + back, [rows] * count, side, shift))


def _channel(image: Block, kernel: Block, channel: int, index: str, look: Look) -> Block:
    return beside(
        image,
        above(kernel, code(f"W[{channel}, {index}]"), gap=4, align=0.5),
        to(),
        code(f"\u03a3 + B[{channel}]"),
        to(),
        above(_planes(1, 3, 1, look), code(f"Y[0, {channel}]"), gap=4, align=0.5),
    )


def _rounded(value: Fraction) -> Fraction:
    return Fraction(float(nearest(value, DType.FLOAT)))


def _power_sum(value: Fraction) -> str:
    """Write a sum of powers of two, such as 2^-11 + 2^-24, from the greatest down."""
    terms = []
    for exponent in range(4, -60, -1):
        if value >= Fraction(2) ** exponent:
            value -= Fraction(2) ** exponent
            terms.append("1" if exponent == 0 else "2" + str(exponent).translate(_DIGITS))
    return " + ".join(terms)


def _modes() -> Block:
    start, factor = Fraction(-1), 1 + Fraction(1, 2**12)
    results = (_rounded(start + _rounded(factor * factor)), _rounded(start + factor * factor))
    return above(
        note(f"float, acc = \u22121, x = w = {_power_sum(factor)}"),
        table(
            {
                "mode": ["separate", "fused"],
                "each step": ["acc = round(acc + round(x\u00b7w))", "acc = round(acc + x\u00b7w)"],
                "roundings": ["two", "one"],
                "result": [f"acc becomes {_power_sum(result)}" for result in results],
            }
        ),
    )


def _order() -> Block:
    numbered = [
        cells([[Cell(str(6 * channel + 3 * i + j + 1), look) for j in range(3)] for i in range(2)], 40)
        for channel, look in enumerate((GREEN, ORANGE))
    ]
    terms = [above(words(f"input channel {at}"), block, gap=6) for at, block in enumerate(numbered)]
    return above(
        words("one term at a time: input channel, then kernel line, then kernel column", bold=True),
        beside(code("acc = B[c]"), to(), terms[0], to(), terms[1], to(), code("Y = round(acc)")),
        note("The numbers give the place of each product; zeros from the padding take part."),
        note("acc is double for double, else float; only for float16 does the end change its value."),
        _modes(),
        gap=16,
    )


FIGURES = (
    sheet(
        "conv-padding",
        "Conv: zeros around the input",
        "The four pads say how many lines and columns of zeros are put before and after the input: first "
        "the two beginnings, then the two ends.",
        "An input of 3 lines and 4 columns inside a larger grid whose other elements are 0. pads[0] is 1 "
        "line above, pads[1] is 2 columns on the left, pads[2] is 2 lines below, pads[3] is 3 columns on "
        "the right. The padded input has 6 lines and 9 columns.",
        beside(
            plane(Axis(begin=1, end=2), Axis(begin=2, end=3), (3, 4)),
            above(
                code("pads = [1, 2, 2, 3]"),
                words("pads[0] = 1: lines above", ink=RED_INK),
                words("pads[1] = 2: columns left", ink=PURPLE_INK),
                words("pads[2] = 2: lines below", ink=RED_INK),
                words("pads[3] = 3: columns right", ink=PURPLE_INK),
                note("lines 1 + 3 + 2 = 6, columns 2 + 4 + 3 = 9"),
                key((BLUE, "X"), (ZERO, "zeros put around X")),
            ),
            gap=30,
        ),
    ),
    sheet(
        "conv-strides",
        "Conv: steps of the kernel for strides [2, 3]",
        "The kernel moves down by strides[0] lines and right by strides[1] columns; each place gives one "
        "element of the output.",
        "A grid of 5 lines and 8 columns. Windows of 2 by 2 elements start in lines 0 and 2 and in columns "
        "0, 3 and 6. They give the 2 lines and 3 columns of Y. Line 4 is not read.",
        above(
            words("strides[0] = 2: down, along the lines", ink=RED_INK),
            words("strides[1] = 3: right, along the columns", ink=BLUE_INK),
            steps(Axis(2, 2), Axis(2, 3), (5, 8)),
            note("Y: \u230a(5 \u2212 2)/2\u230b + 1 = 2 lines, \u230a(8 \u2212 2)/3\u230b + 1 = 3 columns."),
            note(
                "Kernel of 2 lines and 2 columns, no padding. Line 4 is not read: a third step would leave X."
            ),
            gap=8,
        ),
    ),
    sheet(
        "conv-dilations",
        "Conv: elements met by a dilated kernel of 3 by 3",
        "Dilation spaces the elements that a kernel meets: a kernel of size k reaches over dilation times "
        "(k minus 1), plus 1, elements.",
        "Three grids. With dilations 1, 1 the nine elements lie side by side in 3 lines and 3 columns. With "
        "2, 2 every second line and column is met, over 5 lines and 5 columns. With 2, 1 every second line "
        "and every column is met, over 5 lines and 3 columns.",
        above(
            beside(*(_spans(each) for each in ((1, 1), (2, 2), (2, 1))), gap=30, align=0),
            key((ORANGE, "i,j: element of X that meets the weight in line i, column j of the kernel")),
            gap=16,
        ),
    ),
    sheet(
        "conv-channels",
        "Conv: channels that are summed, and channels by themselves",
        "In a standard convolution every output channel sums over all input channels; in a depthwise one "
        "each channel has its own kernel, and channels never mix.",
        "Above, group 1: an input X of 3 channels with a window marked in every channel. Two kernels of 3 "
        "planes, W[0] and W[1], are applied to that window; each sum with its bias, B[0] or B[1], gives one "
        "element in its own channel of Y. Below, group 2: channel c of X and the single plane of kernel "
        "W[c] give, with bias B[c], channel c of Y.",
        above(
            code("group = 1"),
            *(
                _channel(
                    above(_planes(3, 4, 2, GREEN), code("X[0, :]")), _planes(3, 2, 2, look), at, ":", look
                )
                for at, look in enumerate((BLUE, ORANGE))
            ),
            note(
                "Each element of Y is its bias plus 3 channels \u00d7 2 lines \u00d7 2 columns = 12 products."
            ),
            code("group = 2"),
            *(
                _channel(
                    above(_planes(1, 4, 2, look), code(f"X[0, {at}]")), _planes(1, 2, 2, look), at, "0", look
                )
                for at, look in enumerate((BLUE, ORANGE))
            ),
            note("group = channels of X = channels of Y = 2: no channel sees another one."),
            gap=18,
        ),
    ),
    sheet(
        "conv-order",
        "Conv: order of the sum and the two accumulation modes",
        "On IEEE types the sum starts at the bias and adds one product at a time; the mode says whether a "
        "step rounds twice or once.",
        "The accumulator acc starts at B[c]. Then follow the products of input channel 0, line by line and "
        "column by column, then those of input channel 1, and a last rounding to the type of Y. Mode "
        "separate rounds the product and then the sum; mode fused rounds once. For acc = -1 and x = w = 1 + "
        "2^-12 in float, separate gives 2^-11 and fused 2^-11 + 2^-24.",
        _order(),
    ),
)
