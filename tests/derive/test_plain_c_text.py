"""The text of plain C that is derived: as a careful person would write it, and what it refuses."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.derive.plain_walk import stand_in, tensor, written

from sonnx.derive.c_types import C_TYPES
from sonnx.derive.plain_c import plain
from sonnx.derive.plain_pieces import ADDITIVE, OR, PRODUCT, Piece, binary, choice, joined, prefixed
from sonnx.derive.plain_statements import Names, ascii_text, remark
from sonnx.derive.plain_terms import NoPlainError
from sonnx.derive.ranges import range_of, simplified
from sonnx.model.dtype import DType
from sonnx.terms.tensors import Given, Made, fold, index
from sonnx.terms.tensors import tensor as made_of
from sonnx.terms.term import Sort, Term, lift
from sonnx.terms.tracing import elementwise, tensorwise
from sonnx.terms.words import (
    absolute,
    bits_and,
    cases,
    converted,
    is_minus_zero,
    is_nan,
    maximum,
    otherwise,
    root,
    select,
    shifted_left,
    truncated,
    when,
    word,
)
from sonnx.vocabulary.plain import PlainRequest, PlainText

pytestmark = pytest.mark.measured


def relu(X: Term) -> Term:
    """A NaN compares false (D-RELU)."""
    return cases(
        when(X < 0, 0, "D-RELU", "What is below zero becomes +0."),
        otherwise(X, "D-RELU", "What is not stays, bit for bit."),
    )


RELU = """\
/* A NaN compares false (D-RELU). */
/*@ logic integer node_0_it_at(integer X) =
      less_float(value_of_half(X), (float)0.0) ? 0 : X; */
/*@ assigns \\nothing;
    ensures same_uint16_t(\\result, node_0_it_at(X)); */
static uint16_t node_0_it_element(uint16_t X)
{
    const float x = float_of_half(X);
    /* D-RELU: What is below zero becomes +0. */
    if (x < 0.0f) {
        return 0x0000u;
    }
    /* D-RELU: What is not stays, bit for bit. */
    return X;
}

/*@ assigns t_Z[0 .. 3];
    ensures \\forall integer k; 0 <= k < 4 ==> same_uint16_t(t_Z[k], node_0_it_at(t_X[k])); */
static void node_0_it(void)
{
    /*@ loop invariant 0 <= i <= 4;
        loop invariant \\forall integer k; 0 <= k < i ==> same_uint16_t(t_Z[k], node_0_it_at(t_X[k]));
        loop assigns i, t_Z[0 .. 3];
        loop variant 4 - i; */
    for (int32_t i = 0; i < 4; i++) {
        t_Z[i] = node_0_it_element(t_X[i]);
    }
}"""


def test_relu_on_halves_word_by_word() -> None:
    found = written(elementwise(relu), {"X": ("float16", (4,))}, {"Z": ("float16", (4,))})
    assert found == PlainText(RELU, ("float_of_half",), {})


CLIP = """\
/* D-X: A NaN stays. */
/* D-X: Below. */
/* D-X: Otherwise. */
/*@ logic float node_0_it_at(float X, float low) =
      nan_float(X) ? X
      : less_float(X, low) ? low
      : X; */
/* One comparison says the same. */
/*@ assigns \\nothing;
    ensures same_float(\\result, node_0_it_at(X, low)); */
static float node_0_it_element(float X, float low)
{
    return X < low ? low : X;
}
"""


def test_where_the_code_goes_another_way_the_cases_stand_before_the_contract() -> None:
    def bounded(X: Term, low: Term) -> Term:
        return cases(
            when(is_nan(X), X, "D-X", "A NaN stays."),
            when(low > X, low, "D-X", "Below."),
            otherwise(X, "D-X", "Otherwise."),
        )

    def shorter(X: Term, low: Term) -> Term:
        """One comparison says the same."""
        return select(low > X, low, X)

    given = {"X": ("float", (2, 3)), "low": ("float", ())}
    found = written(elementwise(bounded, executed=shorter), given, {"Z": ("float", (2, 3))})
    assert found.text.startswith(CLIP)
    assert "node_0_it_element(t_X[i], t_low[0]);" in found.text


FOLD = """\
/*@ logic float node_0_it_step{L}(float s, integer i, integer j, integer k) =
      \\let at_i = i + k - 1;
      \\let x = 0 <= at_i && at_i < 4 ? t_X[at_i * 2 + j] : (float)0.0;
      sum_float(s, product_float(x, t_W[k])); */
/*@ logic float node_0_it_after{L}(integer i, integer j, integer k) =
      k > 0 ? node_0_it_step(node_0_it_after(i, j, k - 1), i, j, k - 1)
      : (float)0.0; */
/*@ logic float node_0_it_at{L}(integer i, integer j) =
      node_0_it_after(i, j, 3); */
/*@ requires 0 <= i < 2 && 0 <= j < 2;
    assigns \\nothing;
    ensures same_float(\\result, node_0_it_at(i, j)); */
static float node_0_it_element(int32_t i, int32_t j)
{
    float s = 0.0f;
    /*@ loop invariant 0 <= k <= 3;
        loop invariant same_float(s, node_0_it_after(i, j, k));
        loop assigns k, s;
        loop variant 3 - k; */
    for (int32_t k = 0; k < 3; k++) {
        const int32_t at_i = i + k - 1;
        const float x = 0 <= at_i ? t_X[at_i * 2 + j] : 0.0f;
        const float product = x * t_W[k];
        s = s + product;
        //@ assert step: same_float(s, node_0_it_after(i, j, k + 1));
    }
    return s;
}
"""


def smoothed(X: Given, W: Given) -> Made:
    def at(i: Term, j: Term) -> Term:
        def step(s: Term, k: Term) -> Term:
            u = i + k - 1
            return s + select((u >= 0) & (u < 4), X[u, j], 0) * W[k]

        return fold((3,), 0, step)

    return made_of((2, 2), at)


def test_a_fold_is_a_loop_and_its_contract_says_what_the_sum_is_after_so_many_steps() -> None:
    given = {"X": ("float", (4, 2)), "W": ("float", (3,))}
    found = written(tensorwise(smoothed), given, {"Z": ("float", (2, 2))})
    assert found.text.startswith(FOLD)
    assert "t_Z[t] = node_0_it_element(t / 2, t % 2);" in found.text


WORD = """\
/*@ logic integer maximum_int8(integer a, integer b) =
      b < a ? a : b; */
/*@ assigns \\nothing;
    ensures same_int8_t(\\result, maximum_int8(a, b)); */
static int8_t maximum_int8(int8_t a, int8_t b)
{
"""


def test_a_named_word_is_a_function_with_its_contract() -> None:
    given = {"X": ("int8", (2,)), "Y": ("int8", (2,))}
    found = written(elementwise(lambda X, Y: maximum(maximum(X, Y), X)), given, {"Z": ("int8", (2,))})
    assert "    return maximum_int8(maximum_int8(X, Y), X);\n" in found.text
    assert [*found.words] == ["maximum_int8"]
    assert found.words["maximum_int8"].startswith(WORD)


@word(r"\twice")
def twice_larger(a: Term, b: Term) -> Term:
    """A word whose body has a word."""
    return maximum(a, b) + maximum(a, b)


def test_a_word_comes_after_the_words_of_its_body() -> None:
    given = {"X": ("float", (2,)), "Y": ("float", (2,))}
    found = written(elementwise(lambda X, Y: twice_larger(X, Y) * 2), given, {"Z": ("float", (2,))})
    assert [*found.words] == ["maximum_float", "twice_larger_float"]
    assert (
        "const float maximum = maximum_float(a, b);\n    return maximum + maximum;"
        in [*found.words.values()][1]
    )


def test_several_outputs_are_made_one_by_one_and_what_nobody_wants_is_not_made() -> None:
    def split(X: Given) -> tuple[Made, Made]:
        return made_of((2,), lambda i: X[i]), made_of((3,), lambda i: X[i + 2])

    given = {"X": ("int32", (5,))}
    both = written(tensorwise(split), given, {"A": ("int32", (2,)), "B": ("int32", (3,))}).text
    assert "static void node_0_it_A(void)" in both
    assert both.endswith(
        "/*@ assigns t_A[0 .. 1], t_B[0 .. 2];\n"
        "    ensures \\forall integer k; 0 <= k < 2 ==> same_int32_t(t_A[k], node_0_it_A_at(k));\n"
        "    ensures \\forall integer k; 0 <= k < 3 ==> same_int32_t(t_B[k], node_0_it_B_at(k)); */\n"
        "static void node_0_it(void)\n{\n    node_0_it_A();\n    node_0_it_B();\n}"
    )
    operator = stand_in(tensorwise(split), {"X": "int32"}, ("A", "B"))
    request = PlainRequest(
        "node_0_it",
        {"X": tensor("int32", (5,))},
        {"B": tensor("int32", (3,))},
        arrays={"X": "t_X", "B": "t_B"},
    )
    assert "node_0_it_A" not in plain(operator, request).text


def test_names_of_c_and_of_acsl_are_avoided() -> None:
    given = {"default": ("float16", (2,)), "integer": ("float16", ())}
    found = written(elementwise(lambda default, integer: default + integer), given, {"Z": ("float16", (2,))})
    assert "node_0_it_element(uint16_t default_, uint16_t integer_)" in found.text
    assert "const float default_value = float_of_half(default_);" in found.text
    names = Names()
    assert [names.fresh("x") for _ in range(3)] == ["x", "x_2", "x_3"]
    assert [names.fresh("if") for _ in range(2)] == ["if_", "if_3"]


def test_indices_may_have_the_names_of_words_of_c_and_long_heads_are_broken() -> None:
    def defined(X: Given) -> Made:
        many = [
            "auto",
            "long_name_of_an_axis_1",
            "long_name_of_an_axis_2",
            "long_name_of_an_axis_3",
            "t",
            "k",
        ]
        return Made((2,) * 6, tuple(map(index, many)), X[tuple(map(index, many))])

    found = written(tensorwise(defined), {"X": ("double", (2,) * 6)}, {"Z": ("double", (2,) * 6)}).text
    head = "/*@ logic double node_0_it_at{L}(integer auto_, integer long_name_of_an_axis_1,\n"
    assert found.startswith(head)


def test_a_case_that_fits_on_no_line_is_written_in_branches() -> None:
    long = "a_rather_long_name_of_an_operand_that_takes_its_place"
    given = {long: ("float", (2,)), f"{long}_too": ("float", (2,))}
    found = written(
        elementwise(lambda *several: select(several[0] < several[1], several[0], several[1])),
        given,
        {"Z": ("float", (2,))},
    )
    assert (
        f"    if ({long} < {long}_too) {{\n        return {long};\n    }}\n    return {long}_too;"
        in found.text
    )


def test_what_is_used_twice_in_branches_has_a_name_before_them() -> None:
    def defined(X: Term, Y: Term) -> Term:
        return select(X < Y, (X + Y) / 2, select(Y < 0, X + Y, root(X + Y)))

    given = {"X": ("double", (2,)), "Y": ("double", (2,))}
    found = written(elementwise(defined), given, {"Z": ("double", (2,))})
    assert found.helpers == ("<math.h>",)
    assert (
        "    const double sum = X + Y;\n    if (X < Y) {\n        return sum / 2.0;\n    }\n"
        "    return Y < 0.0 ? sum : sqrt(sum);\n" in found.text
    )


def test_a_single_case_says_what_decides_it_wherever_it_stands() -> None:
    def defined(X: Term, Y: Term) -> Term:
        total = cases(otherwise(X + Y, "D-X", "The sum."))
        return cases(
            when(X < Y, total * total, "D-Y", "Below."),
            otherwise(cases(otherwise(select(Y < 0, X, Y) + 1, "D-Z", "Chosen.")), "D-Y", "Not below."),
        )

    given = {"X": ("float16", (2,)), "Y": ("float16", (2,))}
    found = written(elementwise(defined), given, {"Z": ("float16", (2,))}).text
    assert "      less_float(value_of_half(X), value_of_half(Y)) ? product : sum_2; */" in found
    assert "    const float sum = float_of_half(half_of_float(x + y));\n" in found
    assert "        return half_of_float(sum * sum);\n" in found
    assert "    /* D-Y: Not below. */\n    /* D-Z: Chosen. */\n    return half_of_float(" in found


def test_a_definition_of_one_case_is_a_formula() -> None:
    given = {"X": ("int8", (2,)), "Y": ("int8", (2,))}
    added = elementwise(lambda X, Y: cases(otherwise(X + Y, "D-ADD", "The sum.")))
    found = written(added, given, {"Z": ("int8", (2,))}).text
    assert "(integer X, integer Y) =\n      (int8_t)(X + Y); */" in found
    assert "{\n    /* D-ADD: The sum. */\n    return (int8_t)(X + Y);\n}" in found


def test_a_half_that_is_moved_and_calculated_with_has_two_names() -> None:
    def defined(X: Term, Y: Term) -> Term:
        total = X + Y
        return select(total < 1, total, total * 2)

    given = {"X": ("float16", (2,)), "Y": ("float16", (2,))}
    found = written(elementwise(defined), given, {"Z": ("float16", (2,))}).text
    assert (
        "    const uint16_t sum = half_of_float(x + y);\n    const float sum_value = float_of_half(sum);\n"
        "    return sum_value < 1.0f ? sum : half_of_float(sum_value * 2.0f);\n" in found
    )


def test_a_condition_on_indices_is_turned_round() -> None:
    def defined(X: Given) -> Made:
        return made_of((4,), lambda i: select(~(i < 2), X[i - 2], 0))

    found = written(tensorwise(defined), {"X": ("int8", (2,))}, {"Z": ("int8", (4,))}).text
    assert "    return i >= 2 ? t_X[i - 2] : 0;\n" in found


def test_comments_are_ascii_and_do_not_end_early() -> None:
    assert ascii_text("a·b ≤ \u2212∞ */ ü ??") == "a*b <= -infinity * / <U+00FC> ? ?"
    assert remark("xy " * 40) == [f"/* {' '.join(['xy'] * 36)}", f"   {'xy ' * 4} */"]


# A lambda around one word gives its operand a name, which the word itself would not (PLW0108).
REFUSED: dict[str, tuple[Callable[..., Any], str, str]] = {
    "a root of integers": (lambda X: root(X), "int8", "no plain C for `root` of int8"),  # noqa: PLW0108  (above)
    "bits of floats": (lambda X: bits_and(X, X), "float", "no plain C for `bits_and` of float"),
    "shifts of signed numbers": (
        lambda X: shifted_left(X, X),
        "int8",
        "no plain C for `shifted_left` of int8",
    ),
    "sums of bfloat16": (lambda X: X + X, "bfloat16", "no plain C that calculates with bfloat16"),
    "bfloat16 compared": (lambda X: X < 1, "bfloat16", "no plain C that compares bfloat16"),
    "NaNs of bfloat16": (lambda X: is_nan(-X), "bfloat16", "no plain C that looks for NaNs of bfloat16"),
    "a sign of zero": (lambda X: is_minus_zero(absolute(X)), "float", "no plain C that tells -0 from \\+0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_plain_c_is_refused(case: str) -> None:
    defined, dtype, message = REFUSED[case]
    with pytest.raises(NoPlainError, match=message):
        written(elementwise(defined), {"X": (dtype, (2,))}, {"Z": ("bool", (2,))})


def test_parts_of_complex_numbers_are_not_converted() -> None:
    with pytest.raises(NoPlainError, match="no plain C that converts complex64 to float"):
        written(elementwise(lambda X: converted(X)), {"X": ("complex64", (2,))}, {"Z": ("float", (2,))})  # noqa: PLW0108  (above)


def test_an_operator_without_definition_is_refused() -> None:
    with pytest.raises(NoPlainError, match="OfNobody has no C"):
        plain(stand_in(None, {"X": "float"}, ("Z",)), PlainRequest("node_0_it", {}, {}))


def test_several_folds_and_folds_behind_a_guard_are_refused() -> None:
    def total(X: Given, start: Any) -> Term:
        return fold((3,), start, lambda s, k: s + X[k])

    several = tensorwise(lambda X: made_of((1,), lambda _i: total(X, total(X, 0))))
    guarded = tensorwise(lambda X: made_of((4,), lambda i: select(i < 3, total(X, 0), 1)))
    with pytest.raises(NoPlainError, match="several folds"):
        written(several, {"X": ("float", (3,))}, {"Z": ("float", (1,))})
    with pytest.raises(NoPlainError, match="a condition on indices guards"):
        written(guarded, {"X": ("float", (3,))}, {"Z": ("float", (4,))})


# --- parts --------------------------------------------------------------------------------------------------


def test_parentheses_stand_where_they_are_needed_and_nowhere_else() -> None:
    a, b, c = map(Piece, "abc")
    plus, times = binary("+", ADDITIVE, a, b), binary("*", PRODUCT, a, b)
    assert binary("*", PRODUCT, plus, c).text == "(a + b) * c"
    assert binary("-", ADDITIVE, c, plus).text == "c - (a + b)"
    assert binary("-", ADDITIVE, times, c).text == "a * b - c"
    both, either = joined("&&", OR + 1, a, b), joined("||", OR, a, b)
    assert joined("||", OR, both, either).text == "(a && b) || a || b"
    assert joined("&&", OR + 1, either, both).text == "(a || b) && a && b"
    assert prefixed("-", prefixed("-", a)).text == "-(-a)"
    assert prefixed("!", either).text == "!(a || b)"
    picked = choice(a, b, c)
    assert choice(either, picked, picked).text == "a || b ? (a ? b : c) : a ? b : c"


def test_types_of_c() -> None:
    assert C_TYPES[DType.COMPLEX64].spelled("net") == "struct net_complex64"
    assert (C_TYPES[DType.COMPLEX128].bytes, C_TYPES[DType.INT16].bytes) == (16, 2)


def test_ranges_of_indices() -> None:
    i = index("i")
    ranges = {"i": (2, 5)}
    assert range_of(i * 3 - 7, ranges) == (-1, 8)
    assert range_of((i - 4) // 3, ranges) == (-1, 0)
    assert range_of(i % 3, ranges) == (0, 2)
    assert range_of(i % 8, ranges) == (2, 5)
    assert range_of(lift(4, Sort.INDEX) - i, ranges) == (-1, 2)


def decided(condition: Any, **ranges: tuple[int, int]) -> Any:
    """1 or 0 where ranges decide a condition, else the condition that is left."""
    found = simplified(select(condition, 1, 0), ranges)
    return found.data if found.word == "literal" else repr(found.arguments[0])


def test_what_ranges_decide_is_not_asked() -> None:
    i = index("i")
    asked = "(less (index i) (whole 3))"
    assert [decided(i < n, i=(0, 3)) for n in (4, 3, 0)] == [1, asked, 0]
    assert [decided(i <= n, i=(1, 3)) for n in (3, 2, 0)] == [1, "(less_equal (index i) (whole 2))", 0]
    assert [decided(i == n, i=(2, 3)) for n in (1, 4)] == [0, 0]
    assert decided(i == 2, i=(2, 2)) == 1
    assert decided(i == 2, i=(2, 3)) == "(equal (index i) (whole 2))"
    assert decided(~(i < 9), i=(0, 3)) == 0
    assert decided(~(i < 3), i=(0, 3)) == f"(opposite {asked})"
    assert decided((i < 3) & (i < 9), i=(0, 3)) == asked
    assert decided((i < 3) | (i < 0), i=(0, 3)) == asked
    assert decided((i // 2 * 5 + i % 3 - 1) < 3, i=(1, 1)) == 1


def test_unsigned_numbers_are_not_asked_whether_they_are_below_zero() -> None:
    def defined(X: Term) -> Term:
        return select(X < 0, 1, select(X >= 0, X, 2))

    found = written(elementwise(defined), {"X": ("uint8", (2,))}, {"Z": ("uint8", (2,))})
    assert "{\n    return X;\n}" in found.text
    root_kept = written(elementwise(lambda X: X < 0), {"X": ("uint8", (2,))}, {"Z": ("bool", (2,))})
    assert "return X < 0 ? 1 : 0;" in root_kept.text


def test_contracts_of_bits_are_said_in_place_since_frama_c_sorts_their_operands() -> None:
    def both(X: Term, Y: Term) -> Term:
        return bits_and(X, Y)

    given = {"X": ("int8", (6,)), "Y": ("int8", (6,))}
    text = written(elementwise(both), given, {"Z": ("int8", (6,))}).text
    assert "logic integer" not in text
    assert "ensures same_int8_t(\\result, (int8_t)(X & Y)); */" in text
    assert text.count("same_int8_t(t_Z[k], (int8_t)(t_X[k] & t_Y[k]))") == 2  # what is ensured, and invariant


def test_what_is_made_of_a_long_quotient_is_asserted_where_it_gets_a_name() -> None:
    def twice(X: Term, Y: Term) -> Term:
        rest = X - truncated(X, Y)
        return select(Y == 0, 0, select(rest < 0, rest, rest + Y))

    for dtype, asserted in (("int64", 1), ("int32", 0), ("uint64", 0)):
        given = {"X": (dtype, (6,)), "Y": (dtype, (6,))}
        text = written(elementwise(twice), given, {"Z": (dtype, (6,))}).text
        assert text.count("assert meant: difference == ") == asserted, dtype
