"""The conversions between float16 and float in emitted C, against NumPy's, bit for bit."""

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.emit.support import STRICT, needs_gcc

from sonnx.emit.template import shared

pytestmark = [pytest.mark.measured, needs_gcc]

WRAPPER = """
void widen(const uint16_t *from, float *to, int32_t count);
void narrow(const float *from, uint16_t *to, int32_t count);
void widen(const uint16_t *from, float *to, int32_t count)
{
    for (int32_t i = 0; i < count; i++) { to[i] = float_of_half(from[i]); }
}
void narrow(const float *from, uint16_t *to, int32_t count)
{
    for (int32_t i = 0; i < count; i++) { to[i] = half_of_float(from[i]); }
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("half")
    text = f"#include <stdint.h>\n{shared('float_of_half.c')}\n{shared('half_of_float.c')}\n{WRAPPER}"
    (folder / "half.c").write_text(text, encoding="utf-8")
    command = (
        f"gcc -std=c99 {STRICT} -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error -shared -fPIC"
    )
    subprocess.run([*command.split(), "-o", "half.so", "half.c"], cwd=folder, check=True, timeout=60)
    return ctypes.CDLL(str(Path(folder) / "half.so"))


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def test_every_float16_becomes_the_same_number(library: ctypes.CDLL) -> None:
    halves = np.arange(2**16, dtype=np.uint16)
    made = np.empty(2**16, np.float32)
    library.widen(pointer(halves), pointer(made), ctypes.c_int32(2**16))
    expected = halves.view(np.float16).astype(np.float32)
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(made), nan)
    assert np.array_equal(made.view(np.uint32)[~nan], expected.view(np.uint32)[~nan])


def test_floats_around_every_boundary_become_the_nearest_float16(library: ctypes.CDLL) -> None:
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    ties = (halves[1:] + halves[:-1]) / 2
    centres = np.concatenate(
        [halves, ties, [65504, 65519.996, 65520, 65536, 2.0**-25, 2.0**-26, 1e-45, 3e38]]
    )
    floats = centres.astype(np.float32)
    steps = np.concatenate(
        [floats, np.nextafter(floats, np.float32(9e9)), np.nextafter(floats, np.float32(-9e9))]
    )
    random = np.random.default_rng(0).integers(0, 2**32, 200_000, np.uint32).view(np.float32)
    given = np.concatenate([steps, -steps, random, np.array([np.inf, -np.inf, np.nan], np.float32)])
    made = np.empty(given.size, np.uint16)
    library.narrow(pointer(given), pointer(made), ctypes.c_int32(given.size))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = given.astype(np.float16)
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(made.view(np.float16)), nan)
    assert np.array_equal(made[~nan], expected.view(np.uint16)[~nan])
