"""The formal definition of execution (D-GRAPH-4) as its page has it, against what is executed."""

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples

import sonnx
from sonnx.check.models import check_graph
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators import NODE_OPERATORS

FLOATS, BOOLS, SCALAR = tensor_type("float[4]"), tensor_type("bool[4]"), tensor_type("float[]")
# What the nodes apply; each operator's own tests compare it with its definition.
APPLIED = {"Clip": sonnx.clip, "Where": sonnx.where}
GIVEN = {
    "x": np.array([-0.0, np.inf, np.nan, 2.5], np.float32),
    "c": np.array([True, False, True, False]),
}
HELD = (
    Constant("lo", SCALAR, np.array(-1.0, np.float32)),
    Constant("hi", SCALAR, np.array(3.0, np.float32)),
    Constant("w", FLOATS, np.array([-5, 0.0, 1e-45, 7], np.float32)),
)


@st.composite
def graphs(draw: st.DrawFn, least: int = 1, most: int = 30) -> Graph:
    """Any conforming graph of Clip and Where; everything that nobody takes is an output."""
    nodes, tensors = [], ["x", "w"]
    for index in range(draw(st.integers(least, most))):
        first, second = (draw(st.sampled_from(tensors)) for _ in range(2))
        bound = draw(st.sampled_from(["lo", "hi"]))
        operator = draw(st.sampled_from(["Clip", "Where"]))
        taken = (first, bound, "hi") if operator == "Clip" else ("c", first, second)
        tensors.append(f"t{index}")
        nodes.append(
            Node(operator, taken, (f"t{index}",), version=NODE_OPERATORS[operator].contract.versions[-1])
        )
    used = {name for one in nodes for name in one.inputs}
    return Graph(
        "any",
        (Value("x", FLOATS), Value("c", BOOLS)),
        tuple(Value(name, FLOATS) for name in tensors[2:] if name not in used),
        tuple(nodes),
        HELD,
        tuple(Value(name, FLOATS) for name in tensors[2:] if name in used),
        opsets=(("", 22),),
    )


def beginning(graph: Graph) -> dict[str, Any]:
    """The environment before the first node: inputs and initializers."""
    return {**GIVEN, **graph.data}


def execution(graph: Graph, seed: int) -> dict[str, Any]:
    """Execute any ready node, as long as one is left, and define its outputs."""
    random, environment, left = Random(seed), beginning(graph), list(graph.nodes)
    while left:
        ready = [one for one in left if all(name in environment for name in one.inputs)]
        chosen = random.choice(ready)
        left.remove(chosen)
        (made,) = chosen.outputs
        assert made not in environment
        environment[made] = APPLIED[chosen.operator](*(environment[name] for name in chosen.inputs))
    return environment


def value(graph: Graph, name: str) -> Any:
    """The value of a tensor, which mentions no order."""
    start = beginning(graph)
    if name in start:
        return start[name]
    (maker,) = (one for one in graph.nodes if name in one.outputs)
    return APPLIED[maker.operator](*(value(graph, taken) for taken in maker.inputs))


def bits(results: Mapping[str, Any], graph: Graph) -> dict[str, bytes]:
    return {one.name: np.asarray(results[one.name]).tobytes() for one in graph.outputs}


@settings(deadline=None, max_examples=examples(60))
@given(graph=graphs(least=20), seed=st.integers(0, 2**32))
def test_what_is_executed_is_what_ready_nodes_make_in_any_order(graph: Graph, seed: int) -> None:
    assert check_graph(graph) == ()
    expected = bits(execution(graph, seed), graph)
    assert bits(execute(graph, GIVEN, Settings()), graph) == expected
    assert bits(execute(graph, GIVEN, Settings(order="random", seed=seed)), graph) == expected


@settings(deadline=None, max_examples=examples(60))
@given(graph=graphs(most=7))
def test_what_is_executed_is_the_value_that_mentions_no_order(graph: Graph) -> None:
    expected = {one.name: value(graph, one.name) for one in graph.outputs}
    assert bits(execute(graph, GIVEN, Settings()), graph) == bits(expected, graph)
