"""Projects with fast kernels: the same bits, from the functions that the native engine compiles."""

from pathlib import Path

import pytest
from tests.emit.support import (
    assert_passes,
    make,
    needs_clang,
    needs_gcc,
    needs_valgrind,
    random_model,
    written,
)

pytestmark = needs_gcc

SANITIZED = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.mark.parametrize("accumulate", ["separate", "fused"])
@pytest.mark.parametrize("cflags", ["-O0", "-O3 -march=native", SANITIZED])
def test_fast_kernels_have_the_bits_of_the_definitions(cflags: str, accumulate: str, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", random_model(7, 40), accumulate, "fast"), cflags=cflags))


@needs_clang
@pytest.mark.parametrize("cflags", ["-O2", "-O3 -march=native"])
def test_clang_agrees_on_fast_kernels(cflags: str, tmp_path: Path) -> None:
    done = make(written(tmp_path / "p", random_model(8, 40), "fused", "fast"), cc="clang", cflags=cflags)
    assert_passes(done)


@needs_valgrind
def test_valgrind_has_nothing_to_say_of_fast_kernels(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(9, 30), kernels="fast")
    assert make(folder, "all", cflags="-g -O1").returncode == 0
    runner = "exec valgrind --error-exitcode=9 --leak-check=full -q ./test_model"
    (folder / "Makefile").write_text(f"test:\n\t@{runner}\n", encoding="utf-8")
    assert_passes(make(folder))
