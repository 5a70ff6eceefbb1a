"""Figures of the ConvertElementType page: one rounding, and what becomes of floats as integers."""

from collections.abc import Sequence
from math import inf, isnan, nan

import numpy as np

from sonnx.drawing.curves import Curve, shown
from sonnx.drawing.layout import above, beside, code, key, sheet, table, to
from sonnx.drawing.svg import BLUE, GREEN, ORANGE, PURPLE, RED, Cell
from sonnx.model.dtype import DType
from sonnx.numeric.convert import convert

_SAMPLES = (-inf, -129.0, -128.9, -1.9, -0.9, 127.9, 128.0, 255.9, 256.0, inf, nan)
_TRAP = 1 + 2**-11 + 2**-30


def _through(*types: DType) -> str:
    """The trap, converted from type to type."""
    value = np.array([_TRAP])
    for before, after in zip((DType.DOUBLE, *types), types, strict=False):
        value = convert(value, before, after)
    return str(float(value[0]))


def _truncated(value: float) -> float:
    return float(convert(np.array([value]), DType.DOUBLE, DType.INT8)[0])


def _integers(dtype: DType) -> Sequence[Cell]:
    found = [int(value) for value in convert(np.array(_SAMPLES), DType.DOUBLE, dtype)]
    looks = [
        PURPLE if isnan(x) else BLUE if abs(x - n) < 1 else RED for x, n in zip(_SAMPLES, found, strict=True)
    ]
    return [Cell(str(n).replace("-", "\u2212"), look) for n, look in zip(found, looks, strict=True)]


FIGURES = (
    sheet(
        "xla-convert-element-type-twice",
        "ConvertElementType: rounding once and rounding twice",
        "Rounding on the way, to f32, makes a tie of what was none, and the last rounding then goes the "
        "wrong way.",
        "x = 1 + 2^-11 + 2^-30 lies just above the middle of two neighbouring f16 numbers, 1 and 1 + 2^-10. "
        "Rounded once it becomes 1.0009765625. Rounded to f32 first it becomes the middle itself, "
        "1.00048828125, and from there 1, the even neighbour.",
        above(
            code("x = 1 + 2\u207b\u00b9\u00b9 + 2\u207b\u00b3\u2070"),
            beside(
                code("once: f64 \u2192 f16"),
                to(),
                table({"f16, the nearest": [Cell(_through(DType.FLOAT16), GREEN)]}),
            ),
            beside(
                code("first f64 \u2192 f32"),
                to(),
                table({"f32, halfway: 2\u207b\u00b3\u2070 is lost": [Cell(_through(DType.FLOAT), ORANGE)]}),
                to(),
                table({"f16, the even one": [Cell(_through(DType.FLOAT, DType.FLOAT16), RED)]}),
            ),
            gap=20,
        ),
    ),
    sheet(
        "xla-convert-element-type-integers",
        "ConvertElementType: floats become integers",
        "A float loses what follows its point, and beyond the ends of the type it becomes the nearest end.",
        "On the left a staircase: from -1 to 1, both left out, the result is 0; from 1 up to 2 it is 1, and "
        "from -1 down to -2 it is -1. On the right a table for s8 and u8: minus infinity gives -128 and 0, "
        "-128.9 gives -128 and 0, 127.9 gives 127 twice, 128 gives 127 and 128, 256 gives 127 and 255, NaN "
        "gives 0.",
        beside(
            above(
                Curve("truncated towards zero", _truncated, {}).block(),
                key((BLUE, "truncated"), (RED, "saturated"), (PURPLE, "NaN")),
            ),
            table(
                {
                    "x": [Cell(shown(x)) for x in _SAMPLES],
                    "s8": _integers(DType.INT8),
                    "u8": _integers(DType.UINT8),
                },
                26,
            ),
            gap=40,
        ),
    ),
)
