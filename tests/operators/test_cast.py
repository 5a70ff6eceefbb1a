"""Cast by an independent definition: bits are read as fractions, cut off or rounded, and written again."""

from collections.abc import Mapping, Sequence
from ctypes import c_int64, c_uint32, c_void_p
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.budgets import thinned
from tests.catalogue import Asked as AskedModel
from tests.catalogue import emitted, merged, native
from tests.emit.support import needs_gcc
from tests.loops import for_each
from tests.operators.support import broken, message

import sonnx
from sonnx.conformance.runtimes.libraries import compiled
from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import subject_named
from sonnx.load.types import TO_ONNX
from sonnx.model.dtype import FOREIGN_NUMBERS, ONNX_NUMBERS, DType
from sonnx.stablehlo import engine
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

Array = Any
# Bits of the exponent and of the fraction.
FLOATS = {"float16": (5, 10), "bfloat16": (8, 7), "float": (8, 23), "double": (11, 52)}
INTEGERS = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 16, 32, 64)}
HELD: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    **{name: np.dtype(name) for name in INTEGERS},
    "bool": np.dtype(np.bool_),
}
ANY_NAN = -1
PAIRS = [(source, target) for source in HELD for target in HELD]
WRITTEN = {"saturate": 1, "round_mode": "up"}


def written(value: Fraction, negative: bool, target: str) -> int:
    """The bits of the nearest float: units are counted, and of two the even count is taken."""
    exponents, fractions = FLOATS[target]
    least = 2 - 2 ** (exponents - 1)
    if value == 0:
        return negative << (exponents + fractions)
    # All denominators are powers of two.
    power = max(least, value.numerator.bit_length() - value.denominator.bit_length())
    # Twice as many units, so that a half is one.
    halves = value * Fraction(2) ** (fractions - power + 1)
    whole = halves.numerator // halves.denominator
    above, odd = whole != halves, whole // 2 % 2
    units = whole // 2 + (whole % 2 and (above or odd))
    bits = min(units + ((power - least) << fractions), (2**exponents - 1) << fractions)
    return int(bits | (negative << (exponents + fractions)))


def cast(bits: int, source: str, target: str) -> int:
    """The bits of an element in another type; ANY_NAN where any will do."""
    if source == target:
        return bits
    if source in FLOATS:
        exponents, fractions = FLOATS[source]
        negative, magnitude = divmod(bits, 2 ** (exponents + fractions))
        exponent, fraction = divmod(magnitude, 2**fractions)
        if exponent == 2**exponents - 1:
            return special(bool(fraction), bool(negative), target)
        hidden = 2**fractions if exponent else 0
        value = Fraction(hidden + fraction) * Fraction(2) ** (max(exponent, 1) - 2 ** (exponents - 1) + 1)
        value /= 2**fractions
    else:
        number = int(bits != 0) if source == "bool" else signed(bits, source)
        negative, value = int(number < 0), Fraction(abs(number))
    if target == "bool":
        return int(value != 0)
    if target in FLOATS:
        return written(value, bool(negative), target)
    whole = int(value) * (-1 if negative else 1)
    width = INTEGERS[target][1]
    if source in FLOATS:
        least, greatest = ends(target)
        whole = max(least, min(greatest, whole))
    return int(whole % 2**width)


def special(nan: bool, negative: bool, target: str) -> int:
    """What becomes of a NaN or an infinity."""
    if target == "bool":
        return 1
    if target in FLOATS:
        exponents, fractions = FLOATS[target]
        return ANY_NAN if nan else ((2**exponents - 1) << fractions) | (negative << (exponents + fractions))
    return 0 if nan else ends(target)[0 if negative else 1] % 2 ** INTEGERS[target][1]


def ends(name: str) -> tuple[int, int]:
    sign, width = INTEGERS[name]
    return (0, 2**width - 1) if sign else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


def signed(bits: int, name: str) -> int:
    sign, width = INTEGERS[name]
    return bits if sign or bits < 2 ** (width - 1) else bits - 2**width


def array(bits: Sequence[int], name: str) -> Array:
    return np.array(bits, f"u{HELD[name].itemsize}").view(HELD[name])


def complaints(bits: Sequence[int], source: str, target: str, result: Array) -> list[str]:
    """Where a result has other bits than it should; one that is no NaN where any will do."""
    assert (result.dtype, result.shape) == (HELD[target], (len(bits),))
    raw = result.view(f"u{result.dtype.itemsize}").tolist()
    wrong = []
    for given, found in zip(bits, raw, strict=True):
        right = cast(given, source, target)
        if right == ANY_NAN:
            exponents, fractions = FLOATS[target]
            right = found if found % 2 ** (exponents + fractions) > (2**exponents - 1) << fractions else -1
        if found != right:
            wrong.append(f"{source} {given:#x} to {target}: {found:#x} instead of {right:#x}")
    return wrong[:3]


def reference(bits: Sequence[int], source: str, target: str) -> Array:
    return sonnx.cast(array(bits, source), to=target, **WRITTEN)


POWERS = (0, 3, 7, 8, 11, 15, 16, 24, 31, 32, 53, 54, 63, 64, 127, 128)
BESIDE = (-6, -4, -2, -1, 0, 1, 2, 4, 6)
# Numbers beside those at which something changes in some type.
NUMBERS = sorted(
    {Fraction(2) ** power + Fraction(beside, 4) for power in POWERS for beside in BESIDE}
    | {(1 + Fraction(beside, 2**places)) * 2**power for places in (8, 11, 24) for power in (0, 30, 62, 100)
       for beside in (1, 2, 3, 1 + Fraction(1, 2**20), 1 - Fraction(1, 2**20))}
    | {Fraction(65504), Fraction(65519), Fraction(65520), Fraction(65536), Fraction(2) ** 1023}
    | {Fraction(2) ** 128 - Fraction(2) ** (103 + k) for k in (0, 1, 16, 17)}
    | {Fraction(times, 2) / 2**unit for unit in (24, 133, 149, 1074) for times in (1, 2, 3, 4, 5)}
    | {(1 + Fraction(1, 2**25)) / 2**unit for unit in (25, 134, 150)}
)  # fmt: skip


def boundaries(source: str) -> list[int]:
    """The bits of the elements beside such numbers, of both signs, zeros, infinities and NaNs."""
    if source == "bool":
        return [0, 1, 2, 255]
    if source in INTEGERS:
        least, greatest = ends(source)
        near = {sign * int(number) + step for number in NUMBERS for sign in (-1, 1) for step in (-1, 0, 1)}
        inside = sorted(n for n in near | {0, least, greatest} if least <= n <= greatest)
        return [n % 2 ** INTEGERS[source][1] for n in inside]
    exponents, fractions = FLOATS[source]
    infinity, sign = (2**exponents - 1) << fractions, 1 << (exponents + fractions)
    near = {written(number, False, source) for number in NUMBERS}
    near = {max(0, min(infinity, bits + step)) for bits in near for step in (-1, 0, 1)} | {0, infinity}
    near |= {infinity + 1, infinity + 2 ** (fractions - 1), infinity + 2**fractions - 1}
    return [bits | each for bits in sorted(near) for each in (0, sign)]


@for_each(("source", "target"), PAIRS)
def test_every_pair_of_types_gives_the_bits_of_the_independent_definition(source: str, target: str) -> None:
    """D-CAST: halves, ties, ends, subnormal numbers, infinities and NaNs."""
    bits = boundaries(source)
    assert complaints(bits, source, target, reference(bits, source, target)) == []


@pytest.mark.thinned
@for_each("target", HELD)
def test_every_float16_is_converted_to_every_type(target: str) -> None:
    """D-CAST."""
    bits = thinned(range(2**16))
    assert complaints(bits, "float16", target, reference(bits, "float16", target)) == []


@pytest.mark.thinned
@for_each("source", ("int8", "uint8", "int16", "uint16", "bfloat16", "bool"))
def test_every_element_of_small_types_is_converted_to_float16(source: str) -> None:
    """D-CAST."""
    bits = thinned(range(2 ** (8 * HELD[source].itemsize)))
    assert complaints(bits, source, "float16", reference(bits, source, "float16")) == []


def every_pair(
    truths: Sequence[int],
) -> tuple[list[AskedModel], Mapping[str, Array], list[tuple[Sequence[int], str, str]]]:
    """A model for each pair, what they are given, and what that stands for."""
    asked, told = [], []
    for source, target in PAIRS:
        bits = truths if source == "bool" else boundaries(source)
        given = {"input": array(bits, source)}
        attributes = {"to": ONNX_NUMBERS[DType(target)], **WRITTEN}
        made = question(sonnx.operators.operator("Cast"), Trial("pair", given, (), "", attributes))
        asked.append(AskedModel("", subject_named("cast"), graph(made), made.inputs, "any"))
        told.append((bits, source, target))
    inputs = {f"{n}/{name}": a for n, each in enumerate(asked) for name, a in each.given.items()}
    return asked, inputs, told


@needs_gcc
@pytest.mark.long  # in small: the cases and trials of the catalogue, some of every type
@pytest.mark.parametrize("way", ["native", "plain", "fast", "xla"])
def test_every_engine_gives_the_bits_of_the_independent_definition(way: str, tmp_path: Path) -> None:
    """D-CAST."""
    # XLA knows no byte of a pred but 0 and 1.
    asked, inputs, told = every_pair((0, 1) if way == "xla" else boundaries("bool"))
    model = merged(asked)
    if way == "xla":
        results = engine.execute(model, inputs)
    elif way == "native":
        results = dict(native(model, inputs, "separate"))
    else:
        run = emitted(tmp_path, "plain" if way == "plain" else "fast", "-O1")
        results = dict(run(model, inputs, "separate"))
    wrong = [
        each
        for number, (bits, source, target) in enumerate(told)
        for each in complaints(bits, source, target, results[f"{number}/output"])
    ]
    assert wrong == []


# A float by its bits: nothing is converted here.
CUT_OFF = """
#include <stdint.h>

static int64_t cut_off(uint32_t bits, int64_t least, int64_t greatest)
{
    const uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
    int64_t whole;
    if (exponent == 255 && fraction != 0) return 0;
    if (exponent < 127) return 0;
    if (exponent > 127 + 23) whole = (int64_t)1 << 40;
    else whole = (int64_t)(fraction | 0x800000) >> (127 + 23 - exponent);
    if (bits >> 31) whole = -whole;
    return whole < least ? least : whole > greatest ? greatest : whole;
}

/* How many of 2^22 floats from some bits on become another integer than they should. */
int64_t wrong(uint32_t first, const int8_t *a, const uint8_t *b, const int16_t *c, const uint16_t *d)
{
    int64_t found = 0;
    for (uint32_t i = 0; i < 1u << 22; i++) {
        found += a[i] != cut_off(first + i, -128, 127);
        found += b[i] != cut_off(first + i, 0, 255);
        found += c[i] != cut_off(first + i, -32768, 32767);
        found += d[i] != cut_off(first + i, 0, 65535);
    }
    return found;
}
"""


@needs_gcc
@pytest.mark.long  # in small: the boundaries of every pair
def test_every_float_becomes_the_right_integer_of_8_and_of_16_bits(tmp_path: Path) -> None:
    """D-CAST: all 2^32 floats, in compiled kernels."""
    targets, block = ("int8", "uint8", "int16", "uint16"), 2**22
    given = {"input": np.zeros(block, np.float32)}
    models = [
        graph(
            question(sonnx.operators.operator("Cast"), Trial("all", given, (), "", {"to": number, **WRITTEN}))
        )
        for number in (ONNX_NUMBERS[DType(name)] for name in targets)
    ]
    run = [sonnx.Graph.of(model).compile() for model in models]
    wrong = compiled("cc", ("-std=c99", "-O3", "-march=native"), ["wrong.c"], written_c(tmp_path))["wrong"]
    wrong.restype = c_int64
    for first in range(0, 2**32, block):
        floats = np.arange(first, first + block, dtype=np.uint32).view(np.float32)
        made = [each({"input": floats})["output"] for each in run]
        assert wrong(c_uint32(first), *(each.ctypes.data_as(c_void_p) for each in made)) == 0, hex(first)


def written_c(folder: Path) -> Path:
    (folder / "wrong.c").write_text(CUT_OFF)
    return folder


def test_numbers_of_types_are_those_of_onnx() -> None:
    from onnx import TensorProto

    named = {number: name.lower() for name, number in TensorProto.DataType.items()}
    assert {number: dtype.value for dtype, number in ONNX_NUMBERS.items()} | FOREIGN_NUMBERS == named
    assert TO_ONNX == ONNX_NUMBERS


def test_what_is_no_type_or_one_that_is_not_converted_to_is_refused() -> None:
    """cast.to.D1, cast.input.D1: strings, complex numbers, types of newer operator sets."""
    x = np.ones(2, np.float32)
    others = (0, 8, 14, 15, *range(17, 29), 99, -1, 1.0, True, None, (1,))
    for to in (*others, "real", "string", "complex64", "f32"):
        assert broken(sonnx.cast, x, to=to, **WRITTEN) == ["cast.to.D1"]
    assert "   to = 17   float8e4m3fn\n" in message(sonnx.cast, x, to=17, **WRITTEN)
    for wrong in (np.array(["1"]), np.ones(2, np.complex64)):
        assert broken(sonnx.cast, wrong, to=1, **WRITTEN) == ["cast.input.D1"]


def test_a_type_is_named_by_its_number_or_by_its_name() -> None:
    x = np.array([1.5, -300.0], np.float32)
    for to in ("int8", 3, np.int64(3)):
        assert sonnx.cast(x, to=to, **WRITTEN).tolist() == [1, -128]


def test_attributes_for_other_types_change_nothing() -> None:
    x = np.array([0.5, 1.5, 2.5, 1e9, np.nan], np.float32)
    for saturate in (0, 1):
        for mode in ("up", "down", "nearest"):
            result = sonnx.cast(x, to="uint8", saturate=saturate, round_mode=mode)
            assert result.tolist() == [0, 1, 2, 255, 0]


def test_reals_are_rounded_once_or_stay_in_their_own_domain() -> None:
    """D-CAST: no file holds reals, so nothing is converted to them but by the domain."""
    x = sonnx.real(["1/3", "-7/2", "300"])
    assert sonnx.cast(x, to="float16", **WRITTEN).tolist() == [0.333251953125, -3.5, 300.0]
    assert sonnx.cast(x, to="int8", **WRITTEN).tolist() == [0, -3, 127]
    assert sonnx.cast(x, to="bool", **WRITTEN).tolist() == [True, True, True]
    exact = sonnx.cast(x, to="float16", **WRITTEN, domain="real")
    assert exact.tolist() == [Fraction(1, 3), Fraction(-7, 2), Fraction(300)]
