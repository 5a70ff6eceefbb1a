"""half.h: binary16 to float and back, against IEEE 754's definition in fractions."""

import ctypes
import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.operators.compiling import compiled
from tests.operators.support import Array

pytestmark = pytest.mark.measured

HALVES = """
#include "shared/kernel.h"
#include "shared/half.h"
void widen(const uint16_t *from, float *to, int64_t count);
void narrow(const float *from, uint16_t *to, int64_t count);
void widen(const uint16_t *from, float *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = half_to_float(from[i]);
}
void narrow(const float *from, uint16_t *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = float_to_half(from[i]);
}
"""


@dataclass(frozen=True)
class Halves:
    """half.h, on bits."""

    library: ctypes.CDLL

    def widen(self, given: Array) -> Array:
        result = np.empty(given.size, np.uint32)
        self._call(self.library.widen, given.astype(np.uint16), result)
        return result

    def narrow(self, given: Array) -> Array:
        result = np.empty(given.size, np.uint16)
        self._call(self.library.narrow, given.astype(np.uint32), result)
        return result

    def _call(self, function: Any, given: Array, result: Array) -> None:
        function.restype = None
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        function(given.ctypes.data, result.ctypes.data, given.size)


@pytest.fixture(scope="session", params=["-O3", "-O0"])
def halves(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Halves:
    folder = tmp_path_factory.mktemp("halves")
    source = folder / "halves.c"
    source.write_text(HALVES, encoding="utf-8")
    assert compiled(source, folder / "halves.so", {"VARIANT": "any"}, (request.param,)) == ""
    return Halves(ctypes.CDLL(str(folder / "halves.so")))


def float_bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def value_of(half: int) -> Fraction:
    """IEEE 754's definition of a finite binary16 without its sign."""
    exponent, significand = half >> 10 & 31, half & 1023
    places = Fraction(2) ** (max(exponent, 1) - 25)
    return (significand + (1024 if exponent else 0)) * places


FINITE = range(0x7C00)


def test_a_half_becomes_the_float_of_the_same_value(halves: Halves) -> None:
    values = np.array([float_bits(float(value_of(half))) for half in FINITE], np.uint32)
    numbers = np.arange(0x7C00)
    assert (halves.widen(numbers) == values).all()
    assert (halves.widen(numbers | 0x8000) == values | 0x80000000).all()
    assert halves.widen(np.array([0x7C00, 0xFC00])).tolist() == [0x7F800000, 0xFF800000]


def test_a_half_that_is_nan_keeps_sign_and_payload(halves: Halves) -> None:
    payloads = np.arange(1, 1024)
    for sign in (0, 1):
        expected = [sign << 31 | 0x7F800000 | payload << 13 for payload in range(1, 1024)]
        assert halves.widen(payloads | sign << 15 | 0x7C00).tolist() == expected


@pytest.mark.no_cover
def test_floats_become_the_nearest_half_and_halfway_the_even_one(halves: Halves) -> None:
    values = [value_of(half) for half in FINITE]
    exact = np.array([float_bits(float(value)) for value in values], np.uint32)
    # Behind the largest half stands what would be the next one: there infinity begins.
    above = [*values[1:], Fraction(65536)]
    between = np.array(
        [float_bits(float((a + b) / 2)) for a, b in zip(values, above, strict=True)], np.uint32
    )
    numbers = np.arange(0x7C00)
    for sign in (0, 1):
        float_sign, half_sign = np.uint32(sign << 31), sign << 15
        for given, expected in [
            (exact, numbers),
            (between, numbers + (numbers & 1)),
            (between - 1, numbers),
            (between + 1, numbers + 1),
        ]:
            assert (halves.narrow(given | float_sign) == expected | half_sign).all()


def test_floats_beyond_all_halves_become_zero_or_infinity(halves: Halves) -> None:
    # The smallest float, the largest below 2^-25, the largest of all, infinity.
    given = np.array([1, float_bits(2.0**-25) - 1, 0x7F7FFFFF, 0x7F800000], np.uint32)
    assert halves.narrow(given).tolist() == [0, 0, 0x7C00, 0x7C00]
    assert halves.narrow(given | np.uint32(2**31)).tolist() == [0x8000, 0x8000, 0xFC00, 0xFC00]


def test_a_float_that_is_nan_becomes_quiet_and_keeps_sign_and_the_top_of_its_payload(
    halves: Halves,
) -> None:
    for sign in (0, 1):
        for payload, top in [(1, 0), (0x1FFF, 0), (0x2000, 1), (0x3FFFFF, 0x1FF), (0x7FFFFF, 0x1FF)]:
            given = np.array([sign << 31 | 0x7F800000 | payload], np.uint32)
            assert halves.narrow(given).tolist() == [sign << 15 | 0x7E00 | top]
