"""Each word of evaluation against exact arithmetic that is rounded once; wrong words are noticed."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.derive import test_evaluate_walk as evaluating
from tests.derive.exact_terms import OPERATIONS, root_within
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import evaluate as walk
from sonnx.derive import evaluate_boxes as boxed
from sonnx.derive import evaluate_known as known
from sonnx.derive.evaluate import Walk
from sonnx.model.dtype import DType
from sonnx.numeric import limiting
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.rounding import FORMATS, nearest
from sonnx.terms.tensors import Given, index, tensor
from sonnx.terms.term import DefinitionError, Sort, Term, make
from sonnx.terms.tracing import tensorwise
from sonnx.terms.words import is_minus_zero, is_nan, select, value

pytestmark = pytest.mark.measured

FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE)
TRUTHS = ("less", "less_equal", "equal", "both", "either", "opposite", "is_nan", "is_minus_zero")
# One, thirds, neighbours of one that are rounded in a sum, numbers far apart, and two equal ones.
NUMBERS = [Fraction(each) for each in ("1", "-1", "1/3", "-7/3", "1/256", "200", "-2/7", "1000/1001", "3")]


def rounded(number: Fraction, dtype: DType) -> Fraction:
    return Fraction(float(nearest(number, dtype)))


def of_values(word: str, dtype: DType, *operands: Sequence[Any], **said: Any) -> Array:
    """What the walk gives for one word on elements of these numbers."""
    held = {
        name: np.array(list(map(float if dtype in FORMATS else int, each))).astype(numpy_dtype(dtype))
        for name, each in zip("abc", operands, strict=False)
    }
    sort = Sort.TRUTH if word in TRUTHS else Sort.NUMBER
    term = make(word, tuple(map(value, held)), sort=sort)
    with np.errstate(all="ignore"):
        return Walk(dtype, dtype, values=held, **said)(term)


ROUNDED = ("add", "subtract", "multiply", "divide", "left_over", "negate", "absolute")
COMPARED = ("less", "less_equal", "equal")


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_word_on_floats_is_exact_arithmetic_rounded_once(dtype: DType) -> None:
    numbers = [rounded(each, dtype) for each in NUMBERS]
    a, b = zip(*product(numbers, numbers), strict=True)
    for word in (*ROUNDED, *COMPARED):
        single = word in ("negate", "absolute")
        found = of_values(word, dtype, *((a,) if single else (a, b)))
        for place, (x, y) in enumerate(zip(a, b, strict=True)):
            wanted = OPERATIONS[word](x) if single else OPERATIONS[word](x, y)
            assert float(found[place]) == (wanted if word in COMPARED else rounded(wanted, dtype)), (
                word,
                x,
                y,
            )
    for number in (each for each in numbers if each > 0):
        (found,) = of_values("root", dtype, [number])
        step = (
            Fraction(float(np.spacing(found)))
            if dtype is not DType.BFLOAT16
            else Fraction(float(found)) / 128
        )
        assert root_within(Fraction(float(found)), step / 2, number)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_step_of_a_sum_rounds_twice_or_once(dtype: DType) -> None:
    sums = DType.FLOAT if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype
    numbers = [rounded(each, sums) for each in NUMBERS]
    a, b = zip(*product(numbers, numbers), strict=True)
    for mode in ("separate", "fused") if dtype is sums else ("separate",):
        held = {
            name: np.array(list(map(float, each))).astype(numpy_dtype(sums))
            for name, each in (("s", b), ("x", a), ("y", b))
        }
        term = make("plus_product", tuple(map(value, held)))
        found = Walk(dtype, dtype, values=held, accumulate=mode)(term)
        for place, (x, y) in enumerate(zip(a, b, strict=True)):
            inner = x * y if mode == "fused" else rounded(x * y, sums)
            assert float(found[place]) == rounded(y + inner, sums), (mode, x, y)
    # A sum is narrowed with one rounding; elements are widened as they are, literals rounded once.
    wide = Walk(dtype, dtype, values={"x": np.array([1 / 3]).astype(numpy_dtype(sums))})
    assert float(wide(make("narrow", (value("x"),)))[0]) == rounded(rounded(Fraction(1 / 3), sums), dtype)
    third = make("literal", data=Fraction(1, 3))
    assert float(wide(make("wide", (third,)))) == rounded(Fraction(1, 3), sums)
    element = Walk(dtype, dtype, values={"x": np.array([3.5]).astype(numpy_dtype(dtype))})
    widened = element(make("wide", (value("x"),)))
    assert (widened.dtype, widened.tolist()) == (numpy_dtype(sums), [3.5])


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8, DType.INT64])
def test_a_word_on_integers_is_exact_modulo_a_power_of_two(dtype: DType) -> None:
    info = np.iinfo(numpy_dtype(dtype))
    numbers = [each for each in (info.min, -7, -2, -1, 0, 1, 2, 7, info.max) if each >= info.min]
    a, b = zip(*product(numbers, numbers), strict=True)
    for word in ("add", "subtract", "multiply", "negate", "absolute", *COMPARED):
        operands = (a,) if word in ("negate", "absolute") else (a, b)
        for found, *each in zip(of_values(word, dtype, *operands).tolist(), *operands, strict=True):
            wanted = OPERATIONS[word](*each)
            assert found == wanted if word in COMPARED else (found - wanted) % 2**info.bits == 0, (word, each)
    asked = [(x, y) for x, y in zip(a, b, strict=True) if y not in (0, -1)]
    for found, (x, y) in zip(
        of_values("truncated", dtype, *zip(*asked, strict=True)).tolist(), asked, strict=True
    ):
        assert found == abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1), (x, y)


def test_indices_are_divided_downwards() -> None:
    i, j = index("i"), index("j")
    of = Walk(DType.FLOAT, DType.FLOAT, indices={"i": np.arange(-7, 8), "j": np.array(2)})
    asked: list[tuple[Any, Callable[[int], Any]]] = [
        (i // 3, lambda k: k // 3),
        (i % 3, lambda k: k % 3),
        (i - j, lambda k: k - 2),
        (i * 3 + 4, lambda k: k * 3 + 4),
        (i < j, lambda k: k < 2),
    ]
    for term, one in asked:
        assert of(term).tolist() == [one(k) for k in range(-7, 8)]


def test_truths_of_special_elements_and_of_truths() -> None:
    raw = np.array([0x80000000, 0, 0x7FC00000, 0xFF800001, 0x80000001, 0xFF800000], np.uint32)
    of = Walk(DType.FLOAT, DType.FLOAT, values={"x": raw.view(np.float32)})
    assert of(is_minus_zero(value("x"))).tolist() == [True, False, False, False, False, False]
    assert of(is_nan(value("x"))).tolist() == [False, False, True, True, False, False]
    bytes_ = np.array([0, 0, 1, 2], np.uint8).view(bool), np.array([0, 255, 0, 4], np.uint8).view(bool)
    held = dict(zip("pq", bytes_, strict=True))
    p, q = (value(name, Sort.TRUTH) for name in "pq")
    of = Walk(DType.FLOAT, DType.FLOAT, values=held)
    joined: list[Any] = [p & q, p | q, ~p]
    assert [of(each).tolist() for each in joined] == [
        [False, False, False, True],
        [False, True, True, True],
        [True, True, False, False],
    ]


def test_a_read_takes_the_element_at_an_index_and_refuses_others_that_are_asked_for() -> None:
    X, i = Given("X", (2, 3)), index("i")
    x = np.arange(6).reshape(2, 3)

    def at(term: Term, *places: int) -> Any:
        return Walk(DType.INT64, DType.INT64, {"X": x}, indices={"i": np.array(places)})(term).tolist()

    assert at(X[1, 2 - i], 0, 1, 2) == [5, 4, 3]
    assert at(X.flat(i + 1), 0, 4) == [1, 5]
    for term, place in ((X[0, i], 3), (X[0, i], -1), (X.flat(i), 6), (X[i, 0], 2)):
        with pytest.raises(DefinitionError, match="outside"):
            at(term, 0, place)
    guarded = select((i < 3) & (i > -1), X[1, i], 7)
    assert at(guarded, -1, 0, 2, 3) == [7, 3, 5, 7]
    with pytest.raises(DefinitionError, match="outside"):
        at(select(i < 3, 7, X[1, i]), 0, 3)


def test_what_only_looks_like_scalar_bounds_is_chosen_as_it_says() -> None:
    x, (low, high) = np.array([1, 5, 3]), np.array([2, 4])
    held = {"x": x, "low": low, "high": high}
    X, L, H = map(value, held)
    raised = select(X < L, L, X)
    for term, wanted in (
        (select(raised > H, H, raised), [2, 4, 3]),
        (select(X > H, H, raised), [2, 4, 3]),
        (select(X < H, H, raised), [4, 5, 4]),
        (select(select(X > L, L, X) > H, H, select(X > L, L, X)), [1, 2, 2]),
        (select(raised < H, H, raised), [4, 5, 4]),
        (select(raised > H, L, raised), [2, 2, 3]),
        # Another element than the one that is bounded is compared with the upper bound.
        (select(X > L, L, select(X < H, H, X)), [4, 2, 2]),
    ):
        assert Walk(DType.INT64, DType.INT64, values=held)(term).tolist() == wanted


def floats() -> None:
    for dtype in (DType.FLOAT16, DType.FLOAT):
        test_a_word_on_floats_is_exact_arithmetic_rounded_once(dtype)


def sums() -> None:
    for dtype in FLOATS:
        test_a_step_of_a_sum_rounds_twice_or_once(dtype)


def integers() -> None:
    for dtype in (DType.INT8, DType.UINT8):
        test_a_word_on_integers_is_exact_modulo_a_power_of_two(dtype)


INDICES, SPECIAL = test_indices_are_divided_downwards, test_truths_of_special_elements_and_of_truths
READS = test_a_read_takes_the_element_at_an_index_and_refuses_others_that_are_asked_for
SCALARS = evaluating.test_any_byte_but_zero_is_true


def views() -> None:
    evaluating.test_a_move_that_one_read_gives_is_a_view_that_cannot_be_written()
    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    whole = evaluating.run(tensorwise(lambda X: tensor((3, 2), lambda i, j: X.flat(i * 2 + j))), x)
    assert whole.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not whole.flags.writeable
    first = evaluating.run(tensorwise(lambda X: tensor((4,), lambda i: X.flat(i))), x)  # noqa: PLW0108  (names)
    assert first.tolist() == [0, 1, 2, 3]


CASES = evaluating.test_the_first_case_that_holds_decides_whichever_hold
UNLIKE = evaluating.test_one_of_two_truths_and_what_only_looks_like_it
NEAREST = evaluating.test_the_nearest_integer_and_what_only_looks_like_it
VIEWS, BOXES = views, evaluating.test_boxes_are_put_together
OUTSIDE = evaluating.test_a_read_outside_is_refused_unless_a_guard_keeps_it_out
UP = partial(evaluating.test_what_is_rounded_up_and_what_only_looks_like_it, np.float16)
LARGER = partial(evaluating.test_the_larger_and_the_smaller_of_two_floats_is_what_comparisons_say, np.float32)
INTEGERS_CHOSEN = evaluating.test_the_larger_and_the_smaller_of_two_integers_and_what_only_looks_like_it
LITERALS = evaluating.test_literal_bounds_in_either_order_and_what_only_looks_like_them
LIMITS = test_what_only_looks_like_scalar_bounds_is_chosen_as_it_says


def one_truth_for_all() -> None:
    for truth, wanted in ((True, [1, 2]), (False, [3, 4])):
        held = {"t": np.array(truth), "x": np.array([1, 2]), "y": np.array([3, 4])}
        of = Walk(DType.INT64, DType.INT64, values=held)
        assert of(select(value("t", Sort.TRUTH), value("x"), value("y"))).tolist() == wanted


MUTANTS = {
    "a sum with another sign": Mutant(Walk._add, "a + b", "a - b", floats),
    "a difference the other way round": Mutant(Walk._subtract, "a - b", "b - a", integers),
    "a product in double": Mutant(
        Walk._multiply, "a * b", "a.astype(float) * b if a.dtype.kind == 'f' else a * b", floats
    ),
    "a quotient the other way round": Mutant(Walk._divide, "a / b", "b / a", floats),
    "a quotient rounded down": Mutant(Walk._truncated, "(a % b != 0) & ", "(a % b < 0) & ", integers),
    "a quotient one too large": Mutant(Walk._truncated, "(a % b != 0) & ", "", integers),
    "signs of the dividend alone": Mutant(Walk._truncated, "((a < 0) != (b < 0))", "(a < 0)", integers),
    "what the quotient rounded down leaves": Mutant(Walk._left_over, "np.fmod(", "np.mod(", floats),
    "no sign": Mutant(Walk._negate, "-self(", "abs(self(term.arguments[0])) + 0 * self(", floats),
    "a root of a magnitude": Mutant(Walk._root, "np.sqrt(", "np.cbrt(", floats),
    "a magnitude that keeps its sign": Mutant(Walk._absolute, "abs(self(", "(self(", integers),
    "less or equal for less": Mutant(Walk._less, "a < b", "a <= b", floats),
    "less for less or equal": Mutant(Walk._less_equal, "a <= b", "a < b", floats),
    "unequal for equal": Mutant(Walk._equal, "a == b", "a != b", floats),
    "either for both": Mutant(Walk._both, "logical_and", "logical_or", SPECIAL),
    "one of two for either": Mutant(Walk._either, "logical_or", "logical_xor", SPECIAL),
    "either for one of two": Mutant(Walk._either, "logical_xor", "logical_or", UNLIKE),
    "a truth for its opposite": Mutant(Walk._opposite, "logical_not(", "not_equal(0, ", SPECIAL),
    "one of two for what only looks like it": Mutant(
        known.unlike_of, "not_a.arguments[0] is a and not_b.arguments[0] is b", "True", UNLIKE
    ),
    "either of two for one of them": Mutant(
        known.unlike_of, 'not_a.word == not_b.word == "opposite"', 'not_b.word == "opposite"', UNLIKE
    ),
    "the first case for all": Mutant(Walk._choose, "if not left.any()", "if left.any()", CASES),
    "no case for one": Mutant(Walk._choose, "if not condition.any()", "if not condition.all()", CASES),
    "a case that holds is left": Mutant(
        Walk._choose, "~condition if asked is None", "condition if asked is None", CASES
    ),
    "elements that an earlier case took": Mutant(
        Walk._choose, "asked & ~condition", "asked & condition", CASES
    ),
    "the nearest for all that is rounded": Mutant(
        known.rounded_of, "if term is without_statements(to_nearest(x))", "", NEAREST
    ),
    "rounded up for all opposites": Mutant(
        known.rounded_up_of, 'inside.arguments[0] if inside.word == "negate" else None', "inside", UP
    ),
    "down for up": Mutant(known.quickly, "np.ceil(", "np.floor(", UP),
    "the larger for the smaller of floats": Mutant(known.extreme_of, "term is word(a, b)", "True", LARGER),
    "the larger for the smaller of integers": Mutant(
        known.chosen_of, "return smaller, a, b", "return larger, a, b", INTEGERS_CHOSEN
    ),
    "what only looks like the smaller": Mutant(
        known.chosen_of, "chosen is a and otherwise is b", "chosen is a", INTEGERS_CHOSEN
    ),
    "what only looks like the larger": Mutant(
        known.chosen_of, "chosen is b and otherwise is a", "chosen is b", INTEGERS_CHOSEN
    ),
    "floats chosen as integers are": Mutant(
        known.quickly,
        "chosen_of(term) if kind in INTEGERS else extreme_of(term)",
        "chosen_of(term) or extreme_of(term)",
        INTEGERS_CHOSEN,
    ),
    "the earlier of zeros": Mutant(limiting._later_of_zeros, "doubtful.any()", "False", LARGER),
    "any zero for the later one": Mutant(
        limiting._later_of_zeros, "doubtful & (found == 0)", "doubtful", LARGER
    ),
    "literals in another order": Mutant(known.literals_of, " and low.data <= high.data", "", LITERALS),
    "literals of another comparison": Mutant(
        known.literals_of, " and more.arguments[0] is high", "", LITERALS
    ),
    "another literal than the one compared": Mutant(
        known.literals_of, " and less.arguments[1] is low", "", LITERALS
    ),
    "another element than the one compared": Mutant(
        known.literals_of, " and less.arguments[0] is x", "", LITERALS
    ),
    "cut off for rounded": Mutant(known.quickly, "np.rint(", "np.trunc(", NEAREST),
    "infinities as NaNs": Mutant(Walk._is_nan, "x != x", "abs(x) > np.finfo(x.dtype).max", SPECIAL),
    "any zero for -0": Mutant(
        Walk._is_minus_zero,
        'x.view(f"u{x.itemsize}") == 1 << (_BITS_A_BYTE * x.itemsize - 1)',
        "x == 0",
        SPECIAL,
    ),
    "indices divided towards zero": Mutant(Walk._floor, "a // b", "np.trunc(a / b)", INDICES),
    "remainders with the sign of the index": Mutant(Walk._remainder, "a % b", "np.fmod(a, b)", INDICES),
    "reads from the end": Mutant(Walk._at, "(index < 0) | ", "", READS),
    "reads behind the end": Mutant(Walk._at, "(index >= size)", "(index > size)", READS),
    "a guard that is not asked": Mutant(
        Walk._at, "self.asked is None or ", "self.asked is not None and ", READS
    ),
    "branches the other way round": Mutant(Walk._select, "(held, ~held)", "(~held, held)", READS),
    "the other element": Mutant(Walk._select, "np.where(held, ", "np.where(~held, ", READS),
    "one truth the other way round": Mutant(
        Walk._choose,
        "chosen if condition else otherwise",
        "otherwise if condition else chosen",
        one_truth_for_all,
    ),
    "fused and separate exchanged": Mutant(Walk._plus_product, '== "fused"', '!= "fused"', sums),
    "a product without its sum": Mutant(Walk._plus_product, "total + a * b", "a * b", sums),
    "a literal rounded before it is wide": Mutant(
        Walk._wide, "literal(x, self.sums)", "literal(x, self.kind)", sums
    ),
    "a sum that stays wide": Mutant(Walk._narrow, "self.sums, self.kind", "self.sums, self.sums", sums),
    "bytes other than 1": Mutant(walk._truth, "!= 0", "== 1", SCALARS),
    "bounds of another element": Mutant(
        known.limits_of, "below[0] is not below[1].arguments[1]", "below[1].word != 'less'", LIMITS
    ),
    "a comparison with another bound": Mutant(
        known._replacing, " or {*condition.arguments} != {bound, x}", "", LIMITS
    ),
    "any order for the operand's own": Mutant(
        boxed._elements, "neighbours and not any(first)", "not any(first)", VIEWS
    ),
    "a part for the whole": Mutant(boxed._elements, " and prod(shape) == prod(box.sizes)", "", VIEWS),
    "a read that may be written": Mutant(boxed.Elements.of, "found.flags.writeable = False", "pass", VIEWS),
    "a box at the beginning": Mutant(boxed._part, "slice(first, first + size)", "slice(0, size)", BOXES),
    "reads before an operand": Mutant(boxed._elements, "least < 0 or ", "least < -size or ", OUTSIDE),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_word_is_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
