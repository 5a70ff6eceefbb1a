"""Constants for which an operator is not defined are found by the check (D-ALL-11)."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from onnx import ModelProto
from tests.native.support import Array, constant, value
from tests.normalize.support import proto, read, with_arrays

import sonnx
from sonnx.derive.constants import met_in_constants
from sonnx.model.graph import Graph, Node
from sonnx.normalize.passes import normalize_graph
from sonnx.operators import operator
from sonnx.terms.term import Term, Truth
from sonnx.terms.tracing import Domain
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured


def quotient(divisors: Array, dtype: str = "int32") -> Graph:
    """A by a constant."""
    shape = divisors.shape
    return Graph(
        "example",
        (value("a", dtype, shape),),
        (value("y", dtype, shape),),
        (Node("Div", ("a", "b"), ("y",), {}, "halve", version=14),),
        (constant("b", divisors),),
        opsets=(("", 22),),
    )


@pytest.mark.parametrize(
    ("divisors", "shown"),
    [
        (np.array([[1, 2], [0, 0]], np.int32), "B[1,0]"),
        (np.array(0, np.int32), "B"),
        (np.array([1, 1, 0], np.int32), "B[2]"),
    ],
)
def test_the_first_constant_divisor_0_is_a_finding(divisors: Array, shown: str) -> None:
    (found,) = sonnx.Graph.of(quotient(divisors)).check()
    assert found.rule == "div.B.D8"
    assert [(each.name, each.value) for each in found.values] == [(shown, "0")]
    assert found.location is not None
    assert (found.location.index, found.location.name) == (0, "halve")


@pytest.mark.parametrize("count", [0, 3])
def test_other_constants_are_none(count: int) -> None:
    assert sonnx.Graph.of(quotient(np.full((count,), -1, np.int32))).check() == ()
    assert sonnx.Graph.of(quotient(np.zeros((count,), np.float32), "float")).check() == ()


def test_a_divisor_of_another_type_is_left_to_the_rule_on_types() -> None:
    found = sonnx.Graph.of(quotient(np.array([0.0], np.float32), "int32")).check()
    assert "div.B.D8" not in {each.rule for each in found}


def between(A: Term, B: Term) -> Truth:
    return A < B


def of_two() -> Operator:
    divided = operator("div")
    assert divided.definition is not None
    return replace(divided, definition=replace(divided.definition, domain=Domain(between, "A is below B")))


@pytest.mark.parametrize(
    ("a", "b", "met"),
    [
        ([1, 3], [2, 3], (("A[1]", "3"), ("B[1]", "3"))),
        ([1, 2], [2, 3], ()),
        ([1], [0, 0], ()),  # a rule on shapes says why
    ],
)
def test_where_a_domain_hangs_on_two_operands_both_are_shown(
    a: Sequence[int], b: Sequence[int], met: object
) -> None:
    arrays = {"A": np.array(a, np.int32), "B": np.array(b, np.int32)}
    assert met_in_constants(of_two(), arrays) == met
    assert met_in_constants(of_two(), {"B": arrays["B"]}) == ()
    assert met_in_constants(operator("mul"), arrays) == ()
    assert met_in_constants(of_two(), {**arrays, "B": arrays["B"].astype(np.int64)}) == ()


def expanded(sizes: str, divisors: Array, times: int = 1) -> Graph:
    """A by a constant that one Expand repeats, or several after one another."""
    names = ["b", *(f"b{number}" for number in range(times))]
    nodes = "".join(f"{made} = Expand({taken}, s) " for taken, made in pairwise(names))
    text = f"g (int32{sizes} a) => (int32{sizes} y) {{ {nodes} y = Div(a, {names[-1]}) }}"
    shape = np.array(ast.literal_eval(sizes), np.int64)
    return normalized_graph(with_arrays(proto(text), b=divisors, s=shape))


def normalized_graph(model: ModelProto) -> Graph:
    return normalize_graph(read(model)).graph


@pytest.mark.parametrize("times", [1, 2])
def test_a_constant_that_an_expand_repeats_is_a_constant(times: int) -> None:
    (found,) = sonnx.Graph.of(expanded("[2,3]", np.array([4, 0, 1], np.int32), times)).check()
    assert found.rule == "div.B.D8"
    assert [(each.name, each.value) for each in found.values] == [("B[0,1]", "0")]
    assert sonnx.Graph.of(expanded("[2,3]", np.array([4, -1, 1], np.int32), times)).check() == ()


def test_a_constant_that_is_repeated_no_times_divides_nothing() -> None:
    assert sonnx.Graph.of(expanded("[0,3]", np.zeros((0, 3), np.int32))).check() == ()


def test_normalizing_hides_no_divisor_0() -> None:
    text = "g (int32[2,3] a) => (int32[2,3] y) { y = Div(a, b) }"
    model = with_arrays(proto(text), b=np.array(0, np.int32))
    assert "div.B.D8" in {each.rule for each in sonnx.Graph.of(read(model)).check()}
    assert [each.rule for each in sonnx.Graph.of(normalized_graph(model)).check()] == ["div.B.D8"]


@pytest.mark.parametrize(
    ("divisors", "place"),
    [
        (np.array([[1], [0]], np.int32), "B[0,1,0]"),
        (np.array(0, np.int32), "B[0,0,0]"),
        (np.array([[[1]], [[1]], [[0]], [[2]]], np.int32), "B[2,0,0]"),
    ],
)
def test_an_element_that_is_repeated_is_named_where_it_is_first(divisors: Array, place: str) -> None:
    (found,) = sonnx.Graph.of(expanded("[4,2,3]", divisors)).check()
    assert [(each.name, each.value) for each in found.values] == [(place, "0")]


def test_where_there_is_nothing_to_divide_no_run_stops_at_a_divisor() -> None:
    text = "g (int32[0] a) => (int32[0] y) { y = Div(a, b) }"
    found = sonnx.Graph.of(read(with_arrays(proto(text), b=np.array(0, np.int32)))).check()
    assert "div.B.D8" not in {each.rule for each in found}
