"""Figures of the Conv page: attributes, the two kinds of convolution, the order of the sum."""

from collections.abc import Iterator
from fractions import Fraction

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
    PLAIN,
    PURPLE,
    PURPLE_INK,
    RED,
    RED_INK,
    SOFT,
    TIMES,
    YELLOW,
    ZERO,
    Cell,
    Look,
    arrow,
    circle,
    grid,
    line,
    rect,
    span,
    stack,
    text,
)
from sonnx.model.dtype import DType
from sonnx.numeric.rounding import nearest
from sonnx.operators.shared.convolution import Axis


def _plane(lines: int, columns: int, window: tuple[range, range], look: Look) -> list[list[Cell]]:
    """Give an empty plane with the window (lines, columns) painted."""
    return [
        [Cell("", look if i in window[0] and j in window[1] else PLAIN) for j in range(columns)]
        for i in range(lines)
    ]


# --- padding ---------------------------------------------------------------------------------

_PADS = (1, 2, 2, 3)
_PADDED_INPUT = (3, 4)


def _padded_cells() -> list[list[Cell]]:
    top, left, bottom, right = _PADS
    lines, columns = _PADDED_INPUT
    return [
        [
            Cell(str((i - top) * columns + j - left + 1), BLUE)
            if top <= i < top + lines and left <= j < left + columns
            else Cell("0", ZERO)
            for j in range(left + columns + right)
        ]
        for i in range(top + lines + bottom)
    ]


def _padding_measures(left: float, top: float, side: float) -> Iterator[str]:
    begin0, begin1, end0, end1 = _PADS
    cells = _padded_cells()
    above, beside = top - 14, left - 14
    vertical = (
        (0, begin0, "pads[0]", RED_INK),
        (len(cells) - end0, len(cells), "pads[2]", RED_INK),
    )
    for first, last, label, ink in vertical:
        yield span(beside, top + first * side + 2, beside, top + last * side - 2, ink)
        middle = top + (first + last) / 2 * side
        yield text(beside - 12, middle, label, mono=True, ink=ink, anchor="end")
    horizontal = (
        (0, begin1, "pads[1]", PURPLE_INK),
        (len(cells[0]) - end1, len(cells[0]), "pads[3]", PURPLE_INK),
    )
    for first, last, label, ink in horizontal:
        yield span(left + first * side + 2, above, left + last * side - 2, above, ink)
        yield text(left + (first + last) / 2 * side, above - 17, label, mono=True, ink=ink, anchor="middle")
    low = top + len(cells) * side + 24
    yield rect(left, low - 9, 18, 18, BLUE)
    yield text(left + 28, low, "X", mono=True)
    yield rect(left + 76, low - 9, 18, 18, ZERO)
    yield text(left + 104, low, "zeros put around X")


def _padding() -> Iterator[str]:
    left, top, side = 104, 78, 34
    yield grid(left, top, _padded_cells(), side)
    yield from _padding_measures(left, top, side)
    yield text(440, 44, f"pads = [{', '.join(map(str, _PADS))}]", size=15, mono=True, bold=True)
    rows = (
        ("pads[0]", "axis 0, begin: lines above", RED_INK),
        ("pads[1]", "axis 1, begin: columns left", PURPLE_INK),
        ("pads[2]", "axis 0, end: lines below", RED_INK),
        ("pads[3]", "axis 1, end: columns right", PURPLE_INK),
    )
    for row, ((label, meaning, ink), pad) in enumerate(zip(rows, _PADS, strict=True)):
        y = 82 + 29 * row
        yield text(440, y, label, mono=True, ink=ink)
        yield text(506, y, f"= {pad}", mono=True)
        yield text(540, y, meaning)
    lines, columns = _PADDED_INPUT
    sums = (
        ("lines", (_PADS[0], lines, _PADS[2])),
        ("columns", (_PADS[1], columns, _PADS[3])),
    )
    yield text(440, 216, "size after padding: begin + X + end", ink=SOFT)
    for row, (label, terms) in enumerate(sums):
        written = f"{label:<7} {' + '.join(map(str, terms))} = {sum(terms)}"
        yield text(440, 244 + 26 * row, written.replace(" ", "\u00a0"), mono=True)


# --- strides ---------------------------------------------------------------------------------

_STRIDES = (2, 3)
_STRIDE_INPUT = (5, 8)
_STRIDE_KERNEL = (2, 2)
_WINDOWS: tuple[Look, ...] = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, RED)


def _stride_output() -> tuple[int, int]:
    lines, columns = (
        Axis(kernel, stride, 1, 0, 0).output_size(size)
        for size, kernel, stride in zip(_STRIDE_INPUT, _STRIDE_KERNEL, _STRIDES, strict=True)
    )
    return lines, columns


def _stride_windows(left: float, top: float, side: float) -> Iterator[str]:
    lines, columns = _stride_output()
    tall, wide = _STRIDE_KERNEL[0] * side, _STRIDE_KERNEL[1] * side
    for m in range(lines):
        for n in range(columns):
            x, y = left + n * _STRIDES[1] * side, top + m * _STRIDES[0] * side
            look = _WINDOWS[m * columns + n]
            yield rect(x + 2, y + 2, wide - 4, tall - 4, look, round_by=6)
            yield text(
                x + wide / 2,
                y + tall / 2,
                f"{m},{n}",
                size=15,
                mono=True,
                bold=True,
                anchor="middle",
            )


def _strides() -> Iterator[str]:
    left, top, side = 158, 104, 36
    lines, columns = _STRIDE_INPUT
    yield grid(left, top, [[Cell()] * columns for _ in range(lines)], side)
    for j in range(columns):
        x = left + side * (j + 0.5)
        yield text(x, top - 13, str(j), size=11, mono=True, ink=SOFT, anchor="middle")
    for i in range(lines):
        y = top + side * (i + 0.5)
        yield text(left - 12, y, str(i), size=11, mono=True, ink=SOFT, anchor="middle")
    yield from _stride_windows(left, top, side)
    middle = left + columns * side / 2
    yield text(middle, 26, "X", size=15, mono=True, bold=True, anchor="middle")
    across = left + _STRIDES[1] * side
    yield arrow(left, top - 34, across, top - 34, BLUE_INK, 2)
    yield text(left, top - 54, f"strides[1] = {_STRIDES[1]}: right, along the columns", ink=BLUE_INK)
    down = top + _STRIDES[0] * side
    yield arrow(left - 32, top, left - 32, down, RED_INK, 2)
    labels = (f"strides[0] = {_STRIDES[0]}:", "down, along", "the lines")
    for row, label in enumerate(labels):
        yield text(left - 42, top + 18 + 18 * row, label, size=12, ink=RED_INK, anchor="end")
    yield arrow(left + columns * side + 20, top + 90, left + columns * side + 66, top + 90)
    yield from _stride_result(536, top)
    yield text(44, 318, "Kernel of 2 lines and 2 columns, no padding.", ink=SOFT)
    yield text(44, 338, "Line 4 is never read: a third step down would leave X.", ink=SOFT)


def _stride_result(left: float, top: float) -> Iterator[str]:
    lines, columns = _stride_output()
    cells = [[Cell(f"{m},{n}", _WINDOWS[m * columns + n]) for n in range(columns)] for m in range(lines)]
    yield text(left + 87, top + 22, "Y", size=15, mono=True, bold=True, anchor="middle")
    yield grid(left, top + 42, cells, 58, 48)
    sizes = zip(("lines", "columns"), _STRIDE_INPUT, _STRIDE_KERNEL, _STRIDES, strict=True)
    for row, (label, size, kernel, stride) in enumerate(sizes):
        out = (lines, columns)[row]
        yield text(left - 14, top + 168 + 24 * row, label, size=12, ink=SOFT)
        written = f"\u230a({size} {MINUS} {kernel})/{stride}\u230b + 1 = {out}"
        yield text(left + 46, top + 168 + 24 * row, written, mono=True)


# --- dilations -------------------------------------------------------------------------------


def _dilated(kernel: tuple[int, int], dilations: tuple[int, int], shown: int) -> list[list[Cell]]:
    lines, columns = (Axis(k, 1, d, 0, 0).extent for k, d in zip(kernel, dilations, strict=True))

    def cell(i: int, j: int) -> Cell:
        if i >= lines or j >= columns:
            return Cell("", FADED)
        if i % dilations[0] or j % dilations[1]:
            return Cell("", PLAIN)
        return Cell(f"{i // dilations[0]},{j // dilations[1]}", ORANGE)

    return [[cell(i, j) for j in range(shown)] for i in range(shown)]


def _dilations() -> Iterator[str]:
    kernel, shown, side, top = (3, 3), 5, 38, 84
    for panel, dilations in enumerate(((1, 1), (2, 2), (2, 1))):
        left = 44 + panel * 241
        centre = left + shown * side / 2
        lines, columns = (Axis(k, 1, d, 0, 0).extent for k, d in zip(kernel, dilations, strict=True))
        head = f"dilations = [{dilations[0]}, {dilations[1]}]"
        yield text(centre, 34, head, size=14, mono=True, bold=True, anchor="middle")
        yield grid(left, top, _dilated(kernel, dilations, shown), side)
        yield span(left + 2, top - 13, left + columns * side - 2, top - 13, BLUE_INK)
        yield span(left - 13, top + 2, left - 13, top + lines * side - 2, RED_INK)
        rows = (
            ("lines", dilations[0], kernel[0], lines, RED_INK),
            ("columns", dilations[1], kernel[1], columns, BLUE_INK),
        )
        for row, (label, dilation, size, reach, ink) in enumerate(rows):
            sum_ = f"{dilation}\u00b7({size} {MINUS} 1) + 1 = {reach}"
            y = 302 + 24 * row
            yield text(left, y, label, size=12, ink=ink)
            yield text(left + 58, y, sum_, size=12, mono=True)
    yield grid(44, 362, [[Cell("i,j", ORANGE)]], 34, 28)
    yield text(90, 376, "element of X that meets the weight in line i, column j of the kernel")


# --- standard and depthwise ------------------------------------------------------------------


def _standard_branch(top: float, channel: int, look: Look, ink: str, out: int) -> Iterator[str]:
    """Draw kernel, sum and output plane of one output channel; ``top`` is that of the kernel."""
    kernel = [[Cell("", look)] * 3 for _ in range(3)]
    middle = top + 27
    yield stack(326, top, [kernel] * 3, 22, 16)
    label = f"W[{channel}, :, :, :]"
    yield text(375, top + 84, label, mono=True, ink=ink, anchor="middle")
    yield arrow(444, middle, 494, middle, ink)
    yield circle(516, middle, 20, Look("#ffffff", ink, 1.8))
    yield text(516, middle, "\u03a3", size=18, bold=True, ink=ink, anchor="middle")
    yield arrow(538, middle, 612, middle, ink)
    yield arrow(516, middle - 48, 516, middle - 22, ink)
    yield text(516, middle - 60, f"B[{channel}]", size=12, mono=True, ink=ink, anchor="middle")
    mark = _plane(out, out, (range(1), range(out - 1, out)), look)
    yield grid(624, top - 12, mark, 26)
    yield text(663, top + 84, f"Y[0, {channel}, :, :]", mono=True, ink=ink, anchor="middle")


def _standard() -> Iterator[str]:
    size, kernel, channels = 5, 3, 3
    out = Axis(kernel, 1, 1, 0, 0).output_size(size)
    window = (range(kernel), range(size - kernel, size))
    planes = [_plane(size, size, window, GREEN)] * channels
    for centre, label in ((130, "X"), (375, "W"), (663, "Y")):
        yield text(centre, 34, label, size=15, mono=True, bold=True, anchor="middle")
    shapes = (
        (130, (1, channels, size, size)),
        (375, (2, channels, kernel, kernel)),
        (663, (1, 2, out, out)),
    )
    for centre, shape in shapes:
        yield text(centre, 56, str(shape), size=12, mono=True, ink=SOFT, anchor="middle")
    yield stack(42, 182, planes, 24, 28)
    yield text(102, 324, "window: all 3 channels", ink=GREEN_INK, anchor="middle")
    yield arrow(232, 196, 308, 136, BLUE_INK)
    yield arrow(232, 214, 308, 284, ORANGE_INK)
    yield from _standard_branch(114, 0, BLUE, BLUE_INK, out)
    yield from _standard_branch(276, 1, ORANGE, ORANGE_INK, out)
    terms = channels * kernel * kernel
    note = f"{channels} channels {TIMES} {kernel} lines {TIMES} {kernel} columns = {terms}"
    yield text(380, 402, f"Each element of Y is its bias plus {note} products.", ink=SOFT, anchor="middle")


def _depthwise() -> Iterator[str]:
    size, kernel, channels = 4, 2, 3
    out = Axis(kernel, 1, 1, 0, 0).output_size(size)
    heads = (
        (122, "X", (1, channels, size, size)),
        (330, "W", (channels, 1, kernel, kernel)),
        (612, "Y", (1, channels, out, out)),
    )
    for centre, label, shape in heads:
        yield text(centre, 34, label, size=15, mono=True, bold=True, anchor="middle")
        yield text(centre, 56, str(shape), size=12, mono=True, ink=SOFT, anchor="middle")
    rows = ((BLUE, BLUE_INK), (ORANGE, ORANGE_INK), (GREEN, GREEN_INK))
    for channel, (look, ink) in enumerate(rows):
        middle = 128 + 128 * channel
        window = (range(kernel), range(kernel))
        yield grid(78, middle - 44, _plane(size, size, window, look), 22)
        yield grid(306, middle - 24, [[Cell("", look)] * kernel] * kernel, 24)
        mark = _plane(out, out, (range(1), range(1)), look)
        yield grid(576, middle - 36, mark, 24)
        yield arrow(182, middle, 288, middle, ink)
        yield arrow(372, middle, 430, middle, ink)
        yield circle(452, middle, 20, Look("#ffffff", ink, 1.8))
        yield text(452, middle, "\u03a3", size=18, bold=True, ink=ink, anchor="middle")
        yield arrow(474, middle, 558, middle, ink)
        yield arrow(452, middle - 44, 452, middle - 22, ink)
        yield text(452, middle - 54, f"B[{channel}]", size=12, mono=True, ink=ink, anchor="middle")
        below = middle + 60
        yield text(122, below, f"X[0, {channel}]", size=12, mono=True, ink=ink, anchor="middle")
        yield text(330, below, f"W[{channel}, 0]", size=12, mono=True, ink=ink, anchor="middle")
        yield text(612, below, f"Y[0, {channel}]", size=12, mono=True, ink=ink, anchor="middle")
    note = f"group = channels of X = channels of Y = {channels}: no channel sees another one."
    yield text(380, 482, note, ink=SOFT, anchor="middle")


# --- order of the sum ------------------------------------------------------------------------


def _to_float(value: Fraction) -> Fraction:
    return Fraction(float(nearest(value, DType.FLOAT)))


def _power_sum(value: Fraction) -> str:
    """Write a sum of powers of two, such as 2^-11 + 2^-24, from the greatest down."""
    digits = str.maketrans(
        "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
    )
    terms = []
    for exponent in range(4, -60, -1):
        if value >= Fraction(2) ** exponent:
            value -= Fraction(2) ** exponent
            terms.append("1" if exponent == 0 else "2" + str(exponent).translate(digits))
    return " + ".join(terms)


def _order_modes() -> Iterator[str]:
    start, factor = Fraction(-1), 1 + Fraction(1, 2**12)
    separate = _to_float(start + _to_float(factor * factor))
    fused = _to_float(start + factor * factor)
    modes = (
        (
            44,
            "separate",
            BLUE_INK,
            ("p = round(x\u00b7w)", "acc = round(acc + p)"),
            "two roundings a step",
            separate,
        ),
        (
            396,
            "fused",
            PURPLE_INK,
            ("acc = round(acc + x\u00b7w)", ""),
            "one rounding a step",
            fused,
        ),
    )
    for left, name, ink, rules, note, result in modes:
        yield rect(left, 256, 320, 156, Look("#ffffff", ink, 1.4), round_by=8)
        yield text(left + 18, 280, name, size=14, mono=True, bold=True, ink=ink)
        yield text(left + 302, 280, note, size=12, ink=SOFT, anchor="end")
        for row, rule in enumerate(rules):
            if rule:
                yield text(left + 18, 310 + 24 * row, rule, size=14, mono=True)
        yield line(left + 18, 356, left + 302, 356, Look(stroke="#d3d7dc"))
        given = f"float, acc = {MINUS}1, x = w = {_power_sum(factor)}"
        yield text(left + 18, 374, given, size=12, ink=SOFT)
        yield text(left + 18, 395, f"acc becomes {_power_sum(result)}", bold=True)


def _order() -> Iterator[str]:
    channels, lines, columns, side, top = 2, 2, 3, 44, 92
    looks = (GREEN, ORANGE)
    inks = (GREEN_INK, ORANGE_INK)
    yield rect(44, top + 14, 108, 60, Look("#ffffff", SOFT, 1.6), round_by=8)
    yield text(98, top + 34, "start", size=12, ink=SOFT, anchor="middle")
    yield text(98, top + 55, "acc = B[c]", size=14, mono=True, anchor="middle")
    yield arrow(158, top + side, 186, top + side)
    terms = lines * columns
    for channel in range(channels):
        left = 192 + channel * (columns * side + 50)
        ordinals = [
            [Cell(str(channel * terms + i * columns + j + 1), looks[channel]) for j in range(columns)]
            for i in range(lines)
        ]
        centre = left + columns * side / 2
        yield text(centre, top - 22, f"input channel {channel}", ink=inks[channel], anchor="middle")
        yield grid(left, top, ordinals, side)
        yield arrow(left + columns * side + 7, top + side, left + columns * side + 43, top + side)
    yield rect(556, top + 14, 160, 60, Look("#ffffff", SOFT, 1.6), round_by=8)
    yield text(636, top + 34, "end", size=12, ink=SOFT, anchor="middle")
    yield text(636, top + 55, "Y = round(acc)", size=14, mono=True, anchor="middle")
    yield text(
        44,
        34,
        "one term at a time: input channel, then kernel line, then kernel column",
        size=14,
        bold=True,
    )
    notes = (
        "The numbers give the place of each product; zeros from the padding take part.",
        "acc is double for double, else float; only for float16 does the end change its value.",
    )
    for row, note in enumerate(notes):
        yield text(44, 208 + 20 * row, note, size=12, ink=SOFT)
    yield from _order_modes()


FIGURES: tuple[Figure, ...] = (
    compose(
        "conv-padding",
        "Conv: zeros around the input",
        "The four pads say how many lines and columns of zeros are put before and after the input: "
        "first the two beginnings, then the two ends.",
        "An input of 3 lines and 4 columns inside a larger grid whose other elements are 0. "
        "pads[0] is 1 line above, pads[1] is 2 columns on the left, pads[2] is 2 lines below, "
        "pads[3] is 3 columns on the right. The padded input has 6 lines and 9 columns.",
        (760, 330),
        _padding,
    ),
    compose(
        "conv-strides",
        "Conv: steps of the kernel for strides [2, 3]",
        "The kernel moves down by strides[0] lines and right by strides[1] columns; "
        "each place gives one element of the output.",
        "A grid of 5 lines and 8 columns. Windows of 2 by 2 elements start in lines 0 and 2 and in "
        "columns 0, 3 and 6. They give the 2 lines and 3 columns of Y. Line 4 is not read.",
        (760, 364),
        _strides,
    ),
    compose(
        "conv-dilations",
        "Conv: elements met by a dilated kernel of 3 by 3",
        "Dilation spaces the elements that a kernel meets: a kernel of size k reaches over "
        "dilation times (k minus 1), plus 1, elements.",
        "Three grids. With dilations 1, 1 the nine elements lie side by side in 3 lines and 3 "
        "columns. With 2, 2 every second line and column is met, over 5 lines and 5 columns. With "
        "2, 1 every second line and every column is met, over 5 lines and 3 columns.",
        (760, 412),
        _dilations,
    ),
    compose(
        "conv-standard",
        "Conv with group 1: each output channel sums over all input channels",
        "In a standard convolution each output channel has a kernel with one plane per input "
        "channel, and sums over all of them.",
        "An input X of 3 channels with a window marked in every channel. Two kernels of 3 planes, "
        "W[0] and W[1], are applied to that window. Each product sum plus its bias, B[0] or B[1], "
        "gives one element in its own channel of Y.",
        (760, 430),
        _standard,
    ),
    compose(
        "conv-depthwise",
        "Depthwise Conv: each channel has its own kernel",
        "In a depthwise convolution each channel is convolved with its own kernel of one plane, "
        "and channels never mix.",
        "Three rows, one for each channel. Channel c of X and the single plane of kernel W[c] "
        "give, with bias B[c], channel c of Y. There are as many groups as channels.",
        (760, 510),
        _depthwise,
    ),
    compose(
        "conv-order",
        "Conv: order of the sum and the two accumulation modes",
        "On IEEE types the sum starts at the bias and adds one product at a time; the mode says "
        "whether a step rounds twice or once.",
        "The accumulator acc starts at B[c]. Then follow the products of input channel 0, line by "
        "line and column by column, then those of input channel 1, and a last rounding to the type "
        "of Y. Mode separate rounds the product and then the sum; mode fused rounds once. For acc "
        "= -1 and x = w = 1 + 2^-12 in float, separate gives 2^-11 and fused 2^-11 + 2^-24.",
        (760, 436),
        _order,
    ),
)
