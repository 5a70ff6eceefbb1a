"""Exact sums of products over the reals, as fast as matrix products of doubles allow.

Rationals are brought to a common denominator; the integer numerators are cut into slices so short
that every product and every partial sum of slices is an integer below 2^53. Doubles hold those
exactly, whatever order a BLAS adds them in. Where that would need too many slices, FLINT's rational
matrices do the work.
"""

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.numeric.measure import lengths_of
from sonnx.numeric.windows import Windows

_EXACT_BITS = 53
# More slice products than this cost more than FLINT does.
_MOST_PRODUCTS = 100
# Numerators up to this size are cut by machine integers.
_MACHINE_BITS = 62
# Denominators without a common multiple of this size go to FLINT, which clears them row by row.
_MOST_BITS = 4096
# Products times their bits that FLINT is given at once, a second's work: nothing interrupts it meanwhile.
_WORK_AT_ONCE = 2**26


def exact_sum_of_products(x: Array, windows: Windows, weights: Array, start: Array) -> Array:
    """Compute start + Σ_k window_k(x)·weights_k exactly; axes as in `sum_of_products`."""
    groups, channels, terms = weights.shape
    result = np.empty((len(x), groups, channels, windows.points), dtype=object)
    result[...] = start[..., None]
    if terms and result.size:
        multiply = _by_slices(x, windows, weights, start) or _by_flint(x, windows, weights, start)
        for item in range(len(x)):
            for group in range(groups):
                result[item, group] = multiply(item, group)
    return result.reshape(len(x), groups, channels, *windows.positions)


Multiply = Callable[[int, int], Array]


def _common(values: Array) -> tuple[int, list[int]] | None:
    """A common denominator of rationals and the numerators over it, or None where it grows too large."""
    flat = values.reshape(-1).tolist()
    bottom = 1
    for denominator in {value.denominator for value in flat}:
        bottom = lcm(bottom, denominator)
        if bottom.bit_length() > _MOST_BITS:
            return None
    return bottom, [value.numerator * (bottom // value.denominator) for value in flat]


def _by_slices(x: Array, windows: Windows, weights: Array, start: Array) -> Multiply | None:
    """Products through slices of doubles, or None where the exponents spread too far."""
    width = (_EXACT_BITS - weights.shape[2].bit_length()) // 2
    common_x, common_w, common_s = _common(x), _common(weights), _common(start)
    if common_x is None or common_w is None or common_s is None:
        return None
    (bottom_x, top_x), (bottom_w, top_w), (bottom_s, top_s) = common_x, common_w, common_s
    bits_x, bits_w = _bits(top_x), _bits(top_w)
    count_x, count_w = -(-bits_x // width), -(-bits_w // width)
    if count_x * count_w > _MOST_PRODUCTS:
        return None
    slices_x = [piece.reshape(x.shape) for piece in _slices(top_x, bits_x, width)]
    slices_w = [piece.reshape(weights.shape) for piece in _slices(top_w, bits_w, width)]
    bottom = lcm(bottom_x * bottom_w, bottom_s)
    scale = bottom // (bottom_x * bottom_w)
    begin = np.array([top * (bottom // bottom_s) for top in top_s], object).reshape(start.shape)

    def multiply(item: int, group: int) -> Array:
        tops = _combine(
            [_matrix(piece, windows, item, group) for piece in slices_x],
            [piece[group] for piece in slices_w],
            width,
        )
        tops = tops * scale + begin[group][:, None]
        return _each(lambda top: Fraction(top, bottom), tops)

    return multiply


def _bits(tops: list[int]) -> int:
    return max((top.bit_length() for top in tops), default=0)


def _slices(tops: list[int], bits: int, width: int) -> list[Array]:
    """Signed slices, lowest first: tops = Σ slice_i · 2^(i·width), |slice_i| < 2^width."""
    held: type = np.int64 if bits <= _MACHINE_BITS else object
    values: Array = np.array(tops, dtype=held)
    sign: Array = np.where(values < 0, -1, 1).astype(held)
    magnitude = values * sign
    mask = 2**width - 1
    return [(((magnitude >> low) & mask) * sign).astype(np.float64) for low in range(0, bits, width)]


def _matrix(x: Array, windows: Windows, item: int, group: int) -> Array:
    """The windows of one item and group as the rows of a matrix."""
    return np.stack([window[:1, group].reshape(-1) for window in windows.cut(x[item : item + 1])])


def _combine(slices_x: list[Array], slices_w: list[Array], width: int) -> Array:
    """Add up the slice products of each level i + j, then the levels: integers of any size.

    A level has at most 10 products below 2^53 (100 in all), so int64 holds its sum. Operands that are all
    zero have no slices; the result is then 0, for all elements at once.
    """
    levels: dict[int, Array] = {}
    for i, w in enumerate(slices_w):
        for j, x in enumerate(slices_x):
            product = (w @ x).astype(np.int64)  # an integer below 2^53: the conversion is exact
            levels[i + j] = levels[i + j] + product if i + j in levels else product
    total: Any = 0
    for level in sorted(levels, reverse=True):
        total = (total << width) + levels[level].astype(object)
    return np.asarray(total, dtype=object)


def _each(function: Callable[[Any], Any], values: Array) -> Array:
    result = np.empty(values.shape, dtype=object)
    result.reshape(-1)[:] = [function(value) for value in values.reshape(-1).tolist()]
    return result


def _by_flint(x: Array, windows: Windows, weights: Array, start: Array) -> Multiply:
    bits = max(lengths_of(x).longest, lengths_of(weights).longest)

    def multiply(item: int, group: int) -> Array:
        left, right = weights[group], _matrix(x, windows, item, group)
        some_terms, some_rows, some_columns = _steps(left.shape[1], left.shape[0], right.shape[1], bits)
        result = np.empty((left.shape[0], right.shape[1]), dtype=object)
        for rows in _parts(left.shape[0], some_rows):
            for columns in _parts(right.shape[1], some_columns):
                block = result[rows, columns]
                total = _flint_matrix(np.broadcast_to(start[group][rows, None], block.shape))
                for terms in _parts(left.shape[1], some_terms):
                    total += _flint_matrix(left[rows, terms]) * _flint_matrix(right[terms, columns])
                block[...] = _each(lambda q: Fraction(int(q.p), int(q.q)), _elements(total))
        return result

    return multiply


def _steps(terms: int, rows: int, columns: int, bits: int) -> tuple[int, int, int]:
    """How many terms, rows and columns are multiplied at a time: no more than a user waits for."""
    most = max(1, _WORK_AT_ONCE // bits)
    some_terms = min(terms, most)
    some_rows = min(rows, max(1, most // some_terms))
    return some_terms, some_rows, min(columns, max(1, most // (some_terms * some_rows)))


def _parts(size: int, step: int) -> list[slice]:
    return [slice(first, first + step) for first in range(0, size, step)]


def _elements(matrix: Any) -> Array:
    held = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    held[:] = matrix.entries()
    return held.reshape(matrix.nrows(), matrix.ncols())


def _flint_matrix(values: Array) -> Any:
    import flint  # noqa: PLC0415  whoever only checks a model need not wait until it has loaded

    entries = [flint.fmpq(value.numerator, value.denominator) for value in values.reshape(-1)]
    return flint.fmpq_mat(values.shape[0], values.shape[1], entries)
