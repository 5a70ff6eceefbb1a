"""The word `converted` by steps that C has: what each type is converted through, and floats kept in range.

A step names its type: `converted` of a term to a type, where C has a cast for it or the package a function.
Every step but the last is exact, or rounds to odd, so no element is rounded twice.
"""

import numpy as np

from sonnx.model.dtype import INTEGERS, UNSIGNED, DType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.rounding import FORMATS
from sonnx.terms.term import Sort, Term, Truth, make, truth
from sonnx.terms.walking import rebuilt
from sonnx.terms.words import is_nan, select, truncated

# Floats without a type in C: bits, which stand for floats.
BITS = (DType.FLOAT16, DType.BFLOAT16)
LONG = (DType.INT64, DType.UINT64)
# The bytes of integers that float holds.
SHORT = 2
# A double holds integers to 2^53, and all multiples of so many beyond.
EXACT, UNITS = 2**53, 2**11


def by_steps(term: Term, element: DType, result: DType) -> Term:
    """The tree in which every conversion of an element to the type of the result is made of steps.

    What becomes a bool becomes a truth, and a bool is read as one. Comparisons keep floats from a step to
    integers that do not hold them.
    """

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        terms = tuple(part for part in arguments if isinstance(part, Term))
        if each.word == "converted" and each.data is None:
            return _converted(terms[0], element, result)
        if not terms:
            return each
        return make(each.word, terms, each.data, terms[0].sort if each.word == "stated" else each.sort)

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # nothing gets decided
    return found


def step(x: Term, target: DType) -> Term:
    """One step to a type."""
    return make("converted", (x,), target)


def _converted(x: Term, source: DType, target: DType) -> Term:
    if source is target:
        return x
    if source is DType.BOOL:  # every byte but 0 is true
        return select(make(x.word, x.arguments, x.data, Sort.TRUTH), 1, 0)
    if source in BITS:
        x, source = step(x, DType.FLOAT), DType.FLOAT
    if source is target:
        return x
    if target is DType.BOOL:
        return truth(x != 0)  # a NaN equals nothing
    if target in INTEGERS:
        return _inside(x, source, target) if source in FORMATS else step(x, target)
    if target in BITS and source in INTEGERS:
        return _rounded(x, source, target)
    return step(x, target)


def _inside(x: Term, source: DType, target: DType) -> Term:
    """A float as an integer: its ends are powers of two, which floats hold, or one less than one."""
    info = np.iinfo(numpy_dtype(target))
    least, greatest = int(info.min), int(info.max)
    return select(
        is_nan(x), 0, select(x <= least, least, select(greatest + 1 <= x, greatest, step(x, target)))
    )


def _rounded(x: Term, source: DType, target: DType) -> Term:
    """An integer as a float of few bits: first as one that holds it, or in which it is as large as need be.

    Float holds every integer that float16 does not make an infinity.
    """
    if target is DType.FLOAT16 or numpy_dtype(source).itemsize <= SHORT:
        return step(step(x, DType.FLOAT), target)
    exact = step(step(x, DType.DOUBLE), target)
    if source not in LONG:
        return exact
    inside = x <= EXACT if source in UNSIGNED else (x >= -EXACT) & (x <= EXACT)
    return select(inside, exact, _from_long(x, source, target))


def _from_long(x: Term, source: DType, target: DType) -> Term:
    """A long integer without its last bits; if any is set, the middle one of them says that something was."""
    kept = truncated(x, 2 * UNITS) * (2 * UNITS)
    middle = kept + UNITS if source in UNSIGNED else select(x < 0, kept - UNITS, kept + UNITS)
    return step(step(select(x == kept, x, middle), DType.DOUBLE), target)
