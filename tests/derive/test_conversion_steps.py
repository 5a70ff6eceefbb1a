"""Conversions by steps: followed on numbers by hand, and as plain and fast C; wrong ones are noticed."""

import operator
from collections.abc import Callable
from math import isnan
from typing import Any

import pytest
from tests.derive.plain_walk import written
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.operators.test_cast import ANY_NAN, FLOATS, HELD, PAIRS, array, boundaries, cast

from sonnx.derive import c_conversions as fast
from sonnx.derive import conversion_steps as steps
from sonnx.derive.c_numbers import NoWordError
from sonnx.model.dtype import DType
from sonnx.terms.term import Sort, Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import cases, converted, otherwise, value
from sonnx.vocabulary.plain import PlainText

pytestmark = pytest.mark.measured

ELEMENT = cases(otherwise(converted(value("X")), "D-CAST", "Converted."))
# Every so manieth of the elements beside edges.
SOME = 7
LONG = ("int64", "uint64")


def followed(term: Term, bits: int, source: str) -> Any:
    """A number or truth, with the type in which it is held; of literals and sums that of their neighbours."""
    arguments = term.arguments
    if term.word == "value":
        return bits != 0 if term.sort is Sort.TRUTH else number(bits, source)
    if term.word == "literal":
        return int(term.data)
    if term.word == "select":
        condition, chosen, other = arguments
        return followed(chosen if followed(condition, bits, source) else other, bits, source)
    found = [followed(each, bits, source) for each in arguments]
    if term.word == "converted":
        return stepped(arguments[0], found[0], source, term.data)
    return MEANT[term.word](*found)


def cut(a: int, b: int) -> int:
    return abs(a) // b * (1 if a >= 0 else -1)


MEANT: dict[str, Callable[..., Any]] = {
    "stated": lambda x: x,
    "is_nan": isnan,
    "opposite": operator.not_,
    "both": operator.and_,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "truncated": cut,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def number(bits: int, name: str) -> Any:
    """The number that bits stand for; Python's floats hold those of every type."""
    held = array([bits], name)[0]
    return float(held) if name in FLOATS else int(held)


def stepped(before: Term, given: Any, source: str, target: DType) -> Any:
    """One step, which is asked only for what the new type holds."""
    held = str(before.data) if before.word == "converted" else source
    if target.value not in FLOATS:
        whole = int(given)  # towards zero; no NaN and no infinity comes here
        if held in FLOATS:
            assert whole == number(whole % 2 ** (8 * HELD[target].itemsize), target.value)
        return number(whole % 2 ** (8 * HELD[target].itemsize), target.value)
    raw = HELD[held].type(given).view(f"u{HELD[held].itemsize}").item()
    made = cast(raw, held, target.value)
    return float("nan") if made == ANY_NAN else number(made, target.value)


def test_steps_lead_to_the_nearest_number_and_never_beyond_a_type() -> None:
    for source, target in PAIRS:
        if source != target:
            tree = steps.by_steps(ELEMENT, DType(source), DType(target))
            every = 1 if target == "bfloat16" and source in LONG else SOME
            for bits in boundaries(source)[::every]:
                found, right = followed(tree, bits, source), cast(bits, source, target)
                if right == ANY_NAN:
                    assert isnan(found), (source, target, hex(bits))
                elif target == "bool":
                    assert found == bool(right), (source, target, hex(bits))
                else:
                    assert found == number(right, target), (source, target, hex(bits), found)


def lines(source: str, target: str) -> list[str]:
    made = fast.conversion(ELEMENT, DType(source), DType(target))
    assert made is not None
    return [line.strip() for line in made.lines]


def test_floats_are_limited_before_they_become_integers() -> None:
    assert lines("float", "int32") == [
        "const float x = from_x[i];",
        "const float above = x < -0x1.0000000000000p+31f ? -0x1.0000000000000p+31f : x;",
        "const float inside = above < 0x1.0000000000000p+31f ? above : 0;",
        "const int32_t end = x >= 0x1.0000000000000p+31f ? INT32_MAX : 0;",
        "to[i] = (int32_t)((int32_t)inside | end);",
    ]
    # Where the float holds the greatest integer, it is the limit itself.
    assert lines("double", "uint32")[1:] == [
        "const double number = x == x ? x : 0;",
        "const double above = number > 0x0.0p+0 ? number : 0x0.0p+0;",
        "const double inside = above < 0x1.fffffffe00000p+31 ? above : 0x1.fffffffe00000p+31;",
        "to[i] = (uint32_t)(int64_t)inside;",
    ]
    assert lines("bfloat16", "int8")[1:2] == ["const float value = bfloat16_to_float(x);"]
    assert lines("float16", "int16")[-1] == "to[i] = (int16_t)(int32_t)inside;"


def test_elements_become_floats_of_few_bits_in_one_rounding() -> None:
    assert lines("double", "float16")[-1] == "to[i] = float_to_half(double_to_odd((double)x));"
    assert lines("float", "bfloat16")[-1] == "to[i] = float_to_bfloat16(x);"
    assert lines("float16", "bfloat16")[-1] == "to[i] = float_to_bfloat16(value);"
    assert lines("int32", "float16")[-1] == "to[i] = float_to_half((float)x);"
    assert lines("uint16", "bfloat16")[-1] == "to[i] = float_to_bfloat16((float)x);"
    assert lines("int32", "bfloat16")[-1] == "to[i] = float_to_bfloat16(double_to_odd((double)x));"
    assert lines("int64", "bfloat16")[1:] == [
        "const int64_t rest = x & 4095;",
        "const int64_t middle = x - rest + (rest != 0 ? 2048 : 0);",
        "const int64_t held = ((x >= -9007199254740992) & (x <= 9007199254740992)) ? x : middle;",
        "to[i] = float_to_bfloat16(double_to_odd((double)held));",
    ]
    assert lines("uint64", "bfloat16")[3] == "const uint64_t held = x <= 9007199254740992 ? x : middle;"


def test_truths_are_what_is_not_zero() -> None:
    assert lines("float", "bool")[1] == "to[i] = (uint8_t)(x != 0);"
    assert lines("float16", "bool")[1:] == [
        "const float value = half_to_float(x);",
        "to[i] = (uint8_t)(value != 0);",
    ]
    assert lines("bool", "int64")[1] == "to[i] = (int64_t)(x != 0);"
    assert lines("bool", "float16")[1] == "to[i] = float_to_half((float)(x != 0));"
    # To its own type nothing changes, whatever byte is true.
    assert lines("bool", "bool")[-1] == "to[i] = X;"


def said(source: str, target: str) -> tuple[str, PlainText]:
    """Plain C and its contract, and what else belongs to it."""
    found = written(elementwise(cast_of), {"X": (source, (2,))}, {"Z": (target, (2,))})
    return found.text, found


def cast_of(X: Term) -> Term:
    return cases(otherwise(converted(X), "D-CAST", "Converted."))


def test_plain_c_compares_before_it_cuts_off_and_its_contract_says_the_same() -> None:
    text, _ = said("float", "int8")
    assert (
        """\
/*@ logic integer node_0_it_at(float X) =
      nan_float(X) ? 0
      : less_equal_float(X, opposite_float((float)128.0)) ? -128
      : less_equal_float((float)128.0, X) ? 127
      : \\truncate(X); */
"""
        in text
    )
    assert (
        """\
    if (X != X) {
        return 0;
    }
    if (X <= -128.0f) {
        return -128;
    }
    return 128.0f <= X ? 127 : (int8_t)X;
"""
        in text
    )


def test_plain_c_has_functions_for_floats_of_few_bits() -> None:
    for source, target, contract, code, helpers in (
        ("double", "float16", "nearest_half(beside_double(X))", "half_of_float(odd_float(X))", 2),
        ("float", "bfloat16", "nearest_bfloat16(X)", "bfloat16_of_float(X)", 1),
        ("bfloat16", "double", "(double)value_of_bfloat16(X)", "(double)float_of_bfloat16(X)", 1),
        ("int64", "float", "(float)X", "(float)X", 0),
        (
            "float16",
            "bool",
            "(!equal_float(value_of_half(X), (float)0.0)) ? 1 : 0",
            "float_of_half(X) != 0.0f ? 1 : 0",
            1,
        ),
        ("bool", "bfloat16", "X != 0 ? 16256 : 0", "X != 0 ? 0x3f80u : 0x0000u", 0),
    ):
        text, whole = said(source, target)
        assert f"{contract}; */" in text, text
        assert f"return {code};" in text, text
        assert len(whole.helpers) == helpers


def test_what_does_more_or_has_parts_is_no_such_conversion() -> None:
    assert fast.conversion(converted(value("X") + 1), DType.FLOAT, DType.INT8) is None
    with pytest.raises(NoWordError):
        fast.conversion(ELEMENT, DType.COMPLEX64, DType.FLOAT)


STEPS = test_steps_lead_to_the_nearest_number_and_never_beyond_a_type
LIMITS, ROUNDED, TRUTHS = (
    test_floats_are_limited_before_they_become_integers,
    test_elements_become_floats_of_few_bits_in_one_rounding,
    test_truths_are_what_is_not_zero,
)
MUTANTS = {
    "a NaN is no 0": Mutant(steps._inside, "is_nan(x), 0", "is_nan(x), 1", STEPS),
    "the end of the type inside": Mutant(steps._inside, "greatest + 1 <= x", "greatest + 2 <= x", STEPS),
    "the least integer is another": Mutant(steps._inside, "x <= least, least", "x <= least, greatest", STEPS),
    "integers by way of float": Mutant(steps._rounded, "DType.DOUBLE", "DType.FLOAT", STEPS),
    "long integers are rounded twice": Mutant(steps._rounded, "source not in LONG", "source in LONG", STEPS),
    "nothing between": Mutant(steps._from_long, "kept + UNITS)", "kept)", STEPS),
    "what is 0 is true": Mutant(steps._converted, "x != 0", "x == 0", STEPS),
    "bools the other way": Mutant(steps._converted, "1, 0)", "0, 1)", STEPS),
    "nothing limited": Mutant(steps._converted, "if source in FORMATS else", "if source is None else", STEPS),
}
FAST = fast._Conversion
MUTANTS |= {
    "fast: a NaN is no 0": Mutant(FAST._limited, "{x} == {x}", "{x} != {x}", LIMITS),
    "fast: a NaN is the end": Mutant(FAST._limited, "{x} >= {beyond}", "!({x} < {beyond})", LIMITS),
    "fast: the end is no integer": Mutant(FAST._limited, "{above} < {beyond}", "{above} <= {beyond}", LIMITS),
    "fast: narrow through long": Mutant(FAST._limited, "greatest > np", "greatest < np", LIMITS),
    "fast: doubles rounded twice": Mutant(
        FAST._near, "is not DType.DOUBLE and", "is DType.DOUBLE and", ROUNDED
    ),
    "fast: long ones not gathered": Mutant(FAST._near, "self.kind in LONG", "self.kind in BITS", ROUNDED),
    "fast: unsigned as signed": Mutant(FAST._gathered, "self.kind in UNSIGNED", "self.kind in BITS", ROUNDED),
    "fast: bytes are numbers": Mutant(
        FAST._converted, "self.kind is DType.BOOL", "made is DType.BOOL", TRUTHS
    ),
}


@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_steps_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
