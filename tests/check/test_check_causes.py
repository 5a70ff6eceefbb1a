"""Which findings follow from others, and what is said of types that nobody can infer."""

from typing import Any

import numpy as np
import pytest
from tests.check.support import HI, LO

from sonnx.check.causes import size_option
from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Graph, Node, Opaque
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.normalize.passes import normalize_graph
from sonnx.operators.graph.examples import OPSETS, graph, node, values
from sonnx.operators.shared.constants import held_constant

pytestmark = pytest.mark.measured

INFERS = "write the type; `sonnx normalize` infers it"
OUTSIDE = "write the type; of what an operator outside the profile makes nobody can infer it"
TO_Y = node("Clip", "t lo hi", "y")


def model(*nodes: Node, x: str = "float[2,3]", **more: Any) -> Graph:
    """Nodes that make `t`, and a Clip that makes `y` of it."""
    given = {"constants": (LO, HI), "inputs": values(x=x)} | more
    return graph([*nodes, TO_Y], values(y=given.pop("y", "float[2,3]")), **given)


def told(checked: Graph, name: str = "t") -> tuple[str, str]:
    """What the finding on a tensor's type says, and from which rule it follows."""
    found = [
        (finding.help, finding.follows)
        for finding in check_graph(checked)
        if finding.rule == "general.R2" and finding.location and finding.location.name == name
    ]
    assert len(found) == 1
    return found[0]


def chain(*operators: str) -> list[Node]:
    """One node after the other from `x` to `t`, with s0, s1 and so on between them."""
    names = ["x", *(f"s{number}" for number in range(len(operators) - 1)), "t"]
    return [
        node(operator, f"{taken} lo hi" if operator == "Clip" else taken, made)
        for operator, taken, made in zip(operators, names[:-1], names[1:], strict=True)
    ]


def test_a_type_that_follows_from_types_is_said_to_be_inferred() -> None:
    assert told(model(*chain("Clip"))) == (INFERS, "")
    assert told(model(*chain("Clip", "Clip"))) == (INFERS, "")


def test_the_type_of_what_any_number_of_operands_make_is_inferred_too() -> None:
    assert told(model(node("Max", "x x", "t"))) == (INFERS, "")


def test_what_an_operator_outside_the_profile_makes_follows_from_the_rule_on_that() -> None:
    assert told(model(*chain("Unheard"))) == (OUTSIDE, "graph.D6")
    assert told(model(node("Bernoulli", "x", "t"))) == (OUTSIDE, "graph.D7")
    branch = node("If", "x", "t", attributes={"then_branch": Opaque("graph")})
    assert told(model(branch)) == (OUTSIDE, "graph.D8")


def test_what_is_made_of_it_follows_from_it_too_and_names_where_it_begins() -> None:
    deep = model(*chain("Unheard", "Clip", "Clip"))
    expected = "write the type; it depends on `s0`, whose type nobody can infer", "graph.D6"
    assert [told(deep, name) for name in ("s1", "t")] == [expected, expected]


def test_a_type_that_is_written_ends_what_follows() -> None:
    typed = model(*chain("Unheard", "Clip"), values=values(s0="float[2,3]"))
    assert told(typed) == (INFERS, "")


def test_constants_become_initializers_and_their_types_follow_from_the_rule_on_that() -> None:
    held = Constant("", tensor_type("float[2,3]"), np.zeros((2, 3), np.float32))
    constant = node("Constant", "", "c", attributes={"value": held})
    checked = model(constant, node("Clip", "c lo hi", "t"))
    assert (told(checked, "c"), told(checked)) == ((INFERS, "graph.D6"), (INFERS, ""))


def test_every_kind_of_constant_node_has_a_type_and_what_is_none_has_none() -> None:
    kinds: dict[str, Any] = {
        "float[]": ("value_float", 1.0),
        "float[2]": ("value_floats", (1.0, 2.0)),
        "int64[]": ("value_int", 3),
        "int64[1]": ("value_ints", (3,)),
        "string[]": ("value_string", "a"),
        "string[0]": ("value_strings", ()),
    }
    for kind, (name, value) in kinds.items():
        held = held_constant(node("Constant", "", "c", attributes={name: value}))
        assert held is not None
        assert (held.name, str(held.type)) == ("c", kind)
    wrong: dict[str, Any] = {
        "value_float": 1,
        "value_floats": 1.0,
        "value_int": True,
        "value_string": "\ud800",
        "sparse_value": Opaque("sparse_tensor"),
        "value": Constant("", tensor_type("float[2]")),
        "other": Constant("", tensor_type("float[]"), np.float32(1)),
    }
    unheld = [node("Constant", "", "c", attributes={name: value}) for name, value in wrong.items()]
    one = {"value_int": 3}
    unheld += [node("Constant", "x", "c", attributes=one), node("Constant", "", "c d", attributes=one)]
    unheld += [node("Constant", "", "c", attributes=one, domain="other"), node("Constant", "", "c")]
    assert [held_constant(each) for each in unheld] == [None] * len(unheld)


def test_an_open_size_of_an_input_is_where_to_begin() -> None:
    advice = "fix the sizes of `x` (`sonnx normalize --dim NAME=SIZE`); the type follows from them"
    assert told(model(*chain("Clip", "Clip"), x="float[n,3]")) == (advice, "general.R2")
    for name, option in (("x", "'x[1]=SIZE'"), ("it's", "'INPUT[AXIS]=SIZE'")):
        assert size_option(name, TensorType(None, ("n", None))) == option
    own = told(model(*chain("Clip"), x="float[n,3]"), "x")
    assert own == ("write the sizes; `sonnx normalize --dim NAME=SIZE` fixes open ones", "")


def test_an_initializer_without_a_type_has_none_to_be_inferred() -> None:
    untyped = Constant("w", TensorType(None, (2,)))
    checked = model(node("Clip", "w lo hi", "t"), constants=(LO, HI, untyped))
    assert told(checked, "w") == ("write the type, and elements of it", "")
    assert told(checked) == ("write the type of `w` first; this one follows from it", "general.R2")


def test_a_tensor_that_is_not_there_has_no_type_to_follow_from() -> None:
    advice = "define `nowhere` first; the type follows from it"
    assert told(model(node("Clip", "nowhere lo hi", "t"))) == (advice, "graph.D3")


def test_what_is_never_made_has_no_type() -> None:
    circle = node("Clip", "b lo hi", "a"), node("Clip", "a lo hi", "b"), node("Clip", "b lo hi", "t")
    advice = "mend the cycle first (graph.D2): no type follows from what is never made"
    assert {told(model(*circle), name) for name in "abt"} == {(advice, "graph.D2")}


def test_a_node_that_breaks_a_rule_makes_nothing_that_could_be_inferred() -> None:
    line = model(node("Conv", "x x", "s"), node("Clip", "s lo hi", "t"), x="float[1,1,5]")
    assert told(line, "s") == (
        "mend what the node breaks that makes it; the type follows from that",
        "conv.X.C1",
    )
    advice = "mend what the node breaks that makes `s`; the type follows from that"
    assert told(line) == (advice, "conv.X.C1")


def test_types_outside_the_profile_are_followed_by_none() -> None:
    broken = "mend what the node breaks that makes it; the type follows from that"
    assert told(model(*chain("Clip"), x="float8e5m2[2,3]")) == (broken, "general.R3")
    assert told(model(*chain("Clip"), x="sparse float[2,3]")) == (broken, "general.R4")
    # A second output that the operator does not have, and operands that it needs.
    assert told(model(Node("Clip", ("x", "lo", "hi"), ("t", "u"), version=13)), "u")[1] == "general.R5"
    assert told(model(Node("Expand", ("x",), ("t",), version=13)))[1] != ""


def test_what_is_written_and_contradicts_is_not_said_to_be_inferred() -> None:
    contradicts = "write the type that follows from the node; this one contradicts it", ""
    for kind in ("double[?,3]", "float[?,4]", "float[?,3,1]"):
        assert told(model(*chain("Clip"), values=values(t=kind))) == contradicts
    assert told(model(*chain("Clip"), values=values(t="float[?,3]"))) == (INFERS, "")


def test_a_name_that_an_input_leaves_open_is_not_replaced() -> None:
    inputs = values(x="float[2,3]", z="float[n]")
    checked = model(*chain("Clip"), values=values(t="float[n,3]"), inputs=inputs)
    assert told(checked) == ("give the size that the model calls `n` one number", "general.R2")


def test_a_name_that_stands_for_two_numbers_is_never_replaced() -> None:
    checked = model(*chain("Clip", "Clip"), values=values(s0="float[k,3]", t="float[2,k]"))
    expected = "give the size that the model calls `k` one number", "general.R2"
    assert told(checked, "s0") == expected
    assert told(checked)[1] == "general.R2"


def test_normalizing_infers_exactly_what_is_said_to_be_inferred() -> None:
    held = Constant("", tensor_type("float[2,3]"), np.zeros((2, 3), np.float32))
    constant = node("Constant", "", "c", attributes={"value": held})
    models = [
        *(
            model(*chain(*names))
            for names in (("Clip",), ("Unheard", "Clip"), ("Clip", "Unheard", "Clip", "Clip"))
        ),
        model(*chain("Clip", "Clip"), x="float[n,3]"),
        model(constant, node("Clip", "c lo hi", "s"), node("Unheard", "s", "t")),
        model(*chain("Clip"), values=values(t="float[?,4]")),
        model(*chain("Clip", "Clip"), values=values(s0="float[k,3]", t="float[2,k]")),
        model(node("Where", "c x x", "t"), inputs=values(x="float[2,3]", c="bool[3]")),
        model(node("Expand", "x s", "t"), inputs=values(x="float[2,3]", s="int64[2]")),
        model(node("Conv", "x x", "t"), x="float[1,1,5]"),
        model(node("Conv", "x x", "t"), x="float[1,1,5,5]", y="float[1,1,1,1]"),
    ]
    complaints = []
    for checked in models:
        before = {
            f.location.name: f.help for f in check_graph(checked) if f.rule == "general.R2" and f.location
        }
        after = [f for f in normalize_graph(checked).findings if f.rule == "general.R2"]
        open_still = {finding.location.name for finding in after if finding.location}
        expected = {name for name, advice in before.items() if advice != INFERS}
        if open_still != expected or any(finding.help == INFERS for finding in after):
            complaints.append((checked.nodes, expected, open_still))
    assert complaints == []


def test_findings_of_other_rules_follow_from_nothing() -> None:
    found = check_graph(model(*chain("Unheard"), opsets=(*OPSETS, *OPSETS)))
    assert {finding.follows for finding in found if finding.rule != "general.R2"} == {""}
