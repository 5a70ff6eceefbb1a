"""Orders of execution, against definitions that try everything (D-GRAPH-1, D-GRAPH-2)."""

from collections.abc import Sequence
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples

from sonnx.model.graph import Node
from sonnx.model.order import a_cycle, contributing, cycles, given_order, needs, random_order

QUICK = settings(deadline=None, max_examples=examples(80))


def node(inputs: str, outputs: str) -> Node:
    """A node; names are separated by blanks, and a dash is the empty name."""
    taken, made = ([name.strip("-") for name in text.split()] for text in (inputs, outputs))
    return Node("Any", tuple(taken), tuple(made))


def is_topological(order: Sequence[int], nodes: Sequence[Node]) -> bool:
    """Every node once, and whatever some node makes is there before it is taken."""
    made_somewhere = {name for one in nodes for name in one.outputs if name}
    there: set[str] = set()
    for index in order:
        if not made_somewhere.intersection(nodes[index].inputs) <= there:
            return False
        there.update(nodes[index].outputs)
    return sorted(order) == list(range(len(nodes)))


def every_order(nodes: Sequence[Node]) -> set[tuple[int, ...]]:
    return {order for order in permutations(range(len(nodes))) if is_topological(order, nodes)}


@st.composite
def acyclic(draw: st.DrawFn, most: int = 25) -> list[Node]:
    """Nodes without a cycle, in any order; some operands and outputs are absent."""
    nodes: list[Node] = []
    names = ["", "x", "w"]
    for index in range(draw(st.integers(0, most))):
        taken = draw(st.lists(st.sampled_from(names), max_size=4))
        made = [f"t{index}", f"u{index}", ""][: draw(st.integers(0, 3))]
        nodes.append(Node("Any", tuple(taken), tuple(draw(st.permutations(made)))))
        names += made
    return draw(st.permutations(nodes))


@st.composite
def tangled(draw: st.DrawFn) -> list[Node]:
    """Nodes that take any of each other's outputs, their own included."""
    number = draw(st.integers(0, 8))
    names = [f"t{index}" for index in range(number)]
    taken = st.lists(st.sampled_from([*names, "x", ""]), max_size=3, unique=True)
    return [Node("Any", tuple(draw(taken)), (name,)) for name in names]


def reachable(nodes: Sequence[Node]) -> list[list[bool]]:
    """Which nodes a node needs, directly or through others: the transitive closure, by Warshall."""
    number = len(nodes)
    closed = [[not set(other.outputs).isdisjoint(one.inputs) for other in nodes] for one in nodes]
    for middle in range(number):
        for start in range(number):
            for end in range(number):
                closed[start][end] |= closed[start][middle] and closed[middle][end]
    return closed


@QUICK
@given(nodes=acyclic())
def test_the_given_order_is_a_topological_order(nodes: list[Node]) -> None:
    assert is_topological(given_order(nodes), nodes)


@QUICK
@given(nodes=acyclic(), seed=st.integers(0, 2**64))
def test_a_random_order_is_a_topological_order_and_its_seed_decides_it(nodes: list[Node], seed: int) -> None:
    order = random_order(nodes, seed)
    assert is_topological(order, nodes)
    assert random_order(nodes, seed) == order


@QUICK
@given(nodes=acyclic(most=6))
def test_the_given_order_is_the_first_of_all_orders(nodes: list[Node]) -> None:
    assert tuple(given_order(nodes)) == min(every_order(nodes))


@QUICK
@given(nodes=acyclic())
def test_nodes_that_are_sorted_keep_their_places(nodes: list[Node]) -> None:
    listed = [nodes[index] for index in given_order(nodes)]
    assert given_order(listed) == list(range(len(nodes)))


SMALL = {
    "nothing": [],
    "one": [node("x", "y")],
    "chain": [node("b", "c"), node("a", "b"), node("x", "a")],
    "independent": [node("x", "a"), node("x", "b"), node("x", "c"), node("x", "d")],
    "diamond": [node("a", "b"), node("a", "c"), node("x", "a"), node("b c", "y")],
    "two chains": [node("x", "a"), node("a", "b"), node("x", "c"), node("c", "d")],
    "absent": [node("- x", "- a"), node("- a", "b -"), node("-", "-")],
}
NUMBERS = {
    "nothing": 1,
    "one": 1,
    "chain": 1,
    "independent": 24,
    "diamond": 2,
    "two chains": 6,
    "absent": 3,
}


@pytest.mark.parametrize("name", SMALL)
def test_every_order_of_a_small_graph_is_drawn_by_some_seed(name: str) -> None:
    nodes = SMALL[name]
    drawn = {tuple(random_order(nodes, seed)) for seed in range(500)}
    assert drawn == every_order(nodes)
    assert len(drawn) == NUMBERS[name]


def test_a_node_needs_the_makers_of_its_inputs_and_of_two_makers_the_first() -> None:
    nodes = [node("x", "a"), node("a - b", "c"), node("a", "b a"), node("c c", "c")]
    assert needs(nodes) == [set(), {0, 2}, {0}, {1}]


def test_the_empty_name_is_nobodys_output() -> None:
    assert needs([node("x", "-"), node("-", "y")]) == [set(), set()]


@QUICK
@given(nodes=tangled())
def test_nodes_on_a_cycle_and_those_that_need_them_are_in_no_order(nodes: list[Node]) -> None:
    closed = reachable(nodes)
    cyclic = {index for index in range(len(nodes)) if closed[index][index]}
    stuck = cyclic | {i for i in range(len(nodes)) if any(closed[i][other] for other in cyclic)}
    assert set(given_order(nodes)) == set(range(len(nodes))) - stuck
    assert set(random_order(nodes, 7)) == set(range(len(nodes))) - stuck


@QUICK
@given(nodes=tangled())
def test_every_cycle_that_is_named_is_one_and_there_is_one_where_there_are_any(nodes: list[Node]) -> None:
    closed = reachable(nodes)
    found = cycles(nodes)
    assert bool(found) == any(closed[index][index] for index in range(len(nodes)))
    members = [index for cycle in found for index in cycle]
    assert len(members) == len(set(members))
    for cycle in found:
        for place, index in enumerate(cycle):
            following = nodes[cycle[(place + 1) % len(cycle)]]
            assert set(nodes[index].outputs) & set(following.inputs)
    assert a_cycle(nodes) == (found[0] if found else [])


def test_a_cycle_lists_each_node_before_the_one_that_needs_it() -> None:
    ring = [node("c", "a"), node("x", "y"), node("a", "b"), node("b", "c"), node("c", "d")]
    (cycle,) = cycles(ring)
    start = cycle.index(0)
    assert cycle[start:] + cycle[:start] == [0, 2, 3]


def test_a_node_that_takes_its_own_output_is_a_cycle_by_itself() -> None:
    assert a_cycle([node("x", "a"), node("a b", "b")]) == [1]


def test_cycles_apart_from_one_another_are_all_named() -> None:
    apart = [node("b", "a"), node("a", "b"), node("c", "c"), node("e", "d"), node("d", "e"), node("a d", "y")]
    assert sorted(sorted(cycle) for cycle in cycles(apart)) == [[0, 1], [2], [3, 4]]


def test_a_long_cycle_and_many_cycles_are_found_without_recursion() -> None:
    number = 20_000
    ring = [Node("Any", (f"t{(index - 1) % number}",), (f"t{index}",)) for index in range(number)]
    assert len(a_cycle(ring)) == number
    loops = [Node("Any", (f"t{index}",), (f"t{index}",)) for index in range(number)]
    assert cycles(loops) == [[index] for index in range(number)]


def contributing_by_definition(nodes: Sequence[Node], outputs: Sequence[str]) -> set[int]:
    """Names are wanted if they are outputs or if a node with a wanted output takes them."""
    wanted = {name for name in outputs if name}
    while True:
        found = {index for index, one in enumerate(nodes) if wanted & set(one.outputs)}
        more = wanted | {name for index in found for name in nodes[index].inputs if name}
        if more == wanted:
            return found
        wanted = more


@QUICK
@given(nodes=acyclic(), data=st.data())
def test_the_nodes_that_contribute_are_those_that_a_wanted_name_leads_to(
    nodes: list[Node], data: st.DataObject
) -> None:
    names = sorted({"", "x", "nowhere", *(name for one in nodes for name in one.outputs)})
    outputs = data.draw(st.lists(st.sampled_from(names), max_size=3))
    assert contributing(nodes, outputs) == contributing_by_definition(nodes, outputs)


@QUICK
@given(nodes=tangled(), data=st.data())
def test_the_nodes_that_contribute_are_the_same_on_cycles(nodes: list[Node], data: st.DataObject) -> None:
    outputs = data.draw(st.lists(st.sampled_from([f"t{index}" for index in range(8)]), max_size=3))
    assert contributing(nodes, outputs) == contributing_by_definition(nodes, outputs)


def test_nothing_contributes_to_no_output() -> None:
    assert contributing([node("x", "y"), node("x", "-")], []) == set()
    assert contributing([node("x", "y"), node("x", "-")], [""]) == set()


def test_both_makers_of_an_output_contribute_to_it() -> None:
    assert contributing([node("x", "y"), node("x", "y"), node("x", "z")], ["y"]) == {0, 1}
