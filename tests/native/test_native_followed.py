"""What follows a Conv is done with its elements as they are made: residuals, channels, scalars, diamonds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.emit.support import assert_passes, make, needs_gcc, written
from tests.loops import for_each
from tests.native.fused_graphs import NUMBERS
from tests.native.support import (
    Array,
    Conv,
    assert_defined,
    constant,
    elements,
    functions,
    model,
    node,
    planned,
    value,
)
from tests.normalize.support import proto, read, with_arrays

import sonnx
from sonnx.model.graph import Node
from sonnx.normalize.passes import normalize_graph

KERNELS = {
    "sums_dense": Conv((2, 2, 4, 9), 5, (2, 2)),
    "sums_swapped": Conv((2, 3, 2, 2), 40, (1, 1)),
    "sums_depthwise": Conv((2, 2, 5, 19), 2, (3, 3), depthwise=True),
    "sums_across": Conv((2, 20, 5, 3), 20, (3, 3), depthwise=True),
}
pytestmark = pytest.mark.measured

CAST = {"saturate": 1, "round_mode": "up"}
# By what they show: nodes from Y to Z, tensors in between.
TREES: dict[str, tuple[list[Node], list[str]]] = {
    "residual": ([node("Add", ("Y", "R"), "s"), node("Relu", ("s",), "Z")], ["s"]),
    "the other way round": ([node("Sub", ("R", "Y"), "Z")], []),
    "channels": (
        [node("Expand", ("c", "sizes"), "e"), node("Mul", ("Y", "e"), "s"), node("Max", ("s", "R"), "Z")],
        ["e", "s"],
    ),
    "a diamond": ([node("HardSwish", ("Y",), "Z")], []),
    "bounds": ([node("Clip", ("Y", "low", "high"), "s"), node("Neg", ("s",), "Z")], ["s"]),
    "a condition": ([node("Less", ("Y", "R"), "t"), node("Where", ("t", "R", "Y"), "Z")], ["t"]),
}


def followed(name: str, dtype: str, tree: str, **changes: Any) -> tuple[sonnx.Graph, dict[str, Array]]:
    """The Conv that takes a kernel, a tree behind it, and arrays."""
    case = replace(KERNELS[name], data="special", **changes)
    graph, arrays = case.model(dtype)
    shape = (case.X[0], case.outputs, *case.positions)
    nodes, between = TREES[tree]
    random = np.random.default_rng(1)
    channels = (case.outputs, 1, 1)
    given = {"R": shape, "c": channels, "low": (), "high": ()}
    read = {each for one in nodes for each in one.inputs}
    more = {each: elements(random, dtype, size, "special") for each, size in given.items() if each in read}
    sizes = [constant("sizes", np.array(shape, np.int64))] if "sizes" in read else []
    found = model(
        [*graph.nodes, *nodes],
        [*graph.inputs, *(value(each, dtype, array.shape) for each, array in more.items())],
        [value("Z", dtype, shape)],
        [*graph.constants, *sizes],
        [value(each, "bool" if each == "t" else dtype, shape) for each in ("Y", *between)],
    )
    return found, {**arrays, **more}


# All trees on floats; of other types and of fused sums those that ask most.
ASKED = [("float", "separate", tree) for tree in TREES]
ASKED += [
    ("float16", "separate", "a condition"),
    ("double", "separate", "a diamond"),
    ("float", "fused", "channels"),
]


@for_each(("dtype", "mode", "tree"), ASKED)
@for_each("name", KERNELS)
def test_trees_behind_every_kernel_have_the_bits_of_the_definitions(
    name: str, dtype: str, mode: str, tree: str
) -> None:
    graph, arrays = followed(name, dtype, tree)
    if dtype == "float":
        found = planned(graph, mode, width=32)
        assert {each for each in functions(found) if not each.startswith("sums_")} == set()
        assert name in functions(found)
        last = found.steps[-1]
        assert last.writes[0] == "Z"
        assert "Y" not in {each for step in found.steps for each in (*step.reads, *step.writes)}
        assert max(found.nodes) == tuple(range(len(found.nodes[-1])))
    assert_defined(graph, arrays, mode, threads=(1, 3))


def test_what_a_residual_is_added_to_is_worked_out_by_hand() -> None:
    graph, arrays = followed("sums_dense", "float", "residual", constant=False, biased=False)
    ones = {name: np.ones_like(array) for name, array in arrays.items()}
    ones["R"] = -np.arange(ones["R"].size, dtype=np.float32).reshape(ones["R"].shape) / 2
    # Eight products of ones in every window, less half of the number of the element; then Relu.
    wanted = [max(8 - number / 2, 0) for number in range(ones["R"].size)]
    assert graph.compile()(ones)["Z"].reshape(-1).tolist() == wanted


def test_a_tree_that_ends_in_another_type_is_a_loop_of_its_own() -> None:
    case = KERNELS["sums_dense"]
    graph, arrays = case.model("float")
    shape = (case.X[0], case.outputs, *case.positions)
    made = model(
        [*graph.nodes, node("Cast", ("Y",), "Z", to=NUMBERS["int8"], **CAST)],
        graph.inputs,
        [value("Z", "int8", shape)],
        graph.constants,
        [value("Y", "float", shape)],
    )
    assert "cast" in functions(planned(made))
    assert_defined(made, arrays)


def test_a_tree_that_reads_along_lines_is_a_loop_of_its_own() -> None:
    case = KERNELS["sums_dense"]
    graph, arrays = case.model("float")
    shape = (case.X[0], case.outputs, *case.positions)
    made = model(
        [*graph.nodes, node("Expand", ("r", "sizes"), "e"), node("Add", ("Y", "e"), "Z")],
        [*graph.inputs, value("r", "float", shape[-1:])],
        [value("Z", "float", shape)],
        [*graph.constants, constant("sizes", np.array(shape, np.int64))],
        [value("Y", "float", shape), value("e", "float", shape)],
    )
    assert "add" in functions(planned(made))
    assert "boxes" not in functions(planned(made))
    assert_defined(made, {**arrays, "r": np.arange(shape[-1], dtype=np.float32)})


def test_of_two_convs_that_are_added_one_is_followed() -> None:
    case = KERNELS["sums_dense"]
    graph, arrays = case.model("float")
    shape = (case.X[0], case.outputs, *case.positions)
    (conv,) = graph.nodes
    made = model(
        [
            replace(conv, outputs=("A",)),
            replace(conv, outputs=("B2",), name="second"),
            node("Add", ("A", "B2"), "s"),
            node("Relu", ("s",), "Z"),
        ],
        graph.inputs,
        [value("Z", "float", shape)],
        graph.constants,
        [value(name, "float", shape) for name in ("A", "B2", "s")],
    )
    found = planned(made)
    assert set(found.nodes) == {(0,), (1, 2, 3)}
    assert "add_relu" not in functions(found)
    assert_defined(made, arrays)


@needs_gcc
@pytest.mark.parametrize("name", KERNELS)
def test_emitted_kernels_are_followed_too(name: str, tmp_path: Any) -> None:
    graph, _ = followed(name, "float", "channels")
    folder = written(tmp_path / "p", graph, kernels="fast")
    text = (folder / "model.c").read_text(encoding="utf-8")
    assert "after *const follow" in text
    assert_passes(make(folder, cflags="-O1"))


def test_what_a_sum_reads_is_no_part_of_the_loop_that_follows_it() -> None:
    # The sum reads elements of other places, which the loop would make only later.
    text = """g (float[1,4,6,6] x) => (float[1,4,6,6] y)
              { s = Relu(x)  a = Conv<pads = [1,1,1,1], group = 4>(s, w)  y = Clip(a, low) }"""
    random = np.random.default_rng(0)
    w, low = random.standard_normal((4, 1, 3, 3)).astype(np.float32), np.zeros((), np.float32)
    graph = sonnx.Graph.of(normalize_graph(read(with_arrays(proto(text), w=w, low=low))).graph)
    x = random.standard_normal((1, 4, 6, 6)).astype(np.float32)
    assert sonnx.same_bits(graph.compile()({"x": x})["y"], graph.run({"x": x})["y"])
