"""Conv as seven nested loops over scalars: the definition of the documents, using nothing of the package."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import copysign, inf, isfinite, ldexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Accumulation = Callable[[Any, Any, Any], Any]

# precision, exponent of the smallest normal number, exponent of the largest
_BINARY16, _BINARY32, _BINARY64 = (11, -14, 15), (24, -126, 127), (53, -1022, 1023)
FORMS = {"float16": _BINARY16, "float32": _BINARY32, "float64": _BINARY64}


def rounded(value: Fraction, form: tuple[int, int, int]) -> float:
    """The number of a format that is nearest to a real number, the even one of two; in integers alone."""
    precision, emin, emax = form
    top, bottom = abs(value).numerator, value.denominator
    exponent = top.bit_length() - bottom.bit_length()
    if top << max(-exponent, 0) < bottom << max(exponent, 0):
        exponent -= 1
    place = max(exponent, emin) - precision + 1
    top, bottom = top << max(-place, 0), bottom << max(place, 0)
    count, rest = divmod(top, bottom)
    count += 2 * rest > bottom or (2 * rest == bottom and count % 2)
    magnitude = inf if Fraction(2) ** place * count >= 2 ** (emax + 1) else ldexp(count, place)
    return copysign(magnitude, -1.0 if value < 0 else 1.0)


def separate(total: Any, x: Any, w: Any) -> Any:
    """Round the product, then the sum."""
    return total + x * w


def fused(total: Any, x: Any, w: Any) -> Any:
    """Round once: x·w + total is exact before."""
    kind = type(total)
    if not all(map(isfinite, (x, w, total))):
        # A product of finite numbers is a real number, however large; then only `total` decides.
        return total if isfinite(x) and isfinite(w) else x * w + total
    exact = Fraction(float(x)) * Fraction(float(w)) + Fraction(float(total))
    if exact:
        return kind(rounded(exact, FORMS[np.dtype(kind).name]))
    if total or x * w:
        return kind(0)  # two equal numbers cancel: +0 when rounding to nearest
    return x * w + total  # zeros alone: IEEE 754 knows their sign


def exactly(total: Any, x: Any, w: Any) -> Any:
    """Round nothing."""
    return total + x * w


STEPS: dict[str, Accumulation] = {"separate": separate, "fused": fused}
ACCUMULATOR: dict[str, type] = {
    "float16": np.float32,
    "float32": np.float32,
    "float64": np.float64,
    "object": Fraction,
}


def seven_loops(
    X: Array,
    W: Array,
    B: Array | None,
    step: Accumulation,
    *,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    group: int,
) -> Array:
    """Y[b,c,m,n] = B[c], then one term after another: input channel, kernel line, kernel column."""
    held = ACCUMULATOR[X.dtype.name]
    batch, _, lines, columns = X.shape
    outputs, per_group, taps_down, taps_along = W.shape
    down = (lines + pads[0] + pads[2] - (dilations[0] * (taps_down - 1) + 1)) // strides[0] + 1
    along = (columns + pads[1] + pads[3] - (dilations[1] * (taps_along - 1) + 1)) // strides[1] + 1
    Y = np.empty((batch, outputs, down, along), X.dtype)

    def at(b: int, channel: int, line: int, column: int) -> Any:
        if 0 <= line < lines and 0 <= column < columns:
            return held(X[b, channel, line, column])
        return held(0)

    for b in range(batch):
        for c in range(outputs):
            first = 0 if group == 1 else c  # depthwise: channel c meets kernel c alone
            for m in range(down):
                for n in range(along):
                    total = held(0) if B is None else held(B[c])
                    for ci in range(per_group):
                        for kl in range(taps_down):
                            for kc in range(taps_along):
                                line = m * strides[0] + kl * dilations[0] - pads[0]
                                column = n * strides[1] + kc * dilations[1] - pads[1]
                                total = step(total, at(b, first + ci, line, column), held(W[c, ci, kl, kc]))
                    Y[b, c, m, n] = total if held is Fraction else X.dtype.type(total)
    return Y
