"""Kernels compile for other machines and other widths of vectors, without a warning."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.operators.compiling import compiler

from sonnx.model.dtype import IEEE, DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators import NODE_OPERATORS
from sonnx.plan.sources import kernel_source
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, Variant

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-Wno-psabi", "-O1")
SHAPES = {
    "dense": ((1, 3, 20, 20), (4, 3, 3, 3), 1),
    "swapped": ((1, 3, 7, 7), (32, 3, 3, 3), 1),
    "depthwise": ((1, 4, 20, 20), (4, 1, 3, 3), 4),
    "across": ((1, 4, 3, 3), (4, 1, 3, 3), 4),
}

# What every compiler can compile that knows a machine.
NOTHING = KernelCall("shared/kernel.h", "", Variant("", ()), (), (), (), 0)


def conv_calls(dtype: DType, accumulate: str, vector_bytes: int) -> Iterator[KernelCall]:
    """Every source of Conv that one type and mode need."""
    for X, W, group in SHAPES.values():
        types = {"X": TensorType(dtype, X), "W": TensorType(dtype, W)}
        types["Y"] = TensorType(dtype, (1, W[0], *X[2:]))
        attributes = {"group": group, "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)}
        names = {"X": "X", "W": "W"}
        request = KernelRequest(
            names, {"Y": "Y"}, types, {**attributes, "accumulate": accumulate}, "", vector_bytes
        )
        ask = NODE_OPERATORS["Conv"].kernels
        assert ask is not None
        found = ask(request)
        assert found is not None
        yield from found.calls


def sources(vector_bytes: int) -> Iterator[KernelCall]:
    seen = set()
    for dtype in IEEE:
        for accumulate in ("separate", "fused"):
            for call in conv_calls(dtype, accumulate, vector_bytes):
                if (call.source, call.variant) not in seen:
                    seen.add((call.source, call.variant))
                    yield call


def compile_one(command: Sequence[str], call: KernelCall, folder: Path) -> str:
    source = folder / "kernel.c"
    source.write_text(kernel_source(call), encoding="utf-8")
    macros = [f"-D{key}={value}" for key, value in call.variant.macros]
    line = [*command, *STRICT, *macros, "-c", str(source)]
    environment = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "g"), "ZIG_LOCAL_CACHE_DIR": str(folder / "l")}
    done = subprocess.run(
        [*line, "-o", str(folder / "kernel.o")],
        capture_output=True, text=True, check=False, timeout=300,
        env=environment if "ziglang" in command else None,
    )  # fmt: skip
    return done.stderr if done.returncode else ""


def test_every_source_of_conv_is_among_them() -> None:
    assert {call.source for call in sources(32)} == {
        f"shared/sums_of_products/{stem}.c" for stem in ("pad", "dense", "swapped", "depthwise", "across")
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("target", "vector_bytes"), [("x86-64-v2", 16), ("x86-64-v3", 32), ("x86-64-v4", 64)]
)
def test_kernels_of_conv_compile_for_machines_of_the_family(
    target: str, vector_bytes: int, tmp_path: Path
) -> None:
    command = [compiler(), f"-march={target}", "-ffp-contract=off"]
    if compile_one(command, NOTHING, tmp_path):
        pytest.skip(f"this compiler has no -march={target}")
    for call in sources(vector_bytes):
        assert compile_one(command, call, tmp_path) == "", call


@pytest.mark.long
@pytest.mark.skipif(find_spec("ziglang") is None, reason="the wheel ziglang is not installed")
def test_kernels_of_conv_compile_for_aarch64(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu", "-ffp-contract=off"]
    for call in sources(16):
        assert compile_one(command, call, tmp_path) == "", call
