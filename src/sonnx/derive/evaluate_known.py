"""Trees for which there is a quicker way: known by what they look like, whatever operator they are of."""

from functools import lru_cache

from sonnx.terms.term import Term
from sonnx.terms.walking import parts, without_statements
from sonnx.terms.words import to_nearest


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
def rounded_of(term: Term) -> Term | None:
    """x where a term is the integer nearest to x."""
    inside = [each.arguments[0] for each in parts(term) if each.word == "rounded_down"]
    return next((x for x in inside if term is without_statements(to_nearest(x))), None)


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
