"""What broadcasting means, for all operators that repeat elements."""

from collections.abc import Sequence

from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.term import Term


def repeated(X: Given, shape: Sequence[int]) -> Made:
    """X repeated to a shape whose last axes are its own: along an axis of size 1 its one element is read."""
    before = len(shape) - X.rank

    def at(*i: Term) -> Term:
        return X[tuple(0 if size == 1 else index for size, index in zip(X.shape, i[before:], strict=True))]

    return tensor(shape, at)
