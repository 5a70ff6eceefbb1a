"""Ways to add up the products of a convolution, all of them right where no order is asked for."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np
from tests.conformance.right.elements import FORMS, Array, encoded
from tests.conformance.right.sliding import Fold, Problem, Term

from sonnx.numeric.fused import fma

# Terms of one block.
_BLOCK = 4


def products(terms: Iterable[Term]) -> list[Array]:
    return [term.x * term.w for term in terms]


def added(arrays: Sequence[Array], start: Array) -> Array:
    """One after the other."""
    return reduce(np.add, arrays, start)


def separate(problem: Problem, terms: Sequence[Term]) -> Array:
    """The specified order: each product is rounded, then each sum."""
    return added(products(terms), problem.start)


def fused(problem: Problem, terms: Sequence[Term]) -> Array:
    """The specified order: each product is added in one rounding; whole numbers have none."""
    if problem.X.dtype not in FORMS:
        return separate(problem, terms)
    total = problem.start
    for term in terms:
        total = fma(term.x, term.w, total)
    return total


def reverse(problem: Problem, terms: Sequence[Term]) -> Array:
    return added(products(reversed(terms)), problem.start)


def disordered(seed: int) -> Fold:
    """An order that nothing speaks for; the bias comes somewhere in between."""

    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        arrays = [problem.start, *products(terms)]
        order = np.random.default_rng(seed).permutation(len(arrays))
        return added([arrays[place] for place in order[1:]], arrays[order[0]])

    return fold


def bias_last(problem: Problem, terms: Sequence[Term]) -> Array:
    return added(products(terms), np.zeros((), problem.held)) + problem.start


def first_product_first(problem: Problem, terms: Sequence[Term]) -> Array:
    """Nothing is added to a zero that nobody gave: a sum of -0 stays -0."""
    arrays = products(terms) if problem.B is None else [problem.start, *products(terms)]
    return added(arrays[1:], arrays[0]) if arrays else problem.start


def columns_first(problem: Problem, terms: Sequence[Term]) -> Array:
    """Tap by tap, and within a tap channel by channel."""
    channels = problem.W.shape[1]
    taps = len(terms) // channels if channels else 0
    return added(products(term for tap in range(taps) for term in terms[tap::taps]), problem.start)


def blocked_by_channels(problem: Problem, terms: Sequence[Term]) -> Array:
    """A sum of its own for each input channel; then these are added."""
    channels = problem.W.shape[1]
    taps = len(terms) // channels if channels else 1
    return _blocked(problem, [terms[first : first + taps] for first in range(0, len(terms), taps)])


def blocked_by_kernel(problem: Problem, terms: Sequence[Term]) -> Array:
    """Lanes, as of a vector: each adds up every fourth product; then these are added."""
    return _blocked(problem, [terms[lane::_BLOCK] for lane in range(_BLOCK)])


def _blocked(problem: Problem, blocks: Sequence[Sequence[Term]]) -> Array:
    zero = np.zeros((), problem.held)
    return added([added(products(block), zero) for block in blocks], problem.start)


def pairwise(problem: Problem, terms: Sequence[Term]) -> Array:
    """A tree: neighbours are added, then neighbouring sums."""
    arrays = [problem.start, *products(terms)]
    while len(arrays) > 1:
        pairs = [first + second for first, second in zip(arrays[::2], arrays[1::2], strict=False)]
        arrays = pairs + arrays[2 * len(pairs) :]
    return arrays[0]


def kahan(problem: Problem, terms: Sequence[Term]) -> Array:
    """What a sum loses is taken along, as long as it is a number."""
    return compensated(problem, terms, lambda lost: np.where(np.isfinite(lost), lost, lost.dtype.type(0)))


def kahan_corrected(problem: Problem, terms: Sequence[Term]) -> Array:
    """The bias last, and what the last sum has lost is taken away as well: by another sum, with a zero."""
    arrays = [*products(terms), problem.start, np.zeros((), problem.held)]
    total, lost = np.zeros((), problem.held), np.zeros((), problem.held)
    for array in arrays:
        more = array - lost
        larger = total + more
        lost = np.where(np.isfinite(larger), (larger - total) - more, problem.held.type(0))
        total = larger
    return total - lost


def dot2(problem: Problem, terms: Sequence[Term]) -> Array:
    """Ogita, Rump and Oishi: what products and sums lose is added up beside them, and to them in the end."""
    total, lost = problem.start, np.zeros((), problem.held)
    for term in terms:
        product = term.x * term.w
        larger = total + product
        taken = larger - total
        of_sum = (total - (larger - taken)) + (product - taken)
        more = of_sum + fma(term.x, term.w, -product)
        lost = lost + np.where(np.isfinite(more), more, problem.held.type(0))
        total = larger
    return total + np.where(np.isfinite(lost), lost, problem.held.type(0))


def compensated(problem: Problem, terms: Sequence[Term], kept: Callable[[Array], Array]) -> Array:
    total, lost = problem.start, np.zeros((), problem.held)
    for product in products(terms):
        more = product - lost
        larger = total + more
        lost = kept((larger - total) - more)
        total = larger
    return total


def wide(problem: Problem, terms: Sequence[Term]) -> Array:
    """In double, rounded to the type in the end; doubles as fractions."""
    if problem.held == np.float64:
        return exact(problem, terms)
    total = problem.start.astype(np.float64)
    for term in terms:
        total = total + term.x.astype(np.float64) * term.w.astype(np.float64)
    return total


def extended(problem: Problem, terms: Sequence[Term]) -> Array:
    """In the widest type that the processor has, which is at least double; rounded to the type in the end."""
    total = problem.start.astype(np.longdouble)
    for term in terms:
        total = total + term.x.astype(np.longdouble) * term.w.astype(np.longdouble)
    return total


def exact(problem: Problem, terms: Sequence[Term]) -> Array:
    """Rounded once. What is not finite, and the sign of a zero, is for plain sums to say."""
    total = np.array(np.broadcast_to(separate(problem, terms), problem.shape))
    form = FORMS[total.dtype]
    x, w = (_stacked([getattr(term, name) for term in terms], problem.shape) for name in ("x", "w"))
    start = np.broadcast_to(problem.start, problem.shape)
    finite = np.isfinite(start) & (np.isfinite(x) & np.isfinite(w)).all(axis=0)
    raw = total.view(form.raw)
    for place in zip(*np.nonzero(finite), strict=True):
        factors = zip(x[(slice(None), *place)].tolist(), w[(slice(None), *place)].tolist(), strict=True)
        value = _sum_of_products([(float(start[place]), 1.0), *factors])
        # A plain sum that overflows says nothing of a zero; what cancels is +0.
        zero = raw[place] & form.sign if total[place] == 0 else 0
        raw[place] = encoded(value, form) if value else zero
    return total


def _sum_of_products(factors: Sequence[tuple[float, float]]) -> Fraction:
    """Over the reals; in whole numbers of one denominator, because fractions are slow."""
    ratios = [(a.as_integer_ratio(), b.as_integer_ratio()) for a, b in factors]
    # All denominators are powers of two, so that the largest is a multiple of every other.
    unit = max(a * b for (_, a), (_, b) in ratios)
    return Fraction(sum(m * n * (unit // (a * b)) for (m, a), (n, b) in ratios), unit)


def _stacked(arrays: Sequence[Array], shape: tuple[int, ...]) -> Array:
    found = [np.broadcast_to(array, shape) for array in arrays]
    return np.stack(found) if found else np.zeros((0, *shape))


def multiplied(problem: Problem, terms: Sequence[Term]) -> Array:
    """A product of matrices, by whatever library NumPy was built with."""
    if not terms:
        return problem.start
    places = prod(problem.shape[2:])
    x = np.stack([term.x.reshape(*term.x.shape[:2], places) for term in terms], axis=2)
    w = np.stack([term.w.reshape(-1) for term in terms], axis=1)
    # Without groups all channels have the same elements, in depthwise convolutions each has its own.
    found = np.matmul(w, x[:, 0]) if problem.group == 1 else np.matmul(w[:, None], x)
    return found.reshape(problem.shape) + problem.start


FOLDS: dict[str, Fold] = {
    "separate": separate,
    "fused": fused,
    "reverse": reverse,
    **{f"disorder {seed}": disordered(seed) for seed in (1, 2, 3)},
    "bias last": bias_last,
    "first product first": first_product_first,
    "channels innermost": columns_first,
    "blocked by channels": blocked_by_channels,
    "blocked by kernel": blocked_by_kernel,
    "pairwise": pairwise,
    "kahan": kahan,
    "kahan, corrected": kahan_corrected,
    "dot2": dot2,
    "wide": wide,
    "extended": extended,
    "matrices": multiplied,
}
