"""Concatenate: the operands one after the other along one dimension (D-XLA-2)."""

from collections.abc import Sequence

from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.term import Term
from sonnx.terms.tracing import tensorwise
from sonnx.terms.words import select


def concatenate(*operands: Given, dimension: int) -> Made:
    """Y[i, p, k] is the element at p of the operands joined: that of the first which ends behind p."""

    def at(*i: Term) -> Term:
        # What has no element along the dimension gives none; where nobody has one, nothing is asked for.
        *before, last = [X for X in operands if X.shape[dimension]] or operands[:1]
        end = sum(X.shape[dimension] for X in before)
        element = _read(last, i, dimension, end)
        for X in reversed(before):
            start = end - X.shape[dimension]
            element, end = select(i[dimension] < end, _read(X, i, dimension, start), element), start
        return element

    return tensor(joined_shape([X.shape for X in operands], dimension), at)


def _read(X: Given, i: tuple[Term, ...], dimension: int, start: int) -> Term:
    return X[(*i[:dimension], i[dimension] - start, *i[dimension + 1 :])]


def joined_shape(shapes: Sequence[tuple[int, ...]], dimension: int) -> tuple[int, ...]:
    """The sizes of the first; along the dimension, the sum of all."""
    total = sum(shape[dimension] for shape in shapes)
    return (*shapes[0][:dimension], total, *shapes[0][dimension + 1 :])


DEFINITION = tensorwise(concatenate)
