"""Figures of the Clip page: the transfer curve and the bounds that are NaN."""

from functools import partial
from math import inf, isnan, nan

import numpy as np

from sonnx.drawing.curves import Curve, shown
from sonnx.drawing.figure import Figure, Run
from sonnx.drawing.layout import beside, sheet, table
from sonnx.drawing.svg import BLUE, GREEN, ORANGE, PLAIN, Cell

_BOUNDS = ((nan, 1.0), (-1.0, nan), (nan, nan))
_INPUTS = (-inf, -3.0, 0.5, 3.0, inf, nan)


def clip(run: Run, low: float, high: float, value: float) -> float:
    """Give one element by the operator's own definition."""
    operands = {"input": np.array(value, float), "min": np.array(low, float), "max": np.array(high, float)}
    return float(run("Clip", operands, {})["output"])


def figures(run: Run) -> tuple[Figure, ...]:
    """Everything that the page shows."""
    return (
        sheet(
            "clip-curve",
            "Clip: output against input",
            "Clip follows the input between the bounds and stays at a bound outside of them; when min "
            "exceeds max it is constant at max.",
            "Two plots of output against input. Left, with min not greater than max: the output is min up "
            "to the input min, then rises with the input along the diagonal, and is max from the input max "
            "on. Right, with min greater than max: a horizontal line at max.",
            beside(
                Curve("min \u2264 max", partial(clip, run, -2, 3), {"min": -2, "max": 3}).block(),
                Curve("min > max", partial(clip, run, 2, -1.5), {"min": 2, "max": -1.5}).block(),
                gap=60,
            ),
        ),
        sheet(
            "clip-nan-bounds",
            "Clip: bounds that are NaN",
            "A NaN min counts as minus infinity and a NaN max as plus infinity, so that a NaN bound limits "
            "nothing.",
            "A table of three pairs of bounds. NaN and 1 count as minus infinity and 1; minus 1 and NaN "
            "count as minus 1 and plus infinity; NaN and NaN count as minus and plus infinity. For each "
            "pair the outputs for minus infinity, minus 3, 0.5, 3, plus infinity and NaN are given; the "
            "output for NaN is always NaN.",
            table(
                {
                    "min": [Cell(shown(low), ORANGE if isnan(low) else PLAIN) for low, _ in _BOUNDS],
                    "max": [Cell(shown(high), ORANGE if isnan(high) else PLAIN) for _, high in _BOUNDS],
                    "is min": [Cell(shown(-inf if isnan(low) else low), GREEN) for low, _ in _BOUNDS],
                    "is max": [Cell(shown(inf if isnan(high) else high), GREEN) for _, high in _BOUNDS],
                    **{
                        f"of {shown(x)}": [Cell(shown(clip(run, *pair, x)), BLUE) for pair in _BOUNDS]
                        for x in _INPUTS
                    },
                }
            ),
        ),
    )
