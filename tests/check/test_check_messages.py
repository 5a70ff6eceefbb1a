"""How the rules on graphs say what is wrong and where."""

from dataclasses import replace

import pytest
from tests.check.support import (
    ABC,
    BODY,
    CALL,
    CIRCLE,
    CLIP,
    CONSTANT,
    FROM_T,
    HI,
    LO,
    LOOP,
    OTHER_DOMAIN,
    OUT,
    THROUGH,
    TO_T,
    TWO,
    T,
    broken,
    calling,
    chain_of_functions,
    conv,
    function,
    named,
    places,
    shown,
)

from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Graph, Node, Opaque, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators import GRAPH_RULES
from sonnx.operators.graph.examples import GOOD, OPSETS, graph, node, values
from sonnx.report.text import finding_text

pytestmark = pytest.mark.measured


def test_a_finding_of_a_graph_reads_like_any_other() -> None:
    looped = replace(graph([node("Clip", "y lo hi", "y", name="limit")]), source="net.onnx")
    (finding,) = check_graph(looped)
    assert finding_text(finding) == (
        "error[graph.D2]: No node may need its own output, directly or through other nodes\n"
        "  --> net.onnx: node 0 `limit` (Clip)\n"
        "   nodes   = [0]   each needs the one before, the first the last\n"
        "   tensors = 'y'\n"
        "  help: take one of these inputs from elsewhere\n"
        "  more: sonnx explain graph.D2"
    )
    assert finding.operator == "Clip"


def test_a_second_definition_is_shown_with_the_first() -> None:
    assert shown(graph(THROUGH, inputs=TWO), "graph.D1") == [
        (("`z`", "output of node 0", ""), ("defined before", "input", ""))
    ]
    three = graph([CLIP, CLIP, CLIP])
    assert places(three, "graph.D1") == ["node 1 (Clip)", "node 2 (Clip)"]
    assert {evidence[1] for evidence in shown(three, "graph.D1")} == {
        ("defined before", "output of node 0", "")
    }
    assert shown(replace(GOOD, outputs=GOOD.outputs * 3), "graph.D1") == [
        (("`y`", "output", "listed 3 times"),)
    ]
    doubled = replace(GOOD, inputs=values(x="float[2,3]", lo="float[]"), constants=(LO, LO, HI))
    assert shown(doubled, "graph.D1") == [(("`lo`", "initializer", "written 2 times"),)]
    assert places(doubled, "graph.D1") == ["initializer `lo`"]
    assert shown(replace(GOOD, constants=(LO, HI, LO)), "graph.D1") == [
        (("`lo`", "initializer", ""), ("defined before", "initializer", ""))
    ]


def test_a_cycle_is_named_with_its_nodes_and_the_tensors_between_them() -> None:
    side = Node("Clip", ("b", "lo", "hi"), ("side", "c"), version=13)
    ring = graph([CLIP, LOOP[0], LOOP[1], side, node("Clip", "side lo hi", "z")], values=ABC)
    ((nodes, tensors),) = shown(ring, "graph.D2")
    assert nodes in [
        (("nodes"), text, "each needs the one before, the first the last")
        for text in ("[1, 2, 3]", "[2, 3, 1]", "[3, 1, 2]")
    ]
    assert sorted(tensors[1].split(", ")) == ["'a'", "'b'", "'c'"]
    assert places(ring, "graph.D2") == ["node 1 (Clip)"]


def test_an_absent_name_is_no_tensor_of_a_cycle() -> None:
    loop = graph([Node("Clip", ("a", "", ""), ("", "a"), version=13)])
    ((_, tensors),) = shown(loop, "graph.D2")
    assert tensors == ("tensors", "'a'", "")


def test_every_cycle_of_several_is_named() -> None:
    loops = [node("Clip", f"{name} lo hi", name) for name in ("a", "b", "y")]
    assert places(graph(loops, values=ABC), "graph.D2") == ["node 0 (Clip)", "node 1 (Clip)", "node 2 (Clip)"]


def test_an_undefined_tensor_is_named_once_at_each_node_that_takes_it() -> None:
    taken = graph([node("Where", "c c c", "y"), node("Clip", "d lo hi", "z"), node("Clip", "c lo hi", "u")])
    assert places(taken, "graph.D3") == ["node 0 (Where)", "node 1 (Clip)", "node 2 (Clip)"]
    assert [evidence[0][0] for evidence in shown(taken, "graph.D3")] == ["`c`", "`d`", "`c`"]
    assert places(replace(GOOD, outputs=()), "graph.D3") == ["the model"]
    twice = replace(GOOD, outputs=(*OUT, *values(z="float[]"), *values(z="float[]")))
    assert places(twice, "graph.D3") == ["output `z`"]


def test_every_node_of_a_dead_chain_is_named() -> None:
    chain = [node("Clip", "x lo hi", "a"), node("Clip", "a lo hi", "b"), CLIP, node("Clip", "b lo hi", "c")]
    assert places(graph(chain, values=ABC), "graph.D4") == [f"node {index} (Clip)" for index in (0, 1, 3)]
    two = graph([CLIP, node("Clip", "x lo hi", "a b")])
    assert shown(two, "graph.D4") == [(("outputs", "'a', 'b'", "nothing depends on it"),)]
    assert shown(graph([CLIP, node("Clip", "x lo hi", "")]), "graph.D4") == [
        (("outputs", "none", "nothing depends on it"),)
    ]


def test_an_unsorted_node_is_shown_with_the_later_ones_that_it_needs() -> None:
    reverse = [node("Clip", "b c c", "y"), node("Clip", "a lo hi", "b"), node("Clip", "x lo hi", "a")]
    last = node("Clip", "x lo hi", "c")
    unsorted = graph([*reverse, last], values=ABC)
    assert shown(unsorted, "graph.D5") == [
        (("needs nodes", "[1, 3]", "listed later"),),
        (("needs nodes", "[2]", "listed later"),),
    ]


def test_advice_on_an_unknown_operator_tells_what_says_the_same_if_anything_does() -> None:
    (finding,) = check_graph(graph([node("Unheard", "x", "y")]))
    nothing = "the profile has nothing in its place: while the model needs it, it cannot conform"
    assert finding.help == nothing
    constant = check_graph(CONSTANT)
    assert [f.help for f in constant] == ["make it an initializer; `sonnx normalize` does"]
    assert shown(OTHER_DOMAIN, "graph.D6") == [(("operator", "other.Clip", ""),)]
    assert shown(named(overload="2"), "graph.D6") == [(("operator", "Clip.2", ""),)]


def test_only_the_attributes_that_are_graphs_are_shown() -> None:
    mixed = {"body": Opaque("graph"), "bodies": Opaque("graphs"), "kind": Opaque("type_proto"), "axis": 1}
    assert shown(named(operator="Scan", attributes=mixed), "graph.D8") == [
        (("attributes", "'body', 'bodies'", "graphs"),)
    ]


def test_versions_are_shown_with_what_was_expected() -> None:
    assert shown(replace(GOOD, opsets=()), "graph.D9") == [(("`ai.onnx`", "imported 0 times", ""),)]
    assert shown(replace(GOOD, opsets=OPSETS * 3), "graph.D9") == [(("`ai.onnx`", "imported 3 times", ""),)]
    assert shown(replace(GOOD, opsets=(("", 12),)), "graph.D9") == [(("ai.onnx", "version 12", ""),)]
    (unknown,) = check_graph(named(version=None))
    assert [(v.name, v.value, v.note) for v in unknown.values] == [
        ("version", "unknown", "of Clip in operator set 22")
    ]
    assert unknown.help == "use an operator set with version 13 of Clip"
    image = conv({"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"})
    (old,) = check_graph(replace(image, nodes=(replace(image.nodes[0], version=1),)))
    assert old.help == "use an operator set with version 11 or 22 of Conv"
    assert old.values[0].value == "1"


def test_a_version_is_asked_only_of_operators_of_onnxs_own_domain() -> None:
    # A function of the model has no version of ONNX's, whatever its name.
    called = calling(function(BODY, name="Clip"), calls=(replace(CALL, operator="Clip"),))
    assert broken(called) == set()


def test_disagreeing_types_are_shown_side_by_side_with_where_they_stand() -> None:
    twice = replace(GOOD, values=values(x="double[2,3]", lo="float[1]"))
    assert shown(twice, "graph.D11") == [
        (("input", "float[2,3]", ""), ("tensor", "double[2,3]", "")),
        (("initializer", "float[]", ""), ("tensor", "float[1]", "")),
    ]
    assert places(twice, "graph.D11") == ["tensor `x`", "tensor `lo`"]
    claimed = calling(function(BODY, values=values(b="float[9]")))
    assert places(claimed, "graph.D11") == ["node 0 (F), tensor `b`"]


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("float", "float[2,3]", "float[3,2]"),
        ("float[2,3]", "float", "float[3,2]"),
        ("float[2,?]", "float[?,3]", "float[2,4]"),
        ("float[2,?]", "float[?,3]", "float[3,3]"),
        ("?[2,3]", "float[2,3]", "double[2,3]"),
        ("?[2,3]", "float8[2,3]", "float9[2,3]"),
        ("float8[2,3]", "?[2,3]", "float9[2,3]"),
        ("float[n,3]", "float[?,3]", "float[m,3]"),
        ("float[2,3]", "float[2,3] as A,B", "float[2,3] as A,C"),
        ("float[2,3] as A,B", "float[2,3]", "float[2,3] as A,C"),
    ],
)
def test_all_that_was_written_before_counts(first: str, second: str, third: str) -> None:
    # An output that is an input is written in three places.
    three = replace(
        GOOD, inputs=values(x=first), values=values(x=second), outputs=(*GOOD.outputs, *values(x=third))
    )
    assert places(three, "graph.D11") == ["output `x`"]
    assert places(replace(three, outputs=(*GOOD.outputs, *values(x=second))), "graph.D11") == []


def test_a_long_type_is_cut() -> None:
    long = tensor_type(f"float[{','.join(['12345678'] * 60)}]")
    twice = replace(GOOD, values=(Value("x", long),))
    ((_, (_, text, _)),) = shown(twice, "graph.D11")
    assert text == f"{str(long)[:200]}..."


def test_recursion_is_shown_with_the_functions_on_the_circle() -> None:
    assert shown(CIRCLE, "graph.D12") in [
        [(("functions", names, "each is called by the next, the last by the first"),)]
        for names in ("'F', 'G'", "'G', 'F'")
    ]


def test_a_recursive_model_is_still_judged_by_the_other_rules_on_graphs() -> None:
    assert broken(replace(CIRCLE, extras=("training_info",))) == {"graph.D12", "graph.D20"}


def test_a_call_is_shown_with_what_does_not_fit() -> None:
    wide = replace(CALL, inputs=("x", "lo", "hi", "x"), outputs=("y", "z"), attributes={"u": 1, "k": 2})
    asked = calling(function(BODY, attributes=("k", "m")), calls=(wide,))
    assert shown(asked, "graph.D13") == [
        (("inputs", "4", "`F` has 3"),),
        (("outputs", "2", "`F` has 1"),),
        (("attributes", "`u`", "unknown"),),
    ]
    assert places(asked, "graph.D13") == ["node 0 (F)"] * 3


def test_a_call_inside_a_function_is_judged_too() -> None:
    inner = function(replace(CALL, operator="G", inputs=tuple("alha"), outputs=("b",)))
    nested = calling(inner, function(BODY, name="G"))
    assert places(nested, "graph.D13") == ["function `F`, node 0 (G)"]


def test_of_many_wrong_attributes_some_are_shown() -> None:
    attributes = {f"k{index}": 1 for index in range(100_000)}
    many = calling(function(BODY), calls=(replace(CALL, attributes=attributes),))
    ((only,),) = shown(many, "graph.D13")
    assert only[1] == ", ".join(f"`k{index}`" for index in range(5))


def test_a_size_beyond_the_limit_is_said_without_a_number() -> None:
    (finding,) = check_graph(next(rule for rule in GRAPH_RULES if rule.identifier == "graph.D14").failing)
    assert [(v.name, v.value, v.note) for v in finding.values] == [
        ("nodes", "more", "at most 100000"),
        ("calls in calls", "41", "at most 64"),
    ]
    (deep,) = check_graph(chain_of_functions(70))
    assert [(v.name, v.value) for v in deep.values] == [("nodes", "1"), ("calls in calls", "70")]


def test_a_size_is_judged_by_the_nodes_after_inlining() -> None:
    (judge,) = (rule.predicate for rule in GRAPH_RULES if rule.identifier == "graph.D14")
    assert list(judge(graph([CLIP] * 100_000))) == []
    assert len(list(judge(graph([CLIP] * 100_001)))) == 1


def test_unreadable_data_is_shown_with_its_problem() -> None:
    gone = replace(GOOD, constants=(LO, Constant("hi", tensor_type("float[]"), problem="gone")))
    assert shown(gone, "graph.D15") == [(("`hi`", "float[]", ""), ("problem", "gone", ""))]
    assert places(gone, "graph.D15") == ["initializer `hi`"]


def test_a_name_that_cannot_be_printed_is_shown_as_an_escape_and_cut() -> None:
    assert shown(named(name="\x1b[2J"), "graph.D18") == [(("node", r"'\x1b[2J'", "unprintable"),)]
    ((only,),) = shown(named(name="\x1b" * 1000), "graph.D18")
    assert len(only[1]) < 400
    assert shown(named(operator=""), "graph.D18") == [(("operator", "''", "empty"),)]
    output = (Value("y\n", tensor_type("float[2,3]")),)
    broken_line = graph([Node("Clip", ("x", "lo", "hi"), ("y\n",), version=13)], output)
    assert places(broken_line, "graph.D18") == ["node 0 (Clip)"]


def test_a_name_is_shown_whole_up_to_eighty_characters() -> None:
    for length, text in ((80, f"`{'n' * 80}`"), (81, f"`{'n' * 80}...`")):
        taken = graph([Node("Clip", ("n" * length, "lo", "hi"), ("y",), version=13)])
        assert shown(taken, "graph.D3") == [((text, "not defined", ""),)]


def test_long_names_are_cut_in_evidence() -> None:
    long = "n" * 100_000
    wide = [replace(TO_T, name=long), replace(FROM_T, name=long, operator=long, domain=long)]
    checked = graph(
        [*wide, replace(CLIP, outputs=(long,)), replace(CLIP, inputs=(long, long, long))], values=T
    )
    found = [finding for finding in check_graph(checked) if finding.rule.startswith("graph.")]
    evidence = [value for finding in found for value in finding.values]
    assert evidence
    assert max(len(value.name) + len(value.value) + len(value.note) for value in evidence) < 400


def test_a_node_of_a_function_is_located_in_the_function_by_graph_rules_and_in_the_call_by_others() -> None:
    body = function(node("Clip", "a nowhere", "b", name="n"))
    twice = calling(body, calls=(CALL, replace(CALL, outputs=("z",), name="again")))
    twice = replace(twice, outputs=values(y="float[2,3]", z="float[2,3]"))
    assert places(twice, "graph.D3") == ["function `F`, node 0 `n` (Clip)"]
    assert places(twice, "clip.max.D1") == [
        "node 0 (F), node 0 `n` (Clip)",
        "node 1 `again` (F), node 0 `n` (Clip)",
    ]


def test_locations_name_the_file() -> None:
    for rule in GRAPH_RULES:
        for finding in check_graph(replace(rule.failing, source="net.onnx")):
            assert finding.location is not None
            assert finding.location.file == "net.onnx"


def test_advice_on_a_tensor_tells_what_normalize_does_with_it() -> None:
    def advice(checked: Graph) -> list[str]:
        return [finding.help for finding in check_graph(checked)]

    write_sizes = "write the sizes; `sonnx normalize --dim NAME=SIZE` fixes open ones"
    assert advice(replace(GOOD, inputs=values(x="float[n,3]"))) == [write_sizes]
    assert advice(graph([TO_T, FROM_T])) == ["write the type; `sonnx normalize` infers it"]
    for kind in ("float8[2,3]", "float8[]"):
        assert advice(replace(GOOD, inputs=values(x=kind))) == ["convert it in the model that exports it"]
    assert advice(replace(GOOD, inputs=values(x="sparse float[2,3]"))) == ["make the tensor dense"]


def test_a_finding_names_an_operator_only_where_it_is_about_a_node() -> None:
    (at_function,) = check_graph(calling(function(BODY, defaults={"k": 1})))
    assert at_function.operator == ""
    (at_node,) = check_graph(named(overload="2"))
    assert at_node.operator == "Clip"


def test_surplus_operands_are_named_by_their_position_even_where_they_are_empty() -> None:
    surplus = graph([Node("Clip", ("x", "lo", "hi", "", "hi"), ("y", "z"), version=13)])
    assert shown(surplus, "general.R5") == [
        (("input 3", "not known", ""), ("input 4", "not known", ""), ("output 1", "not known", ""))
    ]


def test_of_many_surplus_operands_twenty_are_shown_and_the_others_counted() -> None:
    for number, last in ((20, ("input 22", "not known", "")), (23, ("and", "3 more", ""))):
        inputs = ("x", "lo", "hi", *("hi",) * number)
        (evidence,) = shown(graph([Node("Clip", inputs, ("y",), version=13)]), "general.R5")
        assert len(evidence) == min(number, 21)
        assert evidence[19] == ("input 22", "not known", "")
        assert evidence[-1] == last


def test_a_default_written_twice_is_named_at_its_function() -> None:
    doubled = calling(function(BODY, defaults={"k": 1, "m": 2}, repeated=("k", "m")))
    assert broken(doubled) == {"graph.D10", "graph.D19"}
    assert shown(doubled, "graph.D19") == [
        (("`k`", "with more than one default", ""),),
        (("`m`", "with more than one default", ""),),
    ]
    assert places(doubled, "graph.D19") == ["function `F`"] * 2
