"""The edges at which conversions are tried, by hand, and what decides there; wrong ones are noticed."""

from collections.abc import Iterable

import numpy as np
import pytest
from tests.derive.test_trials_mutants import raw, tried
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.operators.test_trials_clauses import CONVERTED, blamed, ruling_of

from sonnx.derive import conversions as walk
from sonnx.derive.trials import trials
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators import operator

pytestmark = pytest.mark.measured

CONVERT = "xla.ConvertElementType"


def asked(source: DType, target: str) -> Array:
    """The elements of one type that are tried on another."""
    every = trials(operator(CONVERT), source, 0)
    return next(each.inputs["operand"] for each in every if each.name == f"edges-of-{target}")


def beside(numbers: Iterable[float], dtype: type[np.floating]) -> set[float]:
    """Floats, and the next ones below and above."""
    near = [np.array(list(numbers), dtype)]
    near += [np.nextafter(near[0], dtype(end)) for end in (-np.inf, np.inf)]
    return {float(each) for line in near for each in line}


def test_floats_are_tried_beside_the_ends_of_integers_and_their_halves() -> None:
    # The ends, the ends of the unsigned type, halves, a quarter more than half of each; and their negatives.
    ends = (127, 128, 256, 127.5, 128.5, 256.5, 64, 96, 0.5, 1, 1.5, 300)
    found = set(asked(DType.FLOAT, "s8").tolist())
    assert found == beside([*ends, *(-each for each in ends), -127.5], np.float32)
    unsigned = (0.5, 255, 256, 512, 255.5, 256.5, 512.5, 128, 192, 1, 1.5, 300)
    found = set(asked(DType.DOUBLE, "u8").tolist())
    assert (
        found
        == beside([*unsigned, *(-each for each in unsigned)], np.float64)
        | {0.0, 2.0**-1074, -(2.0**-1074)} & found
    )
    assert {0.0, 2.0**-1074} <= found
    # Beyond the end of float16 lies its infinity, and nothing behind that.
    far = asked(DType.FLOAT16, "s64").astype(float)
    assert (np.isnan(far).any(), max(far)) == (False, np.inf)


def test_numbers_are_tried_beside_ties_and_where_floats_grow_sparse() -> None:
    powers = (0, 7, 15, 30, 31, 62, 63)
    ties = [(1 + times * 2.0**-11) * 2.0**power for times in (1, 3) for power in powers]
    small = [times * 2.0**-25 for times in (1, 2, 3, 5)]
    normal = [2.0**-14, 2.0**-14 - 2.0**-25, 2.0**-14 - 2.0**-24]
    edges = [*ties, *small, *normal, 65504, 65520, 2048]
    found = set(asked(DType.DOUBLE, "f16").tolist())
    assert found == beside([*edges, *(-each for each in edges)], np.float64)
    assert set(asked(DType.DOUBLE, "pred").tolist()) >= beside([256, 65536, 0.5, -0.5], np.float64)
    # 2^15 + 16 is a tie of float16; integers beside it are rounded down and up.
    whole = set(asked(DType.INT32, "f16").tolist())
    assert {32783, 32784, 32785, -32784, 65503, 65504, 65519, 65520, 65521, 2047, 2048, 2049} <= whole


def test_integers_are_tried_beside_the_ends_of_others_and_truths_as_they_are() -> None:
    found = set(asked(DType.INT16, "s8").tolist())
    assert {
        126,
        127,
        128,
        129,
        -127,
        -128,
        -129,
        255,
        256,
        257,
        -1,
        0,
        1,
        2,
        63,
        64,
        65,
        299,
        300,
        301,
    } <= found
    assert len(found) < 80
    assert {0, 1, 127, 128, 255} <= set(asked(DType.UINT8, "s8").tolist())
    assert {2**63 - 1, -(2**63)} <= set(asked(DType.INT64, "u64").tolist())
    assert asked(DType.BOOL, "f32").tolist() == [False, True, True, False]
    parts = asked(DType.COMPLEX128, "c64").view(np.float64)
    assert {2.0**128 - 2.0**104, 2.0**128 - 2.0**103, 2.0**103 - 2.0**128} <= set(parts.tolist())
    # Each is the imaginary part of the next one.
    assert parts[1::2][1:].tolist() == parts[::2][:-1].tolist()


def test_nans_of_every_bit_lengths_and_every_encoding_are_converted() -> None:
    found = tried(CONVERT, DType.FLOAT16)
    special = set(raw(found["special-values-to-s8"].inputs["operand"]))
    assert {0x7C00 + 2**place for place in range(10)} <= special
    assert raw(found["all-elements-to-bf16"].inputs["operand"]) == list(range(2**16))
    sizes = {each.inputs["operand"].size for each in found.values()}
    assert {63, 95, 127, 255, 8, 32, 64, 128, 256, 137, 257, 300, 5003} <= sizes
    targets = {
        each.attributes["new_element_type"] for name, each in found.items() if name.startswith("length-137")
    }
    assert len(targets) > 3
    usual = [found[f"random-{number}-to-f64"].inputs["operand"].astype(float) for number in range(4)]
    assert all(np.isfinite(each).all() for each in usual[1::2])
    widths = [np.ptp(np.log2(abs(each))) for each in usual[1::2]]
    assert widths[0] < 10 < widths[1]


def test_truths_of_every_byte_are_converted_to_every_type_of_numbers() -> None:
    found = tried(CONVERT, DType.BOOL)
    bytes_of = {
        name.removeprefix("every-byte-to-"): raw(each.inputs["operand"])
        for name, each in found.items()
        if name.startswith("every-byte")
    }
    whole = [f"{sign}{bits}" for sign in "su" for bits in (8, 16, 32, 64)]
    assert set(bytes_of) == {*whole, "f16", "bf16", "f32", "f64", "c64", "c128"}
    # After all of them, which fill vectors, three more: code for a rest may go another way.
    assert all(each == [*range(256), 0, 1, 2] for each in bytes_of.values())
    assert found["every-byte-to-s8"].attributes["new_element_type"] == "s8"
    assert not [name for name in tried(CONVERT, DType.UINT8) if name.startswith("every-byte")]


def clauses() -> None:
    """Spoilt elements by hand, each with the clause that decides it."""
    for x, target, place, wrong, words in CONVERTED:
        attributes = {"new_element_type": target, "domain": "ieee"}
        identifier, text = blamed("xla.convert_element_type", {"operand": x}, attributes, (place,), wrong)
        assert words in text
        assert identifier == ruling_of(words)


HALVES = test_floats_are_tried_beside_the_ends_of_integers_and_their_halves
TIES = test_numbers_are_tried_beside_ties_and_where_floats_grow_sparse
WHOLE = test_integers_are_tried_beside_the_ends_of_others_and_truths_as_they_are
NANS = test_nans_of_every_bit_lengths_and_every_encoding_are_converted
BYTES = test_truths_of_every_byte_are_converted_to_every_type_of_numbers
EDGES = walk._edges
MUTANTS = {
    "no end of the unsigned type": Mutant(EDGES, ", 2 * (info.max + 1))}", ")}", HALVES),
    "no halves": Mutant(EDGES, "*(end + half for end in ends), ", "", HALVES),
    "nothing inside": Mutant(EDGES, "for quarters in (2, 3)", "for quarters in (2,)", HALVES),
    "positive edges alone": Mutant(walk._beside, "*(-value for value in values)", "", HALVES),
    "floats below alone": Mutant(walk._floats_near, "for step in (-1, 0, 1)", "for step in (-1, 0)", HALVES),
    "negative floats without their sign": Mutant(
        walk._floats_near, "form.sign_bit if value < 0 else 0", "0", HALVES
    ),
    "NaNs behind infinity": Mutant(walk._floats_near, "form.infinity)", "form.infinity + 1)", HALVES),
    "ties to even alone": Mutant(EDGES, "for times in (1, 3) for power", "for times in (1,) for power", TIES),
    "no tie at the end": Mutant(EDGES, "unit * Fraction(2) ** form.emax", "0", TIES),
    "few subnormal numbers": Mutant(EDGES, "for times in (1, 2, 3, 5)", "for times in (1, 2, 3)", TIES),
    "the largest subnormal number left out": Mutant(
        EDGES, "for times in (0, 1, 2)", "for times in (0, 1, 3)", TIES
    ),
    "no truths of large numbers": Mutant(EDGES, "Fraction(65536), half", "half", TIES),
    "integers above alone": Mutant(
        walk._integers_near, "for step in (-1, 0, 1, 2)", "for step in (0, 1, 2)", WHOLE
    ),
    "the last integer left out": Mutant(
        walk._integers_near, "number <= info.max", "number < info.max", WHOLE
    ),
    "integers rounded up": Mutant(
        walk._integers_near, "int(value // 1) + step", "int(value // 1) + step + 1", WHOLE
    ),
    "parts without another": Mutant(walk._paired, "np.roll(parts, 1)", "parts", WHOLE),
    "quiet NaNs alone": Mutant(
        walk._every, "range(form.precision - 1)", "range(form.precision - 2, form.precision - 1)", NANS
    ),
    "half of the encodings": Mutant(walk.trials, "np.arange(1 << 16)", "np.arange(1 << 15)", NANS),
    "one type a length": Mutant(walk._lengths, "max(len(lengths), len(every))", "len(lengths)", NANS),
    "bits alone": Mutant(walk._random, "if plain", "if not plain", NANS),
    "narrow numbers alone": Mutant(walk._random, "[number // 2 % 2]", "[0]", NANS),
    "the end of a type inside": Mutant(
        walk._to_integer, "whole >= float(info.max + 1)", "whole > float(info.max + 1)", clauses
    ),
    "the least integer below": Mutant(
        walk._to_integer, "whole < float(info.min)", "whole <= float(info.min)", clauses
    ),
    "the greatest integer does not fit": Mutant(
        walk._to_integer, "wide > info.max", "wide >= info.max", clauses
    ),
    "negative integers fit": Mutant(walk._to_integer, " | (wide < info.min)", "", clauses),
    "infinities that overflow": Mutant(
        walk._to_float, "is_infinite(Y) & ~is_infinite(X)", "is_infinite(Y) & is_infinite(X)", clauses
    ),
    "operands that are subnormal alone": Mutant(
        walk._to_float, "is_subnormal(X) | is_subnormal(Y)", "is_subnormal(X)", clauses
    ),
    "every rounding is a tie": Mutant(walk._roundings, " & (real(held) == beyond)", "", clauses),
    "no tie": Mutant(walk._roundings, "beyond = exact + error", "beyond = exact - error", clauses),
    "zeros of one part": Mutant(
        walk._to_pred, "is_negative_zero(X) & (X == 0)", "is_negative_zero(X)", clauses
    ),
    "bytes of truths alone": Mutant(walk._bytes, "target is not DType.BOOL", "target is DType.BOOL", BYTES),
    "one is a byte of its own": Mutant(walk.clauses, "view(np.uint8) > 1", "view(np.uint8) > 0", clauses),
    "truths of the byte 1 alone": Mutant(walk.clauses, "or target is DType.BOOL", "or True", clauses),
    "any part": Mutant(walk._clauses, "each.mask.any(axis=1)", "each.mask.all(axis=1)", clauses),
    "itself converted": Mutant(walk._clauses, "source is target", "source is not source", clauses),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_conversions_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
