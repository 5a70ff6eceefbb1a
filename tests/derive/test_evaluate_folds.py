"""Folds executed on arrays: against loops over scalars that use nothing of the package, in every domain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.operators.n_loops import narrowed, wrapped
from tests.operators.seven_loops import STEPS, separate

import sonnx
from sonnx.derive import evaluate_folds
from sonnx.derive.coordinates import Table, names_in, table
from sonnx.derive.evaluate import Walk
from sonnx.derive.evaluate_folds import Sum, sum_of_products
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.terms.tensors import Given, Made, fold, index, inside, tensor
from sonnx.terms.term import Term
from sonnx.terms.tracing import tensorwise, trace
from sonnx.terms.walking import parts
from sonnx.terms.words import LOWEST, maximum, narrow, plus_product, select, wide

pytestmark = pytest.mark.measured

KINDS = {
    "float16": (np.float16, np.float32),
    "bfloat16": (ml_dtypes.bfloat16, np.float32),
    "float32": (np.float32, np.float32),
    "float64": (np.float64, np.float64),
    "int8": (np.int8, int),
    "uint64": (np.uint64, int),
    "real": (object, Fraction),
}
Read = Callable[..., Any]


@dataclass(frozen=True)
class Example:
    """A sum of products twice: as a definition, and by the elements that its factors read, scalar by scalar.

    `axes` are what the four kinds of axes are called: batch, groups, channels, positions.
    """

    definition: Callable[..., Made]
    shapes: Mapping[str, tuple[int, ...]]
    shape: tuple[int, ...]
    counts: tuple[int, ...]
    a: Read
    b: Read
    start: Callable[[Array, tuple[int, ...]], Any] | None = None
    axes: tuple[str, ...] | None = None


def summed(at: Callable[..., tuple[Any, Any, Any]], shape: tuple[int, ...], counts: tuple[int, ...]) -> Made:
    """The definition of a sum: what `at` gives are start and factors."""

    def element(*i: Term) -> Term:
        def step(s: Term, *k: Term) -> Term:
            _, a, b = at(i, k)
            return plus_product(s, wide(a), wide(b))

        return narrow(fold(counts, wide(at(i, tuple(map(index, "xyz"))[: len(counts)])[0]), step))

    return tensor(shape, element)


def padded(X: Given, *at: Any) -> Term:
    return select(inside(at, X.shape), X[at], 0)


def apart(X: Given, at: Term, step: int = 3) -> Term:
    """Every third place has an element."""
    return select(inside((at // step,), X.shape) & (at % step == 0), X[at // step], 0)


def zero_outside(X: Array, *at: int) -> Any:
    within = all(0 <= place < size for place, size in zip(at, X.shape, strict=True))
    return X[at] if within else 0


EXAMPLES = {
    "product of matrices": Example(
        lambda A, B, C: summed(lambda i, k: (0, A[i[0], k[0]], B[k[0], i[1]]), (3, 4), (5,)),
        {"A": (3, 5), "B": (5, 4), "C": (4,)}, (3, 4), (5,),
        lambda A, i, k: A[i[0], k[0]], lambda B, i, k: B[k[0], i[1]],
        axes=("", "", "i0", "i1"),
    ),
    "both matrices turned, from a row": Example(
        lambda A, B, C: summed(lambda i, k: (C[i[0]], A[k[0], i[0]], B[i[1], k[0]]), (3, 4), (5,)),
        {"A": (5, 3), "B": (4, 5), "C": (3,)}, (3, 4), (5,),
        lambda A, i, k: A[k[0], i[0]], lambda B, i, k: B[i[1], k[0]], lambda C, i: C[i[0]],
        ("", "", "i0", "i1"),
    ),
    "many products of matrices, one row repeated": Example(
        lambda A, B, C: summed(
            lambda i, k: (0, A[i[1], i[0], i[2], k[0]], B[i[1], k[0], i[3]]), (2, 3, 2, 4), (3,)
        ),
        {"A": (3, 2, 2, 3), "B": (3, 3, 4), "C": (4,)}, (2, 3, 2, 4), (3,),
        lambda A, i, k: A[i[1], i[0], i[2], k[0]], lambda B, i, k: B[i[1], k[0], i[3]],
        axes=("", "i1", "i0 i2", "i3"),
    ),
    "two axes of groups": Example(
        lambda A, B, C: summed(
            lambda i, k: (0, A[i[0], i[1], k[0]], B[i[1], i[0], k[0], i[2]]), (2, 3, 2), (4,)
        ),
        {"A": (2, 3, 4), "B": (3, 2, 4, 2), "C": (2,)}, (2, 3, 2), (4,),
        lambda A, i, k: A[i[0], i[1], k[0]], lambda B, i, k: B[i[1], i[0], k[0], i[2]],
        axes=("", "i0 i1", "", "i2"),
    ),
    "windows backwards, padded, channels last": Example(
        lambda A, B, C: summed(
            lambda i, k: (C[i[2]], padded(A, i[0], i[1] * 2 - k[0] + 1, k[1]), B[k[0], k[1], i[2]]),
            (2, 3, 4), (3, 2),
        ),
        {"A": (2, 5, 2), "B": (3, 2, 4), "C": (4,)}, (2, 3, 4), (3, 2),
        lambda A, i, k: zero_outside(A, i[0], i[1] * 2 - k[0] + 1, k[1]), lambda B, i, k: B[k[0], k[1], i[2]],
        lambda C, i: C[i[2]],
        ("i0", "", "i2", "i1"),
    ),
    "windows of items": Example(
        lambda A, B, C: summed(
            lambda i, k: (C[i[1]], padded(A, i[0], k[0], i[2] + k[1] - 1), B[i[1], k[0], k[1]]),
            (2, 3, 4), (2, 3),
        ),
        {"A": (2, 2, 4), "B": (3, 2, 3), "C": (3,)}, (2, 3, 4), (2, 3),
        lambda A, i, k: zero_outside(A, i[0], k[0], i[2] + k[1] - 1), lambda B, i, k: B[i[1], k[0], k[1]],
        lambda C, i: C[i[1]],
        ("i0", "", "i1", "i2"),
    ),
    "windows of an image": Example(
        lambda A, B, C: summed(
            lambda i, k: (0, A[i[0] + k[0], i[1] * 2 + k[1]], B[k[0], k[1]]), (3, 2), (2, 3)
        ),
        {"A": (4, 5), "B": (2, 3), "C": (2,)}, (3, 2), (2, 3),
        lambda A, i, k: A[i[0] + k[0], i[1] * 2 + k[1]], lambda B, i, k: B[k[0], k[1]],
        axes=("", "", "", "i0 i1"),
    ),
    "elements apart": Example(
        lambda A, B, C: summed(lambda i, k: (0, apart(A, i[0] + k[0] - 1), B[k[0]]), (7,), (3,)),
        {"A": (3,), "B": (3,), "C": (2,)}, (7,), (3,),
        lambda A, i, k: zero_outside(A, (i[0] + k[0] - 1) // 3) if (i[0] + k[0] - 1) % 3 == 0 else 0,
        lambda B, i, k: B[k[0]],
        axes=("", "", "", "i0"),
    ),
    "elements far apart": Example(
        lambda A, B, C: summed(lambda i, k: (0, apart(A, i[0] * 4 + k[0] - 1, 99), B[k[0]]), (7,), (3,)),
        {"A": (3,), "B": (3,), "C": (2,)}, (7,), (3,),
        lambda A, i, k: A[0] if i[0] * 4 + k[0] == 1 else 0,
        lambda B, i, k: B[k[0]],
        axes=("", "", "", "i0"),
    ),
    "groups of channels": Example(
        lambda A, B, C: summed(
            lambda i, k: (C[i[0]], A[i[0] // 2 * 2 + k[0], i[1] + k[1]], B[i[0], k[0], k[1]]), (4, 3), (2, 2)
        ),
        {"A": (4, 4), "B": (4, 2, 2), "C": (4,)}, (4, 3), (2, 2),
        lambda A, i, k: A[i[0] // 2 * 2 + k[0], i[1] + k[1]], lambda B, i, k: B[i[0], k[0], k[1]],
        lambda C, i: C[i[0]],
        ("", "i0", "", "i1"),
    ),
    "one number, repeated": Example(
        lambda A, B, C: summed(lambda i, k: (0, A[k[0]], B[k[0]]), (2, 3), (4,)),
        {"A": (4,), "B": (4,), "C": (3,)}, (2, 3), (4,),
        lambda A, i, k: A[k[0]], lambda B, i, k: B[k[0]],
        axes=("", "", "", ""),
    ),
    "one product": Example(
        lambda A, B, C: summed(lambda i, k: (C[i[0]], A[i[0], k[0]], B[k[0], i[1]]), (1, 1), (1,)),
        {"A": (1, 1), "B": (1, 1), "C": (1,)}, (1, 1), (1,),
        lambda A, i, k: A[i[0], k[0]], lambda B, i, k: B[k[0], i[1]], lambda C, i: C[i[0]],
        ("", "", "", ""),
    ),
    # What no table serves is a loop.
    "from a matrix": Example(
        lambda A, B, C: summed(lambda i, k: (C[i[0], i[1]], A[i[0], k[0]], B[k[0], i[1]]), (2, 3), (4,)),
        {"A": (2, 4), "B": (4, 3), "C": (2, 3)}, (2, 3), (4,),
        lambda A, i, k: A[i[0], k[0]], lambda B, i, k: B[k[0], i[1]], lambda C, i: C[i],
    ),
    "along a diagonal": Example(
        lambda A, B, C: summed(lambda i, k: (0, A[i[0], i[0] + k[0]], B[k[0], i[1]]), (2, 3), (4,)),
        {"A": (2, 5), "B": (4, 3), "C": (3,)}, (2, 3), (4,),
        lambda A, i, k: A[i[0], i[0] + k[0]], lambda B, i, k: B[k[0], i[1]],
    ),
    "weights along a diagonal": Example(
        lambda A, B, C: summed(lambda i, k: (0, A[i[0], k[0]], B[i[1], i[1] + k[0]]), (2, 3), (4,)),
        {"A": (2, 4), "B": (3, 6), "C": (3,)}, (2, 3), (4,),
        lambda A, i, k: A[i[0], k[0]], lambda B, i, k: B[i[1], i[1] + k[0]],
    ),
    "nothing to add": Example(
        lambda A, B, C: summed(lambda i, k: (C[i[1]], A[i[0], k[0]], B[k[0], i[1]]), (2, 3), (0,)),
        {"A": (2, 0), "B": (0, 3), "C": (3,)}, (2, 3), (0,),
        lambda A, i, k: None, lambda B, i, k: None, lambda C, i: C[i[1]],
    ),
    "no element": Example(
        lambda A, B, C: summed(lambda i, k: (0, A[i[0], k[0]], B[k[0], i[1]]), (0, 3), (2,)),
        {"A": (0, 2), "B": (2, 3), "C": (3,)}, (0, 3), (2,),
        lambda A, i, k: None, lambda B, i, k: None,
    ),
}  # fmt: skip


def drawn(kind: str, shape: tuple[int, ...], seed: int) -> Array:
    """Elements whose sums round at every step, with zeros, infinities and NaNs among floats."""
    random = np.random.default_rng(seed)
    if kind in ("int8", "uint64"):
        low = -128 if kind == "int8" else 0
        return random.integers(low, 127 if kind == "int8" else 2**63, shape, dtype=kind)
    numbers = random.standard_normal(shape) * np.exp2(random.integers(-3, 4, shape))
    if kind == "real":
        return sonnx.real(np.round(numbers, 3))
    special = random.choice([0.0, -0.0, np.inf, np.nan, 6e-8], shape)
    chosen = np.where(random.random(shape) < 0.05, special, numbers)
    return np.asarray(chosen).astype(KINDS[kind][0])


def by_loops(example: Example, kind: str, mode: str, arrays: Mapping[str, Array]) -> Array:
    """One scalar after the other."""
    stored, held = KINDS[kind]
    step = STEPS[mode] if held in (np.float32, np.float64) else separate
    result = np.empty(example.shape, object)
    A, B, C = arrays["A"], arrays["B"], arrays["C"]
    with np.errstate(all="ignore"):
        for i in np.ndindex(example.shape):
            total = held(0) if example.start is None else held(example.start(C, i))
            for k in np.ndindex(example.counts):
                total = step(total, held(example.a(A, i, k)), held(example.b(B, i, k)))
            result[i] = finished(total, kind)
        return result if kind == "real" else result.astype(stored)


def finished(total: Any, kind: str) -> Any:
    stored, held = KINDS[kind]
    if kind == "bfloat16":
        return np.uint16(narrowed(total)).view(stored)
    if held is int:
        return wrapped(int(total), np.dtype(stored))
    return total if kind == "real" else stored(total)


def run(definition: Callable[..., Made], arrays: Mapping[str, Array], mode: str = "separate") -> Array:
    made = traced(definition, arrays)
    kind = held_type(next(iter(arrays.values())))
    with np.errstate(all="ignore"):
        return Walk(kind, kind, arrays, accumulate=mode).everywhere(made)


def traced(definition: Callable[..., Made], arrays: Mapping[str, Array]) -> Made:
    given = {name: Given(name, array.shape) for name, array in arrays.items()}
    (made,) = trace(tensorwise(definition), given, {}).made
    return made


def plan(
    definition: Callable[..., Made], arrays: Mapping[str, Array], kind: DType = DType.FLOAT
) -> Sum | None:
    made = traced(definition, arrays)
    (found,) = (each for each in parts(made.term) if each.word == "fold")
    sizes = {i.data: size for i, size in zip(made.indices, made.shape, strict=True)}
    return sum_of_products(found, sizes, kind)


def same(found: Array, wanted: Array) -> bool:
    """Equal bits; any NaN for a NaN."""
    if found.dtype == object:
        return found.shape == wanted.shape and bool(np.all(found == wanted))
    are_nan = (found != found) & (wanted != wanted)  # noqa: PLR0124  only a NaN differs from itself
    found, wanted = (np.where(are_nan, each.dtype.type(0), each) for each in (found, wanted))
    return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes() and found.shape == wanted.shape


def wrong(kinds: tuple[str, ...] = tuple(KINDS)) -> list[str]:
    """Which examples are not what loops give, in which type and mode."""
    found = []
    for name, example in EXAMPLES.items():
        for kind in kinds:
            for mode in STEPS:
                arrays = {each: drawn(kind, shape, 7) for each, shape in example.shapes.items()}
                result = run(example.definition, arrays, mode)
                if not same(result, by_loops(example, kind, mode, arrays)):
                    found.append(f"{name}, {kind}, {mode}")
    return found


def test_folds_give_the_bits_of_loops_in_every_type_and_mode() -> None:
    assert wrong() == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_axes_are_sorted_by_which_factor_knows_them(name: str) -> None:
    example = EXAMPLES[name]
    arrays = {each: drawn("float32", shape, 7) for each, shape in example.shapes.items()}
    found = plan(example.definition, arrays)
    if example.axes is None:
        assert found is None
    else:
        assert found is not None
        axes = found.batch, found.groups, found.channels, found.positions
        assert tuple(map(" ".join, axes)) == example.axes


def test_a_padded_read_is_a_copy_made_once_and_no_larger_than_what_is_met() -> None:
    example = EXAMPLES["windows of items"]
    found = plan(example.definition, {each: drawn("float32", s, 7) for each, s in example.shapes.items()})
    assert found is not None
    # Items, channels, and four positions of three taps.
    assert found.windows.sizes == (2, 2, 6)


def test_a_step_of_strides_leaves_nothing_out_of_its_table() -> None:
    read = Given("X", (9,))[index("m") * 3 - index("k") + 1]
    found = table(read, {"m": 3, "k": 2})
    assert found is not None
    assert (found.axes["u0"].factors, found.sizes) == ({"m": 3, "k": -1}, (8,))
    values = np.arange(8)
    assert found.view(values, {"k": 2, "m": 3}).tolist() == [[1, 4, 7], [0, 3, 6]]


def test_what_is_divided_has_an_axis_of_quotients_and_one_of_remainders() -> None:
    X, u = Given("X", (3,)), index("m") + index("k") - 2
    found = table(select((u % 3 == 0) & (u // 3 >= 0), X[u // 3], 0), {"m": 7, "k": 2})
    assert found is not None
    # From -2 to 5: one third before zero and two behind.
    assert (found.sizes, found.made.shape) == ((8,), (3, 3))
    made = np.array([[7, 8, 9], [0, 1, 2], [3, 4, 5]])
    assert found.held(made).tolist() == [8, 9, 0, 1, 2, 3, 4, 5]


def test_remainders_that_do_not_occur_have_no_place_in_a_table() -> None:
    X, u = Given("X", (3,)), index("m") + index("k")
    found = table(select(u % 2**62 == 0, X[u // 2**62], 0), {"m": 7, "k": 2})
    assert found is not None
    assert found.made.shape == (8,)


def test_an_index_that_is_divided_and_asked_for_itself_has_no_table() -> None:
    X, i = Given("X", (3, 5)), index("i")
    assert table(X[i // 2, i], {"i": 5}) is None
    assert table(X[i // 2, i // 3], {"i": 5}) is None
    nothing = table(X[(i - i + 5) // 3, (i - i + 5) % 3], {"i": 5})
    assert nothing is not None
    assert nothing.term is X[1, 2]


def test_what_a_term_knows_are_not_the_indices_of_its_own_folds() -> None:
    X = Given("X", (2, 3))
    assert names_in(fold((3,), 0, lambda s, k: s + X[index("i"), k])) == {"i"}


def test_reals_of_all_exponents_are_added_exactly() -> None:
    for name in ("one product", "product of matrices", "windows of an image"):
        example = EXAMPLES[name]
        arrays = {each: drawn("real", shape, 7) for each, shape in example.shapes.items()}
        arrays["A"] = arrays["A"] * Fraction(1, 3) ** 999
        arrays["A"].reshape(-1)[:1] += Fraction(5) ** 999
        assert same(run(example.definition, arrays), by_loops(example, "real", "separate", arrays))


# --- folds that are no sums of products --------------------------------------------------------------------


def test_folds_of_other_steps_are_made_in_order() -> None:
    X = np.array([[3, -1, 2, 5], [np.nan, 1, -2, 0]], np.float32)

    def largest(X: Given) -> Made:
        def at(i: Term, m: Term) -> Term:
            return fold((3,), LOWEST, lambda s, k: maximum(s, padded(X, i, m * 2 + k - 1)))

        return tensor((2, 2), at)

    assert same(run(largest, {"X": X}), np.array([[3, 5], [np.nan, 1]], np.float32))

    def horner(X: Given) -> Made:
        return tensor((2,), lambda i: fold((4,), 0, lambda s, k: s * 10 + X[i, k]))

    assert same(
        run(horner, {"X": np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.int32)}), np.array([1234, 5678], np.int32)
    )


def test_a_factor_that_hangs_on_the_sum_is_a_loop() -> None:
    def growing(X: Given) -> Made:
        return tensor((), lambda: fold((3,), 1, lambda s, k: plus_product(s, s, X[k])))

    X = np.array([1, 2, 3], np.float64)
    assert plan(growing, {"X": X}) is None
    assert run(growing, {"X": X}) == 24  # 1·2·3·4

    def onto(X: Given) -> Made:
        return tensor((), lambda: fold((3,), 0, lambda s, k: plus_product(X[k], X[k], X[k])))

    assert plan(onto, {"X": X}) is None
    assert run(onto, {"X": X}) == 12


def test_a_fold_in_a_fold_is_a_loop_and_may_carry_both_sums() -> None:
    def nested(X: Given) -> Made:
        def outer(s: Term, i: Term) -> Term:
            return fold((2,), s, lambda t, j: plus_product(t, s, X[i, j]))

        return tensor((), lambda: fold((2,), 1, outer))

    X = np.array([[1, 2], [3, 4]], np.float64)
    assert run(nested, {"X": X}) == (1 + 1 + 2) * (1 + 3 + 4)

    def products(X: Given, W: Given) -> Made:
        def row(i: Term) -> Term:
            return fold(
                (2,), 0, lambda s, j: s + fold((2,), 0, lambda t, k: plus_product(t, X[i, k], W[k, j]))
            )

        return tensor((2,), row)

    W = np.array([[1, 0], [2, 1]], np.float64)
    assert run(products, {"X": X, "W": W}).tolist() == (X @ W).sum(1).tolist()


def test_a_guarded_fold_reads_nothing_outside() -> None:
    def beginning(X: Given, W: Given) -> Made:
        def at(i: Term) -> Term:
            return select(i < 2, fold((2,), 0, lambda s, k: plus_product(s, X[i + k], W[k])), -1)

        return tensor((4,), at)

    arrays = {"X": np.array([1, 2, 3], np.float32), "W": np.array([10, 1], np.float32)}
    assert run(beginning, arrays).tolist() == [12, 23, -1, -1]


def test_factors_that_are_wide_are_not_taken_for_exact_ones() -> None:
    def doubled(A: Given, B: Given) -> Made:
        def twice(a: Term) -> Term:
            return wide(a) + wide(a)

        def at(i: Term) -> Term:
            return narrow(fold((2,), wide(0), lambda s, k: plus_product(s, twice(A[i, k]), wide(B[k]))))

        return tensor((2,), at)

    arrays = {"A": np.array([[1, 2], [3, 4]], np.float16), "B": np.array([5, 6], np.float16)}
    assert plan(doubled, arrays, DType.FLOAT16) is None
    assert plan(doubled, arrays, DType.DOUBLE) is not None
    assert run(doubled, arrays).tolist() == [34, 78]
    assert run(doubled, {name: array.astype(np.float64) for name, array in arrays.items()}).tolist() == [
        34,
        78,
    ]


# --- the comparison notices what is wrong ------------------------------------------------------------------


def _later(view: Any) -> Any:
    def moved(self: Table, held: Array, sizes: Mapping[str, int]) -> Array:
        found = view(self, held, sizes)
        return np.asarray(np.roll(found, 1))

    return moved


def _turned(windows: Any) -> Any:
    def backwards(*arguments: Any) -> Any:
        cut = windows(*arguments)
        return lambda items: reversed(list(cut(items)))

    return backwards


def _changed(**changes: Any) -> Any:
    def wrap(plan: Any) -> Any:
        def changed(term: Term, sizes: Mapping[str, int], kind: DType) -> Sum | None:
            found: Sum | None = plan(term, sizes, kind)
            if found is None:
                return None
            return replace(found, **{name: change(found) for name, change in changes.items()})

        return changed

    return wrap


def _from_zero(found: Sum) -> Made:
    return Made(found.start.shape, found.start.indices, select(True, 0, 0))


MUTANTS: Mapping[str, tuple[Any, str, Any]] = {
    "views begin elsewhere": (Table, "view", _later),
    "terms are added backwards": (evaluate_folds, "_windows", _turned),
    "sums start from zero": (evaluate_folds, "sum_of_products", _changed(start=_from_zero)),
    "modes are mixed up": (
        evaluate_folds,
        "wide_sum_of_products",
        lambda run: lambda *a: run(*a[:-1], "fused" if a[-1] == "separate" else "separate"),
    ),
    "the last index of a sum counts slowest": (
        evaluate_folds,
        "sum_of_products",
        _changed(counts=lambda found: dict(reversed(found.counts.items()))),
    ),
    "loops go backwards": (
        evaluate_folds,
        "_looped",
        lambda loop: (
            lambda term, walk: loop(
                term, replace(walk, arrays={name: each[::-1] for name, each in walk.arrays.items()})
            )
        ),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_with_loops_notices(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, name, change = MUTANTS[mutant]
    monkeypatch.setattr(home, name, change(getattr(home, name)))
    assert wrong(kinds=("float32",)) != []
