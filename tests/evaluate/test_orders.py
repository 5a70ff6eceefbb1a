"""Every topological order gives the same bits (D-GRAPH-2).

A list of nodes that is in a topological order is executed in that order, so permuted lists try them all;
`watch` tells which one it was. What the results must be says a definition of its own: from the outputs
backwards, each tensor by the public function of its operator.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.operators.support import Array, arrays, bits

import sonnx
from sonnx.check.models import check_graph
from sonnx.evaluate.execution import ExecutedNode, Settings, execute
from sonnx.model.graph import Constant, Function, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators import NODE_OPERATORS

SHAPE = (1, 2, 2, 3)
FLOAT, BOOL = tensor_type("float[1,2,2,3]"), tensor_type("bool[1,2,2,3]")
CONVOLUTION = {"strides": (1, 1), "dilations": (1, 1), "group": 1, "auto_pad": "NOTSET"}
WIDE = CONVOLUTION | {"pads": (1, 1, 1, 1), "kernel_shape": (3, 3)}
NARROW = CONVOLUTION | {"pads": (0, 0, 0, 0), "kernel_shape": (1, 1)}
DATA: dict[str, Array] = {
    "wide": np.linspace(-1, 1, 36, dtype=np.float32).reshape(2, 2, 3, 3),
    "narrow": np.array([[1, -0.1], [0.3, 7]], np.float32).reshape(2, 2, 1, 1),
    "bias": np.array([1e-3, -1e30], np.float32),
    "low": np.array(-2.5, np.float32),
    "high": np.array(3.5, np.float32),
    "column": np.array([0.1, -0.0], np.float32).reshape(1, 2, 1, 1),
    "shape": np.array(SHAPE),
}
# What each kind of node takes besides tensors of the graph; a dot stands for one of those.
KINDS: dict[str, tuple[str, tuple[str, ...], Mapping[str, Any]]] = {
    "clip": ("Clip", (".", "low", "high"), {}),
    "where": ("Where", ("mask", ".", "."), {}),
    "expand": ("Expand", ("column", "shape"), {}),
    "wide": ("Conv", (".", "wide", "bias"), WIDE),
    "narrow": ("Conv", (".", "narrow"), NARROW),
}


def node(kind: str, taken: Sequence[str], made: str) -> Node:
    operator, pattern, attributes = KINDS[kind]
    tensors = iter(taken)
    inputs = tuple(next(tensors) if name == "." else name for name in pattern)
    return Node(
        operator, inputs, (made,), attributes, made, version=NODE_OPERATORS[operator].contract.versions[-1]
    )


def graph_of(nodes: Sequence[Node]) -> Graph:
    """A graph that gives every tensor that no node takes."""
    taken = {name for one in nodes for name in one.inputs}
    made = [one.outputs[0] for one in nodes]
    inputs = [Value("x", FLOAT), Value("z", FLOAT), Value("mask", BOOL)]
    held = [name for name in DATA if name in taken]
    graph = Graph(
        "orders",
        tuple(inputs),
        tuple(Value(name, FLOAT) for name in made if name not in taken),
        tuple(nodes),
        tuple(Constant(name, _kind(DATA[name]), DATA[name]) for name in held),
        tuple(Value(name, FLOAT) for name in made if name in taken),
        opsets=(("", 22),),
    )
    assert check_graph(graph) == ()
    return graph


def _kind(array: Array) -> Any:
    return tensor_type(
        f"{'int64' if array.dtype == np.int64 else 'float'}[{','.join(map(str, array.shape))}]"
    )


def backwards(graph: Graph, inputs: Mapping[str, Array], accumulate: str) -> dict[str, Array]:
    """The outputs by definition: a tensor is what its operator makes of the tensors it takes."""
    makers = {one.outputs[0]: one for one in graph.nodes}
    known: dict[str, Array] = {**inputs, **DATA}

    def tensor(name: str) -> Array:
        if name not in known:
            one = makers[name]
            operands = [tensor(taken) for taken in one.inputs]
            known[name] = apply(one.operator, operands, one.attributes, accumulate)
        return known[name]

    return {value.name: tensor(value.name) for value in graph.outputs}


def apply(operator: str, operands: list[Array], attributes: Mapping[str, Any], accumulate: Any) -> Array:
    modes = {"accumulate": accumulate} if operator == "Conv" else {}
    result: Array = getattr(sonnx, operator.lower())(*operands, **attributes, **modes)
    return result


@st.composite
def graphs(draw: st.DrawFn, least: int, most: int) -> Graph:
    """Any acyclic graph; its nodes are in an order of their own."""
    nodes: list[Node] = []
    for index in range(draw(st.integers(least, most))):
        tensors = ["x", "z", *(one.outputs[0] for one in nodes)]
        some = st.lists(st.sampled_from(tensors), min_size=2, max_size=2)
        nodes.append(node(draw(st.sampled_from(sorted(KINDS))), draw(some), f"t{index}"))
    return graph_of(nodes)


@st.composite
def orders(draw: st.DrawFn, nodes: Sequence[Node]) -> list[Node]:
    """Any topological order: again and again, one of the nodes whose inputs are there."""
    left, made = list(nodes), {"x", "z", "mask", *DATA}
    order = []
    while left:
        ready = [one for one in left if made.issuperset(one.inputs)]
        order.append(draw(st.sampled_from(ready)))
        left.remove(order[-1])
        made.update(order[-1].outputs)
    return order


INPUTS = st.fixed_dictionaries(
    {"x": arrays("float", SHAPE), "z": arrays("float", SHAPE), "mask": arrays("bool", SHAPE)}
)


@dataclass
class Run:
    """What came out, and in which order nodes were executed."""

    results: dict[str, Any]
    order: list[str]


def place(step: ExecutedNode) -> str:
    return "/".join(part.name for part in step.location.path)


def run(graph: Graph, inputs: Mapping[str, Array], **how: Any) -> Run:
    order: list[str] = []
    found = execute(graph, inputs, Settings(**how), lambda step: order.append(place(step)))
    return Run({name: bits(array) for name, array in found.items()}, order)


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), graph=graphs(20, 30), inputs=INPUTS, accumulate=st.sampled_from(["separate", "fused"]))
def test_any_order_of_twenty_nodes_or_more_gives_the_same_bits(
    data: st.DataObject, graph: Graph, inputs: dict[str, Array], accumulate: str
) -> None:
    expected = {name: bits(array) for name, array in backwards(graph, inputs, accumulate).items()}
    assert len(graph.nodes) >= 20
    assert run(graph, inputs, accumulate=accumulate).results == expected
    order = data.draw(orders(graph.nodes))
    permuted = run(replace(graph, nodes=tuple(order)), inputs, accumulate=accumulate)
    assert permuted.order == [one.name for one in order]
    assert permuted.results == expected
    for seed in data.draw(st.lists(st.integers(0, 2**32), min_size=2, max_size=2)):
        assert run(graph, inputs, accumulate=accumulate, order="random", seed=seed).results == expected


@settings(deadline=None, max_examples=examples(40))
@given(data=st.data(), graph=graphs(1, 12), inputs=INPUTS)
def test_a_list_in_no_topological_order_gives_the_same_bits(
    data: st.DataObject, graph: Graph, inputs: dict[str, Array]
) -> None:
    jumbled = replace(graph, nodes=tuple(data.draw(st.permutations(graph.nodes))))
    assert run(jumbled, inputs).results == run(graph, inputs).results


def every_order(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """All permutations in which whatever a node takes is there before it."""
    made = {one.outputs[0] for one in nodes}
    for order in permutations(nodes):
        there: set[str] = set()
        for one in order:
            if not made.intersection(one.inputs) <= there:
                break
            there.update(one.outputs)
        else:
            yield order


def special() -> dict[str, Array]:
    """Infinities, NaNs, zeros of both signs, subnormals, numbers that overflow."""
    values = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-45, 3e38, -3e38, 1.5, -2.5, 0.1, 7e-39]
    x = np.array(values, np.float32).reshape(SHAPE)
    z = np.array(values[::-1], np.float32).reshape(SHAPE)
    return {"x": x, "z": z, "mask": np.arange(12).reshape(SHAPE) % 3 == 0}


# Each with the number of its topological orders, counted by hand.
SMALL = {
    "chain": ([("wide", "x", "a"), ("clip", "a", "b"), ("narrow", "b", "c"), ("clip", "c", "d")], 1),
    "apart": ([("wide", "x", "a"), ("clip", "z", "b"), ("narrow", "x", "c"), ("expand", "", "d")], 24),
    # one first, one last, two between
    "diamond": ([("narrow", "x", "a"), ("wide", "a", "b"), ("clip", "a", "c"), ("where", "b c", "d")], 2),
    # two chains of 3 in any interleaving: 6! / (3! 3!)
    "chains": (
        [
            ("wide", "x", "a"),
            ("clip", "a", "b"),
            ("wide", "b", "c"),
            ("narrow", "z", "d"),
            ("clip", "d", "e"),
            ("wide", "e", "f"),
        ],
        20,
    ),
    # a tree of seven with the root last: 7! / (7 · 3 · 3 · 1 · 1 · 1 · 1)
    "tree": (
        [
            ("wide", "x", "a"),
            ("narrow", "x", "b"),
            ("clip", "z", "c"),
            ("expand", "", "d"),
            ("where", "a b", "e"),
            ("where", "c d", "f"),
            ("where", "e f", "g"),
        ],
        80,
    ),
    # a root and five that need it
    "fan": ([("wide", "x", "a"), *(("clip" if i % 2 else "narrow", "a", f"b{i}") for i in range(5))], 120),
}


@pytest.mark.parametrize("accumulate", ["separate", "fused"])
@pytest.mark.parametrize("name", list(SMALL))
def test_all_orders_of_small_graphs_give_the_same_bits(name: str, accumulate: str) -> None:
    described, number = SMALL[name]
    graph = graph_of([node(kind, taken.split(), made) for kind, taken, made in described])
    inputs = special()
    expected = {key: bits(array) for key, array in backwards(graph, inputs, accumulate).items()}
    seen = set()
    for order in every_order(graph.nodes):
        found = run(replace(graph, nodes=order), inputs, accumulate=accumulate)
        assert found.order == [one.name for one in order]
        assert found.results == expected
        seen.add(tuple(found.order))
    assert len(seen) == number


def test_all_orders_give_the_same_fractions_in_the_reals() -> None:
    described, number = SMALL["chains"]
    graph = graph_of([node(kind, taken.split(), made) for kind, taken, made in described])
    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(SHAPE)
    inputs = special() | {"x": x, "z": -x}
    outcomes = [
        str(run(replace(graph, nodes=order), inputs, domain="real").results)
        for order in every_order(graph.nodes)
    ]
    assert (len(outcomes), len(set(outcomes))) == (number, 1)


def test_random_orders_are_different_orders() -> None:
    described, _ = SMALL["fan"]
    graph = graph_of([node(kind, taken.split(), made) for kind, taken, made in described])
    runs = [run(graph, special(), order="random", seed=seed) for seed in range(30)]
    assert len({tuple(one.order) for one in runs}) > 20
    assert all(one.results == runs[0].results for one in runs)
    assert run(graph, special(), order="random", seed=3).order == runs[3].order


def test_calls_of_functions_may_be_executed_in_any_order() -> None:
    body = (node("narrow", ["a"], "m"), node("clip", ["m"], "b"))
    operands = ("a", "narrow", "low", "high")
    function = Function("F", "own", operands, ("b",), body, values=(Value("m", FLOAT),), opsets=(("", 22),))
    calls = [
        Node("F", (taken, *operands[1:]), (made,), name=made, domain="own")
        for taken, made in (("x", "p"), ("z", "q"), ("p", "r"))
    ]
    plain = graph_of([node("narrow", ["x"], "p"), node("clip", ["x"], "q"), node("clip", ["p"], "r")])
    graph = replace(plain, nodes=tuple(calls), functions=(function,), opsets=(("", 22), ("own", 1)))
    assert check_graph(graph) == ()
    outcomes = [run(replace(graph, nodes=order), special()) for order in every_order(calls)]
    assert [one.order for one in outcomes] == [
        ["p/m", "p/b", "q/m", "q/b", "r/m", "r/b"],
        ["p/m", "p/b", "r/m", "r/b", "q/m", "q/b"],
        ["q/m", "q/b", "p/m", "p/b", "r/m", "r/b"],
    ]
    assert all(one.results == outcomes[0].results for one in outcomes)
