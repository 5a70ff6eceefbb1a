"""Graphs and rules on graphs, as text for people."""

from io import StringIO

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType
from tests.loops import for_each

from sonnx.check.calls import check_call
from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Reference, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators import GRAPH_RULES, call_rules, operator
from sonnx.operators.rulebook import rules
from sonnx.report.graph_text import graph_text
from sonnx.report.rules import explanation, rules_table
from sonnx.report.text import call_text
from sonnx.vocabulary.rule import GraphRule, Rule

NAMES = st.text(st.characters(exclude_categories=()), max_size=8)


def shown(what: RenderableType) -> str:
    console = Console(file=StringIO(), width=110, highlight=False)
    with console.capture() as captured:
        console.print(what)
    return captured.get()


def value(name: str, text: str) -> Value:
    return Value(name, tensor_type(text))


def with_nodes(*nodes: Node, constants: tuple[Constant, ...] = ()) -> list[str]:
    """The lines of a small graph after its header."""
    return graph_text(Graph("g", (), (), nodes, constants)).split("\n")[2:]


def test_a_graph_is_listed_with_tensors_nodes_and_functions() -> None:
    body = Node("Clip", ("a", "l", "h"), ("b",), version=13)
    scale = Node("Scale", ("t",), ("y",), {"factor": 2}, domain="own", overload="fast")
    graph = Graph(
        "example",
        (value("x", "float[2,3]"), value("n", "int64[batch,?]")),
        (value("y", "float[2,3]"),),
        (Node("Clip", ("x", "lo", ""), ("t",), name="limit", version=13), scale),
        (Constant("lo", tensor_type("float[]"), np.array(0.1, np.float32)),),
        (value("t", "float[2,3]"),),
        (
            Function("Scale", "own", ("a",), ("b",), (body,), ("factor",), {"mode": "up"}, (), (("", 22),)),
            Function("Rest", "own", ("a",), ("b",), (), opsets=(("", 13),), values=(value("c", "bool[]"),)),
        ),
        (("", 22),),
        source="net.onnx",
    )
    assert graph_text(graph).split("\n") == [
        "graph example(x: float[2,3], n: int64[batch,?]) -> (y: float[2,3])",
        "  ir_version 8, operator sets ai.onnx 22",
        "  lo: float[] = 0.1",
        "  t: float[2,3]",
        '  t = Clip(x, lo, "")   `limit`, version 13',
        "  y = own.Scale:fast(t; factor=2)",
        '  function own.Scale(a; factor, mode="up") -> (b)',
        "    b = Clip(a, l, h)   version 13",
        "  function own.Rest(a) -> (b)",
        "    operator sets ai.onnx 13",
        "    c: bool[]",
    ]


def test_attributes_are_written_as_in_calls() -> None:
    attributes = {
        "pads": (1, 1),
        "auto_pad": "NOTSET",
        "group": 1,
        "given": Reference("outer"),
        "body": Opaque("graph"),
        "value": Constant("", tensor_type("int8[2]"), np.array([1, -1], np.int8)),
        "lost": Constant("", tensor_type("int8[2]"), problem="gone"),
    }
    assert with_nodes(Node("Conv", ("X",), ("Y",), attributes)) == [
        '  Y = Conv(X; pads=[1, 1], auto_pad="NOTSET", group=1, given=@outer, body=a value of kind graph, '
        "value=int8[2] = [1, -1], lost=int8[2])"
    ]


def test_a_node_shows_outputs_or_none_and_what_is_written_twice() -> None:
    twice = Node("Split", ("x",), ("a", "", "b"), {"axis": 0}, repeated=("axis",))
    assert with_nodes(Node("Print", ("x",), ()), twice) == [
        "  Print(x)",
        '  a, "", b = Split(x; axis=0)   axis written more than once',
    ]


@pytest.mark.parametrize(
    ("kind", "data", "written"),
    [
        ("float[]", np.array(-0.0, np.float32), " = -0.0"),
        ("float[2]", np.array([np.nan, -np.inf], np.float32), " = [nan, -inf]"),
        ("bfloat16[1]", np.array([0.5], ml_dtypes.bfloat16), " = [0.5]"),
        ("int64[2,2]", np.array([[1, 2], [3, 4]]), " = [1, 2, 3, 4]"),
        ("bool[]", np.array(True), " = True"),
        ("string[2]", np.array(["a\x1b", 'b"'], object), ' = ["a\\u001b", "b\\""]'),
        ("float[0]", np.zeros(0, np.float32), " = []"),
        ("int64[8]", np.arange(8), " = [0, 1, 2, 3, 4, 5, 6, 7]"),
        ("int64[9]", np.arange(9), ""),
    ],
)
def test_elements_are_shown_where_they_are_few(
    kind: str, data: np.typing.NDArray[np.generic], written: str
) -> None:
    assert with_nodes(constants=(Constant("c", tensor_type(kind), data),)) == [f"  c: {kind}{written}"]


def test_an_initializer_without_elements_says_why() -> None:
    broken = Constant("a", tensor_type("float[2]"), problem="its file is missing")
    sparse = Constant("b", TensorType(None, (2,), sparse=True))
    assert with_nodes(constants=(broken, sparse)) == [
        "  a: float[2]   (its file is missing)",
        "  b: sparse ?[2]   (no elements)",
    ]


def test_parts_that_the_profile_does_not_have_are_named() -> None:
    graph = Graph("g", (), (), (), extras=("training_info", "configuration"), opsets=(("", 13), ("", 22)))
    assert graph_text(graph).split("\n") == [
        "graph g() -> ()",
        "  ir_version 8, operator sets ai.onnx 13, ai.onnx 22",
        "  with training_info, configuration",
    ]


def test_operator_sets_that_are_missing_are_said_to_be() -> None:
    assert graph_text(Graph("g", (), (), ())).endswith("  ir_version 8, operator sets none")


def test_a_long_graph_is_cut_with_a_count_of_what_is_left_out() -> None:
    scalar = np.array(0.0, np.float32)
    many = range(1000)
    graph = Graph(
        "g",
        tuple(value(f"x{i}", "float[]") for i in many),
        (),
        tuple(Node("Clip", tuple(f"a{i}" for i in many), (f"y{i}",)) for i in many),
        tuple(Constant(f"c{i}", tensor_type("float[]"), scalar) for i in many),
        tuple(value(f"v{i}", "float[]") for i in many),
        tuple(Function(f"F{i}", "own", (), (), (Node("Clip", (), ("b",)),) * 1000) for i in many),
    )
    lines = graph_text(graph).split("\n")
    assert lines[0].startswith("graph g(x0: float[], x1: float[], ")
    assert lines[0].endswith("x15: float[], ... 984 more) -> ()")
    assert lines[2] == "  c0: float[] = 0.0"
    assert lines[25] == "  c23: float[] = 0.0"
    assert lines[26] == "  ... 976 more initializers"
    assert lines[51] == "  ... 976 more tensors"
    assert lines[52].endswith("a14, a15, ... 984 more)")
    assert lines[76] == "  ... 976 more nodes"
    assert lines[77] == "  function own.F0() -> ()"
    assert lines[102] == "    ... 976 more nodes"
    assert lines[-1] == "  ... 997 more functions"
    assert len(lines) == 156  # 2 + 25 + 25 + 25 + 3 * (1 + 25) + 1


def test_a_long_line_is_cut_and_says_so() -> None:
    (line,) = with_nodes(Node("Clip", ("x" * 10**6,), ("y",), {"to": (1,) * 10**6}, name="n" * 10**6))
    assert line.startswith("  y = Clip(xxx")
    assert line.endswith("more characters)")
    assert len(line) < 450


def test_a_long_attribute_is_cut_with_a_count() -> None:
    (line,) = with_nodes(Node("Clip", ("x",), ("y",), {"to": (1,) * 20}))
    assert line == f"  y = Clip(x; to=[{'1, ' * 16}... 4 more])"


@given(NAMES)
def test_nothing_of_a_model_reaches_the_terminal_raw(name: str) -> None:
    node = Node(name, (name,), (name,), {name: name, "a": Reference(name), "b": (name,)}, name, name, name)
    strings = np.array([name], object)
    graph = Graph(
        name,
        (Value(name, TensorType(None, (name,), foreign=name, denotation=(name,))),),
        (value("y", "float[]"),),
        (node, Node("Clip", (), (), {name: 1}, repeated=(name,))),
        (
            Constant(name, tensor_type("string[1]"), strings),
            Constant(name, TensorType(None, None), problem=name),
        ),
        (value(name, "float[]"),),
        (Function(name, name, (name,), (name,), (node,), (name,), {name: name}, opsets=((name, 1),)),),
        ((name, 1),),
        extras=(name,),
    )
    assert all(line.isprintable() for line in graph_text(graph).split("\n"))
    assert graph_text(graph).count("\n") == 9  # no name makes a line of its own


@for_each("rule", GRAPH_RULES, ids=lambda rule: rule.identifier)
def test_the_text_of_a_failing_example_differs_from_its_passing_twin(rule: GraphRule) -> None:
    assert graph_text(rule.failing) != graph_text(rule.passing)


@for_each("rule", GRAPH_RULES, ids=lambda rule: rule.identifier)
def test_a_rule_on_models_is_explained_with_two_models(rule: GraphRule) -> None:
    text = shown(explanation(rule, check_graph(rule.failing)))
    words = " ".join(text.split())
    for part in (
        rule.statement,
        rule.reason,
        f"A model that breaks it {graph_text(rule.failing)} error[{rule.identifier}]",
        f"A model that obeys it {graph_text(rule.passing)}",
    ):
        assert " ".join(part.split()) in words
    assert "\x1b" not in text


@for_each("rule", call_rules(), ids=lambda rule: rule.identifier)
def test_a_rule_on_calls_is_explained_with_two_calls(rule: Rule) -> None:
    text = shown(explanation(rule, check_call(operator(rule.failing.operator), rule.failing)))
    letters = "".join(text.split())  # what is long, such as a shape of many axes, is cut between letters
    for part in (
        f"A call that breaks it {call_text(rule.failing)} error[",
        f"A call that obeys it {call_text(rule.passing)}",
    ):
        assert "".join(part.split()) in letters


def test_the_table_of_rules_lists_rules_of_both_kinds() -> None:
    lines = shown(rules_table(rules())).split("\n")
    listed = [line.split()[0] for line in lines if line and line[0].isalpha()]
    assert listed[1:] == [rule.identifier for rule in rules()]
    assert listed[0] == "rule"
