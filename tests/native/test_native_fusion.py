"""A Clip behind a Conv: done at once where nobody else sees what the Conv makes, with the same bits."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.native.support import (
    Array,
    Conv,
    assert_defined,
    constant,
    defined,
    functions,
    model,
    node,
    planned,
    value,
)

import sonnx
from sonnx.model.graph import Node

PLAIN = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
X = value("X", "float", (1, 2, 3, 12))
Y = value("Y", "float", (1, 2, 3, 12))
SCALAR = value("low", "float", ())
KERNELS = {
    "sums_dense": Conv((1, 2, 4, 9), 5, (2, 2)),
    "sums_swapped": Conv((1, 3, 2, 2), 40, (1, 1)),
    "sums_depthwise": Conv((1, 2, 5, 19), 2, (3, 3), depthwise=True),
    "sums_across": Conv((1, 20, 5, 3), 20, (3, 3), depthwise=True),
}
NAN, INF = float("nan"), float("inf")
BOUNDS = [(-1, 1), (0.0, 6), (-0.0, 0.0), (0.0, -0.0), (2, -2), (NAN, 1), (-1, NAN), (NAN, NAN), (-INF, INF)]
BOUNDS += [(INF, -INF), (5e-324, 1), (1, 1)]


def conv(*inputs: str, output: str = "Y") -> Node:
    return node("Conv", inputs, output, **PLAIN, kernel_shape=(1, 1), auto_pad="NOTSET")


def floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


W = constant("W", floats(2, 2, 1, 1, seed=1))
BOUND = [constant("low", np.array(-0.5, np.float32)), constant("high", np.array(0.5, np.float32))]


def chain(
    *nodes: Node, outputs: Any, between: Any = (), inputs: Any = (X,), constants: Any = ()
) -> sonnx.Graph:
    return model(nodes, inputs, outputs, (W, *constants), between)


def named(name: str) -> Any:
    return value(name, "float", (1, 2, 3, 12))


@for_each("mode", ["separate", "fused"])
@for_each("dtype", ["float16", "float", "double"])
@for_each("name", KERNELS)
def test_any_bounds_limit_as_the_definition_does(name: str, dtype: str, mode: str) -> None:
    case = KERNELS[name]
    graph, arrays = replace(case, clipped="input", data="special").model(dtype)
    run = graph.compile(accumulate=mode)  # type: ignore[arg-type]  # one of two
    if dtype == "float":
        assert name in functions(planned(graph, width=32))
        assert "clip" not in functions(planned(graph))
    held = arrays["X"].dtype
    for low, high in BOUNDS:
        given = {**arrays, "low": np.array(low, held), "high": np.array(high, held)}
        assert sonnx.same_bits(run(given)["Z"], defined(graph, given, mode)["Z"], nan="any")


@pytest.mark.parametrize("dtype", ["float16", "float", "double"])
@pytest.mark.parametrize("name", KERNELS)
def test_signed_zeros_and_bounds_come_out_as_worked_out_by_hand(name: str, dtype: str) -> None:
    case = replace(KERNELS[name], clipped="input", constant=False)
    graph, arrays = case.model(dtype)
    run = graph.compile()
    cases = [
        # -0 + 0·(-1) = -0 + -0 = -0, which is not below a bound of +0 (D-CLIP-2).
        ({"X": 0.0, "W": -1.0, "B": -0.0, "low": 0.0, "high": 1.0}, -0.0),
        ({"X": 0.0, "W": 1.0, "B": -0.0, "low": -0.0, "high": 1.0}, 0.0),
        ({"X": 0.0, "W": 1.0, "B": 3.0, "low": 0.0, "high": 1.0}, 1.0),
        ({"X": 0.0, "W": 1.0, "B": 3.0, "low": 5.0, "high": -5.0}, -5.0),
        ({"X": 0.0, "W": 1.0, "B": 3.0, "low": NAN, "high": NAN}, 3.0),
        ({"X": 0.0, "W": INF, "B": 3.0, "low": 0.0, "high": 1.0}, NAN),  # D-CONV-5, D-CLIP-1
    ]
    for values, expected in cases:
        found = run({name: np.full_like(arrays[name], number) for name, number in values.items()})
        assert sonnx.same_bits(found["Z"], np.full_like(found["Z"], expected), nan="any")


def test_a_clip_is_done_at_once_where_it_alone_takes_the_sums() -> None:
    clip = node("Clip", ("Y", "low", "high"), "Z")
    graph = chain(conv("X", "W"), clip, outputs=[named("Z")], between=[Y], constants=BOUND)
    assert "clip" not in functions(planned(graph))
    assert "Y" not in {name for step in planned(graph).steps for name in (*step.reads, *step.writes)}
    assert_defined(graph, {"X": floats(1, 2, 3, 12)})


def test_sums_that_are_a_result_too_are_not_limited() -> None:
    clip = node("Clip", ("Y", "low", "high"), "Z")
    graph = chain(conv("X", "W"), clip, outputs=[Y, named("Z")], constants=BOUND)
    assert "clip" in functions(planned(graph))
    assert_defined(graph, {"X": floats(1, 2, 3, 12)})


def test_sums_that_two_clips_take_are_not_limited() -> None:
    first, second = node("Clip", ("Y", "low", "high"), "Z"), node("Clip", ("Y", "high", "low"), "V")
    graph = chain(
        conv("X", "W"), first, second, outputs=[named("Z"), named("V")], between=[Y], constants=BOUND
    )
    assert "clip" in functions(planned(graph))
    assert_defined(graph, {"X": floats(1, 2, 3, 12)})


def test_sums_that_two_nodes_of_one_loop_take_are_in_it() -> None:
    c = value("c", "bool", (1, 2, 3, 12))
    clip, choose = node("Clip", ("Y", "low", "high"), "Z"), node("Where", ("c", "Y", "Z"), "V")
    graph = chain(
        *(conv("X", "W"), clip, choose),
        outputs=[named("V")],
        between=[Y, named("Z")],
        inputs=(X, c),
        constants=BOUND,
    )
    # Clip and Where are one loop, so it alone takes them.
    assert {"sums_swapped", "sums_dense"} & functions(planned(graph)) == functions(planned(graph))
    assert "Y" not in {name for step in planned(graph).steps for name in (*step.reads, *step.writes)}
    arrays = {"X": floats(1, 2, 3, 12), "c": floats(1, 2, 3, 12, seed=4) > 0}
    assert_defined(graph, arrays, threads=(1, 2))


def test_two_clips_one_after_the_other_are_done_at_once() -> None:
    first, second = node("Clip", ("Y", "low", "high"), "Z"), node("Clip", ("Z", "low", "end"), "V")
    graph = chain(
        *(conv("X", "W"), first, second),
        outputs=[named("V")],
        between=[Y, named("Z")],
        constants=[*BOUND, constant("end", np.array(0.1, np.float32))],
    )
    assert len(planned(graph).steps) == 1
    assert_defined(graph, {"X": floats(1, 2, 3, 12)})


def test_bounds_that_other_nodes_compute_after_the_conv_are_waited_for() -> None:
    # The Conv is listed first, then what makes the bound, then the Clip.
    bound = node("Clip", ("b", "least", "most"), "low")
    clip = node("Clip", ("Y", "low", "high"), "Z")
    graph = chain(
        *(conv("X", "W"), bound, clip),
        outputs=[named("Z")],
        between=[Y, SCALAR],
        inputs=(X, value("b", "float", ())),
        constants=[
            BOUND[1],
            constant("least", np.array(-9, np.float32)),
            constant("most", np.array(0.2, np.float32)),
        ],
    )
    for bound_given, threads in product((-20.0, 0.0, 7.0, NAN), (1, 2)):
        arrays = {"X": floats(1, 2, 3, 12), "b": np.array(bound_given, np.float32)}
        assert_defined(graph, arrays, threads=(threads,))


def test_a_clip_of_constants_behind_a_conv_of_constants_is_folded() -> None:
    clip = node("Clip", ("Y", "low", "high"), "Z")
    other = node("Where", ("c", "Z", "X"), "V")
    graph = model(
        [conv("K", "W"), clip, other],
        [X, value("c", "bool", (1, 2, 3, 12))],
        [named("V")],
        [W, *BOUND, constant("K", floats(1, 2, 3, 12, seed=7))],
        [Y, named("Z")],
    )
    assert functions(planned(graph)) == {"where"}
    arrays = {"X": floats(1, 2, 3, 12), "c": floats(1, 2, 3, 12, seed=4) > 0}
    assert_defined(graph, arrays, threads=(1, 2))
