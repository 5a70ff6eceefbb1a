"""Clip by cases, in the order of the document; comparisons with a NaN are false, so it does not bound."""

from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, is_nan, otherwise, select, when


def clip(input: Term, min: Term, max: Term) -> Term:
    """Comparisons alone decide; zeros of either sign are equal (D-CLIP-2)."""
    return cases(
        when(
            is_nan(input),
            input,
            "D-CLIP-1",
            "A NaN input stays that NaN, bit for bit, whatever the bounds are.",
        ),
        when(max < min, max, "D-CLIP-1", "Where min is above max, the output is max."),
        when(input < min, min, "D-CLIP-5", "An input below min becomes min, bit for bit."),
        when(input > max, max, "D-CLIP-5", "An input above max becomes max, bit for bit."),
        otherwise(input, "D-CLIP-5", "An input inside the bounds stays, bit for bit."),
    )


def by_two_comparisons(input: Term, min: Term, max: Term) -> Term:
    """The same: where min is above max, nothing is below min after the first, so the second gives max."""
    above = select(input < min, min, input)
    return select(max < above, max, above)


DEFINITION = elementwise(clip, executed=by_two_comparisons)
