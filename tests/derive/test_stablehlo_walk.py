"""Definitions as operations of StableHLO: texts by hand, and XLA's answers against loops in NumPy."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.derive.xla_walk import Array, lowered, on_xla, operator

from sonnx.derive import stablehlo, stablehlo_moves
from sonnx.mlir import operations as hlo
from sonnx.mlir.operations import ExportError
from sonnx.model.dtype import DType
from sonnx.terms.tensors import Given, fold, inside, tensor
from sonnx.terms.term import Term, make
from sonnx.terms.tracing import elementwise, tensorwise
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
    plus_product,
    root,
    select,
    truncated,
    wide,
)

pytestmark = pytest.mark.measured

F32 = np.array([0.0, -0.0, 1.5, -1.5, 1e-45, -1e-45, 2e-45, np.inf, -np.inf, np.nan, 3e38], np.float32)
# A literal that nothing is less than.
UNKNOWN = float("nan")
CHOICE = elementwise(lambda c, x, y: select(c, x, y))  # noqa: PLW0108  operands are called by their own names
FEW = np.arange(6, dtype=np.float32).reshape(2, 3)


def bits(array: Array) -> list[int]:
    return [int(word) for word in array.reshape(-1).view(f"u{array.dtype.itemsize}")]


def same(found: Array, right: Any, *, nan_bits: bool = True) -> None:
    """The same type, shape and bits; of NaNs, where they were calculated, that they are NaNs."""
    right = np.asarray(right)
    assert (found.dtype, found.shape) == (right.dtype, right.shape)
    if not nan_bits:
        assert (np.isnan(found) == np.isnan(right)).all()
        found, right = np.where(np.isnan(found), 0, found), np.where(np.isnan(right), 0, right)
    assert bits(np.ascontiguousarray(found)) == bits(np.ascontiguousarray(right))


def pairs(values: Array) -> tuple[Array, Array]:
    grid = np.meshgrid(values, values)
    return np.ascontiguousarray(grid[0]).reshape(-1), np.ascontiguousarray(grid[1]).reshape(-1)


# Sums


def test_a_zero_that_is_known_is_added_all_the_same() -> None:
    # -0 + 0 is +0, and -0 + -0 is -0; left out, both would be -0.
    x = np.array([-0.0, 0.0, 1.0], np.float32)
    same(on_xla(elementwise(lambda x: x + 0), x=x), np.array([0.0, 0.0, 1.0], np.float32))
    same(on_xla(elementwise(lambda x: 0 + x), x=x), np.array([0.0, 0.0, 1.0], np.float32))
    added = elementwise(lambda x: plus_product(0, x, 1))
    same(on_xla(added, x=x), np.array([0.0, 0.0, 1.0], np.float32))


# Texts


def test_integers_need_one_operation_a_word() -> None:
    relu = elementwise(lambda x: select(x < 0, 0, x))
    block, result = lowered(relu, {"x": np.zeros(3, np.int32)}, DType.INT32)
    assert block.lines == [
        "%0 = stablehlo.constant dense<0> : tensor<3xi32>",
        "%1 = stablehlo.compare LT, %x, %0, SIGNED : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>",
        "%2 = stablehlo.select %1, %0, %x : tensor<3xi1>, tensor<3xi32>",
    ]
    assert result.name == "%2"


def test_a_move_is_slices_that_are_joined() -> None:
    def pad(x: Given) -> Any:
        return tensor((4,), lambda i: select(i < 1, 7, select(i < 3, x[2 * (i - 1)], x[3 - i])))

    block, _ = lowered(tensorwise(pad), {"x": np.zeros(3, np.int32)}, DType.INT32)
    assert block.lines == [
        "%0 = stablehlo.constant dense<7> : tensor<1xi32>",
        "%1 = stablehlo.slice %x [0:3:2] : (tensor<3xi32>) -> tensor<2xi32>",
        "%2 = stablehlo.slice %x [0:1] : (tensor<3xi32>) -> tensor<1xi32>",
        "%3 = stablehlo.concatenate %0, %1, %2, dim = 0 : "
        "(tensor<1xi32>, tensor<2xi32>, tensor<1xi32>) -> tensor<4xi32>",
    ]


def test_what_is_calculated_passes_through_its_bits() -> None:
    block, _ = lowered(elementwise(lambda x: x * x), {"x": np.zeros((), np.float32)}, DType.FLOAT)
    operations = [line.split(" = ")[1].split()[0].removeprefix("stablehlo.") for line in block.lines]
    assert operations[:2] == ["multiply", "bitcast_convert"]
    assert operations[-2:] == ["select", "bitcast_convert"]


# Comparisons and choices


def check_comparisons() -> None:
    a, b = pairs(F32)
    with np.errstate(all="ignore"):
        same(on_xla(elementwise(lambda a, b: a < b), DType.BOOL, a=a, b=b), a < b)
        same(on_xla(elementwise(lambda a, b: a <= b), DType.BOOL, a=a, b=b), a <= b)
        same(on_xla(elementwise(lambda a, b: a == b), DType.BOOL, a=a, b=b), a == b)


def check_special_values() -> None:
    same(on_xla(elementwise(is_nan), DType.BOOL, x=F32), np.isnan(F32))
    zero = (F32 == 0) & np.signbit(F32)
    same(on_xla(elementwise(is_minus_zero), DType.BOOL, x=F32), zero)
    mixed = elementwise(lambda x: ~(is_nan(x) | ((x < 1) & (x > 0))))
    same(on_xla(mixed, DType.BOOL, x=F32), ~(np.isnan(F32) | ((F32 < 1) & (F32 > 0))))
    same(on_xla(elementwise(lambda x: x < UNKNOWN), DType.BOOL, x=F32), np.zeros(F32.shape, bool))


def check_choices() -> None:
    a, b = pairs(F32)
    right = np.where(np.isnan(a), a, np.where(np.isnan(b), b, np.where(b < a, a, b)))
    same(on_xla(elementwise(maximum), a=a, b=b), right)
    flags = np.array([True, False, True])
    x, y = np.array([1, 2, 3], np.int8), np.array([4, 5, 6], np.int8)
    same(on_xla(CHOICE, c=flags, x=x, y=y), np.array([1, 5, 3], np.int8))
    # A scalar serves all elements, as condition, as what is chosen, and beside another scalar.
    scalar = np.array(np.float32(-1.0))
    limit = elementwise(lambda x, low: select(x < low, low, select(low < 0, x, 0)))
    same(on_xla(limit, low=scalar, x=F32), np.where(F32 < -1, np.float32(-1), F32))
    same(on_xla(elementwise(lambda x: select(x < 1, 5, 4)), x=scalar), np.float32(5))
    same(on_xla(elementwise(lambda x: cases(otherwise(x, "D-ALL-4", "Kept."))), x=F32), F32)


def check_bfloat16_keeps_bits() -> None:
    words = np.array([0x7F81, 0xFF91, 0x0001, 0x8000, 0x3F80], np.uint16).view(ml_dtypes.bfloat16)
    same(on_xla(CHOICE, c=np.ones(5, bool), x=words, y=words), words)
    column = tensorwise(lambda x: tensor((5, 4), lambda i, j: x[i]))
    same(on_xla(column, x=words), np.ascontiguousarray(np.broadcast_to(words[:, None], (5, 4))))
    shifted = tensorwise(lambda x: tensor((5,), lambda i: select(i < 2, x[i + 3], x[i - 2])))
    same(on_xla(shifted, x=words), np.roll(words, 2))


# Arithmetic

NUMBERS = np.array([1.0, -3.0, 0.1, 7.5, -0.3, 1e10, 123456.789, -2.5e-5], np.float32)


def check_arithmetic() -> None:
    a, b = pairs(NUMBERS)
    same(on_xla(elementwise(lambda a, b: a + b), a=a, b=b), a + b)
    same(on_xla(elementwise(lambda a, b: a - b), a=a, b=b), a - b)
    same(on_xla(elementwise(lambda a, b: a * b), a=a, b=b), a * b)
    same(on_xla(elementwise(lambda a, b: a / b), a=a, b=b), a / b)
    with np.errstate(all="ignore"):
        same(on_xla(elementwise(root), x=a), np.sqrt(a), nan_bits=False)
        same(on_xla(elementwise(left_over), a=a, b=b), np.fmod(a, b), nan_bits=False)
    same(on_xla(elementwise(lambda x: -x), x=F32), -F32)
    same(on_xla(elementwise(absolute), x=F32), np.abs(F32))


def check_nothing_is_contracted() -> None:
    # (1 + e)² - (1 + 2e) is 0 where the product is rounded, and e² where it is not.
    e = np.float32(2.0**-20)
    x = np.full(8, 1 + e, np.float32)
    y = np.full(8, -(1 + 2 * e), np.float32)
    same(on_xla(elementwise(lambda x, y: x * x + y), x=x, y=y), np.zeros(8, np.float32))
    same(on_xla(elementwise(lambda x, y: plus_product(y, x, x)), x=x, y=y), np.zeros(8, np.float32))


def check_quotients_by_constants() -> None:
    x = np.random.default_rng(3).normal(size=512).astype(np.float32)
    right = np.array([np.float32(each) / np.float32(3) for each in x], np.float32)
    same(on_xla(elementwise(lambda x: x / 3), x=x), right)


def check_float16_rounds_after_every_operation() -> None:
    random = np.random.default_rng(5)
    x, y = (random.normal(size=256).astype(np.float16) for _ in range(2))
    right = np.array([np.float16(np.float16(a + b) * b) - a for a, b in zip(x, y, strict=True)], np.float16)
    same(on_xla(elementwise(lambda x, y: (x + y) * y - x), x=x, y=y), right)
    # Wide, the sum is rounded once at the end.
    once = np.array([np.float16(np.float32(a) + np.float32(b) + 1) for a, b in zip(x, y, strict=True)])
    same(on_xla(elementwise(lambda x, y: narrow(wide(x) + wide(y) + wide(1))), x=x, y=y), once)
    same(on_xla(elementwise(lambda x: narrow(wide(1) + 1) + x), x=x), np.float16(2) + x)


def check_integers() -> None:
    a, b = pairs(np.array([-128, -127, -1, 1, 2, 7, 127], np.int8))
    same(on_xla(elementwise(lambda a, b: a * b + a), a=a, b=b), a * b + a)
    same(on_xla(elementwise(lambda x: -x), x=a), -a)
    same(on_xla(elementwise(absolute), x=a), np.abs(a))
    quotients = [int(int(p) / int(q)) for p, q in zip(a, b, strict=True) if q != -1]
    chosen = b != -1
    same(
        on_xla(elementwise(truncated), a=a[chosen], b=b[chosen]),
        np.array(quotients, np.int8),
    )
    small = np.array([0, 1, 255], np.uint8)
    same(on_xla(elementwise(absolute), x=small), small)
    same(on_xla(elementwise(lambda x: wide(x) * wide(2)), x=small), np.array([0, 2, 254], np.uint8))
    same(on_xla(elementwise(maximum), a=a, b=b), np.where(b < a, a, b))


# Tensors


def check_moves() -> None:
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)

    def moved(shape: tuple[int, ...], at: Callable[..., Any]) -> Array:
        return on_xla(tensorwise(lambda x: tensor(shape, lambda *i: at(x, *i))), x=x)

    same(moved((4, 2, 3), lambda x, i, j, k: x[j, k, i]), x.transpose(2, 0, 1))
    same(moved((2, 2, 4), lambda x, i, j, k: x[i, 2 - 2 * j, 3 - k]), x[:, ::-2, ::-1])
    same(moved((3, 5), lambda x, i, j: x[1, i, 2]), np.repeat(x[1, :, 2][:, None], 5, axis=1))
    same(moved((2,), lambda x, i: x[i, i, i]), np.array([x[i, i, i] for i in range(2)]))
    same(moved((2, 2), lambda x, i, j: x[0, i + j, 1]), np.array([[1, 5], [5, 9]], np.int32))
    same(moved((6, 4), lambda x, i, j: x.flat(4 * i + j)), x.reshape(6, 4))
    same(moved((2, 3, 4), lambda x, i, j, k: x.flat(12 * i + 4 * j + k)), x)
    same(moved((5,), lambda x, i: x.flat(i + 7)), np.arange(7, 12, dtype=np.int32))
    same(
        moved((4, 3), lambda x, i, j: x.flat(5 * j + i)),
        np.array([[i, 5 + i, 10 + i] for i in range(4)], np.int32),
    )
    same(moved((2, 3), lambda x, i, j: x.flat(i * 0 + 5 * j)), np.array([[0, 5, 10]] * 2, np.int32))
    same(moved((3,), lambda x, i: -x.flat(i * i)), np.array([0, -1, -4], np.int32))
    same(moved((0, 3), lambda x, i, j: x[0, j, 0]), np.zeros((0, 3), np.int32))
    same(moved((), lambda x: x[1, 1, 1]), np.int32(17))
    same(moved((7,), lambda x, i: x[0, 0, i % 4]), np.array([0, 1, 2, 3, 0, 1, 2], np.int32))
    same(
        moved((6,), lambda x, i: x[0, (i - 5) // 2 + 3 - 1, 0]),
        np.array([4 * max((i - 5) // 2 + 2, 0) for i in range(6)], np.int32),
    )
    same(moved((4,), lambda x, i: x[0, 0, (i - 3) % 4]), np.array([1, 2, 3, 0], np.int32))
    same(
        moved((4, 4), lambda x, i, j: select(i < j, x[1, 0, j], -x[0, 0, i])),
        np.array([[12 + j if i < j else -i for j in range(4)] for i in range(4)], np.int32),
    )


def check_conversion() -> None:
    x = np.array([1.5, -1.5, 300, np.nan], np.float32)
    found = on_xla(elementwise(lambda x: converted(x)), DType.INT8, x=x)  # noqa: PLW0108  (same)
    same(found, np.array([1, -1, 127, 0], np.int8))


def check_padding() -> None:
    def pad(x: Given) -> Any:
        return tensor((4, 6), lambda i, j: select(inside((i - 1, j - 2), x.shape), x[i - 1, j - 2], LOWEST))

    right = np.full((4, 6), -np.inf, np.float32)
    right[1:3, 2:5] = FEW
    same(on_xla(tensorwise(pad), x=FEW), right)


def check_folds() -> None:
    a, b = np.array([[1, 2, 3], [4, 5, 6]], np.float32) / 3, np.arange(12, dtype=np.float32).reshape(3, 4) / 7
    right = np.zeros((2, 4), np.float32)
    for i in range(2):
        for j in range(4):
            for k in range(3):
                right[i, j] = right[i, j] + a[i, k] * b[k, j]

    def matmul(a: Given, b: Given) -> Any:
        return tensor((2, 4), lambda i, j: fold((3,), 0, lambda s, k: s + a[i, k] * b[k, j]))

    same(on_xla(tensorwise(matmul), a=a, b=b), right)

    def pool(x: Given) -> Any:
        def at(i: Term, j: Term) -> Term:
            def step(s: Term, p: Term, q: Term) -> Term:
                at = (i + p - 1, j + q - 1)
                first = p < 1
                assert isinstance(first, Term)
                skipped = ~first & ((q > 1) | (p > 5))
                return maximum(s, select(skipped, 9, select(inside(at, x.shape), x[at], LOWEST)))

            return fold((2, 2), LOWEST, step)

        return tensor((3, 4), at)

    # Both indices above their first: never, so that 9 is never taken.
    padded = np.full((4, 5), -np.inf, np.float32)
    padded[1:3, 1:4] = FEW
    right = np.array([[padded[i : i + 2, j : j + 2].max() for j in range(4)] for i in range(3)])
    same(on_xla(tensorwise(pool), x=FEW), right)


def check_scalars_in_tensors() -> None:
    scaled = tensorwise(lambda x, y: tensor((3,), lambda i: x[()] * y[i]))
    y = np.array([1, 2, 3], np.float32)
    same(on_xla(scaled, x=np.array(np.float32(2)), y=y), 2 * y)


CHECKS = [value for name, value in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_xla_gives_the_bits_of_loops_by_hand(check: Callable[[], None]) -> None:
    check()


def test_a_lowering_by_hand_takes_the_place_of_the_definition() -> None:
    made = operator(elementwise(lambda x: -x), {"x": FEW}, DType.FLOAT)
    x = hlo.Tensor(hlo.Block(), "%x", DType.FLOAT, (2, 3))
    by_hand = replace(made, stablehlo=lambda inputs, _attributes: {"output": inputs["x"]})
    assert stablehlo.lower(by_hand, {"x": x}, {})["output"] is x


# What cannot be written


def test_a_function_that_xla_rounds_its_own_way_is_refused() -> None:
    with pytest.raises(ExportError, match="`exponential`"):
        on_xla(elementwise(lambda x: make("exponential", (x,))), x=F32)


def test_very_long_folds_are_refused() -> None:
    total = tensorwise(lambda x: tensor((), lambda: fold((5000,), 0, lambda s, k: s + x[k])))
    with pytest.raises(ExportError, match="5000 steps"):
        lowered(total, {"x": np.zeros(5000, np.float32)}, DType.FLOAT)


# Mutants: each breaks the walk in one place, and one of the checks sees it.


def _unsealed(_walk: Any, x: Any) -> Any:
    return x


def _by_bits_alone(_walk: Any, x: Any) -> Any:
    return hlo.signed_bits(x)


def _never_nan(_walk: Any, x: Any) -> Any:
    return hlo.compare("NE", hlo.signed_bits(x), hlo.signed_bits(x))


def _forwards(x: Any, _axes: Any) -> Any:
    return x


def _untransposed(x: Any, axes: Any) -> Any:
    return hlo.reshape(x, [x.shape[axis] for axis in axes])


def _cut_off(walk: Any, _term: Any, a: Any, b: Any) -> Any:
    return hlo.elementwise("divide", *walk.together(a, b))


def _signed_rest(walk: Any, _term: Any, a: Any, b: Any) -> Any:
    return hlo.elementwise("remainder", *walk.together(a, b))


def _backwards(step: Any, carried: Any, known: Any) -> Any:
    return _STEP(step, carried, {name: 2 - at if len(known) == 1 else at for name, at in known.items()})


_STEP = stablehlo._step
_ROW = stablehlo_moves._row
WALK = stablehlo.Walk
MUTANTS: list[tuple[Any, str, Any, Callable[[], None]]] = [
    (WALK, "sealed", _unsealed, check_nothing_is_contracted),
    (WALK, "order", _by_bits_alone, check_comparisons),
    (WALK, "nan", _never_nan, check_comparisons),
    (WALK, "nan", _never_nan, check_special_values),
    (WALK, "compared", lambda walk, way, a, b: hlo.compare(way, *walk.together(a, b)), check_comparisons),
    (WALK, "_is_minus_zero", lambda walk, _term, x: walk.compared("EQ", x, x), check_special_values),
    (WALK, "_opposite", lambda _walk, _term, a: a, check_special_values),
    (WALK, "_both", WALK._either, check_special_values),
    (WALK, "_either", WALK._both, check_special_values),
    (WALK, "_less", WALK._less_equal, check_comparisons),
    (WALK, "_add", WALK._subtract, check_arithmetic),
    (
        WALK,
        "_divide",
        lambda walk, _term, a, b: walk.calculated("divide", a, b),
        check_quotients_by_constants,
    ),
    (WALK, "_left_over", lambda walk, _term, a, b: walk.calculated("remainder", b, a), check_arithmetic),
    (WALK, "_negate", lambda walk, _term, x: walk.calculated("subtract", walk.zero, x), check_integers),
    (WALK, "_wide", lambda _walk, _term, x: x, check_float16_rounds_after_every_operation),
    (WALK, "_floor", _cut_off, check_moves),
    (WALK, "_remainder", _signed_rest, check_moves),
    (hlo, "reversed_along", _forwards, check_moves),
    (hlo, "transposed", _untransposed, check_moves),
    (hlo, "moved", lambda move, *operands: move(*operands), check_bfloat16_keeps_bits),
    (stablehlo_moves, "_row", lambda row, axis: _ROW(row[::-1], axis), check_padding),
    (stablehlo, "_step", _backwards, check_folds),
]


@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize(("owner", "name", "wrong", "check"), MUTANTS, ids=lambda each: str(each)[:24])
def test_a_wrong_walk_is_noticed(
    owner: Any, name: str, wrong: Any, check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    if owner is WALK and name.startswith("_"):
        monkeypatch.setitem(stablehlo._WORDS, name[1:], wrong)
    with pytest.raises((AssertionError, AttributeError)):
        check()
