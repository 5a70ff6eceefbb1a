"""Trees over exact rationals, one element at a time: what error bounds are measured against."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from sonnx.terms.term import Term

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "left_over": lambda a, b: a - b * int(a / b),
    "negate": lambda a: -a,
    "absolute": abs,
    "wide": lambda a: a,
    "narrow": lambda a: a,
    "stated": lambda a: a,
    "plus_product": lambda s, a, b: s + a * b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "is_nan": lambda a: False,
    "is_minus_zero": lambda a: False,
    "both": lambda a, b: a and b,
    "either": lambda a, b: a or b,
    "opposite": lambda a: not a,
}


def exact(term: Term, known: Mapping[str, Any]) -> Any:
    """The value of a tree; `known` are the values, tensors, indices and running values by name."""
    match term.word:
        case "literal":
            return term.data
        case "whole" | "decided":
            return term.data
        case "value" | "index" | "carried":
            return known[term.data]
        case "read":
            return known[term.data][tuple(exact(each, known) for each in term.arguments)]
        case "select":
            condition, a, b = term.arguments
            return exact(a if exact(condition, known) else b, known)
        case "named":
            given = [exact(each, known) for each in term.arguments]
            return exact(term.data.body, dict(zip(term.data.parameters, given, strict=True)))
        case "fold":
            counts, running, names = term.data
            total = exact(term.arguments[0], known)
            for at in product(*map(range, counts)):
                here = {**known, running: total, **dict(zip(names, at, strict=True))}
                total = exact(term.arguments[1], here)
            return total
    return OPERATIONS[term.word](*(exact(each, known) for each in term.arguments))


def root_within(number: Fraction, error: Fraction, square: Fraction) -> bool:
    """Tell whether a square root lies so near to a number."""
    low, high = number - error, number + error
    return high >= 0 and square <= high * high and (low <= 0 or low * low <= square)
