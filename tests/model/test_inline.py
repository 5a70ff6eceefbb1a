"""Executing a function is executing its body (D-GRAPH-3): calls replaced by bodies, every name kept apart."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples

from sonnx.model.graph import Constant, Function, Graph, Node, Reference, Value
from sonnx.model.inline import DEEPEST_CALL, MOST_NODES, flatten, inlined_size, recursive
from sonnx.model.location import Location
from sonnx.model.tensor_type import tensor_type

OWN = "own"
FLOAT = tensor_type("float[2]")


def node(operator: str, inputs: str, outputs: str, **more: Any) -> Node:
    """A node; names are separated by blanks, a dash is the empty name, capital F makes a function's."""
    taken, made = ([name.strip("-") for name in text.split()] for text in (inputs, outputs))
    return Node(operator, tuple(taken), tuple(made), domain=OWN if operator.startswith("F") else "", **more)


def function(name: str, inputs: str, outputs: str, *body: Node, **more: Any) -> Function:
    return Function(name, OWN, tuple(inputs.split()), tuple(outputs.split()), body, **more)


def graph(
    nodes: Sequence[Node], functions: Sequence[Function] = (), outputs: str = "y", **more: Any
) -> Graph:
    return Graph(
        "net",
        (Value("x", FLOAT),),
        tuple(Value(name, FLOAT) for name in outputs.split()),
        tuple(nodes),
        functions=tuple(functions),
        source="net.onnx",
        **more,
    )


def shapes(nodes: Sequence[Node]) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(one.operator, one.inputs, one.outputs) for one in nodes]


ONE = function("F", "a", "b", node("Turn", "a", "t"), node("Flip", "t", "b"))


def test_a_graph_without_functions_stays_as_it_is() -> None:
    plain = graph([node("Turn", "x", "y", name="n")])
    flat = flatten(plain)
    assert flat.graph is plain
    assert flat.locations == (Location("node", "n", 0, "Turn", "net.onnx"),)
    assert (flat.tensors, flat.claims) == ({}, ())


def test_a_call_becomes_the_body_with_the_callers_names_and_fresh_ones() -> None:
    flat = flatten(graph([node("F", "x", "m", name="first"), node("F", "m", "y")], [ONE]))
    assert shapes(flat.graph.nodes) == [
        ("Turn", ("x",), ("first/t",)),
        ("Flip", ("first/t",), ("m",)),
        ("Turn", ("m",), ("F/t",)),
        ("Flip", ("F/t",), ("y",)),
    ]
    assert flat.graph.functions == ()


def test_everything_but_nodes_values_and_functions_is_kept() -> None:
    before = graph([node("F", "x", "y")], [ONE], opsets=(("", 22), (OWN, 1)), ir_version=9)
    after = flatten(before).graph
    assert replace(after, nodes=before.nodes, functions=before.functions) == before


def test_fresh_names_are_no_names_of_the_graph_nor_of_other_calls() -> None:
    taken = Value("F/t", FLOAT)
    nodes = [
        node("F", "x", "m"),
        node("F", "m", "n"),
        node("F", "n", "F/t_2"),
        node("Add", "F/t_2 F/t_4", "y"),
    ]
    flat = flatten(graph(nodes, [ONE], values=(taken,)))
    made = [name for one in flat.graph.nodes for name in one.outputs]
    assert made == ["F/t_3", "m", "F/t_5", "n", "F/t_6", "F/t_2", "y"]


def test_a_call_of_the_same_name_inside_does_not_share_tensors() -> None:
    outer = function("FG", "a", "b", node("F", "a", "t"), node("F", "t", "b"))
    outer = replace(outer, nodes=tuple(replace(one, name="same") for one in outer.nodes))
    flat = flatten(graph([node("FG", "x", "y", name="same")], [ONE, outer]))
    made = [name for one in flat.graph.nodes for name in one.outputs]
    assert len(made) == len(set(made))


def test_a_numbered_name_is_kept_apart_from_one_that_looks_so() -> None:
    body = function("F", "a", "b", node("Turn", "a", "t"), node("Turn", "t", "t_2"), node("Turn", "t_2", "b"))
    flat = flatten(graph([node("F", "x", "m"), node("F", "m", "y")], [body]))
    made = [name for one in flat.graph.nodes for name in one.outputs]
    assert made == ["F/t", "F/t_2", "m", "F/t_3", "F/t_2_2", "y"]


def test_many_calls_get_their_names_in_a_time_that_grows_with_their_number() -> None:
    number = 20_000
    calls = [Node("F", (f"t{index}",), (f"t{index + 1}",), domain=OWN) for index in range(number)]
    flat = flatten(graph(calls, [ONE]))
    assert len({name for one in flat.graph.nodes for name in one.outputs}) == 2 * number
    assert flat.graph.nodes[-2].outputs == (f"F/t_{number}",)


def test_long_names_are_cut_and_stay_apart() -> None:
    long = "n" * 1000
    body = function("F", "a", "b", node("Turn", "a", f"{long}1"), node("Turn", f"{long}1", f"{long}2"))
    body = replace(body, outputs=(f"{long}2", f"{long}1"))
    nodes = [node("F", "x", "y", name=long), node("F", "x", "z", name=long)]
    made = [name for one in flatten(graph(nodes, [body])).graph.nodes for name in one.outputs]
    assert len(set(made)) == 4
    assert max(map(len, made)) <= 210


def test_an_absent_input_is_absent_in_the_body() -> None:
    body = function("F", "a l h", "b", node("Clip", "a l h", "b"))
    for given_inputs, expected in (("x", ("x", "", "")), ("x - w", ("x", "", "w")), ("-", ("", "", ""))):
        flat = flatten(graph([node("F", given_inputs, "y")], [body]))
        assert flat.graph.nodes[0].inputs == expected


def test_an_output_that_the_caller_leaves_out_gets_a_fresh_name() -> None:
    body = function("F", "a", "b c", node("Part", "a", "b c"))
    assert flatten(graph([node("F", "x", "y")], [body])).graph.nodes[0].outputs == ("y", "F/c")
    assert flatten(graph([node("F", "x", "- y")], [body])).graph.nodes[0].outputs == ("F/b", "y")
    assert flatten(graph([node("F", "x", "")], [body])).graph.nodes[0].outputs == ("F/b", "F/c")


def test_an_absent_operand_in_the_body_stays_absent_whatever_is_called_by_the_empty_name() -> None:
    body = Function("F", OWN, ("a", ""), ("b", ""), (node("Clip", "a - x", "b -"),))
    flat = flatten(graph([node("F", "x m", "y z")], [body]))
    assert shapes(flat.graph.nodes) == [("Clip", ("x", "", "x"), ("y", ""))]


def test_an_absent_output_in_the_body_stays_absent() -> None:
    flat = flatten(graph([node("F", "x", "y")], [function("F", "a", "b", node("Part", "a", "- b"))]))
    assert shapes(flat.graph.nodes) == [("Part", ("x",), ("", "y"))]
    assert flat.tensors == {}


def test_an_input_that_a_function_gives_out_again_is_still_the_callers() -> None:
    flat = flatten(graph([node("F", "x", "y z")], [function("F", "a", "b a", node("Turn", "a", "b"))]))
    assert shapes(flat.graph.nodes) == [("Turn", ("x",), ("y",))]


def test_a_name_that_nobody_defines_stays_as_it_is() -> None:
    body = function("F", "a", "b", node("Add", "a nowhere", "b"))
    assert flatten(graph([node("F", "x", "y")], [body])).graph.nodes[0].inputs == ("x", "nowhere")


def test_attributes_that_refer_to_the_call_take_its_values_else_the_defaults_else_are_absent() -> None:
    referring = {"axis": Reference("k"), "mode": Reference("m"), "scale": Reference("s"), "plain": 3}
    body = function("F", "a", "b", node("Any", "a", "b", attributes=referring), attributes=("k", "s"))
    body = replace(body, defaults={"m": "low", "k": 0})
    for written, expected in (
        ({"k": 1, "s": 2.0}, {"axis": 1, "mode": "low", "scale": 2.0, "plain": 3}),
        ({"k": 1, "m": "high"}, {"axis": 1, "mode": "high", "plain": 3}),
        ({}, {"axis": 0, "mode": "low", "plain": 3}),
    ):
        flat = flatten(graph([node("F", "x", "y", attributes=written)], [body]))
        assert flat.graph.nodes[0].attributes == expected


def test_attributes_pass_through_functions_in_functions() -> None:
    inner = function(
        "F", "a", "b", node("Any", "a", "b", attributes={"axis": Reference("k")}), attributes=("k",)
    )
    call = node("F", "a", "b", attributes={"k": Reference("outer")})
    outer = function("FF", "a", "b", call, attributes=("outer",))
    flat = flatten(graph([node("FF", "x", "y", attributes={"outer": 7})], [inner, outer]))
    assert flat.graph.nodes[0].attributes == {"axis": 7}


def test_a_value_of_zero_is_a_value() -> None:
    body = function("F", "a", "b", node("Any", "a", "b", attributes={"axis": Reference("k")}))
    for zero in (0, 0.0, "", ()):
        flat = flatten(graph([node("F", "x", "y", attributes={"k": zero})], [body]))
        assert flat.graph.nodes[0].attributes == {"axis": zero}


def test_nodes_keep_what_else_they_are() -> None:
    kept = Node("Clip", ("a",), ("b",), {"k": 1}, "n", "", "o", 13, ("k",))
    flat = flatten(graph([node("F", "x", "y")], [function("F", "a", "b", kept)]))
    assert flat.graph.nodes == (replace(kept, inputs=("x",), outputs=("y",)),)


def test_nodes_and_tensors_are_located_in_the_call_that_they_come_from() -> None:
    outer = function("FF", "a", "b", node("Turn", "a", "s"), node("F", "s", "b", name="inner"))
    flat = flatten(graph([node("Turn", "x", "m"), node("FF", "m", "y", name="outer")], [ONE, outer]))
    call = Location("node", "outer", 1, "FF", "net.onnx")
    inner = Location("node", "inner", 1, "F", "net.onnx", call)
    assert flat.locations == (
        Location("node", "", 0, "Turn", "net.onnx"),
        Location("node", "", 0, "Turn", "net.onnx", call),
        Location("node", "", 0, "Turn", "net.onnx", inner),
        Location("node", "", 1, "Flip", "net.onnx", inner),
    )
    assert flat.tensors == {
        "outer/s": Location("tensor", "s", file="net.onnx", inside=call),
        "outer/inner/t": Location("tensor", "t", file="net.onnx", inside=inner),
    }


def test_the_types_that_a_function_writes_are_those_of_its_tensors_in_every_call() -> None:
    typed = replace(ONE, values=(Value("t", FLOAT), Value("nowhere", FLOAT)))
    flat = flatten(graph([node("F", "x", "m"), node("F", "m", "y")], [typed], values=(Value("m", FLOAT),)))
    assert [value.name for value in flat.graph.values] == ["m", "F/t", "F/t_2"]
    assert flat.claims == ()
    # A name that only a function's list of types has is nobody's.
    assert "nowhere" not in flat.graph.types


def test_types_that_a_function_writes_for_its_callers_tensors_or_twice_are_claims() -> None:
    other = tensor_type("double[3]")
    written = tuple(Value(name, other) for name in ("a", "b", "t", "t"))
    flat = flatten(graph([node("F", "x", "y")], [replace(ONE, values=written)]))
    assert [value.name for value in flat.graph.values] == ["F/t"]
    call = Location("node", "", 0, "F", "net.onnx")
    assert flat.claims == tuple(
        (name, other, Location("tensor", inner, file="net.onnx", inside=call))
        for name, inner in (("x", "a"), ("y", "b"), ("F/t", "t"))
    )
    absent = flatten(graph([node("F", "-", "y")], [replace(ONE, values=written[:1])]))
    assert absent.claims == ()


def test_of_two_functions_of_one_name_the_first_is_called_and_overloads_are_two_names() -> None:
    first = function("F", "a", "b", node("Turn", "a", "b"))
    second = function("F", "a", "b", node("F", "a", "b"))
    calls = graph([node("F", "x", "y")], [first, second])
    assert recursive(calls) == []
    assert shapes(flatten(calls).graph.nodes) == [("Turn", ("x",), ("y",))]
    overload = replace(function("F", "a", "b", node("Flip", "a", "b")), overload="2")
    calls = graph([node("F", "x", "m"), node("F", "m", "y", overload="2")], [first, overload])
    assert [one.operator for one in flatten(calls).graph.nodes] == ["Turn", "Flip"]


def test_functions_that_call_one_another_are_recursive() -> None:
    calls = (("Fa", "Fb"), ("Fb", "Fc"), ("Fc", "Fa"))
    ring = [function(name, "a", "b", node(called, "a", "b")) for name, called in calls]
    found = recursive(graph([node("Fa", "x", "y")], [*ring, ONE]))
    names = [one.name for one in found]
    start = names.index("Fa")
    assert names[start:] + names[:start] == ["Fa", "Fc", "Fb"]
    itself = function("F", "a", "b", node("F", "a", "b"))
    assert recursive(graph([], [itself])) == [itself]
    assert recursive(graph([node("F", "x", "y")], [ONE])) == []


def chain(depth: int) -> Graph:
    """F0 calls F1, which calls F2, and so on; the last one has two nodes."""
    functions = [
        function(f"F{level}", "a", "b", node(f"F{level + 1}", "a", "b")) for level in range(depth - 1)
    ]
    return graph([node("F0", "x", "y")], [*functions, replace(ONE, name=f"F{depth - 1}")])


def doubling(depth: int, *body: Node) -> Graph:
    functions = [function(f"F{depth}", "a", "b", *body)]
    for level in range(depth):
        called = f"F{level + 1}"
        functions.append(function(f"F{level}", "a", "b", node(called, "a", "t"), node(called, "t", "b")))
    return graph([node("F0", "x", "y")], functions)


def test_the_size_is_the_number_of_nodes_after_inlining_and_the_depth_that_of_calls() -> None:
    assert inlined_size(graph([])) == (0, 0)
    assert inlined_size(graph([node("Turn", "x", "y")] * 3)) == (3, 0)
    assert inlined_size(graph([node("Turn", "x", "y")] * 3, [ONE])) == (3, 0)
    assert inlined_size(graph([node("F", "x", "y")] * 3 + [node("Turn", "x", "y")], [ONE])) == (7, 1)
    for depth in (1, 2, 64, 65):
        assert inlined_size(chain(depth)) == (2, depth)
    for depth in range(8):
        deep = doubling(depth, node("Turn", "a", "b"))
        assert inlined_size(deep) == (2**depth, depth + 1)
        assert len(flatten(deep).graph.nodes) == 2**depth


def test_sizes_beyond_all_limits_are_not_counted_to_the_end() -> None:
    size, depth = inlined_size(doubling(10_000, node("Turn", "a", "b")))
    assert size > MOST_NODES
    assert size < 100 * MOST_NODES
    assert depth == 10_001 > DEEPEST_CALL


def test_empty_bodies_cost_time_too() -> None:
    assert inlined_size(graph([node("F", "x", "y")] * 3, [function("F", "a", "b")])) == (3, 1)
    size, _ = inlined_size(doubling(40))
    assert size > MOST_NODES


def test_names_cost_time_too() -> None:
    many = " ".join(f"n{index}" for index in range(2000))
    inner = node("Turn", "a", "b")
    wide = (
        function("F", many, "b", inner),
        function("F", "a", many, inner),
        function("F", "a", "b", node("Sum", many, "b")),
        function("F", "a", "b", node("Part", "a", many)),
        function("F", "a", "b", replace(inner, attributes=dict.fromkeys(many.split(), 1))),
        replace(function("F", "a", "b", inner), defaults=dict.fromkeys(many.split(), 1)),
        function("F", "a", "b", inner, values=tuple(Value(name, FLOAT) for name in many.split())),
    )
    for one in wide:
        assert inlined_size(graph([node("F", "x", "y")], [one])) == (101, 1)
    assert inlined_size(graph([node("Sum", many, "y")])) == (101, 0)


# --- the meaning of calls, by interpretation --------------------------------------------------------------


def interpret(
    nodes: Sequence[Node],
    names: Mapping[str, Any],
    functions: Mapping[Any, Function],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """What each name stands for, as a term; a call is interpreted in a world of its own."""
    world = dict(names)
    for one in nodes:
        taken = [world[name] if name else None for name in one.inputs]
        attributes = {
            key: given.get(value.attribute) if isinstance(value, Reference) else value
            for key, value in one.attributes.items()
        }
        attributes = {key: value for key, value in attributes.items() if value is not None}
        if one.function in functions:
            called = functions[one.function]
            inside = dict.fromkeys(called.inputs) | dict(zip(called.inputs, taken, strict=False))
            inside = interpret(called.nodes, inside, functions, {**called.defaults, **attributes})
            made = [inside[name] for name in called.outputs]
        else:
            made = [
                (one.operator, sorted(attributes.items()), taken, place) for place in range(len(one.outputs))
            ]
        world |= {name: value for name, value in zip(one.outputs, made, strict=False) if name}
    return world


@st.composite
def bodies(
    draw: st.DrawFn, callable_ones: Sequence[Function], names: list[str], attributes: list[str]
) -> list[Node]:
    """Nodes that use the given names and one another's, some of them calls."""
    nodes = []
    for index in range(draw(st.integers(1, 4))):
        taken = st.lists(st.sampled_from([*names, ""]), max_size=3)
        values: st.SearchStrategy[Any] = st.sampled_from([0, 1, *map(Reference, attributes)])
        called = draw(st.sampled_from([None, *callable_ones]))
        made = [f"t{index}", f"u{index}"][: draw(st.integers(1, 2))]
        label = draw(st.sampled_from(["", "n", "F0"]))
        if called is None:
            given_values = draw(st.dictionaries(st.sampled_from("pq"), values, max_size=2))
            nodes.append(Node("Any", tuple(draw(taken)), tuple(made), given_values, label))
        else:
            inputs = draw(taken)[: len(called.inputs)]
            made = made[: len(called.outputs)]
            given_values = draw(st.dictionaries(st.sampled_from("kl"), values, max_size=2))
            nodes.append(Node(called.name, tuple(inputs), tuple(made), given_values, label, OWN))
        names = names + made
    return nodes


@st.composite
def libraries(draw: st.DrawFn) -> Graph:
    functions: list[Function] = []
    for index in range(draw(st.integers(1, 4))):
        body = draw(bodies(functions, ["a", "t"], ["k", "l"]))
        made = [name for one in body for name in one.outputs]
        outputs = draw(st.lists(st.sampled_from(made), min_size=1, max_size=2, unique=True))
        defaults = {"l": 9} if draw(st.booleans()) else {}
        functions.append(
            Function(f"F{index}", OWN, ("a", "t"), tuple(outputs), tuple(body), ("k",), defaults)
        )
    nodes = draw(bodies(functions, ["x", "F0/t0"], []))
    made = [name for one in nodes for name in one.outputs]
    constant = Constant("F0/t0", FLOAT)
    return graph(nodes, draw(st.permutations(functions)), " ".join(made), constants=(constant,))


@settings(deadline=None, max_examples=examples(150))
@given(library=libraries())
def test_the_flat_graph_means_what_the_calls_mean(library: Graph) -> None:
    functions = {one.key: one for one in library.functions}
    outer = {"x": "x", "F0/t0": "F0/t0"}
    expected = interpret(library.nodes, outer, functions, {})
    flat = flatten(library)
    found = interpret(flat.graph.nodes, outer, {}, {})
    for value in library.outputs:
        assert found[value.name] == expected[value.name]
    made = [name for one in flat.graph.nodes for name in one.outputs if name]
    assert len(made) == len(set(made))
    assert len(flat.locations) == len(flat.graph.nodes)
    assert not {one.function for one in flat.graph.nodes} & set(functions)
