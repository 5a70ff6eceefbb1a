"""Lifting to the real domain: exact, or refused."""

from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.loops import for_each

from sonnx.numeric.arrays import RealArray
from sonnx.numeric.real import real, real_text

pytestmark = pytest.mark.measured


class Level(IntEnum):
    HIGH = 3


@for_each(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        (-(10**30), Fraction(-(10**30))),
        (10**5000, Fraction(10**5000)),
        (2**63, Fraction(2**63)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(1, 2**1074)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-1E-7"), Fraction(-1, 10**7)),
        (Decimal("1E+40"), Fraction(10**40)),
        ("-6.1", Fraction(-61, 10)),
        ("1/3", Fraction(1, 3)),
        (" +2/4 ", Fraction(1, 2)),
        ("2.5e-3", Fraction(1, 400)),
        ("1E2", Fraction(100)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1_000", Fraction(1000)),
        ("1e100000", Fraction(10**100_000)),
        (np.float16(0.1), Fraction(819, 8192)),
        (np.float32(0.1), Fraction(13421773, 134217728)),
        (np.float64(0.5), Fraction(1, 2)),
        (ml_dtypes.bfloat16(0.1), Fraction(205, 2048)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Level.HIGH, Fraction(3)),
    ],
    ids=range(26),
)
def test_a_number_is_lifted_exactly_alone_and_in_a_list(value: Any, expected: Fraction) -> None:
    alone: Any = real(value)
    listed = real([[value], [value]])
    assert alone.shape == ()
    assert alone[()] == expected
    assert type(alone[()]) is Fraction
    assert isinstance(alone, RealArray)
    assert listed.shape == (2, 1)
    assert listed.tolist() == [[expected], [expected]]
    assert {type(element) for element in listed.flat} == {Fraction}


@pytest.mark.parametrize("held", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_arrays_of_floats_are_lifted_exactly(held: Any) -> None:
    # Sums of few powers of two, which every one of these types holds.
    values = [[0.0, 1.5, -0.75], [2.0**-14, 96.0, -1.0]]
    lifted = real(np.array(values, dtype=held))
    assert lifted.tolist() == [[0, Fraction(3, 2), Fraction(-3, 4)], [Fraction(1, 16384), 96, -1]]
    assert {type(element) for element in lifted.flat} == {Fraction}


@pytest.mark.parametrize("held", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
def test_arrays_of_integers_are_lifted_to_their_ends(held: str) -> None:
    info = np.iinfo(np.dtype(held))
    lifted = real(np.array([info.min, info.max, 7], dtype=held))
    assert lifted.tolist() == [info.min, info.max, 7]
    assert {type(element) for element in lifted.flat} == {Fraction}


def test_big_endian_floats_arrays_of_strings_and_reals_are_lifted() -> None:
    assert real(np.array([1.5, -2.0], dtype=">f4")).tolist() == [Fraction(3, 2), -2]
    assert real(np.array(["0.1", "1/3"])).tolist() == [Fraction(1, 10), Fraction(1, 3)]
    assert real(np.array(["0.1"], dtype=np.dtypes.StringDType())).tolist() == [Fraction(1, 10)]
    assert real(real(["0.1"])).tolist() == [Fraction(1, 10)]
    assert real(np.array([Fraction(1, 3), "0.5", 2, 0.25], dtype=object)).tolist() == [
        Fraction(1, 3),
        Fraction(1, 2),
        2,
        Fraction(1, 4),
    ]


def test_lists_of_arrays_tuples_and_mixed_numbers_are_lifted() -> None:
    assert real([np.array([1, 2]), np.array([0.5, 3.0])]).tolist() == [[1, 2], [Fraction(1, 2), 3]]
    assert real((1, "1/2", Decimal("0.25"), 0.125)).tolist() == [
        1,
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 8),
    ]


@pytest.mark.parametrize(
    ("values", "shape"), [([], (0,)), ([[], []], (2, 0)), (np.empty((0, 3), np.float32), (0, 3))]
)
def test_an_empty_array_stays_in_the_real_domain(values: Any, shape: tuple[int, ...]) -> None:
    assert real(values).shape == shape
    assert isinstance(real(values), RealArray)


def test_order_follows_the_indices_whatever_the_layout() -> None:
    grid = np.arange(6).reshape(2, 3)
    assert real(grid.T[::-1]).tolist() == [[2, 5], [1, 4], [0, 3]]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_lifting_a_double_loses_nothing(value: float) -> None:
    # float.as_integer_ratio is Python's own exact reading.
    assert real(value)[()] == Fraction(*value.as_integer_ratio())
    assert real([np.float64(value)])[0] == Fraction(*value.as_integer_ratio())


@for_each(
    "value",
    [
        float("nan"),
        float("inf"),
        -np.inf,
        np.float32("nan"),
        ml_dtypes.bfloat16("inf"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        Decimal("1E+999999999"),
        True,
        np.True_,
        1 + 2j,
        np.complex64(1),
        None,
        {"a": 1},
        b"1",
        np.bytes_(b"1"),
        np.longdouble("0.1"),
        np.datetime64("2020-01-01"),
        "abc",
        "",
        ".",
        "e5",
        "nan",
        "inf",
        "1/0",
        "1/",
        "1 / 3",
        "0.5/2",
        "1/-3",
        "0x10",
        "1__0",
        "1\0",
        "1e100001",
        "1e-100001",
        "1e999999999",
        "1e" + "9" * 5000,
        "1" * 5000,
        "1/" + "3" * 5000,
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_real_number_is_refused(value: Any) -> None:
    for given_as in (value, [value], [[1], [value]]):
        with pytest.raises(ValueError, match=r"^sonnx\.real: ") as caught:
            real(given_as)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "values",
    [
        [[1, 2], [3]],
        [1, [2]],
        np.array([True]),
        np.array([1j]),
        np.array([b"1"]),
        np.zeros(1, np.longdouble),
        np.zeros(1, "M8[s]"),
        np.array([1.0, np.nan]),
        np.ma.masked_array([1.0, 2.0], [False, True]),
        np.ma.masked_array([1.0, 2.0]),
        [np.ma.masked],
        np.array(["1", None], dtype=np.dtypes.StringDType(na_object=None)),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_ragged_lists_and_arrays_of_other_things_are_refused(values: Any) -> None:
    with pytest.raises(ValueError, match=r"^sonnx\.real: "):
        real(values)


def test_a_refusal_names_the_element_and_what_to_write() -> None:
    with pytest.raises(
        ValueError, match=r"element 1 is nan, which is no real number; the real domain has neither"
    ):
        real(np.array([1.0, np.nan]))
    with pytest.raises(
        ValueError, match=r"element 2 is 'x', which .* write for example '-6.1', '1/3' or '2.5e-3'"
    ):
        real(["1", "2", "x"])
    with pytest.raises(ValueError, match=r"element 0 is of type bool, which is no real number"):
        real([True])


def test_a_real_is_written_as_a_fraction_however_long() -> None:
    assert real_text(Fraction(-14, 6)) == "-7/3"
    assert real_text(Fraction(4, 2)) == "2"
    assert real_text(Fraction(10**5000, 3)) == f"1{'0' * 5000}/3"
