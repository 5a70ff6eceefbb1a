"""Projects with fast kernels: the same bits, from the functions that the native engine compiles."""

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.emit.support import (
    Author,
    assert_passes,
    make,
    needs_clang,
    needs_gcc,
    needs_valgrind,
    random_model,
    written,
)

import sonnx
from sonnx.vocabulary.kernel import KernelStyle

pytestmark = needs_gcc

SANITIZED = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.mark.parametrize(
    ("cflags", "accumulate", "nodes"),
    [
        ("-O0", "separate", 40),
        ("-O2 -march=native", "fused", 10),
        # More nodes for the vectors of this machine; the line before has some.
        pytest.param("-O2 -march=native", "fused", 30, marks=pytest.mark.long),
        pytest.param(SANITIZED, "separate", 8, marks=pytest.mark.sanitizer),
    ],
)
def test_fast_kernels_have_the_bits_of_the_definitions(
    cflags: str, accumulate: str, nodes: int, tmp_path: Path
) -> None:
    assert_passes(make(written(tmp_path / "p", random_model(7, nodes), accumulate, "fast"), cflags=cflags))


@needs_clang
def test_clang_agrees_on_fast_kernels(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(8, 12), "fused", "fast")
    assert_passes(make(folder, cc="clang", cflags="-O1"))


@pytest.mark.sanitizer
@needs_valgrind
def test_valgrind_has_nothing_to_say_of_fast_kernels(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(9, 8), kernels="fast")
    assert make(folder, "all", cflags="-g -O1").returncode == 0
    runner = "exec valgrind --error-exitcode=9 --leak-check=full -q ./test_model"
    (folder / "Makefile").write_text(f"test:\n\t@{runner}\n", encoding="utf-8")
    assert_passes(make(folder))


def clip_model(name: str) -> sonnx.Graph:
    author = Author(np.random.default_rng(3))
    x = author.given_input("float", (3, 5))
    bounds = [author.constant(np.array(bound, np.float32), "float") for bound in (-1, 1)]
    author.node("Clip", [x, *bounds], "float", (3, 5))
    return author.finished(name)


@pytest.mark.parametrize("name", ["clip_float", "all_clip_float", "clip", "deliver", "main"])
def test_a_model_named_like_a_kernel_compiles(name: str, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", clip_model(name), kernels="fast")))


def test_headers_of_models_whose_names_differ_in_case_can_be_included_together(tmp_path: Path) -> None:
    for name in ("Net", "net"):
        written(tmp_path / f"of_{name}_{name.islower()}", clip_model(name), kernels="fast")
    folders = sorted(path.name for path in tmp_path.iterdir())
    lines = [f'#include "{folder}/model.h"' for folder in folders]
    source = tmp_path / "both.c"
    source.write_text("\n".join([*lines, "void *both[] = {(void *)Net_run, (void *)net_run};", ""]))
    subprocess.run(["gcc", "-std=gnu99", "-c", str(source), "-o", str(tmp_path / "both.o")], check=True)


@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_a_project_of_more_static_memory_than_allowed_is_refused(kernels: KernelStyle) -> None:
    author = Author(np.random.default_rng(3))
    x = author.given_input("float", (1, 1, 4, 4))
    weights = author.constant(np.ones((1, 1, 1, 1), np.float32), "float")
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (2000,) * 4, "group": 1}
    more: dict[str, Any] = {**attributes, "kernel_shape": (1, 1), "auto_pad": "NOTSET"}
    author.node("Conv", [x, weights], "float", (1, 1, 4004, 4004), **more)
    with pytest.raises((sonnx.EmitError, sonnx.MemoryLimitError), match=r"allowed are 1,048,576"):
        author.finished().to_c(kernels=kernels, memory=2**20)


def model_with_an_expand_that_two_loops_read() -> sonnx.Graph:
    """Both results are loops of their own, and each reads the expanded scalar in place."""
    author = Author(np.random.default_rng(4))
    x = author.given_input("float", (2, 3))
    scalar = author.given_input("float", ())
    shape = author.constant(np.array([2, 3], np.int64), "int64")
    expanded = author.node("Expand", [scalar, shape], "float", (2, 3))
    for operator in ("Add", "Mul"):
        author.node(operator, [x, expanded], "float", (2, 3))
    return author.finished("two readers")


def test_loops_that_read_one_expanded_tensor_have_names_of_their_own(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", model_with_an_expand_that_two_loops_read(), kernels="fast")
    functions = re.findall(r"^static void (node_\w+)\(void\)$", (folder / "model.c").read_text(), re.M)
    assert functions == ["node_1_Add_t4", "node_2_Mul_t5"]
    assert_passes(make(folder))


@needs_clang
def test_clang_has_nothing_to_say_of_conditions_with_and_and_or(tmp_path: Path) -> None:
    author = Author(np.random.default_rng(6))
    integers = [author.given_input("int16", (5,)) for _ in range(2)]
    author.node("Mod", integers, "int16", (5,), fmod=0)
    assert_passes(make(written(tmp_path / "p", author.finished("rests"), kernels="fast"), cc="clang"))
