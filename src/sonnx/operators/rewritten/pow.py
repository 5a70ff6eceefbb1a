"""Pow with the constant exponent 2 is Mul of the base with itself, bit for bit (D-POW)."""

from collections.abc import Sequence

from sonnx.model.dtype import IEEE, INTEGERS
from sonnx.operators.rules.broadcasting import broadcast_shape
from sonnx.vocabulary.rewriting import Known, Rewriting, Shape, Substitute


def _square(inputs: Sequence[Known]) -> Substitute | None:
    if len(inputs) != 2 or not _is_two(inputs[1]):
        return None
    X, Y = (each.type for each in inputs)
    if X.sparse:
        return None
    if X.sizes is not None and Y.sizes is not None:
        common = broadcast_shape([X.sizes, Y.sizes])
        grows = common is not None and common != X.sizes
        return None if common is None else _times_itself(common if grows else None)
    # Exponents of one element and of no more axes than X leave its shape as it is, whatever that is.
    axes = -1 if X.shape is None else len(X.shape)
    alone = Y.sizes is not None and all(size == 1 for size in Y.sizes)
    return _times_itself() if alone and len(Y.sizes or ()) <= max(axes, 0) else None


def _times_itself(shape: Shape | None = None) -> Substitute:
    return Substitute("Mul", (0, 0), shape)


def _is_two(exponent: Known) -> bool:
    """Every element is 2, of any type of numbers: the power has the type of the base."""
    if exponent.elements is None or exponent.type.dtype not in (*IEEE, *INTEGERS):
        return False
    return bool(exponent.elements.size and (exponent.elements == 2).all())


REWRITING = Rewriting(
    "Pow",
    _square,
    when="the exponent is a constant whose elements are all 2, of any type of numbers",
    written="Mul(X, X)",
    why="the exponent is the constant 2, and D-POW rounds the square once, as Mul does: the same bits of "
    "every element, of zeros, infinities and integers that wrap too",
    advice="where the exponent is the constant 2, `sonnx normalize` writes Mul(X, X); other powers are not "
    "in the profile yet: while the model needs one, it cannot conform",
    ruling="D-POW",
    oldest=7,
)
