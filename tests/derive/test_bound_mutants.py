"""Bounds where operands are off themselves: at the ends of where these may lie; wrong bounds are noticed."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.derive import test_bound_walk as bounding
from tests.derive.exact_terms import OPERATIONS as EXACT
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import bound as walk
from sonnx.derive.bound import Near, bounds, exactly
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.terms.tensors import Given, Made, fold, tensor
from sonnx.terms.tracing import elementwise, trace
from sonnx.terms.words import converted, left_over, narrow, plus_product, root, wide

pytestmark = pytest.mark.measured

OFF = [(Fraction(a), Fraction(b)) for a, b in ((0, 1), (3, 2), (-5, "1/8"), ("7/4", "7/8"), (1, 0), (40, 38))]


def near(pairs: Sequence[tuple[Fraction, Fraction]], dtype: DType) -> Near:
    values, errors = zip(*pairs, strict=True)
    return Near(np.array(values, float).astype(numpy_dtype(dtype)), np.array(errors, float))


def of_near(meant: Callable[..., Any], dtype: DType, *operands: Near, **said: Any) -> Near:
    names = "xyz"[: len(operands)]
    given = dict(zip(names, operands, strict=True))
    found = bounding.traced(meant, {name: each.value for name, each in given.items()})
    return bounds(found, given, dtype, **said)[0]


@pytest.mark.parametrize("dtype", bounding.FLOATS)
def test_a_word_is_as_far_off_as_the_ends_of_its_operands(dtype: DType) -> None:
    """Each word grows or falls with an operand, so it is farthest off where operands are at their ends."""
    a, b = zip(*product(OFF, OFF), strict=True)
    meant: Mapping[str, Callable[..., Any]] = {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "plus_product": lambda x, y: narrow(plus_product(wide(y), wide(x), wide(y))),
        "negate": lambda x, y: -x,
    }
    for word, function in meant.items():
        with np.errstate(all="ignore"):
            found = of_near(function, dtype, near(a, dtype), near(b, dtype))
        of = EXACT[word]
        for place, ((x, dx), (y, dy)) in enumerate(zip(a, b, strict=True)):
            ends: Any = product((x - dx, x + dx), (y - dy, y + dy))
            if word == "divide" and y - dy <= 0 <= y + dy:
                assert found.error[place] == np.inf
                continue
            if word == "plus_product":
                ends = (
                    (s, A, B)
                    for (A, s), B in product(product((x - dx, x + dx), (y - dy, y + dy)), (y - dy, y + dy))
                )
            got, error = (Fraction(float(each[place])) for each in (found.value, found.error))
            worst = max(abs(got - of(*(at[:1] if word == "negate" else at))) for at in ends)
            # What is lost beyond that is one rounding or two.
            assert worst <= error <= worst * Fraction(5, 4) + abs(got) * Fraction(1, 32), (word, place)


def test_bounds_of_roots_and_bounds_themselves_are_rounded_up() -> None:
    # Between 1 and 7 lies what 4 may be, so its root is at least 1 and at most 2.65.
    found = of_near(root, DType.FLOAT, near([(Fraction(4), Fraction(3))], DType.FLOAT))
    assert 1 <= found.error[0] <= 1.6
    below = of_near(root, DType.FLOAT, near([(Fraction(1, 4), Fraction(1, 2))], DType.FLOAT))
    assert below.error.tolist() == [np.inf]
    tiny = near([(Fraction(0), Fraction(1, 2**60))], DType.FLOAT)
    one = near([(Fraction(0), Fraction(1))], DType.FLOAT)
    assert Fraction(of_near(lambda x, y: x + y, DType.FLOAT, one, tiny).error[0]) >= 1 + Fraction(1, 2**60)
    third = near([(Fraction(3), Fraction(1))], DType.DOUBLE)
    assert Fraction(of_near(lambda x: 0.1 * x - 0.1 * x, DType.DOUBLE, third).error[0]) >= Fraction(0.1) * 2


def left(x: Any, y: Any) -> Any:
    return left_over(x, y)


def test_what_is_left_over_is_exact_or_has_no_bound() -> None:
    x, y = ([(Fraction(each), Fraction(0)) for each in many] for many in ((-7, 5, 6, 1), (4, 3, "1/4", 0)))
    for order, least in (("specified", 0), ("flushing", 2.0**-126)):
        found = of_near(left, DType.FLOAT, near(x, DType.FLOAT), near(y, DType.FLOAT), order=order)
        assert found.value.tolist()[:3] == [-3, 2, 0]
        assert found.error.tolist() == [0, 0, 0, np.inf], least
        tiny = of_near(
            lambda x: left_over(x, 3), DType.FLOAT, exactly(np.array([2.0**-130], np.float32)), order=order
        )
        assert tiny.error.tolist() == [2.0**-130 if least else 0]
    # 4 or what lies near it leaves 0 or nearly 2 by 2, or by what lies near 2.
    off = near([(Fraction(4), Fraction(1, 8))], DType.FLOAT)
    two = near([(Fraction(2), Fraction(0))], DType.FLOAT)
    for first, second in ((off, two), (two, off)):
        assert of_near(left, DType.FLOAT, first, second).error.tolist() == [np.inf]


def test_both_operands_make_a_comparison_doubtful() -> None:
    a, b = (
        near([(Fraction(1), Fraction(1, 4))], DType.FLOAT),
        near([(Fraction(2), Fraction(7, 8))], DType.FLOAT),
    )
    for first, second in ((a, b), (b, a)):
        assert of_near(lambda x, y: x < y, DType.FLOAT, first, second).error.tolist() == [1]
    # 2 less 7/8 is above 1; what touches may be equal.
    assert of_near(lambda x, y: x <= y, DType.FLOAT, exactly(a.value), b).error.tolist() == [0]
    touching = near([(Fraction(2), Fraction(1))], DType.FLOAT)
    assert of_near(lambda x, y: x == y, DType.FLOAT, exactly(a.value), touching).error.tolist() == [1]
    # A truth in doubt decides nothing, whatever stands beside it.
    for meant in (lambda x, y: (x < y) | (y < 0), lambda x, y: ~(x < y) & (y > 0)):
        assert of_near(meant, DType.FLOAT, a, b).error.tolist() == [1]


def test_each_sum_of_ones_and_of_half_steps_is_off_by_all_that_it_lost() -> None:
    """1 + u is a tie and goes back to 1, each of forty times: what is lost is 40·u."""

    def total(x: Given) -> Made:
        return tensor((), lambda: fold(x.shape, 1, lambda s, k: s + x[k]))

    x = np.full(40, 2.0**-24, np.float32)
    for order in bounding.ORDERS:
        found = bounding.of_arrays(total, {"x": x}, order)[0]
        assert found.value == 1
        assert 40 * 2.0**-24 <= found.error <= 80 * 2.0**-24


def test_a_type_holds_another_where_it_has_its_digits_and_its_least_numbers() -> None:
    def off(array: Array, into: DType) -> float:
        found = trace(elementwise(converted), {"x": Given("x", array.shape)}, {})
        return float(bounds(found, {"x": exactly(array)}, held_type(array), into=[into])[0].error[0])

    tiny = np.array([2.0**-30], numpy_dtype(DType.BFLOAT16))
    assert off(tiny, DType.FLOAT16) >= 2.0**-30  # below half of its smallest number: it becomes 0
    assert off(tiny, DType.FLOAT) == 0
    assert off(np.array([255], np.uint8), DType.BFLOAT16) == 0
    assert off(np.array([257], np.int16), DType.BFLOAT16) >= 1
    assert off(np.array([2**31 - 1], np.int32), DType.FLOAT) >= 1


# --- wrong bounds -------------------------------------------------------------------------------------------


def words() -> None:
    for dtype in (DType.BFLOAT16, DType.FLOAT):
        test_a_word_is_as_far_off_as_the_ends_of_its_operands(dtype)


def folds() -> None:
    bounding.test_a_fold_that_may_overflow_in_another_order_has_no_bound()
    bounding.test_every_sum_of_a_fold_may_be_flushed()
    test_each_sum_of_ones_and_of_half_steps_is_off_by_all_that_it_lost()


ROOTS, TRUTHS = (
    test_bounds_of_roots_and_bounds_themselves_are_rounded_up,
    test_both_operands_make_a_comparison_doubtful,
)
STEPS, NONE = (
    bounding.test_one_operation_is_off_by_half_a_step,
    bounding.test_what_is_no_finite_number_has_no_bound,
)
CHOSEN, WHOLE = (
    bounding.test_a_comparison_that_may_go_either_way_counts_both,
    bounding.test_integers_are_exact_unless_they_wrap,
)
LEFT = test_what_is_left_over_is_exact_or_has_no_bound
HELD = test_a_type_holds_another_where_it_has_its_digits_and_its_least_numbers
LITERALS, WALK = bounding.test_a_literal_is_as_far_off_as_it_was_rounded, walk._Walk
MUTANTS = {
    "what both operands are off": Mutant(
        WALK._product_error, "_times(a.error, b.error)", "0 * a.error", words
    ),
    "a factor's own error": Mutant(WALK._product_error, "_times(self._size(b), a.error)", "a.error", words),
    "a difference of errors": Mutant(
        WALK._total, "_plus(a.error, b.error)", "np.abs(a.error - b.error)", words
    ),
    "a product that is not rounded": Mutant(WALK._product, "_rounding(value))", "0.0)", STEPS),
    "a divisor that is exact": Mutant(WALK._divide, "(2 * b.error if self.loose else b.error)", "0", words),
    "a quotient of the wrong two": Mutant(WALK._divide, "_times(quotient, b.error)", "b.error", words),
    "a root below 0": Mutant(WALK._root, "np.where(size > a.error, size, 0.0)", "size", ROOTS),
    "a root as far off as its square": Mutant(
        WALK._root, "_over(a.error, _down(np.sqrt(least)))", "a.error / 4", ROOTS
    ),
    "a divisor that is off": Mutant(WALK._left_over, " | (b.error != 0)", "", LEFT),
    "what is left over and lost": Mutant(WALK._left_over, '== "flushing"), size', '== "flushing"), 0', LEFT),
    "no rounding at all": Mutant(WALK._rounded, "total = _plus(error, rounding)", "total = error", STEPS),
    "infinities with a bound": Mutant(WALK._rounded, "finite & ~np.isnan(total)", "~np.isnan(total)", NONE),
    "half the smallest number left out": Mutant(walk._rounding, "relative > least", "relative > 0", STEPS),
    "sums of subnormal numbers rounded": Mutant(
        walk._relative, "< float(form.smallest_normal)", "< 0", STEPS
    ),
    "bounds rounded to nearest": Mutant(walk._plus, "np.nextafter(a + b, np.inf)", "a + b", ROOTS),
    "one branch alone": Mutant(WALK._select, "farther > chosen", "farther < chosen", CHOSEN),
    "both branches equally near": Mutant(
        WALK._select, "_plus(_apart(a, b),", "_plus(0 * _apart(a, b),", CHOSEN
    ),
    "one operand's doubt": Mutant(WALK._compared, "_plus(a.error, b.error)", "a.error", TRUTHS),
    "never in doubt": Mutant(WALK._compared, "(off == 0) | (apart >", "(off == 0) | (off <", CHOSEN),
    "doubt that decides": Mutant(
        WALK._joined, "((a.value == decides) & (a.error == 0))", "(a.value == decides)", TRUTHS
    ),
    "a zero whose sign is sure": Mutant(
        WALK._is_minus_zero,
        "doubtful, 1.0",
        "doubtful, 0.0",
        bounding.test_a_zero_with_a_sign_is_chosen_either_way,
    ),
    "integers that wrapped before": Mutant(walk._unrounded, "kept & (each.error == 0)", "kept", WHOLE),
    "integers that never wrap": Mutant(
        walk._unrounded, "np.where(kept, 0.0, np.inf)", "np.zeros(kept.shape)", WHOLE
    ),
    "literals that are exact": Mutant(
        walk._literal_error, "abs(Fraction(held) - said)", "Fraction(0)", LITERALS
    ),
    "one term too few": Mutant(WALK._fold, "count + 1", "max(count, len(at))", folds),
    "terms without their sizes": Mutant(WALK._fold, "_plus(sizes, _size(one.value))", "sizes", folds),
    "any order overflows as the other does": Mutant(
        WALK._in_any_order, "fits & np.isfinite", "np.isfinite", folds
    ),
    "one flushed sum": Mutant(WALK._in_any_order, "lost = count *", "lost = 1 *", folds),
    "as many digits are enough": Mutant(walk._holds, "and held.emin >= form.emin", "", HELD),
    "digits for all but the last integer": Mutant(
        walk._holds, "bit_length() <= min", "bit_length() < min", HELD
    ),
    "every integer is held": Mutant(walk._holds, "<= min(form.precision, form.emax)", "<= form.emax", HELD),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_bounds_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
