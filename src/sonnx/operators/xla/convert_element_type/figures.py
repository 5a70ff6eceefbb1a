"""Figures of the ConvertElementType page: ties, one rounding, and what becomes of floats as integers."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.svg import (
    BLUE,
    BLUE_INK,
    EDGE,
    GREEN_INK,
    INK,
    MINUS,
    ORANGE,
    ORANGE_INK,
    PLAIN,
    PURPLE,
    RED,
    RED_INK,
    RULE,
    SOFT,
    Cell,
    Look,
    arrow,
    circle,
    grid,
    line,
    rect,
    text,
)
from sonnx.model.dtype import DType
from sonnx.numeric.convert import convert
from sonnx.numeric.rounding import nearest

_ARROW = "\u2192"
_INFINITY = "\u221e"


# --- ties ------------------------------------------------------------------------------------

_FIRST, _COUNT = 2**24, 7


def _floats() -> list[int]:
    integers = np.arange(_FIRST, _FIRST + _COUNT, dtype=np.int32)
    return [int(value) for value in convert(integers, DType.INT32, DType.FLOAT)]


def _ties() -> Iterator[str]:
    left, step, wide, tall = 80, 95, 84, 34
    for y, label in ((76, "s32"), (192, "f32")):
        yield text(24, y, label, size=14, mono=True, bold=True)
    for place, found in enumerate(_floats()):
        integer, x = _FIRST + place, left + step * place
        exact = found == integer
        yield grid(x, 59, [[Cell(str(integer), BLUE if exact else ORANGE)]], wide, tall)
        goal = left + step * (found - _FIRST) + wide / 2
        aim = goal if exact else goal + (14 if found < integer else -14)
        yield arrow(x + wide / 2, 97, aim, 171, BLUE_INK if exact else ORANGE_INK)
        if exact:
            yield grid(x, 175, [[Cell(str(integer), BLUE)]], wide, tall)
            half = integer // 2
            parity = "odd" if half % 2 else "even"
            yield text(x + wide / 2, 228, f"2 \u00b7 {half}", size=12, mono=True, ink=SOFT, anchor="middle")
            ink = SOFT if half % 2 else GREEN_INK
            yield text(x + wide / 2, 246, parity, size=12, ink=ink, bold=not half % 2, anchor="middle")
    yield text(24, 30, "from 2\u00b2\u2074 on, floats are 2 apart", size=14, bold=True)
    note = "An odd integer lies halfway between two floats; the one with the even significand is taken."
    yield text(24, 280, note, ink=SOFT)


# --- one rounding ----------------------------------------------------------------------------

_TRAP = 1 + Fraction(1, 2**11) + Fraction(1, 2**30)


def _once_and_twice() -> tuple[Fraction, Fraction, Fraction]:
    """The trap rounded to f16, to f32, and from there to f16."""
    once, middle = (
        Fraction(float(nearest(_TRAP, DType.FLOAT16))),
        Fraction(float(nearest(_TRAP, DType.FLOAT))),
    )
    return once, middle, Fraction(float(nearest(middle, DType.FLOAT16)))


def _decimal(value: Fraction) -> str:
    return f"{float(value):.10f}".rstrip("0").rstrip(".")


def _twice() -> Iterator[str]:
    left, right, y = 112, 620, 158
    once, middle, twice = _once_and_twice()
    unit = Fraction(1, 2**10)
    places = {value: left + float((value - 1) / unit) * (right - left) for value in (once, middle, twice)}
    here = places[middle] + 84  # drawn much farther off than it is
    yield line(left - 44, y, right + 44, y, Look(stroke=SOFT, width=1.6))
    labels = {twice: "1", middle: "1 + 2\u207b\u00b9\u00b9", once: "1 + 2\u207b\u00b9\u2070"}
    for value, x in places.items():
        long, number = (9, INK) if value != middle else (6, SOFT)
        yield line(x, y - long, x, y + long, Look(stroke=number, width=2))
        yield text(x, y + 25, labels[value], size=13, mono=True, ink=number, anchor="middle")
    for x, name in ((places[twice], "f16"), (places[once], "f16"), (places[middle], "f32, halfway")):
        yield text(x, y + 44, name, size=12, ink=SOFT, anchor="middle")
    yield circle(here, y, 5, Look(INK, INK))
    yield text(here, y + 25, "x", size=14, mono=True, bold=True, anchor="middle")
    yield arrow(here, y - 34, places[once], y - 34, GREEN_INK, 2)
    yield text(here, y - 56, f"once: f64 {_ARROW} f16", ink=GREEN_INK)
    yield text(places[once] + 12, y - 34, _decimal(once), mono=True, ink=GREEN_INK)
    yield arrow(here, y + 78, places[middle], y + 78, RED_INK, 2)
    yield text(here + 12, y + 78, f"first f64 {_ARROW} f32: 2\u207b\u00b3\u2070 is lost", ink=RED_INK)
    yield arrow(places[middle], y + 104, places[twice], y + 104, RED_INK, 2)
    yield text(places[middle] + 12, y + 104, f"then f32 {_ARROW} f16: a tie, to the even one", ink=RED_INK)
    yield text(places[twice] - 12, y + 104, _decimal(twice), mono=True, ink=RED_INK, anchor="end")
    yield text(44, 36, "x = 1 + 2\u207b\u00b9\u00b9 + 2\u207b\u00b3\u2070", size=15, mono=True, bold=True)
    yield text(44, 62, "a little above the middle of two f16 numbers", ink=SOFT)


# --- floats as integers ----------------------------------------------------------------------

_STEPS = range(-2, 3)
_SAMPLES = (-np.inf, -129.0, -128.9, -1.9, -0.9, 127.9, 128.0, 255.9, 256.0, np.inf, np.nan)


def _stairs(left: float, top: float) -> Iterator[str]:
    across, down = 44, 40
    x0, y0 = left + 3 * across, top + 3 * down

    def place(x: float, y: float) -> tuple[float, float]:
        return x0 + x * across, y0 - y * down

    yield rect(left, top, 6 * across, 6 * down, Look("#ffffff", EDGE))
    yield line(left, y0, left + 6 * across, y0, Look(stroke=RULE))
    yield line(x0, top, x0, top + 6 * down, Look(stroke=RULE))
    yield line(*place(-3, -3), *place(3, 3), Look(stroke=RULE, dash="4 4"))
    stroke, full, empty = (
        Look(stroke=BLUE_INK, width=3),
        Look(BLUE_INK, BLUE_INK),
        Look("#ffffff", BLUE_INK, 1.6),
    )
    for step in _STEPS:
        begin, end = step - (step <= 0), step + (step >= 0)
        yield line(*place(begin, step), *place(end, step), stroke)
        for x in (begin, end):
            yield circle(*place(x, step), 4, full if x == step else empty)
    for number in (-2, -1, 1, 2):
        shown = str(number).replace("-", MINUS)
        yield text(x0 + number * across, top + 6 * down + 13, shown, size=12, ink=SOFT, anchor="middle")
        yield text(left - 18, y0 - number * down, shown, size=12, ink=SOFT, anchor="middle")
    yield text(left + 3 * across, top + 6 * down + 13, "0", size=12, ink=SOFT, anchor="middle")
    yield text(left - 18, y0, "0", size=12, ink=SOFT, anchor="middle")


def _shown(value: float) -> str:
    if np.isnan(value):
        return "NaN"
    sign = MINUS if value < 0 else ""
    return f"{sign}{_INFINITY}" if np.isinf(value) else f"{sign}{abs(value):g}"


def _look(value: float, found: int) -> Look:
    if np.isnan(value):
        return PURPLE
    return BLUE if abs(value - found) < 1 else RED


def _columns() -> Sequence[tuple[str, Sequence[int]]]:
    samples = np.array(_SAMPLES)
    return [
        (name, [int(value) for value in convert(samples, DType.DOUBLE, dtype)])
        for name, dtype in (("s8", DType.INT8), ("u8", DType.UINT8))
    ]


def _integers() -> Iterator[str]:
    left, top, wide, tall = 420, 76, 92, 25
    yield text(44, 30, "truncated towards zero", size=14, bold=True)
    yield from _stairs(74, 54)
    yield text(left, 30, "saturated at the ends; NaN is 0", size=14, bold=True)
    columns = _columns()
    rows = [
        [
            Cell(_shown(value), PLAIN),
            *(Cell(_shown(found[row]), _look(value, found[row])) for _, found in columns),
        ]
        for row, value in enumerate(_SAMPLES)
    ]
    for column, name in enumerate(("x", *(name for name, _ in columns))):
        centre = left + wide * (column + 0.5)
        yield text(centre, top - 14, name, size=13, mono=True, bold=True, anchor="middle")
    yield grid(left, top, rows, wide, tall)
    keys = ((BLUE, "truncated", 44), (RED, "saturated", 150), (PURPLE, "NaN", 256))
    for look, name, x in keys:
        yield rect(x, 352, 18, 18, look)
        yield text(x + 26, 361, name)


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-convert-element-type-ties",
        "ConvertElementType: integers between two floats",
        "An integer that lies halfway between two floats goes to the one whose significand is even.",
        "The integers from 16777216 to 16777222 above the floats among them, which are the even ones. "
        "16777217 goes to 16777216, 16777219 and 16777221 go to 16777220: their significands are even.",
        (760, 304),
        _ties,
    ),
    compose(
        "xla-convert-element-type-twice",
        "ConvertElementType: rounding once and rounding twice",
        "Rounding on the way, to f32, makes a tie of what was none, and the last rounding then goes the "
        "wrong way.",
        "A line from 1 to 1 + 2^-10, two neighbouring f16 numbers. x = 1 + 2^-11 + 2^-30 lies just above the "
        "middle. Rounded once it becomes 1.0009765625. Rounded to f32 first it becomes the middle itself, "
        "and from there 1, the even neighbour.",
        (760, 288),
        _twice,
    ),
    compose(
        "xla-convert-element-type-integers",
        "ConvertElementType: floats become integers",
        "A float loses what follows its point, and beyond the ends of the type it becomes the nearest end.",
        "On the left a staircase: from -1 to 1, both left out, the result is 0; from 1 up to 2 it is 1, and"
        " from -1 down to -2 it is -1. On the right a table for s8 and u8: minus infinity gives -128 and 0,"
        " -128.9 gives -128 and 0, 127.9 gives 127 twice, 128 gives 127 and 128, 256 gives 127 and 255, NaN"
        " gives 0.",
        (760, 392),
        _integers,
    ),
)
