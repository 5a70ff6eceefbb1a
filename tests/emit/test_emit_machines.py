"""The same bits on another machine: cross-compiled, and run by an emulator."""

import shutil
from pathlib import Path

import pytest
from tests.emit.support import assert_passes, make, needs_gcc, random_model, written

from sonnx.vocabulary.kernel import KernelStyle

CROSS = "aarch64-linux-gnu-gcc"

pytestmark = [
    pytest.mark.emulator,
    needs_gcc,
    pytest.mark.skipif(shutil.which(CROSS) is None, reason=f"{CROSS} is not installed"),
    pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="qemu-aarch64 is not installed"),
]


@pytest.mark.parametrize("accumulate", ["separate", "fused"])
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_aarch64_computes_the_bits_of_this_machine(
    kernels: KernelStyle, accumulate: str, tmp_path: Path
) -> None:
    folder = written(tmp_path / "project", random_model(5, 12), accumulate, kernels)
    here = make(folder, cflags="-O1")
    assert_passes(here)
    there = make(folder, cc=CROSS, cflags="-O1", variables=["LDFLAGS=-static", "RUN=qemu-aarch64"])
    assert_passes(there)
    # Every output's checksum is printed.
    assert checksums(there.stdout) == checksums(here.stdout) != []


def checksums(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if "crc32" in line]
