"""Ways through terms that all walks need: in order, with parts replaced, without names, without NaNs."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache

from sonnx.terms.term import Sort, Term, Truth, condition, make
from sonnx.terms.words import Named

# Words that calculate: a NaN they give is any NaN (D-ALL-4).
_CALCULATING = frozenset(
    (
        "add",
        "subtract",
        "multiply",
        "divide",
        "root",
        "truncated",
        "left_over",
        "rounded_down",
        "bits_and",
        "bits_or",
        "bits_xor",
        "bits_not",
        "shifted_left",
        "shifted_right",
        "plus_product",
        "converted",
        "narrow",
    )
)
_COMPARING = frozenset(("less", "less_equal", "equal"))
# What types without NaN and without signs of zeros never are.
_SPECIAL = frozenset(("is_nan", "is_minus_zero"))


def parts(term: Term) -> Iterator[Term]:
    """All terms of a tree once, arguments before what uses them; bodies of named words are left out."""
    seen: set[int] = set()
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        each, ready = waiting.pop()
        if ready:
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            waiting.append((each, True))
            waiting += [(argument, False) for argument in reversed(each.arguments)]


def rebuilt(term: Term, change: Callable[[Term, tuple[Truth, ...]], Truth]) -> Truth:
    """The tree in which every term is what `change` makes of it and of its changed arguments."""
    made: dict[Term, Truth] = {}
    for each in parts(term):
        made[each] = change(each, tuple(made[argument] for argument in each.arguments))
    return made[term]


def _same(term: Term, arguments: tuple[Truth, ...]) -> Term:
    """The same word with other arguments, none of which may be decided."""
    terms = tuple(each for each in arguments if isinstance(each, Term))
    assert len(terms) == len(arguments)  # a decided condition is left out by whoever decides it
    return make(term.word, terms, term.data, term.sort) if terms else term


def substituted(term: Term, values: Mapping[str, Term]) -> Term:
    """The tree with other terms for its values, by name."""

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        return values.get(each.data, each) if each.word == "value" else _same(each, arguments)

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # values are replaced by terms, so nothing gets decided
    return found


@lru_cache(1024)
def without_names(term: Term) -> Term:
    """The tree with the bodies of named words in their places."""

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        if each.word != "named":
            return _same(each, arguments)
        said: Named = each.data
        given = {
            name: made
            for name, made in zip(said.parameters, arguments, strict=True)
            if isinstance(made, Term)
        }
        return substituted(without_names(said.body), given)

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # (same)
    return found


def without_statements(term: Term) -> Term:
    """The tree without the rulings and sentences of its branches, for whoever wants values alone."""

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        return arguments[0] if each.word == "stated" else _same(each, arguments)

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # nothing gets decided
    return found


@lru_cache(1024)
def without_nans(term: Term, *, named: bool = False, signed: bool = True) -> Term:
    """The tree for a type that has no NaN: what asks for one is decided, and so is what hangs on that alone.

    Such types have no -0 and no infinity either, and nothing below zero if not `signed`. Named words are kept
    where their bodies ask for none of it; `named` keeps all.
    """

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        decided = None if signed or each is term else _of_unsigned(each)
        if decided is not None:
            return decided
        match each.word:
            case "is_nan" | "is_minus_zero":
                return False
            case "opposite":
                (a,) = arguments
                return not a if isinstance(a, bool) else ~a
            case "both":
                a, b = arguments
                return a & b
            case "either":
                a, b = arguments
                return a | b
            case "equal" if any(map(_is_endless, each.arguments)):
                return False
            case "stated" if isinstance(arguments[0], bool):
                return make("stated", (condition(arguments[0]),), each.data, each.sort)
            case "select" if isinstance(arguments[0], bool):
                return arguments[1] if arguments[0] else arguments[2]
            case "named" if not named and any(
                part.word in _SPECIAL for part in parts(without_names(each.data.body))
            ):
                said: Named = each.data
                given = {
                    n: made
                    for n, made in zip(said.parameters, arguments, strict=True)
                    if isinstance(made, Term)
                }
                return substituted(without_nans(said.body, signed=signed), given)
        return _same(each, arguments)

    found = rebuilt(term, change)
    return condition(found) if isinstance(found, bool) else found


def _is_endless(term: Term) -> bool:
    return term.word == "literal" and term.data in ("inf", "-inf", "nan")


def _of_unsigned(comparison: Term) -> bool | None:
    """What a comparison with a literal gives where no element is below zero; None where that depends."""
    if comparison.word not in _COMPARING:
        return None
    a, b = (_literal(each) for each in comparison.arguments)
    if comparison.word == "equal":
        return False if min(a, b) < 0 else None
    with_equal = comparison.word == "less_equal"
    if b < 0 or (b == 0 and not with_equal):
        return False
    return True if a < 0 or (a == 0 and with_equal) else None


def _literal(term: Term) -> Fraction:
    """The number that a term always is; one like any other where it may be several."""
    return term.data if term.word == "literal" and isinstance(term.data, Fraction) else Fraction(1)


def calculates(term: Term) -> bool:
    """Whether a NaN that comes out may be one that was calculated, so that any NaN will do (D-ALL-4)."""
    return any(
        each.data.calculates
        if each.word == "named"
        else each.sort is Sort.NUMBER and each.word in _CALCULATING
        for each in parts(term)
    )


def compares(term: Term) -> bool:
    """Whether elements are compared or calculated with, so that the processor's arithmetic matters."""
    return any(
        (each.word in _COMPARING and each.arguments[0].sort is Sort.NUMBER)
        or each.word in _SPECIAL
        or each.word == "named"
        for each in parts(term)
    ) or calculates(term)


@lru_cache(1024)
def asks_indices(condition: Term) -> bool:
    """Whether a condition asks for indices: what it guards may lie outside a tensor elsewhere."""
    return any(each.sort is Sort.INDEX for each in parts(condition))
