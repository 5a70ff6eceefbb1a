"""How long exact numbers become: bounds on a result's fractions, read off the definition."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from sonnx.derive.tracing import traced
from sonnx.derive.walking import methods
from sonnx.numeric.lengths import OF_INTEGERS, OF_ONES, Lengths, moved, summed
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.walking import calculates, without_names, without_nans
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator

_ZEROS = Lengths()
# More bits than anything that is calculated: of quotients nobody knows a common denominator.
_UNKNOWN = 2**60


def lengths(operator: Operator, call: Call, given: Mapping[str, Lengths]) -> Lengths:
    """What holds for the results of a call that obeys every rule, given that of its real operands by name."""
    found = traced(operator, call.inputs, call.attributes, call.constants)
    walk = _Walk(given)
    return moved([walk(without_nans(without_names(made.term))) for made in found.made])


@dataclass(frozen=True)
class _Walk:
    """Bounds the numbers that a term stands for."""

    given: Mapping[str, Lengths]

    def __call__(self, term: Term) -> Lengths:
        if term.sort is Sort.TRUTH:
            return OF_INTEGERS
        found: Lengths = _WORDS[term.word](self, term)
        return found

    def _literal(self, term: Term) -> Lengths:
        top, bottom = abs(term.data.numerator), term.data.denominator
        twos = (bottom & -bottom).bit_length() - 1
        odd = (bottom >> twos).bit_length() if bottom >> twos > 1 else 0
        magnitude = max(top.bit_length() - bottom.bit_length() + 1, 0)
        return Lengths(magnitude, twos, odd, odd, top.bit_length() + bottom.bit_length())

    def _read(self, term: Term) -> Lengths:
        # What is no real number yet is an integer or a truth value.
        return self.given.get(term.data, OF_INTEGERS)

    _read_flat = _read

    def _carried(self, _term: Term) -> Lengths:
        return _ZEROS  # what a fold begins with is counted by the fold

    def _same(self, term: Term) -> Lengths:
        return self(term.arguments[0])

    def _left_over(self, term: Term) -> Lengths:
        """The dividend less a multiple of the divisor, over both denominators; it is as small as either."""
        a, b = map(self, term.arguments)
        found, magnitude = summed(a, OF_ONES, b, 1), min(a.magnitude, b.magnitude)
        return replace(found, magnitude=magnitude, longest=magnitude + 2 * (found.twos + found.odd) + 2)

    # A root that is no fraction has no length, one that is has half of it; of an enclosure nothing grows.
    def _rounded_down(self, term: Term) -> Lengths:
        """An integer: at most one further from 0 than the number."""
        magnitude = self(term.arguments[0]).magnitude + 1
        return Lengths(magnitude, longest=magnitude + 2)

    _stated = _converted = _wide = _narrow = _negate = _absolute = _root = _same

    def _select(self, term: Term) -> Lengths:
        return moved(map(self, term.arguments[1:]))

    def _add(self, term: Term) -> Lengths:
        a, b = map(self, term.arguments)
        return summed(a, OF_ONES, b, 1)

    _subtract = _add

    def _multiply(self, term: Term) -> Lengths:
        a, b = map(self, term.arguments)
        return summed(a, b, _ZEROS, 1)

    def _divide(self, term: Term) -> Lengths:
        """A divisor is at least one over its denominator, and its numerator goes into the denominator."""
        a, b = map(self, term.arguments)
        top = b.magnitude + b.twos + b.odd
        magnitude, twos, odd = a.magnitude + b.twos + b.odd, a.twos + top, a.odd + top
        return Lengths(magnitude, twos, odd, _UNKNOWN, magnitude + 2 * (twos + odd) + 2)

    def _plus_product(self, term: Term) -> Lengths:
        total, a, b = map(self, term.arguments)
        return summed(a, b, total, 1)

    def _fold(self, term: Term) -> Lengths:
        """Of sums and of sums of products, as a whole; of anything else only what stays as it is."""
        start, step = term.arguments
        first, terms = self(start), prod(term.data[0])
        if step.word == "plus_product" and step.arguments[0].word == "carried":
            return summed(self(step.arguments[1]), self(step.arguments[2]), first, terms)
        if step.word == "add" and step.arguments[0].word == "carried":
            return summed(self(step.arguments[1]), OF_ONES, first, terms)
        if not calculates(step):  # every element is one of those that there are
            return moved((first, self(step)))
        raise DefinitionError("nothing bounds how long the exact numbers of this fold become")


_WORDS = methods(_Walk)
