"""Element-wise definitions as loops in C: the bits of NumPy's operations, for every type and length."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.derive.kernel_support import Array, any_bits, asked, executed, requested, stand_in, ways
from tests.operators.support import FLOATS, HELD, INTEGERS, special_values

from sonnx.derive.c_elements import answering, statements
from sonnx.derive.c_numbers import NoWordError
from sonnx.derive.fast_c import kernels
from sonnx.model.dtype import ALL as DTYPES
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.terms.tensors import Given, tensor
from sonnx.terms.tracing import elementwise, tensorwise, trace
from sonnx.terms.words import (
    LOWEST,
    absolute,
    cases,
    converted,
    is_minus_zero,
    is_nan,
    left_over,
    maximum,
    narrow,
    otherwise,
    root,
    select,
    truncated,
    value,
    wide,
)
from sonnx.vocabulary.kernel import KernelRequest, NodeKernels
from sonnx.vocabulary.operator import Operand

pytestmark = pytest.mark.measured

LENGTHS = (0, 1, 3, 64, 67, 300, 10_000)


@dataclass(frozen=True)
class Case:
    """A definition of X and Y, and the same by NumPy on arrays."""

    defined: Callable[[Any, Any], Any]
    expected: Callable[[Array, Array], Any]


def chosen(T: Any, X: Any, Y: Any) -> Any:
    return select(T, X, Y)


def polynomial(X: Any, Y: Any) -> Any:
    return (X + Y) * X - Y


def halves(x: Array) -> Array:
    """In the type in which sums of float16 are made."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def zeros_and_nans(X: Any, Y: Any) -> Any:
    special: Any = is_nan(X) | is_minus_zero(X)
    return select(special & (Y <= X), Y, select(~special, X, select(special, LOWEST, X)))


def zeros_and_nans_of_numpy(X: Array, Y: Array) -> Array:
    special = np.isnan(X) | ((X == 0) & np.signbit(X))
    lowest = X.dtype.type(-np.inf)
    return np.where(special & (Y <= X), Y, np.where(~special, X, np.where(special, lowest, X)))


def summed_wide(X: Any, Y: Any) -> Any:
    total = wide(X) * wide(Y) + wide(X)
    return narrow(select(Y < X, -total, absolute(root(total))) + Y)


def summed_wide_by_numpy(X: Array, Y: Array) -> Array:
    total = halves(X) * halves(Y) + halves(X)
    return (np.where(Y < X, -total, abs(np.sqrt(total))) + halves(Y)).astype(X.dtype)


THIRD, INFINITE = Fraction(1, 3), float("inf")
ON_FLOATS = {
    "polynomial": Case(polynomial, polynomial),
    "quotient": Case(lambda X, Y: X / Y - X * Y, lambda X, Y: X / Y - X * Y),
    "sign": Case(
        lambda X, Y: select(X == Y, -X, root(absolute(X))), lambda X, Y: np.where(X == Y, -X, np.sqrt(abs(X)))
    ),
    "literals": Case(
        lambda X, Y: select(X < Y, X * THIRD, select(X == INFINITE, float("nan"), -INFINITE)),
        lambda X, Y: np.where(
            X < Y,
            X * X.dtype.type(1 / 3),
            np.where(np.inf == X, X.dtype.type(np.nan), X.dtype.type(-np.inf)),
        ),
    ),
    "left over": Case(lambda X, Y: left_over(X, Y) - X, lambda X, Y: np.fmod(X, Y) - X),
    "special": Case(zeros_and_nans, zeros_and_nans_of_numpy),
    "maximum": Case(
        lambda X, Y: maximum(X, Y),  # noqa: PLW0108  the names of the operands
        lambda X, Y: np.where(np.isnan(X), X, np.where(np.isnan(Y), Y, np.where(Y < X, X, Y))),
    ),
    "wide": Case(summed_wide, summed_wide_by_numpy),
    "stated": Case(lambda X, Y: cases(otherwise(X + Y, "D-ADD", "The sum.")), lambda X, Y: X + Y),
}


def quotient(X: Any, Y: Any) -> Any:
    return select(Y == 0, -X, truncated(X, Y))


def quotient_by_python(X: Array, Y: Array) -> Array:
    """Integers of Python's, rounded towards zero and taken modulo a power of two."""

    def one(x: int, y: int) -> int:
        return -x if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    return wrapped([one(x, y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)], X.dtype)


def wrapped(values: list[int], dtype: np.dtype[Any]) -> Array:
    bits = 8 * dtype.itemsize
    return np.array([value % 2**bits for value in values], f"u{dtype.itemsize}").view(dtype)


def in_python(formula: Callable[[int, int], int]) -> Callable[[Array, Array], Array]:
    """The same on integers without bounds, taken modulo a power of two at the end."""
    return lambda X, Y: wrapped([formula(x, y) for x, y in zip(X.tolist(), Y.tolist(), strict=True)], X.dtype)


ON_INTEGERS = {
    "polynomial": Case(polynomial, in_python(polynomial)),
    "quotient": Case(quotient, quotient_by_python),
    "maximum": Case(lambda X, Y: maximum(X, Y), in_python(max)),  # noqa: PLW0108  (same)
    "magnitude": Case(
        lambda X, Y: select(is_nan(X) | (X <= Y), absolute(X), narrow(wide(Y)) + 3),
        in_python(lambda x, y: abs(x) if x <= y else y + 3),
    ),
    "lowest": Case(
        lambda X, Y: select(X == LOWEST, Y, LOWEST),
        lambda X, Y: np.where(np.iinfo(X.dtype).min == X, Y, np.iinfo(X.dtype).min).astype(X.dtype),
    ),
}


def drawn(name: str) -> dict[str, Array]:
    """Pairs of arbitrary bits, and every pair of special values among them."""
    special = np.array(special_values(name), HELD[name])
    pairs = {"X": special.repeat(special.size), "Y": np.concatenate([special] * special.size)}
    order = np.random.default_rng(1).permutation(special.size**2 + 300)
    return {
        each: np.concatenate([array, any_bits(name, 300, seed)])[order]
        for seed, (each, array) in enumerate(pairs.items())
    }


def same(found: Array, expected: Array, *, any_nan: bool) -> bool:
    """Whether all bits agree; a NaN that was calculated may be any."""
    nans = (found != found) & (expected != expected) & any_nan  # noqa: PLR0124  only a NaN differs from itself
    raw = [array.view(f"u{array.itemsize}") for array in (found, expected)]
    return found.dtype == expected.dtype and bool(((raw[0] == raw[1]) | nans).all())


def compare(case: Case, name: str) -> None:
    operator = stand_in(elementwise(case.defined), "X", "Y")
    whole = drawn(name)
    for length in LENGTHS:
        count = min(length, whole["X"].size)
        arrays = {operand: array[:count] for operand, array in whole.items()}
        with np.errstate(all="ignore"):
            expected = case.expected(*arrays.values())
        found = asked(operator, arrays, name, (count,))
        for way, offset in product(ways(count), (0, 1)):
            result = executed(found, arrays, name, (count,), way, offset=offset)
            assert same(result, expected, any_nan=name in FLOATS), (count, way, offset)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("word", ON_FLOATS)
def test_a_definition_on_floats_has_the_bits_of_numpy(word: str, name: str) -> None:
    compare(ON_FLOATS[word], name)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("word", ON_INTEGERS)
def test_a_definition_on_integers_is_that_of_python_modulo_a_power_of_two(word: str, name: str) -> None:
    compare(ON_INTEGERS[word], name)


@pytest.mark.parametrize("name", [*FLOATS, "int8", "uint64"])
def test_what_is_compared_gives_bytes_that_are_0_or_1(name: str) -> None:
    operator = stand_in(elementwise(lambda X, Y: ~(X < Y) & (X <= Y)), "X", "Y")
    arrays = drawn(name)
    shape = arrays["X"].shape
    expected = (~(arrays["X"] < arrays["Y"]) & (arrays["X"] <= arrays["Y"])).view(np.uint8)
    for way in ways(expected.size):
        found = executed(asked(operator, arrays, "bool", shape), arrays, "bool", shape, way)
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", HELD)
def test_what_is_only_chosen_keeps_every_bit_of_every_type(name: str) -> None:
    operator = stand_in(elementwise(lambda T, U, X, Y: select(T & ~U | U & ~T, X, Y)), *"TUXY", truths="TU")
    arrays = {each: any_bits(name, 301, seed) for seed, each in enumerate("XY")}
    truths = {each: np.arange(301).astype(np.uint8) % (2 + seed) for seed, each in enumerate("TU")}
    given = {each: array.view(bool) for each, array in truths.items()} | arrays
    chosen = (truths["T"] != 0) != (truths["U"] != 0)
    raw = {each: array.view(np.uint8).reshape(301, -1) for each, array in arrays.items()}
    expected = np.where(chosen[:, None], raw["X"], raw["Y"])
    for way, offset in product(ways(301), (0, 1)):
        found = executed(asked(operator, given, name, (301,)), given, name, (301,), way, offset=offset)
        assert found.tobytes() == expected.tobytes()


def test_an_output_of_16_bytes_an_element_that_no_line_begins_with_is_written_too() -> None:
    operator = stand_in(elementwise(chosen), *"TXY", truths="T")
    given = {"T": np.arange(90) % 3 == 0, "X": any_bits("complex128", 90), "Y": any_bits("complex128", 90, 2)}
    (call,) = asked(operator, given, "complex128", (90,)).calls
    words = {**given, **{each: given[each].view(np.uint64) for each in "XY"}}
    found = executed(NodeKernels((call,)), words, "uint64", (180,), {"streamed": 1}, offset=1)
    assert found.tobytes() == np.where(given["T"], given["X"], given["Y"]).tobytes()


@pytest.mark.parametrize("name", ["float", "float16", "int8"])
def test_any_byte_but_zero_decides_what_is_calculated(name: str) -> None:
    operator = stand_in(elementwise(lambda T, X, Y: select(T, X + Y, X)), *"TXY", truths="T")
    bytes_ = np.array([0, 1, 2, 255], np.uint8)
    given = {"T": bytes_.view(bool), **{each: np.arange(1, 5, dtype=HELD[name]) for each in "XY"}}
    found = executed(asked(operator, given, name, (4,)), given, name, (4,))
    assert found.tolist() == [1, 4, 6, 8]


def test_truths_alone_give_a_byte_that_is_0_or_1() -> None:
    operator = stand_in(elementwise(lambda T, U: T & ~U), *"TU", truths="TU")
    given = {
        "T": np.array([0, 1, 7, 255], np.uint8).view(bool),
        "U": np.array([0, 0, 9, 0], np.uint8).view(bool),
    }
    found = executed(asked(operator, given, "bool", (4,)), given, "bool", (4,))
    assert found.view(np.uint8).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("name", ["float", "float16", "int8", "complex128", "bfloat16"])
def test_scalars_serve_all_elements(name: str) -> None:
    operator = stand_in(elementwise(chosen), *"TXY", truths="T")
    X, Y = any_bits(name, 70), any_bits(name, 1, 2)
    T = np.arange(70) % 2 == 0
    scalar = {"T": T, "X": X, "Y": Y.reshape(())}
    found = executed(asked(operator, scalar, name, (70,)), scalar, name, (70,))
    assert found.tobytes() == np.where(T, X, Y).astype(X.dtype).tobytes()
    for truth in (False, True):
        given = {"T": np.array(truth), "X": X, "Y": Y.repeat(70)}
        found = executed(asked(operator, given, name, (70,)), given, name, (70,), {"streamed": 1})
        assert found.tobytes() == given["X" if truth else "Y"].tobytes()


def test_a_result_without_axes_is_made_of_scalars() -> None:
    operator = stand_in(elementwise(lambda X, Y: X - Y), *"XY")
    given = {"X": np.array(5, np.int8), "Y": np.array(-128, np.int8)}
    assert executed(asked(operator, given, "int8", ()), given, "int8", ()).tolist() == -123


def test_a_literal_of_what_is_only_chosen_is_its_bits() -> None:
    operator = stand_in(elementwise(lambda T, X: select(T, X, Fraction(-1, 2))), *"TX", truths="T")
    for name, bits in (("float", 0xBF000000), ("float16", 0xB800), ("bfloat16", 0xBF00)):
        given = {"T": np.array([True, False]), "X": any_bits(name, 2)}
        found = executed(asked(operator, given, name, (2,)), given, name, (2,))
        raw = [array.view(f"u{array.itemsize}").tolist() for array in (found, given["X"])]
        assert raw[0] == [raw[1][0], bits]


def test_operands_may_be_called_as_the_text_around_them_calls_its_own() -> None:
    def odd(count: Any, chosen: Any, i: Any) -> Any:
        return select(count < chosen, i, select(chosen < count, chosen, count))

    given = {name: any_bits("int16", 50, seed) for seed, name in enumerate(("count", "chosen", "i"))}
    found = executed(asked(stand_in(elementwise(odd), *given), given, "int16", (50,)), given, "int16", (50,))
    count, chosen, i = given.values()
    assert found.tolist() == np.where(count < chosen, i, np.where(chosen < count, chosen, count)).tolist()


def test_kernels_that_differ_in_an_attribute_or_an_operand_have_different_names() -> None:
    def symbol(factor: int, X: Array) -> str:
        operator = stand_in(elementwise(lambda X, factor: X * factor), "X")
        found = kernels(operator, requested({"X": X}, "float", X.shape, factor=factor))
        assert found is not None
        return found.calls[0].symbol

    X = any_bits("float", 3)
    assert symbol(2, X) == symbol(2, X[:2]) != symbol(3, X)
    # One element of each is as if they had axes.
    assert symbol(2, X) == symbol(2, X[0].reshape(()))
    several = Operand("X", "X", "", DTYPES, variadic=True)
    operator = stand_in(elementwise(lambda *X: sum(X)), "X")
    operator = replace(operator, contract=replace(operator.contract, inputs=(several,)))
    symbols = [
        asked(operator, {f"X{m}": X for m in range(count)}, "float", X.shape).calls[0].symbol
        for count in (2, 3)
    ]
    assert symbols[0] != symbols[1]


NOTHING: dict[str, tuple[Callable[[Any], Any], Array, str]] = {
    "a quotient of integers": (lambda X: X / 3, any_bits("int8", 3), "int8"),
    "sums of bfloat16": (lambda X: X + X, any_bits("bfloat16", 3), "bfloat16"),
    "another type of a sum": (lambda X: converted(X + X), any_bits("float", 3), "int8"),
    "complex numbers as real ones": (converted, any_bits("complex64", 3), "float"),
    "another type, only stated": (lambda X: select(is_nan(X), X, X), any_bits("float", 3), "double"),
}


@pytest.mark.parametrize("why", NOTHING)
def test_what_has_no_fast_form_is_left_to_the_definition(why: str) -> None:
    defined, X, made = NOTHING[why]
    operator = stand_in(elementwise(lambda X: defined(X)), "X")  # noqa: PLW0108  the name of the operand
    assert asked(operator, {"X": X}, made, X.shape) is None


def test_a_definition_with_a_number_is_none_on_complex_elements() -> None:
    operator = stand_in(elementwise(lambda T, X: select(T, X, 0)), *"TX", truths="T")
    given = {"T": np.array([True]), "X": any_bits("complex64", 1)}
    with pytest.raises(TypeError, match="complex64 has no element 0"):
        asked(operator, given, "complex64", (1,))


def typed(dtype: DType) -> KernelRequest:
    types = {"x": TensorType(dtype, (2,)), "z": TensorType(dtype, (2,))}
    return KernelRequest({"X": "x"}, {"Z": "z"}, types, {}, "")


def test_what_python_holds_has_no_kernels() -> None:
    operator = stand_in(elementwise(lambda X: select(X < 0, X, X)), "X")
    assert kernels(operator, typed(DType.FLOAT)) is not None
    assert [kernels(operator, typed(dtype)) for dtype in (DType.REAL, DType.STRING)] == [None, None]


def test_kernels_by_hand_come_first_and_without_a_definition_there_are_none() -> None:
    nothing = stand_in(None, "X")
    assert kernels(nothing, typed(DType.FLOAT)) is None
    by_hand = NodeKernels(())
    operator = type(nothing)(nothing.contract, kernels=lambda _request: by_hand)
    assert kernels(operator, typed(DType.REAL)) is by_hand


def test_without_the_elements_that_decide_a_shape_there_are_no_kernels() -> None:
    operator = stand_in(tensorwise(lambda X, S: tensor(S, lambda *_i: X[()])), "X", "S", constants=("S",))
    given = {"X": np.array(3, np.int8)}
    known = requested(given, "int8", (4,), {"S": (4,)})
    assert executed(kernels(operator, known), given, "int8", (4,)).tolist() == [3, 3, 3, 3]
    assert kernels(operator, type(known)(known.inputs, known.outputs, known.types, {}, "")) is None


def test_what_is_calculated_at_indices_is_left_to_the_definition() -> None:
    def doubled(X: Any) -> Any:
        return tensor(X.shape, lambda i: X[i] + X[i])

    given = {"X": any_bits("float", 3)}
    assert asked(stand_in(tensorwise(doubled), "X"), given, "float", (3,)) is None


def test_truths_that_are_moved_are_left_to_the_definition() -> None:
    # A byte that is true may have any value, and a truth that is written is 1.
    operator = stand_in(tensorwise(lambda T: tensor(T.shape, lambda i: T[i])), "T", truths="T")
    assert asked(operator, {"T": np.array([True])}, "bool", (1,)) is None


def test_a_maximum_of_many_halves_is_written_at_once() -> None:
    """What is shared at every level is looked at once: else this would take years."""
    tree = reduce(maximum, [value(f"X{m}") for m in range(60)])
    assert len(statements(tree, DType.FLOAT16, DType.FLOAT16, []).names) == 60


def test_many_operands_without_axes_have_a_name_that_files_can_have() -> None:
    names = [f"operand{number}" for number in range(32)]
    defined = elementwise(lambda *X: reduce(maximum, X))
    operator = stand_in(defined)
    (only,) = [Operand("operand", "X", "", DTYPES, variadic=True)]
    operator = replace(operator, contract=replace(operator.contract, inputs=(only,)))
    found = kernels(operator, requested({name: np.zeros((), np.int8) for name in names}, "int8", ()))
    assert found is not None
    (made,) = found.calls
    assert len(made.symbol) < 40


def test_elements_of_several_words_are_no_parts_of_loops() -> None:
    with pytest.raises(NoWordError, match="several words"):
        answering(value("X"), DType.COMPLEX64, DType.COMPLEX64, ["X"], in_bits=True)


def test_a_function_takes_what_its_type_asks_for_and_no_more() -> None:
    below = trace(
        elementwise(lambda X, slope: select(X < 0, slope * X, X)),
        {n: Given(n, ()) for n in ("X", "slope")},
        {},
    )
    assert below.element is not None
    for dtype, names in ((DType.INT32, {"X", "slope"}), (DType.UINT32, {"X"})):
        found = answering(below.element.term, dtype, dtype, ["X", "slope"], in_bits=True)
        assert found.names.keys() == names
