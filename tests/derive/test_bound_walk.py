"""Bounds along trees are never violated, and 0 where nothing is calculated."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.budgets import examples
from tests.derive.exact_terms import exact, root_within

from sonnx.derive.bound import Near, bounds, exactly
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.real import real
from sonnx.terms.tensors import Given, Made, fold, inside, tensor
from sonnx.terms.term import Sort, Term
from sonnx.terms.tracing import elementwise, tensorwise, trace
from sonnx.terms.words import (
    LOWEST,
    absolute,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    cases,
    converted,
    is_minus_zero,
    is_nan,
    maximum,
    minimum,
    narrow,
    otherwise,
    plus_product,
    root,
    rounded_down,
    select,
    shifted_left,
    shifted_right,
    truncated,
    when,
    wide,
)

pytestmark = pytest.mark.measured
FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE)
ORDERS = ("specified", "any", "flushing")
# A distance of 1 and of 4, rounded up as every calculated bound is.
ONE, FOUR = (float(np.nextafter(each, np.inf)) for each in (1.0, 4.0))


def relu(x: Term) -> Term:
    return select(x < 0, 0, x)


def hard_sigmoid(x: Term) -> Term:
    return maximum(0, minimum(1, x * 0.2 + 0.5))


def hard_swish(x: Term) -> Term:
    return x * maximum(0, minimum(1, x * Fraction(1, 6) + 0.5))


def quotients(x: Term, y: Term) -> Term:
    return (x + y) / (x - y + 3) - x / 7


def poles(x: Term, y: Term) -> Term:
    return 1 / (x / 3 - y / 3)


def polynomial(x: Term, y: Term) -> Term:
    return ((x * y + 1) * x - y) * (x - y)


def distances(x: Term, y: Term) -> Term:
    return absolute(x - y) * -x


def steps(x: Term, y: Term) -> Term:
    s, p = x + y, x * y
    low = select(((s < p) & (p <= 2)) | (s != 1), s - p, p / 3)
    return select(is_nan(p) | is_minus_zero(s), low * 2, low)


def widened(x: Term, y: Term) -> Term:
    return narrow(wide(x) * wide(y) + 0.1) - x


def stated(x: Term) -> Term:
    return cases(otherwise(x * 0.1, "D-ALL-5", "Every operation rounds."))


DEFINITIONS: Mapping[str, Callable[..., Term]] = {
    each.__name__: each
    for each in (
        relu,
        hard_sigmoid,
        hard_swish,
        quotients,
        poles,
        polynomial,
        distances,
        steps,
        widened,
        stated,
    )
}


def traced(function: Callable[..., Any], arrays: Mapping[str, Array]) -> Any:
    given = {name: Given(name, array.shape) for name, array in arrays.items()}
    return trace(elementwise(function), given, {})


def bounded(
    function: Callable[..., Any], arrays: Mapping[str, Array], order: str = "specified", **said: Any
) -> Near:
    dtype = held_type(next(iter(arrays.values())))
    operands = {name: exactly(array) for name, array in arrays.items()}
    (found,) = bounds(traced(function, arrays), operands, dtype, order, said)
    return found


def drawn(random: np.random.Generator, dtype: DType, count: int, kind: str) -> Array:
    """Finite numbers: usual ones, any bits, small whole ones and their neighbours, subnormal ones."""
    held = numpy_dtype(dtype)
    raw = np.dtype(f"u{held.itemsize}")
    with np.errstate(all="ignore"):
        if kind == "usual":
            found = random.standard_normal(count).astype(held)
        elif kind == "any bits":
            found = random.integers(0, 2 ** (8 * held.itemsize), count, dtype=raw).view(held)
        elif kind == "seams":
            near = random.choice(np.array([-3, 3, 1, -1, 6, 0.5, 2.5, -2.5]).astype(held), count)
            found = (near.view(raw) + random.integers(-2, 3, count).astype(raw)).view(held)
        else:
            found = random.integers(0, 40, count).astype(raw).view(held)
            found = np.where(random.integers(0, 2, count) == 1, -found, found)
        return np.where(np.isfinite(found.astype(np.float64)), found, held.type(1))


def fractions(array: Array) -> list[Fraction]:
    return [Fraction(float(each)) for each in np.ravel(array)]


KINDS = ("usual", "any bits", "seams", "tiny")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_no_bound_is_violated(name: str, dtype: DType) -> None:
    function, random = DEFINITIONS[name], np.random.default_rng(len(name))
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    tight = 0.0
    for kind in KINDS:
        arrays = {each: drawn(random, dtype, examples(2500), kind) for each in names}
        found = bounded(function, arrays)
        term = traced(function, arrays).element.term
        exacts = {each: fractions(array) for each, array in arrays.items()}
        for place in np.flatnonzero(np.isfinite(found.error)):
            here = {each: values[place] for each, values in exacts.items()}
            off = abs(Fraction(float(found.value[place])) - exact(term, here))
            error = Fraction(float(found.error[place]))
            assert off <= error, (kind, {each: array[place] for each, array in arrays.items()})
            tight = max(tight, float(off / error) if error else 0.0)
    # A bound that is never met nearly would be of no use.
    assert name == "relu" or tight > 0.4


@pytest.mark.parametrize("dtype", FLOATS)
def test_no_bound_of_a_root_is_violated(dtype: DType) -> None:
    def length(x: Term, y: Term) -> Term:
        return root(x * x + y)

    random = np.random.default_rng(5)
    for kind in KINDS:
        arrays = {each: drawn(random, dtype, examples(1000), kind) for each in ("x", "y")}
        found = bounded(length, arrays)
        X, Y = (fractions(array) for array in arrays.values())
        for place in np.flatnonzero(np.isfinite(found.error)):
            value, error = (Fraction(float(each[place])) for each in (found.value, found.error))
            assert root_within(value, error, X[place] ** 2 + Y[place])
    one = bounded(root, {"x": np.array([4, 2, 0, -1], np.float32)})
    assert one.error.tolist() == [2.0**-23, float(np.float32(2) ** 0.5) * 2.0**-24, 0, np.inf]


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "select": np.where,
    "less": np.less,
    "is_nan": np.isnan,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}


def flushing(term: Term, known: Mapping[str, Array], least: float) -> Any:
    """A tree in an arithmetic that loses what is subnormal, literals too."""

    def flushed(value: Array) -> Array:
        return np.where(np.abs(value.astype(np.float64)) < least, value * 0, value)

    if term.word == "value":
        return known[term.data]
    if term.word == "literal":
        return flushed(np.asarray(float(term.data)).astype(known["x"].dtype))
    rest = [flushing(each, known, least) for each in term.arguments]
    if term.word == "named":
        return flushing(
            term.data.body, {**known, **dict(zip(term.data.parameters, rest, strict=True))}, least
        )
    made = OPERATIONS[term.word](*rest)
    return made if made.dtype == np.bool_ else flushed(made)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bounds_hold_where_results_below_the_normal_numbers_become_zeros(dtype: DType) -> None:
    least = 2.0 ** {DType.FLOAT16: -14, DType.DOUBLE: -1022}.get(dtype, -126)
    random = np.random.default_rng(11)
    for meant in (hard_swish, quotients, polynomial):
        names = meant.__code__.co_varnames[: meant.__code__.co_argcount]
        for kind in KINDS:
            arrays = {each: drawn(random, dtype, examples(1000), kind) for each in names}
            for array in arrays.values():  # no operand is subnormal; the least normal ones come instead
                small = np.abs(array.astype(np.float64)) < least
                array[small] = random.choice(np.array([1, -1.5, 2, -3]) * least, int(small.sum()))
            error, term = bounded(meant, arrays, "flushing").error, traced(meant, arrays).element.term
            with np.errstate(all="ignore"):
                got = flushing(term, arrays, least)
            exacts = {each: fractions(array) for each, array in arrays.items()}
            for place in np.flatnonzero(np.isfinite(error)):
                here = {each: values[place] for each, values in exacts.items()}
                off = abs(Fraction(float(got[place])) - exact(term, here))
                assert off <= Fraction(float(error[place])), (meant, kind, here)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [*FLOATS, DType.INT8, DType.UINT64, DType.BOOL, DType.STRING, DType.REAL])
def test_what_is_only_moved_or_chosen_has_no_error(dtype: DType, order: str) -> None:
    def where(condition: Term, x: Term, y: Term) -> Term:
        return cases(when(~condition, y, "D-WHERE-2", "Y."), otherwise(x, "D-WHERE-2", "X."))

    def flipped(x: Given) -> Made:
        return tensor((2, 3), lambda i, j: select(inside((i + 1,), (2,)), x[i + 1, 2 - j], x.flat(j)))

    def turned(x: Given) -> Made:
        return tensor((3, 2), lambda i, j: x.flat((i * 2 + j) % 3 * 2 + (i * 2 + j) // 3))

    held = numpy_dtype(dtype)
    x = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    if dtype is DType.REAL:
        x = real([[Fraction(k, 3) for k in range(3)]] * 2)
    elif dtype is not DType.STRING:
        x = np.array([[0, 1, 2], [3, 4, 5]]).astype(held)
    if dtype in FLOATS:
        x[0, 0], x[1, 1] = np.nan, np.inf
    condition = np.array([[1, 0, 2], [0, 0, 1]], np.uint8).view(np.bool_)
    given = {name: Given(name, (2, 3)) for name in ("x", "y")}
    given = {"condition": Given("condition", (2, 3), Sort.TRUTH), **given}
    arrays = {"condition": exactly(condition), "x": exactly(x), "y": exactly(x[:, ::-1])}
    (chosen,) = bounds(trace(elementwise(where), given, {}), arrays, dtype, order)
    (moved,) = bounds(trace(tensorwise(flipped), {"x": given["x"]}, {}), arrays, dtype, order)
    expected = [[x[0, 0], x[0, 1], x[0, 2]], [x[1, 2], x[1, 1], x[1, 2]]]
    assert dtype is DType.REAL or repr(chosen.value.tolist()) == repr(np.array(expected, held).tolist())
    (other,) = bounds(trace(tensorwise(turned), {"x": given["x"]}, {}), arrays, dtype, order)
    assert other.error.tolist() == [[0.0] * 2] * 3
    assert dtype is DType.REAL or other.value.tobytes() == np.ascontiguousarray(x.reshape(3, 2).T).tobytes()
    for found in (chosen, moved):
        assert found.error.dtype == np.float64
        assert found.error.tolist() == [[0.0] * 3] * 2
    assert dtype is DType.REAL or moved.value[0].tobytes() == x[1, ::-1].tobytes()


def test_a_literal_is_as_far_off_as_it_was_rounded() -> None:
    x = np.array([-1, 1], np.float32)
    lost = abs(Fraction(float(np.float32(0.1))) - Fraction(0.1))
    found = bounded(lambda x: select(x < 0, 0.1, x), {"x": x}).error
    assert [Fraction(float(each)) for each in found] == [lost, 0]
    third = bounded(lambda x: select(x < 0, Fraction(1, 3), x), {"x": x}).error
    true = abs(Fraction(float(np.float32(1 / 3))) - Fraction(1, 3))
    assert true <= Fraction(float(third[0])) <= true * (1 + Fraction(1, 2**50))
    beyond = bounded(lambda x: select(x < 0, Fraction(10) ** 39, x), {"x": x}).error
    assert beyond.tolist() == [np.inf, 0]
    tiny = Fraction(2) ** -130
    assert bounded(lambda x: select(x < 0, tiny, x), {"x": x}, "flushing").error.tolist() == [2.0**-126, 0]
    assert bounded(lambda x: select(x < 0, float("inf"), x), {"x": x}).error.tolist() == [0, 0]
    assert bounded(lambda x: select(x < 0, LOWEST, x), {"x": x}).value.tolist() == [-np.inf, 1]


def test_one_operation_is_off_by_half_a_step() -> None:
    one, tiny = np.array([1.0], np.float32), np.array([2.0**-149], np.float32)
    for meant, x, error in (
        (lambda x: x + x, one, 2.0**-23),
        (lambda x: x - 3, one, 2.0**-23),
        (lambda x: x * x, one, 2.0**-24),
        (lambda x: x / 3, one, float(np.float32(1 / 3)) * 2.0**-24),
        (lambda x: x + x, tiny, 0.0),  # a sum of subnormal numbers is exact
        (lambda x: x * x, tiny, 2.0**-150),
        (lambda x: x / 2, 3 * tiny, 2.0**-150),  # a tie between the first and the second of them
        (lambda x: x * 0, one, 0.0),
        (lambda x: (x - x) / 3, one, 0.0),
        (lambda x: -absolute(x), one, 0.0),
    ):
        assert bounded(meant, {"x": x}).error.tolist() == [error]
    smallest = np.array([2.0**-1074])
    assert bounded(lambda x: x * x, {"x": smallest}).error.tolist() == [2.0**-1074]


def test_what_is_no_finite_number_has_no_bound() -> None:
    x = np.array([np.inf, np.nan, 3e38, 0], np.float32)
    assert bounded(lambda x: x + 1, {"x": x}).error.tolist()[:2] == [np.inf, np.inf]
    assert bounded(lambda x: x * 10, {"x": x}).error[2] == np.inf
    assert bounded(lambda x: 1 / x, {"x": x}).error[[0, 3]].tolist() == [np.inf, np.inf]
    # A divisor or a radicand that may be 0 or below.
    near_zero = np.array([0.1], np.float32)
    assert bounded(lambda x: 1 / (x * 10 - 1), {"x": near_zero}).error.tolist() == [np.inf]
    assert bounded(lambda x: root(x * 10 - 1), {"x": near_zero}).error.tolist() == [np.inf]
    # An infinity that is not sure to be one is chosen by.
    twice = np.array([3e38], np.float32)
    assert bounded(lambda x: select(is_nan(x * 2 - x * 2), 1, 2), {"x": twice}).error.tolist() == [ONE]


def test_a_comparison_that_may_go_either_way_counts_both() -> None:
    x = np.array([1, 3, 0.5], np.float32)
    # x / 3 is rounded: whether it is below the third of 1 is not known near 1.
    found = bounded(lambda x: select(x / 3 < Fraction(1, 3), 10, 14), {"x": x})
    assert found.error.tolist() == [FOUR, 0, 0]
    held = bounded(lambda x: select(~(x / 3 < Fraction(1, 3)) & (x < 0), 10, 14), {"x": x})
    assert held.error.tolist() == [0, 0, 0]
    either = bounded(lambda x: select((x / 3 < Fraction(1, 3)) | (x > 0), 10, 14), {"x": x})
    assert either.error.tolist() == [0, 0, 0]
    doubtful = bounded(lambda x: select((x / 3 <= Fraction(1, 3)) | (x < 0), 10, 14), {"x": x})
    assert (doubtful.value.tolist(), doubtful.error.tolist()) == ([10, 14, 10], [FOUR, 0, 0])
    truths = bounded(lambda x: x / 3 < Fraction(1, 3), {"x": x})
    assert (truths.value.tolist(), truths.error.tolist()) == ([False, False, True], [1, 0, 0])


def test_a_zero_with_a_sign_is_chosen_either_way() -> None:
    x = np.array([-0.0, 0.0, 1.0], np.float32)
    assert bounded(lambda x: select(is_minus_zero(x), x, 0), {"x": x}).error.tolist() == [0, 0, 0]
    assert bounded(lambda x: select(is_minus_zero(x), 1, 2), {"x": x}).error.tolist() == [ONE, 0, 0]


def test_integers_are_exact_unless_they_wrap() -> None:
    x = np.array([127, -128, 5], np.int8)
    for meant, error in (
        (lambda x: x + 1, [np.inf, 0, 0]),
        (lambda x: x - 1, [0, np.inf, 0]),
        (lambda x: x * 2, [np.inf, np.inf, 0]),
        (lambda x: -x, [0, np.inf, 0]),
        (absolute, [0, np.inf, 0]),
        (lambda x: plus_product(x, x, 1), [np.inf, np.inf, 0]),
        (lambda x: (x + 1) * 1, [np.inf, 0, 0]),
        (lambda x: maximum(x, 0), [0, 0, 0]),
        (lambda x: truncated(x, 2), [0, 0, 0]),
        (lambda x: truncated(x + 1, 2), [np.inf, 0, 0]),
        (lambda x: select(x == 0, 0, truncated(x, x)), [0, 0, 0]),
        (lambda x: bits_and(bits_or(x, 1), bits_xor(bits_not(x), 3)), [0, 0, 0]),
        (lambda x: bits_and(x + 1, 1), [np.inf, 0, 0]),
        (lambda x: bits_not(x - 1), [0, np.inf, 0]),
        (lambda x: select(x < x + 1, 1, 2), [ONE, 0, 0]),
        (lambda x: narrow(wide(x) + 1), [np.inf, 0, 0]),
        (lambda x: select(is_nan(x), 1, LOWEST), [0, 0, 0]),
    ):
        assert bounded(meant, {"x": x}).error.tolist() == error
    bits = bounded(lambda x: bits_and(bits_or(x, 8), bits_xor(bits_not(x), 3)), {"x": x})
    assert bits.value.tolist() == [0b11, 0b1000, 0b1001]
    assert bounded(lambda x: truncated(x, 2), {"x": x}).value.tolist() == [63, -64, 2]
    large = np.array([2**63 - 1, 2**62], np.int64)
    assert bounded(lambda x: x + 1, {"x": large}).error.tolist() == [np.inf, 0]
    thirds = real([Fraction(1, 3)])
    assert bounded(lambda x: maximum(x * x / 7 - 1, x), {"x": thirds}).error.tolist() == [0]


def test_a_conversion_is_off_by_its_rounding_and_by_what_came_before() -> None:
    def shown(x: Term) -> Term:
        return converted(x / 3)

    x = np.array([1, 3, 3e38], np.float32)
    given = {"x": Given("x", x.shape)}
    for meant, into, error in (
        (converted, DType.DOUBLE, [0, 0, 0]),
        (converted, DType.INT8, [0, 0, 0]),
        (converted, DType.REAL, [0, 0, 0]),
        (converted, DType.FLOAT16, [2.0**-11, 3 * 2.0**-11, np.inf]),
        (shown, DType.FLOAT, bounded(lambda x: x / 3, {"x": x}).error.tolist()),
    ):
        (found,) = bounds(trace(elementwise(meant), given, {}), {"x": exactly(x)}, DType.FLOAT, into=[into])
        assert found.error.tolist() == error
    (whole,) = bounds(
        trace(elementwise(shown), given, {}), {"x": exactly(x)}, DType.FLOAT, into=[DType.INT32]
    )
    assert (whole.error > 1).all()


# --- folds -------------------------------------------------------------------------------------------------


def mean(x: Given) -> Made:
    rows, columns = x.shape

    def total(i: Term) -> Term:
        return narrow(fold((columns,), 0, lambda s, k: s + wide(x[i, k])))

    return tensor((rows,), lambda i: total(i) / columns)


def products(a: Given, b: Given) -> Made:
    (rows, depth), (_, columns) = a.shape, b.shape
    return tensor(
        (rows, columns),
        lambda i, j: narrow(fold((depth,), 0.25, lambda s, k: plus_product(s, wide(a[i, k]), wide(b[k, j])))),
    )


def greatest(x: Given) -> Made:
    return tensor((x.shape[0],), lambda i: fold((x.shape[1],), LOWEST, lambda s, k: maximum(s, x[i, k])))


def of_arrays(
    function: Callable[..., Any], arrays: Mapping[str, Array], order: str, **said: Any
) -> tuple[Near, Any]:
    given = {name: Given(name, array.shape) for name, array in arrays.items()}
    found = trace(tensorwise(function), given, {})
    operands = {name: exactly(array) for name, array in arrays.items()}
    (near,) = bounds(found, operands, held_type(next(iter(arrays.values()))), order, said)
    return near, found.made[0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", ORDERS)
def test_no_bound_of_a_fold_is_violated_in_any_order(dtype: DType, order: str) -> None:
    random = np.random.default_rng(8)
    for kind in KINDS:
        a, b = (drawn(random, dtype, 60, kind).reshape(shape) for shape in ((6, 10), (10, 6)))
        for meant, arrays in ((mean, {"x": a}), (products, {"a": a, "b": b})):
            exacts = {
                name: np.array(fractions(each), object).reshape(each.shape) for name, each in arrays.items()
            }
            for mode in ("separate", "fused"):
                near, made = of_arrays(meant, arrays, order, accumulate=mode)
                for place in zip(*np.nonzero(np.isfinite(near.error)), strict=True):
                    at = {each.data: index for each, index in zip(made.indices, place, strict=True)}
                    off = abs(Fraction(float(near.value[place])) - exact(made.term, exacts | at))
                    assert off <= Fraction(float(near.error[place]))


def test_a_sum_in_another_order_is_within_the_bound_for_any_order() -> None:
    random = np.random.default_rng(9)
    for _ in range(examples(200)):
        x = (random.standard_normal((1, 40)) * 2.0 ** random.integers(-12, 12, (1, 40))).astype(np.float32)
        error = of_arrays(mean, {"x": x}, "any")[0].error[0]
        assert error >= of_arrays(mean, {"x": x}, "specified")[0].error[0]
        true = sum(fractions(x), Fraction(0)) / 40
        for order in (np.sort(x[0]), np.sort(x[0])[::-1], random.permutation(x[0])):
            total = np.float32(0)
            for each in order:
                total += each
            assert abs(Fraction(float(total / np.float32(40))) - true) <= Fraction(float(error))


def test_a_fold_that_may_overflow_in_another_order_has_no_bound() -> None:
    x = np.array([[3e38, -3e38, 3e38]], np.float32)
    assert np.isfinite(of_arrays(mean, {"x": x}, "specified")[0].error).all()
    assert of_arrays(mean, {"x": x}, "any")[0].error.tolist() == [np.inf]


def test_choosing_in_a_fold_has_no_error_in_any_order() -> None:
    x = np.array([[1, np.inf, -2], [np.nan, 0, 5]], np.float32)
    for order in ORDERS:
        assert of_arrays(greatest, {"x": x}, order)[0].error.tolist() == [0, 0]
    empty = np.zeros((2, 0), np.float32)
    assert of_arrays(greatest, {"x": empty}, "any")[0].value.tolist() == [-np.inf, -np.inf]


def test_a_guarded_read_of_an_empty_tensor_is_never_chosen() -> None:
    def padded(x: Given) -> Made:
        return tensor((2,), lambda i: select(inside((i - 1,), x.shape), x[i - 1], 0.5))

    near, _ = of_arrays(padded, {"x": np.zeros(0, np.float32)}, "specified")
    assert (near.value.tolist(), near.error.tolist()) == ([0.5, 0.5], [0, 0])


def test_every_sum_of_a_fold_may_be_flushed() -> None:
    def total(x: Given) -> Made:
        return tensor((), lambda: fold(x.shape, 0, lambda s, k: s + x[k]))

    # Each pair leaves half the least normal number, which is lost.
    x = np.array([1.5, -1] * 40, np.float32) * np.float32(2.0**-126)
    assert of_arrays(total, {"x": x}, "flushing")[0].error >= 20 * 2.0**-126
    assert of_arrays(total, {"x": x}, "any")[0].error < 2.0**-126


def test_integers_below_are_exact_unless_the_number_is_off() -> None:
    found = bounded(lambda X: rounded_down(X), {"X": np.array([1.5, -0.5, 2], np.float32)})  # noqa: PLW0108  a word itself names no operand
    assert (found.value.tolist(), found.error.tolist()) == ([1, -1, 2], [0, 0, 0])
    thirds = {"X": np.array([1], np.float32), "Y": np.array([3], np.float32)}
    off = bounded(lambda X, Y: rounded_down(X / Y), thirds)
    assert off.value.tolist() == [0]
    assert off.error[0] >= 1  # what is nearly an integer may be just below it


def test_bits_that_are_moved_are_exact() -> None:
    def left(X: Term, Y: Term) -> Term:
        return shifted_left(X, Y)

    def right(X: Term, Y: Term) -> Term:
        return shifted_right(X, Y)

    given = {"X": np.array([3, 255, 1], np.uint8), "Y": np.array([1, 4, 9], np.uint8)}
    for function, made in ((left, [6, 240, 0]), (right, [1, 15, 0])):
        found = bounded(function, given)
        assert (found.value.tolist(), found.error.tolist()) == (made, [0, 0, 0])
