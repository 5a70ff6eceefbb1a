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


@pytest.mark.parametrize(
    ("cflags", "accumulate", "nodes"),
    [("-O0", "separate", 40), ("-O2 -march=native", "fused", 30), (SANITIZED, "separate", 8)],
)
def test_fast_kernels_have_the_bits_of_the_definitions(
    cflags: str, accumulate: str, nodes: int, tmp_path: Path
) -> None:
    assert_passes(make(written(tmp_path / "p", random_model(7, nodes), accumulate, "fast"), cflags=cflags))


@needs_clang
def test_clang_agrees_on_fast_kernels(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(8, 12), "fused", "fast")
    assert_passes(make(folder, cc="clang", cflags="-O1"))


@needs_valgrind
def test_valgrind_has_nothing_to_say_of_fast_kernels(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(9, 8), kernels="fast")
    assert make(folder, "all", cflags="-g -O1").returncode == 0
    runner = "exec valgrind --error-exitcode=9 --leak-check=full -q ./test_model"
    (folder / "Makefile").write_text(f"test:\n\t@{runner}\n", encoding="utf-8")
    assert_passes(make(folder))
