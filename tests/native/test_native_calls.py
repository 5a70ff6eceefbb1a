"""A compiled model is called: again, by several threads, after a fork; its results are the caller's own."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.budgets import examples
from tests.emit.support import Author, random_model
from tests.loops import for_each
from tests.native.support import (
    Array,
    Conv,
    assert_same,
    constant,
    defined,
    functions,
    model,
    node,
    planned,
    value,
)
from tests.operators.support import HELD, LAYOUTS, backwards, big_endian, gappy, in_columns
from tests.stablehlo.xla_support import case, merged

import sonnx
from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.native.engine import Executable

CASE = Conv((1, 8, 30, 31), 16, (3, 3), pads=(1, 1, 1, 1), clipped="constant")
BOUNDS = [constant("low", np.array(0, np.float32)), constant("high", np.array(6, np.float32))]


def clip(count: int = 3) -> sonnx.Graph:
    nodes = [node("Clip", ("x", "low", "high"), "y")]
    return model(nodes, [value("x", "float", (count,))], [value("y", "float", (count,))], BOUNDS)


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_every_call_gives_the_same_bits(threads: int) -> None:
    graph, arrays = CASE.model("float")
    run, expected = graph.compile(threads=threads), defined(graph, arrays)
    for _ in range(20):
        assert_same(run(arrays), expected)


def test_calls_with_other_inputs_do_not_disturb_one_another() -> None:
    graph, first = CASE.model("float")
    second = {"X": first["X"][..., ::-1].copy()}
    run = graph.compile(threads=2)
    for arrays in (first, second, first, second):
        assert_same(run(arrays), defined(graph, arrays))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_two_threads_of_python_may_call_one_model_at_once(threads: int) -> None:
    graph, first = CASE.model("float")
    given = [first, {"X": -first["X"]}, {"X": first["X"] * np.float32(0.5)}]
    expected = [defined(graph, arrays)["Z"] for arrays in given]
    run = graph.compile(threads=threads)

    def call(number: int) -> bool:
        return sonnx.same_bits(run(given[number % 3])["Z"], expected[number % 3])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(60)))


def test_several_models_may_run_at_once() -> None:
    models = [Conv((1, 4, 20 + n, 20), 8, (3, 3), seed=n).model("float") for n in range(4)]
    runs = [
        (graph.compile(threads=1 + n % 3), arrays, defined(graph, arrays))
        for n, (graph, arrays) in enumerate(models)
    ]

    def call(number: int) -> bool:
        run, arrays, expected = runs[number % 4]
        return sonnx.same_bits(run(arrays)["Y"], expected["Y"])

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(80)))


def in_child(work: Callable[[], bool]) -> int:
    """Do something in a forked process; answers its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")  # newer Pythons warn of all threads
def test_a_forked_process_computes_the_same_on_threads_of_its_own() -> None:
    graph, arrays = CASE.model("float")
    run, expected = graph.compile(threads=3), defined(graph, arrays)
    assert_same(run(arrays), expected)

    def work() -> bool:
        again = graph.compile(threads=2)
        return all(
            sonnx.same_bits(each(arrays)["Z"], expected["Z"]) for each in (run, again) for _ in range(5)
        )

    assert in_child(work) == 0
    assert in_child(lambda: in_child(work) == 0) == 0
    assert_same(run(arrays), expected)


def test_results_belong_to_the_caller() -> None:
    run, x = clip().compile(), np.array([-1, 2, 9], np.float32)
    first = run({"x": x})["y"]
    assert first.tolist() == [0, 2, 6]
    first[...] = 77
    second = run({"x": x})["y"]
    assert second.tolist() == [0, 2, 6]
    assert first.tolist() == [77, 77, 77]


@pytest.mark.parametrize("held", ["whole", "part", "view", "memory"])
def test_a_result_that_is_held_is_never_written_again(held: str) -> None:
    keep: Mapping[str, Callable[[Array], Any]] = {
        "whole": lambda array: array,
        "part": lambda array: array[1:],
        "view": lambda array: array.view(np.uint32),
        "memory": memoryview,
    }
    run = clip().compile()
    kept = [keep[held](run({"x": np.full(3, n / 8, np.float32)})["y"]) for n in range(6)]
    run({"x": np.full(3, 5, np.float32)})
    for n, one in enumerate(kept):
        assert np.frombuffer(one, np.float32).tolist() == [n / 8] * len(one)


def test_results_that_are_not_held_leave_no_memory_behind() -> None:
    run, x = clip(1000).compile(), np.ones(1000, np.float32)
    places = {run({"x": x})["y"].ctypes.data for _ in range(50)}
    assert len(places) <= 2


def test_results_share_no_memory_with_one_another_nor_with_inputs() -> None:
    kind = value("x", "float", (3,)).type
    graph = model(
        [node("Clip", ("x", "low", "high"), "y"), node("Clip", ("y", "low", "high"), "z")],
        [Value("x", kind)],
        [Value("x", kind), Value("y", kind), Value("z", kind), value("low", "float", ())],
        BOUNDS,
    )
    x = np.array([-1, 2, 9], np.float32)
    run = graph.compile()
    for _ in range(3):
        found = run({"x": x})
        assert {name: array.tolist() for name, array in found.items()} == {
            "x": [-1, 2, 9],
            "y": [0, 2, 6],
            "z": [0, 2, 6],
            "low": 0,
        }
        for array in found.values():
            array[...] = 50
        assert x.tolist() == [-1, 2, 9]
        assert BOUNDS[0].data == 0


def test_a_model_without_nodes_gives_copies() -> None:
    kind = tensor_type("float[2]")
    weights = constant("k", np.array([5, 6], np.float32))
    graph = sonnx.Graph.of(
        Graph("none", (Value("x", kind),), (Value("x", kind), Value("k", kind)), (), (weights,))
    )
    run, x = Executable(planned(graph)).run, np.array([1, 2], np.float32)
    found = run({"x": x})
    assert found["x"].tolist() == [1, 2]
    assert found["k"].tolist() == [5, 6]
    found["x"][...] = found["k"][...] = 0
    assert run({"x": x})["k"].tolist() == [5, 6]
    assert x.tolist() == [1, 2]


def test_a_model_of_constants_alone_is_computed_once() -> None:
    graph = model(
        [node("Clip", ("k", "low", "high"), "y"), node("Expand", ("y", "shape"), "z")],
        [],
        [value("z", "float", (2, 3)), value("y", "float", (3,))],
        [*BOUNDS, constant("k", np.array([-1, 2, 9], np.float32)), constant("shape", np.array([2, 3]))],
    )
    assert functions(planned(graph)) == set()
    run = graph.compile(threads=2)
    for _ in range(2):
        found = run({})
        assert found["z"].tolist() == [[0, 2, 6], [0, 2, 6]]
        found["z"][...] = found["y"][...] = 1


def test_a_scalar_goes_through() -> None:
    nodes = [node("Clip", ("x", "low", "high"), "y")]
    graph = model(nodes, [value("x", "float", ())], [value("y", "float", ())], BOUNDS)
    found = graph.compile()({"x": np.array(7, np.float32)})["y"]
    assert found.shape == ()
    assert found == 6


def test_a_convolution_of_no_images_is_left_to_the_definition() -> None:
    kind = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1, "kernel_shape": (1, 1)}
    graph = model(
        [node("Conv", ("X", "W"), "Y", **kind, auto_pad="NOTSET")],
        [value("X", "float", (0, 1, 2, 2))],
        [value("Y", "float", (0, 1, 2, 2))],
        [constant("W", np.ones((1, 1, 1, 1), np.float32))],
    )
    assert functions(planned(graph)) == {"Conv"}
    found = graph.compile(threads=2)({"X": np.empty((0, 1, 2, 2), np.float32)})["Y"]
    assert sonnx.same_bits(found, np.empty((0, 1, 2, 2), np.float32))


def unaligned(array: Array) -> Array:
    """The same elements, beginning at an odd address."""
    raw = np.empty(array.nbytes + 1, np.uint8)[1:]
    raw[...] = np.frombuffer(array.tobytes(), np.uint8)
    return raw.view(array.dtype).reshape(array.shape)


def read_only(array: Array) -> Array:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize("layout", [*LAYOUTS, unaligned, read_only])
def test_the_layout_of_an_input_in_memory_means_nothing(layout: Callable[[Array], Array]) -> None:
    for shape in (CASE, Conv((1, 20, 6, 4), 20, (3, 3), depthwise=True), Conv((2, 3, 5, 9), 4, (1, 1))):
        graph, arrays = replace(shape, constant=False, clipped="input").model("float")
        given = {name: layout(array) for name, array in arrays.items()}
        before = {name: array.tobytes() for name, array in given.items()}
        assert_same(graph.compile(threads=2)(given), defined(graph, arrays))
        assert {name: array.tobytes() for name, array in given.items()} == before


@pytest.mark.parametrize("layout", [big_endian, backwards, gappy, in_columns, unaligned])
def test_a_result_that_is_an_input_is_an_ordinary_array(layout: Callable[[Array], Array]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    kind = value("x", "float", (2, 3))
    graph = model(
        [node("Clip", ("x", "low", "high"), "y")], [kind], [kind, value("y", "float", (2, 3))], BOUNDS
    )
    found = graph.compile()({"x": layout(x)})["x"]
    assert sonnx.same_bits(found, x)
    assert found.flags.writeable
    assert found.dtype.isnative


def test_constants_of_any_layout_and_read_only_ones_are_used() -> None:
    graph, arrays = Conv((1, 3, 6, 9), 5, (2, 2)).model("float")
    for layout in (big_endian, backwards, in_columns, unaligned, read_only):
        strange = tuple(constant(one.name, one.data) for one in graph.constants)
        for one in strange:
            object.__setattr__(one, "data", layout(one.data))
        other = Graph(graph.name, graph.inputs, graph.outputs, graph.nodes, strange, graph.values)
        assert_same(Executable(planned(other)).run(arrays), defined(graph, arrays))


@pytest.mark.thinned
@for_each("seed", range(examples(25)))
def test_any_model_gives_the_bits_of_its_definitions(seed: int) -> None:
    graph = random_model(seed, 8)
    accumulate: Any = ("separate", "fused")[seed % 2]
    author = Author(np.random.default_rng(seed))
    arrays = {
        each.name: author.elements(str(each.type.dtype), each.type.sizes or ()) for each in graph.inputs
    }
    run = graph.compile(accumulate=accumulate, threads=1 + seed % 3)
    expected = defined(graph, arrays, accumulate)
    for _ in range(2):
        assert_same(run(arrays), expected)


def test_operators_of_xla_are_executed_by_their_definitions() -> None:
    half = np.array([[[[1, 2, 3]]]], HELD["bfloat16"])
    graph, arrays = merged(
        [
            case("xla.Clamp", {"operand": np.array([-1, 2, 9], np.float32), "min": one(0), "max": one(6)}),
            case("xla.Conv", {"lhs": half, "rhs": half}, {"window_strides": (1, 1), "padding": "SAME"}),
        ]
    )
    found = list(Executable(planned(graph, threads=2)).run(arrays).values())
    assert found[0].tolist() == [0, 2, 6]
    # 1·2 + 2·3, 1·1 + 2·2 + 3·3 and 2·1 + 3·2.
    assert found[1].astype(np.float32).ravel().tolist() == [8, 14, 8]


def one(number: float) -> Array:
    return np.array(number, np.float32)
