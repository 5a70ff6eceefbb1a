"""Emitted C computes the bits of the definitions: every operator, type, mode, on special values too."""

import re
from itertools import product
from pathlib import Path

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
from tests.operators.support import FLOATS, special_values

import sonnx
from sonnx.emit.vectors import draw
from sonnx.model.graph import Value
from sonnx.model.tensor_type import tensor_type

pytestmark = needs_gcc

SANITIZED = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"
NODES = 120


@pytest.mark.parametrize(("seed", "accumulate"), [(1, "separate"), (2, "fused")])
def test_random_models_have_the_bits_of_the_definitions(seed: int, accumulate: str, tmp_path: Path) -> None:
    graph = random_model(seed, NODES)
    folder = written(tmp_path / "project", graph, accumulate)
    done = make(folder, cflags="-O2")
    assert_passes(done)
    counted = [(found[1], found[2]) for found in re.finditer(r"(\d+) of (\d+) agree", done.stdout)]
    assert len(counted) == len(draw(graph)) * len(graph.outputs)
    assert all(equal == total for equal, total in counted)


BOUNDS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"))


def test_bounds_of_every_kind_limit_numbers_of_every_kind(tmp_path: Path) -> None:
    author = Author(np.random.default_rng(0))
    for dtype, held in FLOATS.items():
        x = author.constant(np.array([*special_values(dtype), 0.25, -0.25], held), dtype)
        bounds = [author.constant(np.array(bound, held), dtype) for bound in BOUNDS]
        for low, high in product(bounds, bounds):
            author.node("Clip", [x, low, high], dtype, author.shape(x))
    assert_passes(make(written(tmp_path / "p", author.finished("bounds"))))


def test_random_models_reach_every_operator_type_and_kind_of_array() -> None:
    graphs = [random_model(seed, NODES) for seed in (1, 2)] + [random_model(seed, 40) for seed in (3, 4)]
    types = {
        (node.operator, str(graph.types[node.outputs[0]].dtype)) for graph in graphs for node in graph.nodes
    }
    floats = {"float16", "float", "double"}
    assert {dtype for operator, dtype in types if operator == "Conv"} == floats
    for operator, least in (("Clip", 11), ("Where", 15), ("Expand", 12)):
        assert sum(1 for name, _ in types if name == operator) >= least - 1
    for graph in graphs[:2]:
        made = [graph.types[node.outputs[0]].dtype for node in graph.nodes if node.operator == "Conv"]
        assert set(made) == floats
    convs = [node for graph in graphs for node in graph.nodes if node.operator == "Conv"]
    assert {value for node in convs for value in node.attributes["strides"]} == {1, 2, 3}
    assert {value for node in convs for value in node.attributes["dilations"]} == {1, 2, 3}
    assert any(node.attributes["group"] > 1 for node in convs)
    assert any(not any(node.attributes["pads"]) for node in convs)
    assert any(len(node.inputs) == 2 for node in convs)
    sizes = [graph.types[node.outputs[0]].sizes or () for graph in graphs for node in graph.nodes]
    assert any(0 in shape for shape in sizes)
    assert () in sizes


@pytest.mark.parametrize(
    ("cflags", "accumulate"),
    [
        ("-O0", "fused"),
        ("-O3 -march=native", "separate"),
        pytest.param(SANITIZED, "separate", marks=pytest.mark.sanitizer),
    ],
)
def test_options_of_gcc_change_no_bit(cflags: str, accumulate: str, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", random_model(3, 40), accumulate), cflags=cflags))


@needs_clang
@pytest.mark.parametrize(
    ("cflags", "nodes"),
    [("-O0", 40), ("-O3 -march=native", 40), pytest.param(SANITIZED, 20, marks=pytest.mark.sanitizer)],
)
def test_clang_agrees(cflags: str, nodes: int, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", random_model(4, nodes)), cc="clang", cflags=cflags))


@pytest.mark.sanitizer
@needs_valgrind
def test_valgrind_has_nothing_to_say(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(5, 30))
    assert make(folder, "all", cflags="-g -O1").returncode == 0
    runner = "exec valgrind --error-exitcode=9 --leak-check=full -q ./test_model"
    (folder / "Makefile").write_text(f"test:\n\t@{runner}\n", encoding="utf-8")
    assert_passes(make(folder))


def test_a_product_is_contracted_by_no_option_that_a_user_gives(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(6, 30))
    assert_passes(make(folder, cflags="-O3 -march=native -std=gnu17 -ffp-contract=fast"))


@pytest.mark.parametrize("option", ["-ffast-math", "-Ofast", "-ffinite-math-only"])
def test_an_option_that_changes_results_is_refused_by_the_compiler(option: str, tmp_path: Path) -> None:
    done = make(written(tmp_path / "p", random_model(6, 5)), cflags=option)
    assert done.returncode != 0
    assert "changes results: compile without it" in done.stderr


def test_the_caller_may_give_one_array_as_input_and_output(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", shifted())
    (folder / "test_model.c").write_text(
        '#include "model.h"\n'
        "int main(void)\n{\n    float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};\n    shift_run(x, x);\n"
        "    return x[0] == 3.0f && x[1] == 5.0f && x[2] == 7.0f && x[3] == 4.0f ? 0 : 1;\n}\n",
        encoding="utf-8",
    )
    done = make(folder)
    assert done.returncode == 0, done.stderr


def shifted() -> sonnx.Graph:
    """y[i] = x[i] + x[i + 1], and nothing is added to the last: written element by element, y spoils x."""
    author = Author(np.random.default_rng(0))
    kind = tensor_type("float[1,1,1,4]")
    author.types["x"] = kind
    author.inputs.append(Value("x", kind))
    weights = author.constant(np.ones((1, 1, 1, 2), np.float32), "float")
    author.node(
        "Conv",
        ["x", weights],
        "float",
        (1, 1, 1, 4),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0, 0, 0, 1),
        group=1,
        kernel_shape=(1, 2),
        auto_pad="NOTSET",
    )
    return author.finished("shift")
