"""Elementwise functions applied block by block."""

import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sonnx.numeric import blocks
from sonnx.numeric.blocks import by_blocks

Array = NDArray[Any]

pytestmark = pytest.mark.measured


def choose(condition: Array, x: Array, y: Array, out: Array) -> None:
    out[...] = np.where(condition, x, y)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 6, 7])
def test_every_element_is_handled_once_whatever_the_number_of_blocks(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 3 * 8)
    seen: list[list[int]] = []

    def negate(x: Array, out: Array) -> None:
        seen.append(x.tolist())
        out[...] = -x

    assert by_blocks(negate, np.arange(size, dtype=np.int64)).tolist() == [-value for value in range(size)]
    assert [value for block in seen for value in block] == list(range(size))
    assert all(len(block) <= 3 for block in seen)


def test_the_result_has_the_shape_and_the_dtype_of_the_last_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2 * 2)
    x = np.arange(6, dtype=np.int16).reshape(3, 2).T
    result = by_blocks(choose, x % 2 == 0, x.astype(np.int32), -x)
    assert result.tolist() == [[0, 2, 4], [-1, -3, -5]]
    assert result.dtype == np.int16


def test_an_array_without_axes_and_one_of_objects_are_handled() -> None:
    single = by_blocks(choose, np.array(True), np.array(1.5), np.array(2.5))
    assert single.shape == ()
    assert float(single) == 1.5
    words = np.array(["a", "b"], dtype=object)
    assert by_blocks(choose, np.array([True, False]), words, words[::-1]).tolist() == ["a", "a"]


ASKING = """
import resource
import numpy as np
from sonnx.numeric.blocks import by_blocks

def with_temporaries(x, out):
    several = [x + number for number in range(8)]
    out[...] = several[-1]

x = np.ones(2**22, np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
by_blocks(with_temporaries, x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, x.nbytes // resource.getpagesize())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="speaks of the allocator of glibc")
def test_every_block_has_the_memory_of_the_one_before() -> None:
    # A process of its own: what was given back before decides what an allocator keeps. Else every one of 64
    # blocks asks for its 512 pages.
    done = subprocess.run([sys.executable, "-c", ASKING], capture_output=True, text=True, check=True)
    asked, those_of_the_result = map(int, done.stdout.split())
    assert asked <= 2 * those_of_the_result
