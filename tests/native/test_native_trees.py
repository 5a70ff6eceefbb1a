"""Loops of several nodes: the bits of the definitions, whatever is fused, shared, expanded or asked for."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.derive.kernel_support import requested, stand_in
from tests.emit.support import assert_passes, make, needs_gcc, written
from tests.native.fused_graphs import NUMBERS, fused_graphs
from tests.native.support import (
    Array,
    assert_defined,
    assert_same,
    constant,
    defined,
    executable,
    functions,
    model,
    node,
    planned,
    value,
)
from tests.operators.support import HELD

import sonnx
from sonnx.derive import pieces
from sonnx.derive.loops import part
from sonnx.model.graph import Node
from sonnx.plan.program import program
from sonnx.terms.tracing import elementwise

pytestmark = pytest.mark.measured

Example = tuple[sonnx.Graph, dict[str, Array]]
SHAPE = (2, 3, 5)


@pytest.mark.parametrize("streamed", [False, True])
@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(fused_graphs(), st.sampled_from([2**19, 512]))
def test_loops_have_the_bits_of_every_node_alone(streamed: bool, example: Example, task_bytes: int) -> None:
    graph, arrays = example
    expected = defined(graph, arrays)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_TASK_BYTES", task_bytes)
        patch.setattr(pieces, "_STREAMED_BYTES", 0 if streamed else 2**30)
        found = [planned(graph), planned(graph, threads=3), planned(graph, fuse=False)]
    for each in found:
        assert_same(executable(each).run(arrays), expected)


@needs_gcc
@pytest.mark.long
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(fused_graphs())
def test_emitted_loops_have_the_bits_of_every_node_alone(
    tmp_path_factory: pytest.TempPathFactory, example: Example
) -> None:
    folder: Path = tmp_path_factory.mktemp("trees") / "p"
    assert_passes(make(written(folder, example[0], kernels="fast"), cflags="-O1"))


def chain(*nodes: Node, outputs: dict[str, str], inputs: dict[str, str], **between: str) -> sonnx.Graph:
    """Nodes on tensors of one shape, each given with its type."""
    ends = [
        [value(name, dtype, SHAPE) for name, dtype in side.items()] for side in (inputs, outputs, between)
    ]
    return model(nodes, ends[0], ends[1], [], ends[2])


def floats(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0, 1, SHAPE).astype(np.float32)


TWO = {"x": "float", "y": "float"}


def test_types_change_along_a_loop() -> None:
    graph = chain(
        node("Less", ("x", "y"), "c"),
        node("Where", ("c", "x", "y"), "l"),
        node("Cast", ("l",), "i", to=NUMBERS["int8"], saturate=1, round_mode="up"),
        node("Cast", ("i",), "z", to=NUMBERS["double"], saturate=1, round_mode="up"),
        inputs=TWO,
        outputs={"z": "double"},
        c="bool",
        l="float",
        i="int8",
    )
    (step,) = planned(graph).steps
    assert set(step.reads) == {"x", "y"}
    x, y = 100 * floats(1), 100 * floats(2)
    found = graph.compile()({"x": x, "y": y})["z"]
    for at in np.ndindex(SHAPE):  # the least, cut off, within -128 and 127
        least = min(float(x[at]), float(y[at]))
        assert found[at] == max(-128, min(127, int(least)))


@pytest.mark.parametrize("asked", ["t", "z"])
def test_a_tensor_that_is_a_result_is_in_memory(asked: str) -> None:
    outputs = {"z": "float", **({"t": "float"} if asked == "t" else {})}
    between = {} if asked == "t" else {"t": "float"}
    graph = chain(
        node("Add", ("x", "y"), "t"), node("Mul", ("t", "y"), "z"), inputs=TWO, outputs=outputs, **between
    )
    assert functions(planned(graph)) == ({"add", "mul"} if asked == "t" else {"add_mul"})
    x, y = floats(1), floats(2)
    found = graph.compile()({"x": x, "y": y})
    total = x + y
    assert found["z"].tobytes() == (total * y).tobytes()
    assert asked == "z" or found["t"].tobytes() == total.tobytes()


def test_what_two_loops_read_is_calculated_once() -> None:
    graph = chain(
        node("Add", ("x", "y"), "t"),
        node("Mul", ("t", "y"), "u"),
        node("Mul", ("t", "x"), "v"),
        inputs=TWO,
        outputs={"u": "float", "v": "float"},
        t="float",
    )
    found = planned(graph)
    assert sorted(number for numbers in found.nodes for number in numbers) == [0, 1, 2]
    assert [step.writes for step in found.steps] == [("t",), ("u",), ("v",)]
    assert_defined(graph, {"x": floats(1), "y": floats(2)})


def test_what_one_loop_reads_twice_is_calculated_once_and_in_no_memory() -> None:
    graph = chain(
        node("Add", ("x", "y"), "t"),
        node("Mul", ("t", "y"), "u"),
        node("Sub", ("u", "t"), "z"),
        inputs=TWO,
        outputs={"z": "float"},
        t="float",
        u="float",
    )
    (step,) = planned(graph).steps
    assert (step.reads, step.writes) == (("x", "y"), ("z",))
    assert_defined(graph, {"x": floats(1), "y": floats(2)})


def test_a_product_and_a_sum_are_rounded_each_by_itself() -> None:
    # (1 + 2^-12)² = 1 + 2^-11 + 2^-24: the product drops the last, and one rounding in all would keep it.
    graph = chain(
        node("Mul", ("x", "x"), "t"),
        node("Sub", ("t", "y"), "z"),
        inputs=TWO,
        outputs={"z": "float"},
        t="float",
    )
    assert functions(planned(graph)) == {"mul_sub"}
    x, y = np.full(SHAPE, 1 + 2.0**-12, np.float32), np.full(SHAPE, 1 + 2.0**-11, np.float32)
    assert not graph.compile()({"x": x, "y": y})["z"].any()


def test_a_half_is_rounded_after_every_node() -> None:
    # 2048 + 1 = 2048 in float16, so that 2048 + 1 + 1 is 2048 too.
    kinds = {"x": "float16", "y": "float16"}
    graph = chain(
        node("Add", ("x", "y"), "t"), node("Add", ("t", "y"), "z"), inputs=kinds, outputs={"z": "float16"},
        t="float16",
    )  # fmt: skip
    assert functions(planned(graph)) == {"add_add"}
    found = graph.compile()({"x": np.full(SHAPE, 2048, np.float16), "y": np.ones(SHAPE, np.float16)})
    assert (found["z"] == 2048).all()


@pytest.mark.parametrize("dtype", ["float", "float16", "bool", "int64"])
@pytest.mark.parametrize(
    "small", [(), (1,), (5,), (1, 5), (3, 1), (2, 1, 1), (2, 3, 1), (1, 3, 5), (2, 1, 5), SHAPE]
)
def test_expand_before_a_loop_is_read_in_place(small: tuple[int, ...], dtype: str) -> None:
    graph = model(
        [node("Expand", ("s", "sizes"), "e"), node("Where", ("c", "e", "x"), "z")],
        [value("s", dtype, small), value("c", "bool", SHAPE), value("x", dtype, SHAPE)],
        [value("z", dtype, SHAPE)],
        [constant("sizes", np.array(SHAPE, np.int64))],
        [value("e", dtype, SHAPE)],
    )
    found = planned(graph)
    (step,), (numbers,) = found.steps, found.nodes
    assert set(step.reads) == {"s", "c", "x"}
    assert numbers == (0, 1)
    random = np.random.default_rng(3)
    most = 2 if dtype == "bool" else 1000
    given = {"s": random.integers(0, most, small), "x": random.integers(0, most, SHAPE)}
    arrays = {name: np.asarray(array).astype(HELD[dtype]) for name, array in given.items()}
    arrays["c"] = random.integers(0, 2, SHAPE).astype(np.bool_)
    wanted = np.where(arrays["c"], np.broadcast_to(arrays["s"], SHAPE), arrays["x"])
    assert graph.compile()(arrays)["z"].tobytes() == wanted.tobytes()


def test_what_is_expanded_twice_is_read_once() -> None:
    graph = model(
        [
            node("Expand", ("s", "sizes"), "e"),
            node("Expand", ("s", "sizes"), "f"),
            node("Sub", ("x", "e"), "t"),
            node("Mul", ("t", "f"), "z"),
        ],
        [value("s", "float", (5,)), value("x", "float", SHAPE)],
        [value("z", "float", SHAPE)],
        [constant("sizes", np.array(SHAPE, np.int64))],
        [value(name, "float", SHAPE) for name in "eft"],
    )
    (step,) = planned(graph).steps
    assert sorted(step.reads) == ["s", "x"]
    assert_defined(graph, {"s": floats()[0, 0], "x": floats(1)})


def test_what_decides_a_shape_must_be_known_for_a_loop() -> None:
    shaped = stand_in(elementwise(lambda X: X + X), "X", "S", constants=["S"])
    request = requested({"X": np.zeros(3, np.float32)}, "float", (3,), {"S": (3,)})
    assert part(shaped, request) is not None
    assert part(shaped, replace(request, constants={})) is None


def test_what_is_expanded_for_a_result_or_for_a_move_is_made() -> None:
    small, sizes = value("s", "float", (5,)), constant("sizes", np.array(SHAPE, np.int64))
    expand, relu = node("Expand", ("s", "sizes"), "e"), node("Relu", ("e",), "z")
    graph = model([expand, relu], [small], [value("e", "float", SHAPE), value("z", "float", SHAPE)], [sizes])
    assert "boxes" in functions(planned(graph))
    assert_defined(graph, {"s": floats()[0, 0]})


def test_what_is_one_element_is_calculated_once() -> None:
    graph = model(
        [node("Add", ("low", "low"), "t"), node("Clip", ("x", "t", "high"), "z")],
        [value("x", "float", SHAPE), value("low", "float", ()), value("high", "float", ())],
        [value("z", "float", SHAPE)],
        between=[value("t", "float", ())],
    )
    assert [step.writes for step in planned(graph).steps] == [("t",), ("z",)]
    assert_defined(
        graph, {"x": floats(), "low": np.array(-0.25, np.float32), "high": np.array(0.5, np.float32)}
    )


def test_long_chains_are_several_loops() -> None:
    names = [f"t{m}" for m in range(151)]
    nodes = [node("Neg", (before,), after) for before, after in pairwise(names)]
    graph = chain(
        *nodes, inputs={"t0": "float"}, outputs={"t150": "float"}, **dict.fromkeys(names[1:-1], "float")
    )
    found = planned(graph)
    assert [len(numbers) for numbers in found.nodes] == [22, 64, 64]
    # Of so many signs every second one undoes the one before.
    assert graph.compile()({"t0": floats()})["t150"].tobytes() == floats().tobytes()


def test_constants_stay_what_is_calculated_once() -> None:
    graph = model(
        [node("Add", ("k", "k"), "t"), node("Mul", ("t", "x"), "z")],
        [value("x", "float", SHAPE)],
        [value("z", "float", SHAPE)],
        [constant("k", floats(1))],
        [value("t", "float", SHAPE)],
    )
    found = program(graph, "separate")
    assert [len(found.once), len(found.steps)] == [1, 1]
    assert found.remaining == ("t",)
    assert_defined(graph, {"x": floats(2)})
