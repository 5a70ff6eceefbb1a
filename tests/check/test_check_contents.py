"""What a model holds: functions, data, names, nodes. Each rule names what is wrong, no more (D-GRAPH-3)."""

from collections.abc import Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from onnx import defs
from tests.check.support import (
    BODY,
    CALL,
    CIRCLE,
    CLIP,
    FROM_T,
    HI,
    INNER_CALL,
    LARGE,
    LO,
    TO_T,
    T,
    broken,
    calling,
    chain_of_functions,
    conv,
    function,
    made,
    named,
)
from tests.loops import for_each

from sonnx.check.inference import node_call
from sonnx.check.models import check_graph
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Graph, Node, Reference, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators.graph.examples import CHAIN, GOOD, OPSETS, graph, node, scalar, values
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND

pytestmark = pytest.mark.measured

IMAGE = conv({"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"})
KERNEL = IMAGE.inputs[1:]
PARTLY = ("DATA_BATCH", "", "", "")

# What each graph breaks, by hand; nothing for those that are only near to breaking a rule.
CASES: Mapping[str, tuple[Graph, set[str]]] = {
    # No recursion.
    "functions that call one another": (CIRCLE, {"graph.D12"}),
    "a recursive function that writes types for its callers": (
        calling(function(INNER_CALL, values=values(a="float[2,3]"))),
        {"graph.D12"},
    ),
    "a recursive function that nobody calls": (
        replace(CHAIN, functions=(function(replace(CALL, inputs=tuple("alh"), outputs=("b",))),)),
        {"graph.D12"},
    ),
    # Functions are well formed, and called so.
    "a function defined twice": (calling(function(BODY), function(BODY)), {"graph.D13"}),
    "a second definition that would be recursive": (
        calling(function(BODY), function(replace(CALL, inputs=tuple("alh"), outputs=("b",)))),
        {"graph.D13"},
    ),
    "an overload": (
        calling(function(BODY), function(BODY, overload="2"), calls=(replace(CALL, overload="2"),)),
        set(),
    ),
    "a function in ONNX's own domain": (
        graph([node("F", "x lo hi", "y")], functions=(function(BODY, domain=""),)),
        {"graph.D13"},
    ),
    "a function that gives out its input": (
        calling(function(BODY, outputs=("b", "a")), values=values(t="float[2,3]")),
        {"graph.D13"},
    ),
    "a function whose output nobody makes": (
        calling(function(BODY, outputs=("b", "c"))),
        {"graph.D13", "graph.D3"},
    ),
    "too many outputs of a call": (
        calling(function(BODY), calls=(replace(CALL, outputs=("y", "z")),)),
        {"graph.D13"},
    ),
    "fewer inputs than the function has": (
        calling(function(BODY), calls=(replace(CALL, inputs=("x", "lo")),)),
        {"clip.max.D1"},
    ),
    "an attribute that the function does not have": (
        calling(function(BODY), calls=(replace(CALL, attributes={"k": 1}),)),
        {"graph.D13"},
    ),
    "a reference to an attribute that the function does not have": (
        calling(function(replace(BODY, attributes={"k": Reference("q")}))),
        {"graph.D13"},
    ),
    "a reference outside of functions": (
        replace(GOOD, nodes=(replace(GOOD.nodes[0], attributes={"k": Reference("q")}),)),
        {"graph.D13", "general.R5"},
    ),
    "an attribute that the call leaves out": (calling(function(BODY, attributes=("k",))), set()),
    "a default that the call overrides": (
        calling(function(BODY, defaults={"k": 1}), calls=(replace(CALL, attributes={"k": 1}),)),
        {"graph.D10"},
    ),
    "exactly the attributes": (
        calling(function(BODY, attributes=("k",)), calls=(replace(CALL, attributes={"k": 1}),)),
        set(),
    ),
    # The size is bounded.
    "calls that lie deepest": (chain_of_functions(64), set()),
    "calls that lie deeper": (chain_of_functions(65), {"graph.D14"}),
    # Data is there.
    "data that cannot be read": (
        replace(GOOD, constants=(LO, Constant("hi", tensor_type("float[]"), problem="gone"))),
        {"graph.D15"},
    ),
    "data that is missing for no reason": (
        replace(GOOD, constants=(LO, Constant("hi", tensor_type("float[]")))),
        {"graph.D15"},
    ),
    "data of a foreign type": (
        replace(GOOD, constants=(LO, Constant("hi", tensor_type("float8[]")))),
        {"general.R3"},
    ),
    "data of an open shape": (
        replace(GOOD, constants=(LO, Constant("hi", tensor_type("float[n]")))),
        {"general.R2", "clip.max.D2"},
    ),
    "sparse data": (
        replace(GOOD, constants=(LO, Constant("hi", tensor_type("sparse float[3]")))),
        {"general.R4"},
    ),
    # Tensors are small.
    "the largest input": (made(f"float[{LARGE - 1}]"), set()),
    "an input that is too large": (made(f"float[2,{LARGE // 2}]"), {"graph.D16"}),
    "an empty input with sizes that are too large": (made(f"float[0,{LARGE}]"), {"graph.D16"}),
    "as many axes as there can be": (made(f"float[{','.join('1' * 64)}]"), set()),
    "too many axes": (made(f"float[{','.join('1' * 65)}]"), {"graph.D16"}),
    "an initializer that is too large": (
        replace(GOOD, constants=(LO, HI, Constant("big", tensor_type(f"sparse float[{LARGE}]")))),
        {"graph.D16", "general.R4"},
    ),
    "an initializer too large to be read": (
        replace(GOOD, constants=(LO, HI, Constant("big", tensor_type(f"float[{LARGE}]"), problem="large"))),
        {"graph.D16"},
    ),
    # Nodes have names of their own.
    "two nodes of one name": (
        graph([replace(TO_T, name="n"), replace(FROM_T, name="n")], values=T),
        {"graph.D17"},
    ),
    "two nodes of one name in a function": (
        calling(
            function(node("Clip", "a l h", "t", name="n"), node("Clip", "t l h", "b", name="n"), values=T)
        ),
        {"graph.D17"},
    ),
    "one name in the graph and at a node of a function": (
        calling(function(replace(BODY, name="n")), calls=(replace(CALL, name="n"),)),
        set(),
    ),
    "a node named like a tensor": (named(name="x"), set()),
    # Names can be printed.
    "a control character in a tensor's name": (
        graph([node("Clip", "\x1b[2J lo hi", "y")], inputs=(Value("\x1b[2J", tensor_type("float[2,3]")),)),
        {"graph.D18"},
    ),
    "a line break in an output": (
        graph(
            [Node("Clip", ("x", "lo", "hi"), ("y\n",), version=13)],
            (Value("y\n", tensor_type("float[2,3]")),),
        ),
        {"graph.D18"},
    ),
    "text that runs backwards": (named(name="\u202en"), {"graph.D18"}),
    "a name that is no UTF-8": (named(name="\udc80"), {"graph.D18"}),
    "an invisible blank": (named(name="a\u00a0b"), {"graph.D18"}),
    "letters of any language": (named(name="Schicht ä 層"), set()),
    "an operator without a name": (named(operator=""), {"graph.D6", "graph.D18"}),
    "a control character in a domain": (
        graph([replace(CLIP, domain="\a")], opsets=(*OPSETS, ("\a", 1))),
        {"graph.D6", "graph.D18"},
    ),
    "a control character in an unused domain": (replace(GOOD, opsets=(*OPSETS, ("\a", 1))), {"graph.D18"}),
    "a control character in an overload": (named(overload="\a"), {"graph.D6", "graph.D18"}),
    "a control character in an attribute": (named(attributes={"\a": 1}), {"graph.D18", "general.R5"}),
    "an attribute without a name": (named(attributes={"": 1}), {"graph.D18", "general.R5"}),
    "a control character in the graph's name": (replace(GOOD, name="\a"), {"graph.D18"}),
    "a graph without a name": (replace(GOOD, name=""), set()),
    "an input without a name": (
        replace(GOOD, inputs=(*GOOD.inputs, Value("", tensor_type("float[]")))),
        {"graph.D18"},
    ),
    "an initializer without a name": (replace(GOOD, constants=(LO, HI, scalar("", 1.0))), {"graph.D18"}),
    "an output without a name": (
        replace(GOOD, outputs=(*GOOD.outputs, Value("", tensor_type("float[]")))),
        {"graph.D18"},
    ),
    "a function without a name": (
        calling(function(BODY, name=""), calls=(replace(CALL, operator=""),)),
        {"graph.D18"},
    ),
    "a control character in a function's name": (
        replace(GOOD, functions=(function(BODY, name="\a"),)),
        {"graph.D18"},
    ),
    "a control character in a function's domain": (
        replace(GOOD, functions=(function(BODY, domain="\a"),)),
        {"graph.D18"},
    ),
    "a control character in a function's overload": (
        replace(GOOD, functions=(function(BODY, overload="\a"),)),
        {"graph.D18"},
    ),
    "a control character in a function's attribute": (
        replace(GOOD, functions=(function(BODY, attributes=("\a",)),)),
        {"graph.D18"},
    ),
    "a control character in a function's default": (
        replace(GOOD, functions=(function(BODY, defaults={"\a": 1}),)),
        {"graph.D10", "graph.D18"},
    ),
    "a control character in a function's input": (
        calling(function(node("Clip", "\a l h", "b"), inputs=("\a", "l", "h"))),
        {"graph.D18"},
    ),
    # Attributes are written once.
    "a repeated attribute in a function": (
        calling(function(replace(BODY, attributes={"k": 1}, repeated=("k",)))),
        {"graph.D19", "general.R5"},
    ),
    # Nothing else.
    "two foreign parts": (replace(GOOD, extras=("training_info", "configuration")), {"graph.D20"}),
    # What nodes and tensors break, seen from a model.
    "a tensor without a type": (graph([TO_T, FROM_T]), {"general.R2"}),
    "a tensor with an open size": (graph([TO_T, FROM_T], values=values(t="float[n,3]")), {"general.R2"}),
    "a tensor of a foreign type": (made("float8[2,3]"), {"general.R3"}),
    "a sparse tensor": (replace(GOOD, inputs=values(x="sparse float[2,3]")), {"general.R4"}),
    "a required operand that is absent": (
        graph([Node("Clip", ("", "lo", "hi"), ("y",), version=13)]),
        {"general.R2"},
    ),
    "an operand too many": (graph([node("Clip", "x lo hi hi", "y")]), {"general.R5"}),
    "an output too many": (
        replace(graph([node("Clip", "x lo hi", "y z")]), values=values(z="float[]")),
        {"general.R5"},
    ),
    "a missing bound": (graph([node("Clip", "x lo", "y")]), {"clip.max.D1"}),
    "an absent bound": (graph([Node("Clip", ("x", "", "hi"), ("y",), version=13)]), {"clip.min.D1"}),
    "a mode of evaluation": (
        conv({"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"}, accumulate="separate"),
        {"general.R5"},
    ),
    "a reference outside a function": (
        conv({"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"}, strides=Reference("s")),
        {"conv.strides.C1", "graph.D13"},
    ),
    "axes of an image denoted in part": (
        replace(
            IMAGE, inputs=(Value("X", TensorType(DType.FLOAT, (1, 1, 4, 4), denotation=PARTLY)), *KERNEL)
        ),
        {"conv.X.C4"},
    ),
    "denoted axes of an image": (
        conv(
            {
                "X": "float[1,1,4,4] as DATA_BATCH,DATA_FEATURE,DATA_CHANNEL,DATA_FEATURE",
                "W": "float[1,1,3,3]",
            }
        ),
        {"conv.X.C4"},
    ),
}


@for_each("case", CASES)
def test_a_model_breaks_exactly_these_rules(case: str) -> None:
    checked, expected = CASES[case]
    assert broken(checked) == expected


def kernel(denotation: str) -> Graph:
    """A Conv whose kernel is an initializer with denoted axes."""
    weights = Constant("W", tensor_type("float[1,1,3,3]"), np.zeros((1, 1, 3, 3), np.float32))
    plain = conv({"X": "float[1,1,4,4]"}, (weights,))
    return replace(plain, values=values(W=f"float[1,1,3,3] as {denotation}"))


def test_axes_of_an_initializer_are_denoted_where_its_type_is_written_again() -> None:
    assert broken(kernel("FILTER_IN_CHANNEL,FILTER_OUT_CHANNEL,FILTER_SPATIAL,FILTER_SPATIAL")) == {
        "conv.W.C3"
    }
    assert broken(kernel("FILTER_OUT_CHANNEL,FILTER_IN_CHANNEL,FILTER_SPATIAL,FILTER_SPATIAL")) == set()


def expanding(shape: Any, output: str) -> Graph:
    """An Expand to a constant shape."""
    held = np.array(shape, np.int64)
    target = Constant("s", TensorType(DType.INT64, held.shape), held)
    return graph(
        [node("Expand", "x s", "y")], values(y=output), inputs=values(x="float[3]"), constants=(target,)
    )


def test_a_constant_shape_is_seen_by_the_rules_as_far_as_they_need_it() -> None:
    ones = [1] * 64
    assert broken(expanding([*ones, 3], f"float[{','.join('1' * 64)},3]")) == {"expand.shape.D4"}
    assert broken(expanding([*ones[1:], 3], f"float[{','.join('1' * 63)},3]")) == set()
    assert broken(expanding([[2, 3]], "float[2,3]")) == {"expand.shape.D1"}
    far = expanding([1] * 1000, "float[1]")
    call = node_call(EXPAND, far.nodes[0], far.types, far.data)
    assert call.constants == {"shape": (1,) * 65}


def test_only_constants_that_decide_a_shape_are_part_of_a_call() -> None:
    bias = Constant("B", tensor_type("float[1]"), np.zeros(1, np.float32))
    biased = replace(IMAGE, nodes=(replace(IMAGE.nodes[0], inputs=("X", "W", "B")),), constants=(bias,))
    assert broken(biased) == set()
    call = node_call(CONV, biased.nodes[0], biased.types, biased.data)
    assert call.constants == {}
    assert {name: str(kind) for name, kind in call.inputs.items()} == {
        "X": "float[1,1,4,4]",
        "W": "float[1,1,3,3]",
        "B": "float[1]",
    }


def test_the_rules_of_an_operator_are_not_those_of_its_namesakes() -> None:
    namesake = graph([node("Clip", "x", "y", domain="other")], opsets=(*OPSETS, ("other", 1)))
    assert broken(namesake) == {"graph.D6"}


# ONNX marks these as not deterministic for the graphs that they hold; the body of AffineGrid holds an If.
HOLDERS = {"If", "Loop", "Scan", "SequenceMap", "AffineGrid"}
DRAWING = {
    *("Bernoulli", "Dropout", "Multinomial"),
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
}


def test_graph_d7_refuses_every_operator_that_draws_numbers_and_no_other() -> None:
    schemas = [schema for schema in defs.get_all_schemas_with_history() if schema.domain == ""]
    marked = defs.OpSchema.NodeDeterminism.NonDeterministic
    determinism = attrgetter("node_determinism")  # its stubs do not have it
    assert {schema.name for schema in schemas if determinism(schema) == marked} == DRAWING | HOLDERS
    for name in {schema.name for schema in schemas}:
        # A Dropout whose third input is false or absent drops nothing; here it is whatever `x` is.
        assert ("graph.D7" in broken(graph([node(name, "x x x", "y")]))) == (name in DRAWING)


def test_a_dropout_for_inference_is_outside_the_profile_and_not_random() -> None:
    def rule(inputs: str, version: int | None = 13, constants: tuple[Constant, ...] = (), **more: Any) -> str:
        dropout = replace(node("Dropout", inputs, "y", **more), version=version)
        (found,) = broken(graph([*making, dropout], constants=(LO, *constants))) & {"graph.D6", "graph.D7"}
        return found

    making: list[Node] = []
    no, yes = (Constant("t", tensor_type("bool[]"), np.array(value)) for value in (False, True))
    lists = Constant("t", tensor_type("bool[2]"), np.zeros(2, bool))
    assert (rule("x"), rule("x lo"), rule("x", version=None), rule("x", version=7)) == ("graph.D6",) * 4
    assert (rule("x lo t", constants=(no,)), rule("x lo t", constants=(yes,))) == ("graph.D6", "graph.D7")
    assert (rule("x lo t", constants=(lists,)), rule("x lo x")) == ("graph.D7", "graph.D7")
    # Version 6 trains unless told otherwise.
    assert (rule("x", version=6), rule("x", version=6, attributes={"is_test": 1})) == ("graph.D7", "graph.D6")


def test_whether_a_dropout_trains_may_stand_in_a_constant_node_and_not_in_a_default() -> None:
    for value, expected in ((False, "graph.D6"), (True, "graph.D7")):
        held = Constant("", tensor_type("bool[]"), np.array(value))
        nodes = [node("Constant", "", "t", attributes={"value": held}), node("Dropout", "x lo t", "y")]
        found = [finding.rule for finding in check_graph(graph(nodes)) if finding.operator == "Dropout"]
        assert found == [expected]
        body = [replace(nodes[0]), node("Dropout", "a l t", "b")]
        assert (expected == "graph.D7") == ("graph.D7" in broken(calling(function(*body))))
    inputs = values(x="float[2,3]", t="bool[]")
    default = Constant("t", tensor_type("bool[]"), np.array(False))
    given = graph([node("Dropout", "x lo t", "y")], inputs=inputs, constants=(LO, default))
    assert {"graph.D7", "graph.D10"} <= broken(given)
