"""Definitions executed on arrays: every word against a calculation by hand or by fractions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import copysign
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.operators.support import array_of, arrays, bits

import sonnx
from sonnx.derive.evaluate import Walk, evaluate
from sonnx.derive.tracing import element_type, traced
from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import Array, hold, numpy_dtype
from sonnx.numeric.limiting import _later_of_zeros, by_comparisons, limited
from sonnx.terms.tensors import Given, Made, flat_place, fold, inside, tensor
from sonnx.terms.term import DefinitionError, Sort, Term
from sonnx.terms.tracing import Definition, elementwise, tensorwise
from sonnx.terms.words import (
    LOWEST,
    absolute,
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
    to_nearest,
    truncated,
    value,
    wide,
)
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import BodyNode, Contract, Operand, Operator

pytestmark = pytest.mark.measured


def operator(definition: Definition | None, *names: str, made: str = "Z", **changes: Any) -> Operator:
    """A stand-in whose results have the first operand's type, or `made` where that is one."""

    def output_types(call: Call) -> Mapping[str, TensorType]:
        first = next(iter(call.inputs.values()))
        return {"Z": tensor_type(made) if "[" in made else TensorType(first.dtype, None)}

    inputs = tuple(
        Operand(name, name, "", (DType.BOOL,) if name.startswith("truth") else ALL, constant=name == "sizes")
        for name in names
    )
    contract = Contract("Stand", (1,), "", inputs, (Operand("Z", "Z", "", ALL),), (), (), output_types)
    return replace(Operator(contract, definition), **changes)


def run(definition: Definition, *operands: Array, made: str = "Z", **attributes: Any) -> Array:
    names = ("X", "Y", "T")[: len(operands)]
    found = evaluate(
        operator(definition, *names, made=made), dict(zip(names, operands, strict=True)), attributes
    )
    return found["Z"]


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of two elements as one of X and Y."""
    return lambda X, Y: function(X, Y)  # noqa: PLW0108  its parameters are the names of operands


def by_two(function: Callable[[Term, Term], Any]) -> Definition:
    return elementwise(named(function))


def floats(*values: float, dtype: Any = np.float32) -> Array:
    return np.array(values, dtype)


WIDTHS: Mapping[str, Literal[16, 32, 64]] = {"float16": 16, "float": 32, "double": 64}
ARITHMETIC: dict[str, tuple[Definition, Callable[[Fraction, Fraction], Fraction]]] = {
    "add": (by_two(lambda a, b: a + b), lambda a, b: a + b),
    "subtract": (by_two(lambda a, b: a - b), lambda a, b: a - b),
    "multiply": (by_two(lambda a, b: a * b), lambda a, b: a * b),
    "divide": (by_two(lambda a, b: a / b), lambda a, b: a / b),
    "negate": (by_two(lambda a, b: -a), lambda a, b: -a),
    "absolute": (by_two(lambda a, b: absolute(a)), lambda a, b: abs(a)),
    "product, then sum": (by_two(lambda a, b: plus_product(b, a, b)), lambda a, b: b + a * b),
    "maximum": (by_two(maximum), max),
    "minimum": (by_two(minimum), min),
}


@pytest.mark.parametrize("word", ARITHMETIC)
@given(st.fractions(max_denominator=99), st.fractions(max_denominator=99).filter(bool))
def test_over_the_reals_a_word_is_what_it_says(word: str, a: Fraction, b: Fraction) -> None:
    definition, exact = ARITHMETIC[word]
    found = run(definition, array_of("real", (1,), [a]), array_of("real", (1,), [b]))
    assert found[0] == exact(a, b)


@pytest.mark.parametrize("word", ["add", "subtract", "multiply", "divide"])
@pytest.mark.parametrize("dtype", ["float16", "float", "double"])
@given(data=st.data())
def test_every_operation_rounds_once(word: str, dtype: str, data: st.DataObject) -> None:
    from sonnx.numeric.rounding import nearest

    definition, exact = ARITHMETIC[word]
    finite = st.floats(width=WIDTHS[dtype], allow_nan=False, allow_infinity=False)
    a, b = data.draw(finite), data.draw(finite) or 1.0
    held = numpy_dtype(DType(dtype))
    with np.errstate(all="ignore"):
        found = run(definition, np.array([a], held), np.array([b], held))
    wanted = exact(Fraction(a), Fraction(b))
    if wanted:  # the sign of a zero is IEEE's matter
        assert bits(found) == bits(np.array([nearest(wanted, DType(dtype))], held))


def test_integers_wrap() -> None:
    a, b = np.array([127, -128, -128], np.int8), np.array([1, -1, -128], np.int8)
    assert run(ARITHMETIC["add"][0], a, b).tolist() == [-128, 127, 0]
    assert run(ARITHMETIC["multiply"][0], a, b).tolist() == [127, -128, 0]
    assert run(ARITHMETIC["absolute"][0], a, b).tolist() == [127, -128, -128]


def test_quotients_of_integers_are_truncated() -> None:
    a, b = np.array([7, -7, 7, -7, 6, -128], np.int8), np.array([2, 2, -2, -2, 3, -1], np.int8)
    with np.errstate(all="ignore"):
        assert run(by_two(truncated), a, b).tolist() == [3, -3, -3, 3, 2, -128]


def test_roots_are_those_of_ieee() -> None:
    found = run(elementwise(lambda X: root(X + 0)), floats(2.0, 0.25))
    assert found.view(np.uint32).tolist() == [0x3FB504F3, 0x3F000000]


def test_maxima_and_minima_of_special_values() -> None:
    """D-ALL-10: a NaN wins; of equal zeros the later comes out."""
    nan, zero, minus = 0x7FC00001, 0x00000000, 0x80000000
    a, b = (
        np.array(row, np.uint32).view(np.float32)
        for row in ([nan, zero, zero, minus], [zero, nan, minus, zero])
    )
    for function in (maximum, minimum):
        assert run(by_two(function), a, b).view(np.uint32).tolist() == [nan, nan, minus, zero]
    assert run(by_two(maximum), np.array([3], np.int8), np.array([-3], np.int8)).tolist() == [3]


def test_minus_zero_is_told_from_zero() -> None:
    found = run(elementwise(lambda X: select(is_minus_zero(X), 5, X)), floats(-0.0, 0.0, -1.0))
    assert found.tolist() == [5.0, 0.0, -1.0]


def test_comparisons_give_truths() -> None:
    a, b = floats(1, 2, np.nan), floats(2, 2, 1)
    wanted = {
        "less": [True, False, False],
        "less_equal": [True, True, False],
        "equal": [False, True, False],
        "both": [False, True, False],
        "either": [True, True, False],
        "opposite": [False, False, True],
        "is_nan": [False, False, True],
    }
    definitions: Mapping[str, Callable[[Term, Term], Any]] = {
        "less": lambda a, b: a < b,
        "less_equal": lambda a, b: a <= b,
        "equal": lambda a, b: a == b,
        "both": lambda a, b: (a <= b) & (b <= a),
        "either": lambda a, b: (a < b) | (b <= a),
        "opposite": lambda a, b: ~(a <= b),
        "is_nan": lambda a, b: is_nan(a),
    }
    for name, definition in definitions.items():
        found = run(by_two(definition), a, b, made="bool[3]")
        assert (found.dtype, found.tolist()) == (np.dtype(bool), wanted[name]), name


def test_any_byte_but_zero_is_true() -> None:
    found = evaluate(
        operator(elementwise(lambda truth, X: select(truth, X, 0)), "truth", "X", made="int8[4]"),
        {"truth": np.array([0, 1, 2, 255], np.uint8).view(bool), "X": np.arange(1, 5, dtype=np.int8)},
        {},
    )
    assert found["Z"].tolist() == [0, 2, 3, 4]


def test_the_first_case_that_holds_decides_whichever_hold() -> None:
    """Two cases over three elements, held and not held in every way."""
    x, y, z = (np.arange(3, dtype=np.int16) + tens for tens in (10, 20, 30))
    three = select(value("t", Sort.TRUTH), value("x"), select(value("u", Sort.TRUTH), value("y"), value("z")))
    for bytes_ in product((0, 1), repeat=6):
        t, u = np.array(bytes_, np.uint8).view(bool).reshape(2, 3)
        held = {"t": t, "u": u, "x": x, "y": y, "z": z}
        wanted = [a if p else b if q else c for p, q, a, b, c in zip(*map(list, held.values()), strict=True)]
        out = np.zeros(3, np.int16)
        Walk(DType.INT16, DType.INT16, values=held).fill(out, three)
        assert out.tolist() == wanted, bytes_
        assert (Walk(DType.INT16, DType.INT16, values=held)(three) + 0 * x).tolist() == wanted, bytes_


def test_a_case_that_decides_by_a_later_one_is_calculated_once() -> None:
    later = select(value("x") < 2, value("y"), value("x"))
    term = select(later < 3, value("z"), later)
    x, y, z = np.array([1, 1, 2, 3, 4]), np.array([0, 7, 0, 0, 0]), np.full(5, 9)
    found = Walk(DType.INT64, DType.INT64, values={"x": x, "y": y, "z": z})(term)
    assert found.tolist() == [9, 7, 9, 3, 4]


def test_one_of_two_truths_and_what_only_looks_like_it() -> None:
    p: Any = value("p", Sort.TRUTH)
    q: Any = value("q", Sort.TRUTH)
    held = {"p": [0, 0, 1, 255, 2], "q": [0, 3, 0, 1, 255]}
    walk = Walk(
        DType.BOOL,
        DType.BOOL,
        values={name: np.array(row, np.uint8).view(bool) for name, row in held.items()},
    )
    asked: list[tuple[Any, Callable[[bool, bool], bool]]] = [
        ((p & ~q) | (~p & q), lambda p, q: p != q),
        ((q & ~p) | (~q & p), lambda p, q: p != q),
        ((p & ~q) | (q & ~p), lambda p, q: p != q),
        ((p & ~q) | (~q & q), lambda p, q: p and not q),
        ((p & ~q) | (~p & p), lambda p, q: p and not q),
        ((p & ~q) | (p & q), lambda p, q: p),
        ((p & q) | (~p & q), lambda p, q: q),
        ((p & ~q) | ~(p & q), lambda p, q: not (p and q)),
        (p | (~p & q), lambda p, q: p or q),
    ]
    for term, one in asked:
        assert walk(term).tolist() == [one(*map(bool, each)) for each in zip(*held.values(), strict=True)]


NEAREST = elementwise(lambda X: to_nearest(X))  # noqa: PLW0108  (names)


def nearest(x: Fraction) -> Fraction:
    return Fraction(round(x))  # Python's own function takes ties to even


def by_its_comparisons(x: Array) -> Array:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sonnx.derive.evaluate_known.rounded_of", lambda term: None)
        return run(NEAREST, x)


def test_the_nearest_integer_and_what_only_looks_like_it() -> None:
    every = np.arange(2**16).astype(np.uint16).view(np.float16)
    near, far = np.linspace(-5, 5, 4001), 2.0**52 + np.arange(-8, 8) / 2
    for x in (every, *(np.concatenate([near, far, -far]).astype(held) for held in (np.float32, np.float64))):
        with np.errstate(all="ignore"):
            found, slowly = run(NEAREST, x), by_its_comparisons(x)
        finite = np.isfinite(x)
        wanted = [copysign(nearest(Fraction(each)), each) for each in x[finite].tolist()]
        assert bits(found[finite]) == bits(np.array(wanted, x.dtype))
        assert np.array_equal(found[~finite], x[~finite], equal_nan=True)
        assert sonnx.same_bits(slowly, found, nan="any")
    exact = [Fraction(number, 4) for number in range(-9, 10)]
    assert run(NEAREST, array_of("real", (19,), exact)).tolist() == list(map(nearest, exact))
    up = elementwise(
        lambda X: select(X - rounded_down(X) < Fraction(1, 2), rounded_down(X), -rounded_down(-X))
    )
    assert run(up, floats(0.5, 1.5, 2.5, -0.5)).tolist() == [1, 2, 3, 0]


def test_a_literal_is_of_the_elements_type_and_wide_in_sums() -> None:
    definition = elementwise(lambda X: narrow(wide(X) * wide(2049)))
    assert run(definition, np.array([1], np.float16)).tolist() == [2048.0]  # one rounding, at the end
    twice = elementwise(lambda X: narrow(wide(X) * wide(2049) - wide(2048)))
    assert run(twice, np.array([1], np.float16)).tolist() == [1.0]
    assert run(elementwise(lambda X: X * 2049 - 2048), np.array([1], np.float16)).tolist() == [0.0]
    assert run(definition, np.array([3], np.int32)).tolist() == [6147]


def test_bfloat16_is_widened_and_narrowed_by_our_own_rounding() -> None:
    import ml_dtypes

    # 1 + 2^-8 lies half-way between two neighbours; ties go to even.
    x = np.array([0x3F80, 0x3F81], np.uint16).view(ml_dtypes.bfloat16)
    found = run(elementwise(lambda X: narrow(wide(X) + wide(Fraction(1, 256)))), x)
    assert found.view(np.uint16).tolist() == [0x3F80, 0x3F82]


def test_sums_are_fused_only_where_that_makes_a_difference() -> None:
    x = floats(1 + 2**-12)
    definition = elementwise(lambda X: narrow(plus_product(wide(-1 - 2.0**-11), wide(X), wide(X))))
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24; rounded it loses the last term.
    assert run(definition, x, accumulate="separate").tolist() == [0.0]
    assert run(definition, x, accumulate="fused").tolist() == [2.0**-24]
    half = x.astype(np.float16)
    assert bits(run(definition, half, accumulate="fused")) == bits(
        run(definition, half, accumulate="separate")
    )
    assert run(definition, np.array([3], np.int8).astype(np.float64), accumulate="fused").tolist() == [
        8 - 2.0**-11
    ]


def test_elements_are_converted_to_the_results_type() -> None:
    found = run(elementwise(lambda X: converted(-X)), floats(-1.9, 300, np.nan), made="int8[3]")
    assert (found.dtype, found.tolist()) == (np.dtype(np.int8), [1, -128, 0])


def test_scalars_serve_all_elements_and_may_be_all_there_is() -> None:
    definition = by_two(lambda a, b: a * b)
    assert run(definition, floats(1, 2, 3), np.array(2, np.float32)).tolist() == [2, 4, 6]
    assert run(definition, np.array(2, np.float32), floats(1, 2, 3)).tolist() == [2, 4, 6]
    alone = run(definition, np.array(2, np.float32), np.array(3, np.float32))
    assert (alone.shape, alone.dtype, alone.tolist()) == ((), np.dtype(np.float32), 6)
    text = run(elementwise(lambda X: cases(otherwise(X, "D-ALL-4", "It stays."))), np.array("ä", object))
    assert text[()] == "ä"
    long = run(definition, np.ones(200_000, np.float32), np.array(3, np.float32))
    assert (long == 3).all()


@pytest.mark.parametrize("name", ["real", "float16", "float", "double", "int8", "uint64"])
@given(data=st.data())
def test_two_comparisons_with_bounds_have_the_bits_of_two_selects(name: str, data: st.DataObject) -> None:
    x = data.draw(arrays(name, (data.draw(st.integers(0, 9)),)))
    low, high = (data.draw(arrays(name, ())) for _ in range(2))
    x, low, high = (hold(each, DType(name)) for each in (x, low, high))
    definition = elementwise(
        lambda X, Y, T: select(select(X < Y, Y, X) > T, T, select(X < Y, Y, X)),
    )
    with np.errstate(all="ignore"):
        wanted = by_comparisons(x, low, high)
        assert bits(limited(x, low, high)) == bits(wanted)
        out = np.empty_like(x)
        assert limited(x, low, high, out) is out
        assert bits(out) == bits(wanted)
        assert bits(run(definition, x, low, high)) == bits(wanted)


# Zeros of either sign, infinities and a NaN among numbers; each beside each of them, in more than one block.
SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 2.0, 0.5]


@pytest.mark.parametrize("held", [np.float16, np.float32, np.float64])
def test_the_larger_and_the_smaller_of_two_floats_is_what_comparisons_say(held: Any) -> None:
    a, b = (np.array(each, held) for each in zip(*product(SPECIAL, repeat=2), strict=True))
    by_hand = {
        maximum: [x if x != x or x > y else y for x, y in zip(a, b, strict=True)],  # noqa: PLR0124  a NaN
        minimum: [x if x != x or x < y else y for x, y in zip(a, b, strict=True)],  # noqa: PLR0124  (same)
    }
    for word, wanted in by_hand.items():
        definition, whole = by_two(word), np.array(wanted, held)
        assert sonnx.same_bits(run(definition, a, b), whole, nan="any")
        for one, other, each in zip(a, b, whole, strict=True):
            alone = run(definition, np.array(one), np.array(other))
            assert sonnx.same_bits(alone, np.array(each), nan="any")
        for zero in (0.0, -0.0):
            only = np.array(zero, held)
            chosen = [x if x != x or (x > zero if word is maximum else x < zero) else only[()] for x in a]  # noqa: PLR0124  (same)
            assert sonnx.same_bits(run(definition, a, only), np.array(chosen, held), nan="any")

    # Which of two zeros NumPy takes depends on the processor.
    for zero, later in product((0.0, -0.0), repeat=2):
        decided = _later_of_zeros(np.array([zero, 3], held), np.array([later, 0], held))
        assert sonnx.same_bits(decided, np.array([later, 3], held))


def test_the_larger_and_the_smaller_of_two_integers_and_what_only_looks_like_it() -> None:
    a, b = np.array([-128, 5, 0, 127], np.int8), np.array([127, 5, -1, -128], np.int8)
    assert run(by_two(maximum), a, b).tolist() == [127, 5, 0, 127]
    assert run(by_two(minimum), a, b).tolist() == [-128, 5, -1, -128]
    third = np.array([1, 2, 3, 4], np.int8)
    other = elementwise(lambda X, Y, T: select(X < Y, X, T))
    assert run(other, a, b, third).tolist() == [-128, 2, 3, 4]
    another = elementwise(lambda X, Y, T: select(X < Y, Y, T))
    assert run(another, a, b, third).tolist() == [127, 2, 3, 4]
    # Of floats, a NaN and equal zeros make a difference: these are comparisons alone.
    x, y = floats(float("nan"), 0.0, 1.0), floats(1.0, -0.0, float("nan"))
    chosen = run(by_two(lambda a, b: select(a < b, a, b)), x, y)
    assert sonnx.same_bits(chosen, floats(1.0, -0.0, float("nan")))


def test_literal_bounds_in_either_order_and_what_only_looks_like_them() -> None:
    x = floats(-1, -0.0, 0.0, 0.5, 2, float("nan"), float("-inf"), float("inf"))
    line = elementwise(lambda X: select(X < 0, 0, select(X > 1, 1, X)))
    wanted = floats(0, -0.0, 0.0, 0.5, 1, float("nan"), 0, 1)
    assert sonnx.same_bits(run(line, x), wanted)
    crossed = elementwise(lambda X: select(X < 1, 1, select(X > 0, 0, X)))
    assert sonnx.same_bits(run(crossed, x), floats(1, 1, 1, 1, 0, float("nan"), 1, 0))
    for definition, result in (
        (
            lambda X: select(X < 0, 0, select(X < 1, 1, X)),
            floats(0, 1, 1, 1, 2, float("nan"), 0, float("inf")),
        ),
        (
            lambda X: select(X > 0, 0, select(X > 1, 1, X)),
            floats(-1, -0.0, 0, 0, 0, float("nan"), -np.inf, 0),
        ),
        (lambda X: select(X < 0, -2, select(X > 1, 1, X)), floats(-2, -0.0, 0, 0.5, 1, float("nan"), -2, 1)),
        (
            lambda X: select(-X < 0, 0, select(X > 1, 1, X)),
            floats(-1, -0.0, 0, 0, 0, float("nan"), -np.inf, 0),
        ),
    ):
        assert sonnx.same_bits(run(elementwise(definition), x), result)


@pytest.mark.parametrize("held", [np.float16, np.float32, np.float64])
def test_what_is_rounded_up_and_what_only_looks_like_it(held: Any) -> None:
    x = np.array([-1.5, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, float("inf"), float("-inf"), float("nan")], held)
    up = elementwise(lambda X: -rounded_down(-X))
    wanted = np.array([-1, -0.0, -0.0, 0.0, 1, 1, 2, float("inf"), float("-inf"), float("nan")], held)
    assert sonnx.same_bits(run(up, x), wanted, nan="any")
    assert run(elementwise(lambda X: -rounded_down(X)), x[:7]).tolist() == [2, 1, 0, 0, 0, -1, -1]


def test_what_only_looks_like_bounds_is_chosen_as_it_says() -> None:
    x, y, t = floats(1, 5, 3), floats(2, 2, 2), np.array(4, np.float32)
    swapped = elementwise(lambda X, Y, T: select(select(X < T, T, X) < T, T, X))
    assert run(swapped, x, y, t).tolist() == [1, 5, 3]
    above = elementwise(lambda X, Y, T: select(select(Y < X, Y, X) > T, T, select(Y < X, Y, X)))
    assert run(above, x, y, t).tolist() == [1, 2, 2]
    below = elementwise(lambda X, Y, T: select(select(X < Y, Y, X) < T, T, select(X < Y, Y, X)))
    assert run(below, x, y, t).tolist() == [4, 5, 4]
    whole = elementwise(lambda X, Y, T: select(select(X < Y, Y, X) > T, T, select(X < Y, Y, X)))
    assert run(whole, x, y, floats(4, 4, 1)).tolist() == [2, 4, 1]


def test_a_move_that_one_read_gives_is_a_view_that_cannot_be_written() -> None:
    x = np.arange(12, dtype=np.int16).reshape(3, 4)
    turned = run(tensorwise(lambda X: tensor((4, 3), lambda i, j: X[j, i])), x)
    assert turned.tolist() == x.T.tolist()
    assert np.shares_memory(turned, x)
    assert not turned.flags.writeable
    backwards = run(tensorwise(lambda X: tensor((2, 3), lambda i, j: X[2 - i, j + 1])), x[:, ::1])
    assert backwards.tolist() == [[9, 10, 11], [5, 6, 7]]
    across = run(tensorwise(lambda X: tensor((6, 2), lambda i, j: X.flat(flat_place((i, j), (6, 2))))), x.T)
    assert across.tolist() == x.T.reshape(6, 2).tolist()


def test_boxes_are_put_together() -> None:
    def padded(X: Given, Y: Given) -> Made:
        def at(i: Term, j: Term) -> Term:
            return select(inside((i - 1, j), X.shape), X[i - 1, j], select(i < 1, 7, Y[j]))

        return tensor((4, 2), at)

    x, y = np.array([[1, 2], [3, 4]], np.uint8), np.array([8, 9], np.uint8)
    assert run(tensorwise(padded), x, y).tolist() == [[7, 7], [1, 2], [3, 4], [8, 9]]
    two = tensorwise(lambda X: tensor((3,), lambda i: select(i < 1, 7, select(i < 2, 8, X[i, 0]))))
    assert run(two, np.array([[1], [2], [3]], np.uint8)).tolist() == [7, 8, 3]
    empty = run(tensorwise(lambda X: tensor((0, 2), lambda i, j: X[i, j])), x)
    assert (empty.shape, empty.dtype) == ((0, 2), np.dtype(np.uint8))


def test_what_is_no_affine_move_is_read_at_all_indices_at_once() -> None:
    x = np.array([1, -2, 3], np.int32)
    tiled = run(tensorwise(lambda X: tensor((7,), lambda i: X[(i + 1) % 3] - X.flat(i // 3))), x)
    assert tiled.tolist() == [-3, 2, 0, 0, 5, 3, -5]
    relu = run(tensorwise(lambda X: tensor((3,), lambda i: select(X[i] < 0, 0, X[i]))), x)
    assert relu.tolist() == [1, 0, 3]
    scalar = run(tensorwise(lambda X: tensor((), lambda: X[0] + X[1])), x)
    assert (scalar.shape, scalar.tolist()) == ((), -1)
    stretched = tensorwise(lambda X: tensor((5,), lambda i: select(i % 2 == 0, X[i // 2], 0)))
    assert run(stretched, x).tolist() == [1, 0, -2, 0, 3]
    nested = tensorwise(
        lambda X: tensor((5,), lambda i: select(i < 3, select(i % 2 == 0, X[i // 2 + i // 2], X[i]), LOWEST))
    )
    assert run(nested, x).tolist() == [1, -2, 3, -(2**31), -(2**31)]
    odd = tensorwise(lambda X: tensor((3,), lambda i: X[(i + 1) % 3] < 0))
    assert run(odd, np.array([1, -2, 3], np.int32), made="bool[3]").dtype == np.dtype(bool)


def test_a_read_outside_is_refused_unless_a_guard_keeps_it_out() -> None:
    x = np.array([1, 2, 3], np.int32)
    for definition in (
        tensorwise(lambda X: tensor((3,), lambda i: X[i + 1])),
        tensorwise(lambda X: tensor((3,), lambda i: X[i - 1])),
        tensorwise(lambda X: tensor((3,), lambda i: X[i + 1] + 0)),
        tensorwise(lambda X: tensor((3,), lambda i: select(i % 2 == 0, X[i + 1], 0))),
    ):
        with pytest.raises(DefinitionError, match="is read"):
            run(definition, x)


def test_folds_take_one_term_after_the_other_in_order() -> None:
    x = np.array([[1e8, 1, -1e8], [1, 1e8, -1e8]], np.float32)
    rows = tensorwise(lambda X: tensor((2,), lambda i: fold((3,), 0, lambda s, k: s + X[i, k])))
    assert run(rows, x).tolist() == [0.0, 0.0]
    whole = tensorwise(lambda X: tensor((), lambda: fold((2, 3), 0, lambda s, i, j: s * 10 + X[i, j])))
    assert run(whole, np.arange(1, 7, dtype=np.int32).reshape(2, 3))[()] == 123456
    largest = tensorwise(
        lambda X: tensor((2,), lambda i: fold((3,), LOWEST, lambda s, k: maximum(s, X[i, k])))
    )
    assert run(largest, x).tolist() == [1e8, 1e8]


def test_what_decides_a_shape_comes_as_numbers() -> None:
    def first(X: Given, sizes: tuple[int, ...]) -> Made:
        return tensor(sizes, lambda i: X[i])

    op = operator(tensorwise(first), "X", "sizes")
    given_arrays = {"X": np.arange(5, dtype=np.int8), "sizes": np.array([2])}
    assert evaluate(op, given_arrays, {})["Z"].tolist() == [0, 1]


def test_an_operator_may_say_its_meaning_otherwise() -> None:
    op = operator(None, "X", meaning=lambda arrays, attributes: {"Z": arrays["X"] * attributes["n"]})
    assert evaluate(op, {"X": np.array([2])}, {"n": 3})["Z"].tolist() == [6]
    with pytest.raises(DefinitionError, match="Stand has no definition"):
        evaluate(operator(None, "X"), {"X": np.array([2])}, {})


SCALED = operator(elementwise(lambda X, factor: X * factor), "X")
SUM = operator(by_two(lambda a, b: a + b), "X", "Y")


def _body(call: Call) -> tuple[BodyNode, ...]:
    factor = 2 if call.inputs["X"].dtype is DType.INT8 else 3
    return (
        BodyNode(SCALED, ("X",), ("scaled",), {"factor": factor}),
        BodyNode(SUM, ("scaled", "X"), ("Z",)),
    )


def test_a_composition_is_its_body() -> None:
    op = operator(None, "X", body=_body)
    assert evaluate(op, {"X": np.array([1, 2], np.int8)}, {})["Z"].tolist() == [3, 6]
    assert evaluate(op, {"X": floats(1, 2)}, {})["Z"].tolist() == [4, 8]
    found = traced(op, {"X": tensor_type("float[2]")}, {}, {})
    assert found.element is not None
    assert repr(found.element.term) == "(add (multiply (value X) (literal 3)) (value X))"
    assert found.element.executed is found.element.term
    assert found.made[0].shape == (2,)


def test_a_composition_of_more_than_elements_is_no_one_function_of_them() -> None:
    turned = operator(tensorwise(lambda X: tensor((2,), lambda i: X[1 - i])), "X")
    op = operator(None, "X", body=lambda call: (BodyNode(turned, ("X",), ("Z",)),))
    with pytest.raises(DefinitionError, match="more than one function of elements"):
        traced(op, {"X": tensor_type("float[2]")}, {}, {})
    assert evaluate(op, {"X": floats(1, 2)}, {})["Z"].tolist() == [2, 1]


def test_a_part_that_leaves_elements_at_their_places_is_one_function_of_them() -> None:
    left = operator(tensorwise(lambda X: tensor(X.shape, lambda *i: X[i])), "X")
    lines = operator(tensorwise(lambda X: tensor(X.shape, lambda line, column: X[line, column])), "X")
    for part, shape in ((left, "float[2]"), (left, "float[1,3]"), (left, "float[]"), (lines, "float[2,3]")):
        op = operator(None, "X", body=lambda call, part=part: (BodyNode(part, ("X",), ("Z",)),))
        found = traced(op, {"X": tensor_type(shape)}, {}, {})
        assert found.element is not None
        assert found.element.term is found.element.executed is value("X")
    kept = operator(tensorwise(lambda X: tensor((2,), lambda i: X[i, i])), "X")
    op = operator(None, "X", body=lambda call: (BodyNode(kept, ("X",), ("Z",)),))
    with pytest.raises(DefinitionError, match="more than one function of elements"):
        traced(op, {"X": tensor_type("float[2,2]")}, {}, {})


def test_the_type_of_elements_is_that_of_the_first_operand_of_numbers() -> None:
    types = {"truth": tensor_type("bool[2]"), "X": tensor_type("float[2]")}
    assert element_type(operator(None, "truth", "X"), types) is DType.FLOAT
    assert element_type(operator(None, "truth"), types) is DType.BOOL
    many = Operand("X", "X", "", ALL, variadic=True)
    op = replace(operator(None), contract=replace(operator(None).contract, inputs=(many,)))
    assert element_type(op, {"X0": tensor_type("int8[]")}) is DType.INT8


def test_absent_and_variadic_operands() -> None:
    def last(X: Given, Y: Given | None) -> Made:
        return tensor(X.shape, lambda i: X[i]) if Y is None else tensor(Y.shape, lambda i: Y[i])

    op = operator(tensorwise(last), "X", "Y")
    assert evaluate(op, {"X": floats(1)}, {})["Z"].tolist() == [1]
    assert evaluate(op, {"X": floats(1), "Y": floats(2)}, {})["Z"].tolist() == [2]
    many = operator(elementwise(lambda *X: X[0] + X[-1]), "X")
    inputs = (Operand("X", "X", "", ALL, variadic=True),)
    many = replace(many, contract=replace(many.contract, inputs=inputs))
    three = {f"X{m}": floats(m) for m in range(3)}
    assert evaluate(many, three, {})["Z"].tolist() == [2]


def test_attributes_are_literals_rounded_to_the_elements_type() -> None:
    """D-ALL-12: the float nearest to 0.1 is rounded once more for float16."""
    op = operator(elementwise(lambda X, alpha: X * alpha), "X")
    tenth = float(np.float32(0.1))
    found = evaluate(op, {"X": np.array([1], np.float16)}, {"alpha": tenth})["Z"]
    assert found.view(np.uint16).tolist() == [0x2E66]


def test_a_walk_answers_for_a_term_by_itself() -> None:
    walk = Walk(DType.FLOAT, DType.FLOAT, values={"x": floats(3)})
    assert walk(value("x") + 1).tolist() == [4]
