"""Trees for which there is a quicker way: known by what they look like, whatever operator they are of."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.limiting import larger, limited, smaller
from sonnx.terms.term import Term
from sonnx.terms.walking import parts, without_statements
from sonnx.terms.words import maximum, minimum, to_nearest


def quickly(
    term: Term, kind: DType, value: Callable[[Term], Array], out: Array | None = None
) -> Array | None:
    """The value of a tree for which NumPy has one function; None for all others.

    Where such a function has a choice, elements are decided by comparisons, or any NaN will do. `value`
    gives that of a tree inside, `out` is where the result belongs, if that is known.
    """
    if kind not in IEEE and kind not in INTEGERS:
        return None
    limits = limits_of(term) or literals_of(term)
    if limits is not None:
        x, low, high = map(value, limits)
        return None if low.ndim or high.ndim else limited(x, low, high, out)
    extreme = chosen_of(term) if kind in INTEGERS else extreme_of(term)
    if extreme is not None:
        function, a, b = extreme
        return function(value(a), value(b), out)
    nearest, up = rounded_of(term), rounded_up_of(term)
    if nearest is not None and kind in IEEE:
        return np.asarray(np.rint(value(nearest), out=out))
    if up is not None and kind in IEEE:
        return np.asarray(np.ceil(value(up), out=out))
    return None


@lru_cache(1024)
def is_one_operation(term: Term) -> bool:
    """Whether a term takes elements as they are, and makes something of them at once."""
    return term.word not in ("select", "named") and all(
        each.word in ("value", "literal") for each in term.arguments
    )


@lru_cache(1024)
def limits_of(term: Term) -> tuple[Term, Term, Term] | None:
    """x, low and high where a term is select(high < y, high, y) with select(x < low, low, x) for y."""
    found = _replacing(term)
    below = None if found is None or found[0] is not found[1].arguments[0] else _replacing(found[2])
    if found is None or below is None or below[0] is not below[1].arguments[1]:
        return None
    return below[2], below[0], found[0]


@lru_cache(1024)
def literals_of(term: Term) -> tuple[Term, Term, Term] | None:
    """The same where a term is select(x < low, low, select(high < x, high, x)), with literals in order.

    What is below the one is not above the other, so that it does not matter which is asked first.
    """
    above = _replacing(term.arguments[2]) if term.word == "select" else None
    if above is None:
        return None
    (less, low, _), (high, more, x) = term.arguments, above
    is_so = less.word == "less" and less.arguments[0] is x and less.arguments[1] is low
    ordered = _is_number(low) and _is_number(high) and low.data <= high.data
    return (x, low, high) if is_so and ordered and more.arguments[0] is high else None


@lru_cache(1024)
def rounded_of(term: Term) -> Term | None:
    """x where a term is the integer nearest to x."""
    inside = [each.arguments[0] for each in parts(term) if each.word == "rounded_down"]
    return next((x for x in inside if term is without_statements(to_nearest(x))), None)


@lru_cache(1024)
def rounded_up_of(term: Term) -> Term | None:
    """x where a term is the opposite of the opposite of x rounded down."""
    if term.word == "negate" and term.arguments[0].word == "rounded_down":
        (inside,) = term.arguments[0].arguments
        return inside.arguments[0] if inside.word == "negate" else None
    return None


Extreme = tuple[Callable[[Array, Array, Array | None], Array], Term, Term]


@lru_cache(1024)
def extreme_of(term: Term) -> Extreme | None:
    """The function, a and b where a term is the larger or the smaller one of them."""
    if term.word != "named" or len(term.arguments) != len("ab"):
        return None
    a, b = term.arguments
    return next(((function, a, b) for function, word in _EXTREMES if term is word(a, b)), None)


@lru_cache(1024)
def chosen_of(term: Term) -> Extreme | None:
    """The same where a term is select(a < b, ...) of both; of integers, of which equal ones are one."""
    if term.word != "select" or term.arguments[0].word != "less":
        return None
    condition, chosen, otherwise = term.arguments
    a, b = condition.arguments
    if chosen is a and otherwise is b:
        return smaller, a, b
    return (larger, a, b) if chosen is b and otherwise is a else None


_EXTREMES = ((larger, maximum), (smaller, minimum))


@lru_cache(1024)
def unlike_of(term: Term) -> tuple[Term, Term] | None:
    """a and b where a term is (a & ~b) | (~a & b)."""
    first, second = term.arguments
    if first.word == second.word == "both":
        (a, not_b), (not_a, b) = first.arguments, second.arguments
        if not_a.word == not_b.word == "opposite" and not_a.arguments[0] is a and not_b.arguments[0] is b:
            return a, b
    return None


def _replacing(term: Term) -> tuple[Term, Term, Term] | None:
    """bound, condition and x where a term is select(condition, bound, x) and compares these two by `<`."""
    if term.word != "select":
        return None
    condition, bound, x = term.arguments
    if condition.word != "less" or {*condition.arguments} != {bound, x}:
        return None
    return bound, condition, x


def _is_number(term: Term) -> bool:
    return term.word == "literal" and isinstance(term.data, Fraction)
