"""Literals of definitions in an element type: one rounding, to nearest even."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sonnx.derive.literals import literal
from sonnx.model.dtype import DType
from sonnx.terms.term import DefinitionError, lift
from sonnx.terms.words import LOWEST

pytestmark = pytest.mark.measured


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [
        # A third has the significand 1.0101…; its last place is rounded up in float and down in float16.
        (Fraction(1, 3), DType.FLOAT, 0x3EAAAAAB),
        (Fraction(1, 3), DType.FLOAT16, 0x3555),
        (Fraction(1, 3), DType.DOUBLE, 0x3FD5555555555555),
        (Fraction(2049), DType.FLOAT16, 0x6800),  # a tie between 2048 and 2050
        (Fraction(10) ** 6, DType.FLOAT16, 0x7C00),
        (math.inf, DType.FLOAT, 0x7F800000),
        (-math.inf, DType.FLOAT, 0xFF800000),
        (math.nan, DType.FLOAT, 0x7FC00000),
        (0, DType.FLOAT, 0),
    ],
)
def test_a_literal_is_rounded_once(value: Fraction | float, dtype: DType, bits: int) -> None:
    found = literal(lift(value), dtype)
    assert (found.shape, int(found.view(f"u{found.itemsize}"))) == ((), bits)


def test_reals_and_integers_hold_literals_as_they_are() -> None:
    assert literal(lift(Fraction(1, 3)), DType.REAL)[()] == Fraction(1, 3)
    assert literal(lift(-3), DType.INT8)[()] == np.int8(-3)


def test_the_least_element_is_minus_infinity_or_the_smallest_integer() -> None:
    assert literal(LOWEST, DType.FLOAT)[()] == -np.inf
    assert literal(LOWEST, DType.INT16)[()] == -(2**15)
    assert literal(LOWEST, DType.UINT8)[()] == 0


@pytest.mark.parametrize(
    ("term", "dtype"),
    [
        (lift(Fraction(1, 2)), DType.INT8),
        (lift(math.inf), DType.INT8),
        (lift(math.nan), DType.REAL),
        (lift(1), DType.STRING),
        (LOWEST, DType.REAL),
    ],
)
def test_what_a_type_does_not_have_is_refused(term: object, dtype: DType) -> None:
    with pytest.raises(DefinitionError):
        literal(term, dtype)  # type: ignore[arg-type]  # terms all
