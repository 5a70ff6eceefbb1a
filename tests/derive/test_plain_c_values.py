"""Plain C that is derived gives the bits of independent definitions, compiled by gcc and by clang."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from tests.derive.plain_walk import COMPILERS, needs_compiler, run_c, run_each

from sonnx.terms.tensors import Given, Made, fold, inside, tensor
from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise, tensorwise
from sonnx.terms.words import (
    LOWEST,
    absolute,
    cases,
    converted,
    is_nan,
    left_over,
    maximum,
    minimum,
    narrow,
    otherwise,
    plus_product,
    root,
    select,
    truncated,
    when,
    wide,
)

pytestmark = [pytest.mark.measured, needs_compiler]

Array = Any
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    -2.75,
    6.0,
    1e-3,
    3e38,
    -3e38,
    np.inf,
    -np.inf,
    np.nan,
    2.0**-149,
    65504.0,
]
FLOATS = {"float": np.float32, "double": np.float64, "float16": np.float16}
INTEGERS = {
    f"{sign}int{width}": np.dtype(f"{sign}int{width}") for sign in ("", "u") for width in (8, 16, 32, 64)
}
ANY_NAN = {"float": 0x7FC00000, "double": 0x7FF8000000000000, "float16": 0x7E00}


def pairs(values: Array) -> tuple[Array, Array]:
    """Every value with every other."""
    a, b = np.meshgrid(values, values)
    return a.reshape(-1).copy(), b.reshape(-1).copy()


def floats(dtype: str) -> Array:
    with np.errstate(over="ignore"):
        return np.array(SPECIAL, FLOATS[dtype])


def integers(dtype: str) -> Array:
    info = np.iinfo(INTEGERS[dtype])
    near = [info.min, info.min + 1, -7, -2, -1, 0, 1, 2, 3, 100, info.max // 2, info.max - 1, info.max]
    return np.array(sorted({value for value in near if info.min <= value}), INTEGERS[dtype])


def bits(array: Array, dtype: str) -> Array:
    """The bits of floats, all NaNs as one."""
    found = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").copy()
    found[np.isnan(array)] = ANY_NAN[dtype]
    return found


def same(found: Array, expected: Array) -> None:
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def relu(X: Term) -> Term:
    return cases(when(X < 0, 0, "D-RELU", "Below."), otherwise(X, "D-RELU", "Not below."))


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda X, Y: X + Y, lambda x, y: x + y),
    "difference": (lambda X, Y: X - Y, lambda x, y: x - y),
    "product": (lambda X, Y: X * Y, lambda x, y: x * y),
    "sum of a product": (lambda X, Y: X * Y + X, lambda x, y: x * y + x),
    "product of sums": (lambda X, Y: (X + Y) * (X - Y), lambda x, y: (x + y) * (x - y)),
    "opposites": (lambda X, Y: -X - -Y, lambda x, y: (-x) - (-y)),
    "magnitudes": (lambda X, Y: absolute(X) + abs(Y), lambda x, y: abs(x) + abs(y)),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_every_operation_on_floats_rounds_once(dtype: str, compiler: str) -> None:
    x, y = pairs(floats(dtype))
    more: dict[str, tuple[Any, Any]] = {
        "quotient": (lambda X, Y: X / Y, lambda x, y: x / y),
        "root": (lambda X, Y: root(X) / Y, lambda x, y: np.sqrt(x) / y),
        "left over": (lambda X, Y: left_over(X, Y) + X, lambda x, y: np.fmod(x, y) + x),
        "literals": (
            lambda X, Y: X * 0.1 + Y / -6,
            lambda x, y: x * x.dtype.type(0.1) + y / x.dtype.type(-6),
        ),
    }
    asked = {**BINARY, **more}
    definitions = [elementwise(defined) for defined, _ in asked.values()]
    made = run_each(definitions, {"X": x, "Y": y}, {"X": dtype, "Y": dtype}, (dtype, x.shape), compiler)
    for (name, (_, expected)), found in zip(asked.items(), made, strict=True):
        with np.errstate(all="ignore"):
            wanted = expected(x, y)
        assert wanted.dtype == x.dtype, name
        same(bits(found, dtype), bits(wanted, dtype))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype: str, compiler: str) -> None:
    x, y = pairs(integers(dtype))
    width = 2 ** (8 * x.dtype.itemsize)
    definitions = [elementwise(defined) for defined, _ in BINARY.values()]
    made = run_each(definitions, {"X": x, "Y": y}, {"X": dtype, "Y": dtype}, (dtype, x.shape), compiler)
    for (_, expected), found in zip(BINARY.values(), made, strict=True):
        exact = [expected(int(a), int(b)) % width for a, b in zip(x, y, strict=True)]
        if x.dtype.kind == "i":
            exact = [value - width if value >= width // 2 else value for value in exact]
        same(found, np.array(exact, x.dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_quotient_of_integers_is_cut_off_behind_its_guard(dtype: str) -> None:
    x, y = pairs(integers(dtype))

    def defined(X: Term, Y: Term) -> Term:
        return select(Y == 0, 0, truncated(X, Y))

    wanted = []
    for a, b in zip(map(int, x), map(int, y), strict=True):
        exact = 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        wanted.append(exact if exact <= np.iinfo(x.dtype).max else np.iinfo(x.dtype).min)
    found = run_c(elementwise(defined), {"X": x, "Y": y}, {"X": dtype, "Y": dtype}, (dtype, x.shape))
    same(found, np.array(wanted, x.dtype))


COMPARISONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "less": (lambda X, Y: X < Y, lambda x, y: x < y),
    "not less": (lambda X, Y: ~(X < Y), lambda x, y: ~(x < y)),
    "less or equal": (lambda X, Y: X <= Y, lambda x, y: x <= y),
    "equal": (lambda X, Y: X == Y, lambda x, y: x == y),
    "other": (lambda X, Y: X != Y, lambda x, y: x != y),
    "both": (lambda X, Y: (X < 1) & (Y < 1) | (X == Y), lambda x, y: (x < 1) & (y < 1) | (x == y)),
    "either": (lambda X, Y: ((X < 1) | (Y < 1)) & (X != Y), lambda x, y: ((x < 1) | (y < 1)) & (x != y)),
}


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_comparisons_give_one_or_zero(dtype: str) -> None:
    x, y = pairs(floats(dtype) if dtype in FLOATS else integers(dtype))
    definitions = [elementwise(defined) for defined, _ in COMPARISONS.values()]
    made = run_each(definitions, {"X": x, "Y": y}, {"X": dtype, "Y": dtype}, ("bool", x.shape))
    for (_, expected), found in zip(COMPARISONS.values(), made, strict=True):
        same(found, expected(x, y).astype(bool))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_nan_is_told_from_numbers(dtype: str) -> None:
    x = floats(dtype)
    for defined, expected in ((lambda X: is_nan(-X), np.isnan(x)), (lambda X: ~is_nan(X), ~np.isnan(x))):
        found = run_c(elementwise(defined), {"X": x}, {"X": dtype}, ("bool", x.shape))
        same(found, expected)


@pytest.mark.parametrize("dtype", ["float", "double", "float16", "int8", "int64"])
def test_relu_keeps_the_bits_of_what_is_not_below_zero(dtype: str) -> None:
    x = floats(dtype) if dtype in FLOATS else integers(dtype)
    wanted = x.copy()
    wanted[x < 0] = 0
    same(run_c(elementwise(relu), {"X": x}, {"X": dtype}, (dtype, x.shape)), wanted)


@pytest.mark.parametrize("dtype", ["float", "float16", "int32", "uint8"])
def test_named_words_are_functions_that_other_words_call(dtype: str) -> None:
    x, y = pairs(floats(dtype) if dtype in FLOATS else integers(dtype))

    def defined(X: Term, Y: Term) -> Term:
        return minimum(maximum(X, Y), maximum(Y, 1))

    def larger(a: Any, b: Any) -> Any:
        return a if a != a else b if b != b else a if b < a else b  # noqa: PLR0124  a NaN differs from itself

    def smaller(a: Any, b: Any) -> Any:
        return a if a != a else b if b != b else a if a < b else b  # noqa: PLR0124  (same)

    one = x.dtype.type(1)
    wanted = [smaller(larger(a, b), larger(b, one)) for a, b in zip(x, y, strict=True)]
    found = run_c(elementwise(defined), {"X": x, "Y": y}, {"X": dtype, "Y": dtype}, (dtype, x.shape))
    same(found, np.array(wanted, x.dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "bool", "uint16", "bfloat16"])
def test_what_is_chosen_keeps_its_bits_and_any_byte_but_zero_is_true(dtype: str) -> None:
    held = {"bool": np.uint8, "bfloat16": np.uint16}.get(dtype, dtype)
    random = np.random.default_rng(1)
    x, y = (random.integers(0, 256, 64 * np.dtype(held).itemsize, np.uint8).view(held) for _ in range(2))
    condition = np.arange(64, dtype=np.uint8) * 4
    chosen = elementwise(lambda C, X, Y: select(~~C, X, Y))
    inverse = elementwise(lambda C, X, Y: select(~C, X, Y))
    types = {
        "C": "bool",
        "X": "uint8" if dtype == "bool" else dtype,
        "Y": "uint8" if dtype == "bool" else dtype,
    }
    result = ("uint8" if dtype == "bool" else dtype, (64,))
    operands = {"C": condition, "X": x, "Y": y}
    same(run_c(chosen, operands, types, result).view(x.dtype), np.where(condition != 0, x, y))
    same(run_c(inverse, operands, types, result).view(x.dtype), np.where(condition != 0, y, x))


@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_extremes_are_literals(dtype: str) -> None:
    x = floats(dtype)

    def defined(X: Term) -> Term:
        return select(X < 0, LOWEST, select(X == 1, float("inf"), select(X == 1.5, float("nan"), X * 0)))

    with np.errstate(invalid="ignore"):
        wanted = np.where(x < 0, -np.inf, np.where(x == 1, np.inf, np.where(x == 1.5, np.nan, x * 0)))
    found = run_c(elementwise(defined), {"X": x}, {"X": dtype}, (dtype, x.shape))
    same(bits(found, dtype), bits(wanted.astype(x.dtype), dtype))


def test_the_least_integer_is_a_literal() -> None:
    for dtype in INTEGERS:
        x = integers(dtype)
        found = run_c(
            elementwise(lambda X: select(X < 1, LOWEST, X)), {"X": x}, {"X": dtype}, (dtype, x.shape)
        )
        same(found, np.where(x < 1, np.iinfo(x.dtype).min, x).astype(x.dtype))


def test_the_sign_of_a_half_is_changed_in_its_bits() -> None:
    x = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    negated = run_c(
        elementwise(lambda X: -X), {"X": x.view(np.float16)}, {"X": "float16"}, ("float16", x.shape)
    )
    same(negated.view(np.uint16), x ^ 0x8000)
    bare = run_c(
        elementwise(lambda X: abs(-X)), {"X": x.view(np.float16)}, {"X": "float16"}, ("float16", x.shape)
    )
    same(bare.view(np.uint16), x & 0x7FFF)


# --- tensors ------------------------------------------------------------------------------------------------


def padded(X: Given) -> Made:
    """One line before, two behind, three columns before."""
    return tensor(
        (X.shape[0] + 3, X.shape[1] + 3),
        lambda i, j: select(inside((i - 1, j - 3), X.shape), X[i - 1, j - 3], 7),
    )


@pytest.mark.parametrize("dtype", ["float", "float16", "int16"])
def test_a_guard_keeps_reads_inside(dtype: str) -> None:
    x = np.arange(6).reshape(2, 3).astype(FLOATS.get(dtype, dtype))
    found = run_c(tensorwise(padded), {"X": x}, {"X": dtype}, (dtype, (5, 6)))
    same(found, np.pad(x, ((1, 2), (3, 0)), constant_values=7))


def test_indices_are_divided_downwards() -> None:
    x = np.arange(4, dtype=np.int32)

    def defined(X: Given) -> Made:
        return tensor(
            (9,), lambda i: select((i - 5) // 3 + (i - 5) % 3 < 0, -1, X.flat((i - 5) % 3 + (i - 5) // 3 * 0))
        )

    wanted = [-1 if (i - 5) // 3 + (i - 5) % 3 < 0 else x[(i - 5) % 3] for i in range(9)]
    same(run_c(tensorwise(defined), {"X": x}, {"X": "int32"}, ("int32", (9,))), np.array(wanted, np.int32))


def test_a_condition_may_be_read_at_indices() -> None:
    c, x = np.array([0, 2, 255, 0], np.uint8), np.arange(4, dtype=np.float32)

    def defined(C: Given, X: Given) -> Made:
        return tensor((4,), lambda i: select(C[3 - i], X[i], select(C.flat(i), 10, 20)))

    found = run_c(tensorwise(defined), {"C": c, "X": x}, {"C": "bool", "X": "float"}, ("float", (4,)))
    same(found, np.array([20, 1, 2, 20], np.float32))


def test_an_index_of_one_place_is_not_counted_and_one_that_is_not_needed_is_idle() -> None:
    x = np.arange(3, dtype=np.float32)

    def defined(X: Given) -> Made:
        return tensor((2, 1, 3), lambda a, b, c: select(a < 5, X[c + b], 0))

    found = run_c(tensorwise(defined), {"X": x}, {"X": "float"}, ("float", (2, 1, 3)))
    same(found, np.array([[x], [x]]))


def test_a_scalar_has_no_indices() -> None:
    x = np.array(2.5, np.float32)
    found = run_c(
        tensorwise(lambda X: tensor((), lambda: X[()] + 1)), {"X": x}, {"X": "float"}, ("float", ())
    )
    same(found, np.array(3.5, np.float32))
    nothing = run_c(
        tensorwise(lambda X: tensor((2,), lambda _i: 4)), {"X": x}, {"X": "float"}, ("float", (2,))
    )
    same(nothing, np.array([4, 4], np.float32))


def test_places_beyond_32_bits_are_counted_in_64() -> None:
    x = np.arange(3, dtype=np.int8)
    far = 2**33

    def defined(X: Given) -> Made:
        return tensor((4,), lambda i: select(i * far < 3 * far, X.flat(i * far // far), 9))

    same(run_c(tensorwise(defined), {"X": x}, {"X": "int8"}, ("int8", (4,))), np.array([0, 1, 2, 9], np.int8))


def matmul(A: Given, B: Given) -> Made:
    """The sum of products in order."""
    sums = (A.shape[1],)
    return tensor(
        (A.shape[0], B.shape[1]),
        lambda i, j: narrow(fold(sums, wide(0), lambda s, k: plus_product(s, wide(A[i, k]), wide(B[k, j])))),
    )


def one_rounding(x: Fraction, dtype: str) -> Any:
    """The nearest float of a fraction; a sum of doubles would round twice."""
    held: Any = FLOATS[dtype]
    guess = held(float(x))
    near = [guess, np.nextafter(guess, held(np.inf)), np.nextafter(guess, held(-np.inf))]
    return min(near, key=lambda f: (abs(Fraction(float(f)) - x), int(f.view(f"u{f.itemsize}")) & 1))


@pytest.mark.parametrize("accumulate", ["separate", "fused"])
@pytest.mark.parametrize("dtype", ["float", "double", "float16", "int8", "int64", "uint32"])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_fold_takes_one_term_after_the_other(dtype: str, accumulate: str, size: int) -> None:
    random = np.random.default_rng(3)
    if dtype in FLOATS:
        a, b = (random.uniform(-2, 2, shape).astype(FLOATS[dtype]) for shape in ((2, size), (size, 3)))
        sums = FLOATS["float" if dtype == "float16" else dtype]
    else:
        kind = INTEGERS[dtype]
        a, b = (
            random.integers(0, 256, prod * kind.itemsize, np.uint8).view(kind)
            for prod in (2 * size, size * 3)
        )
        a, b, sums = a.reshape(2, size), b.reshape(size, 3), kind.type
    wanted = np.zeros((2, 3), a.dtype)
    for i, j in np.ndindex(2, 3):
        s: Any = sums(0)
        for k in range(size):
            x, y = cast(Any, sums(a[i, k])), cast(Any, sums(b[k, j]))
            with np.errstate(over="ignore"):
                s = s + sums(x * y) if accumulate == "separate" or dtype not in FLOATS else s
            if accumulate == "fused" and dtype in FLOATS:
                exact = Fraction(float(s)) + Fraction(float(x)) * Fraction(float(y))
                s = one_rounding(exact, "float" if dtype == "float16" else dtype)
        wanted[i, j] = s
    found = run_c(
        tensorwise(matmul), {"A": a, "B": b}, {"A": dtype, "B": dtype}, (dtype, (2, 3)), accumulate=accumulate
    )
    same(found, wanted)


def pool(X: Given) -> Made:
    """The largest of a window of 3 x 1 x 2 with padding, less half of it."""

    def at(i: Term, j: Term) -> Term:
        def step(s: Term, p: Term, _one: Term, q: Term) -> Term:
            place = (i + p - 1, j + q - 1)
            return maximum(s, select(inside(place, X.shape), X[place], LOWEST))

        return fold((3, 1, 2), LOWEST, step) * 0.5

    return tensor((X.shape[0], X.shape[1] + 1), at)


@pytest.mark.parametrize("dtype", ["float", "float16"])
def test_a_fold_may_choose_and_its_value_may_be_calculated_with(dtype: str) -> None:
    x = np.random.default_rng(4).uniform(-9, 9, (4, 3)).astype(FLOATS[dtype])
    x[2, 1] = np.nan
    wanted = np.empty((4, 4), x.dtype)
    for i, j in np.ndindex(4, 4):
        lines, columns = range(max(i - 1, 0), min(i + 2, 4)), range(max(j - 1, 0), min(j + 1, 3))
        wanted[i, j] = np.max([x[p, q] for p in lines for q in columns]) * x.dtype.type(0.5)
    found = run_c(tensorwise(pool), {"X": x}, {"X": dtype}, (dtype, (4, 4)))
    same(bits(found, dtype), bits(wanted, dtype))


def test_a_step_may_go_two_ways() -> None:
    x = np.array([3, -4, 5, -6], np.float32)

    def defined(X: Given) -> Made:
        step = lambda s, k: cases(  # noqa: E731  a definition is a function
            when(X[k] < 0, s - X[k] * 2, "D-X", "Below."), otherwise(s + X[k], "D-X", "Not below.")
        )
        return tensor((1,), lambda _i: fold((4,), 0, step))

    same(run_c(tensorwise(defined), {"X": x}, {"X": "float"}, ("float", (1,))), np.array([28], np.float32))


def test_an_operand_without_elements_is_read_nowhere() -> None:
    x = np.empty((0, 2), np.float32)
    found = run_c(tensorwise(padded), {"X": x}, {"X": "float"}, ("float", (3, 5)))
    same(found, np.full((3, 5), 7, np.float32))


CONVERTED: tuple[tuple[str, str], ...] = (
    ("int8", "int32"),
    ("int64", "uint8"),
    ("float16", "float"),
    ("int8", "int8"),
)


def as_made(X: Term) -> Term:
    return converted(X)


@pytest.mark.parametrize(("given", "made"), CONVERTED)
def test_elements_are_converted(given: str, made: str) -> None:
    x = floats(given) if given in FLOATS else integers(given)
    found = run_c(elementwise(as_made), {"X": x}, {"X": given}, (made, x.shape))
    wanted = x.astype(FLOATS.get(made, made))
    same(bits(found, made) if made in FLOATS else found, bits(wanted, made) if made in FLOATS else wanted)
