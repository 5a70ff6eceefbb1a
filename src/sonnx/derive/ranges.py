"""What is known of indices before anything runs: between which numbers they lie, and what follows."""

from collections.abc import Mapping
from itertools import product

from sonnx.terms.term import Sort, Term, Truth, lift, make
from sonnx.terms.walking import parts, rebuilt

# The least and the greatest number that an index can be.
Range = tuple[int, int]
Ranges = Mapping[str, Range]

_CALCULATE = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor": lambda a, b: a // b,
}
_INDEX = frozenset((*_CALCULATE, "remainder"))


def range_of(term: Term, ranges: Ranges) -> Range:
    """Between which numbers an index lies; perhaps not all between are met."""
    found: dict[Term, Range] = {}
    for each in parts(term):
        found[each] = _range(each, [found[argument] for argument in each.arguments], ranges)
    return found[term]


def _range(term: Term, arguments: list[Range], ranges: Ranges) -> Range:
    if term.word == "whole":
        return term.data, term.data
    if term.word == "index":
        return ranges[term.data]
    a, b = arguments
    if term.word == "remainder":
        low, high = a
        size = b[0]  # a divisor is a number that is known
        return (low % size, high % size) if low // size == high // size else (0, size - 1)
    ends = [_CALCULATE[term.word](x, y) for x, y in product(a, b)]
    return min(ends), max(ends)


def without_empty(term: Term, sizes: Mapping[str, int]) -> Term:
    """The same without reads of operands that have no element: they stand where nothing is asked for.

    `sizes` counts elements by operand; any number will do in their place.
    """

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        terms = tuple(argument for argument in arguments if isinstance(argument, Term))
        if each.word in ("read", "read_flat") and not sizes[each.data]:
            return lift(0)
        return make(each.word, terms, each.data, each.sort) if terms else each

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # nothing gets decided
    return found


def simplified(term: Term, ranges: Ranges) -> Term:
    """The same element by fewer questions: what indices decide is decided, and one of a single value is it.

    `ranges` has the indices of the result, to which those of folds are added. Axes on which a fold makes one
    step lose their index, and a fold without steps is its start.
    """
    known = {**ranges, **fold_ranges(term)}

    def change(each: Term, arguments: tuple[Truth, ...]) -> Truth:
        terms = tuple(argument for argument in arguments if isinstance(argument, Term))
        match each.word:
            case "index" if known[each.data][0] == known[each.data][1]:
                return lift(known[each.data][0], Sort.INDEX)
            case "less" | "less_equal" | "equal" if each.arguments[0].sort is Sort.INDEX:
                return _compared(each, terms, known)
            case "fold":
                return _fold(each, *terms)
        if each.sort is Sort.INDEX and each.word in _INDEX:
            return _index(each.word, *terms)
        return followed(each, arguments)

    found = rebuilt(term, change)
    assert isinstance(found, Term)  # an element, or a truth that elements decide
    return found


def followed(each: Term, arguments: tuple[Truth, ...]) -> Truth:
    """The same word with other arguments, of which conditions may be decided."""
    match each.word:
        case "opposite":
            return not arguments[0] if isinstance(arguments[0], bool) else ~arguments[0]
        case "both":
            return arguments[0] & arguments[1]
        case "either":
            return arguments[0] | arguments[1]
        case "select" if isinstance(arguments[0], bool):
            return arguments[1] if arguments[0] else arguments[2]
    terms = tuple(argument for argument in arguments if isinstance(argument, Term))
    return make(each.word, terms, each.data, each.sort) if terms else each


def fold_ranges(term: Term) -> dict[str, Range]:
    """The indices of all folds; one that makes no step is asked for nothing."""
    found: dict[str, Range] = {}
    for each in parts(term):
        if each.word == "fold":
            counts, _, names = each.data
            found |= {name: (0, max(count - 1, 0)) for name, count in zip(names, counts, strict=True)}
    return found


def _index(word: str, a: Term, b: Term) -> Term:
    match word:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "floor":
            return a // b
        case _:
            return a % b


def _compared(each: Term, arguments: tuple[Term, ...], ranges: Ranges) -> Truth:
    a, b = arguments
    (low, high), (least, most) = range_of(a, ranges), range_of(b, ranges)
    if each.word == "equal":
        if high < least or most < low:
            return False
        return True if low == high == least == most else a == b
    if each.word == "less":
        return True if high < least else False if low >= most else a < b
    return True if high <= least else False if low > most else a <= b


def _fold(each: Term, start: Term, step: Term) -> Term:
    counts, running, names = each.data
    if 0 in counts:
        return start
    kept = [(count, name) for count, name in zip(counts, names, strict=True) if count > 1]
    if kept:
        sizes, left = zip(*kept, strict=True)
        return make("fold", (start, step), (sizes, running, left))

    def once(part: Term, arguments: tuple[Truth, ...]) -> Truth:
        terms = tuple(argument for argument in arguments if isinstance(argument, Term))
        if part.word == "carried" and part.data == running:
            return start
        return make(part.word, terms, part.data, part.sort) if terms else part

    found = rebuilt(step, once)
    assert isinstance(found, Term)  # nothing gets decided
    return found
