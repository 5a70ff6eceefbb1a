"""Calls of functions as ONNX allows them: its checker and onnxruntime are the witnesses (graph.D13)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto
from tests.check.support import broken
from tests.normalize.support import float32, normalize, proto, read, rules

import sonnx
from sonnx.evaluate.execution import Settings, execute
from sonnx.operators import GRAPH_RULES

CONV = "F <s> (a, b) => (c) { c = Conv <strides: ints = @s> (a, b) }"
PLAIN = "F (a, b) => (c) { c = Conv(a, b) }"
X = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
W = float32([[[[2, -3]]]])


def calling(call: str, *functions: str) -> ModelProto:
    """A call with an image and a kernel."""
    return proto(f"g (float[1,1,5,5] x, float[1,1,1,2] w) => (float[1,1,m,n] y) {{ {call} }}", *functions)


def replacing(model: ModelProto) -> ModelProto:
    """The same with the function under the name of an operator of ONNX."""
    for entry in (*model.functions, *model.graph.node):
        entry.domain = ""
    model.functions[0].name = model.graph.node[0].op_type = "Add"
    return model


@dataclass(frozen=True)
class Case:
    """A model, what ONNX's checker and onnxruntime make of it, and whether the rule is broken."""

    model: ModelProto
    checker: bool
    runtime: bool
    broken: bool


CASES: Mapping[str, Case] = {
    "all attributes": Case(calling("y = own.F<s = [2, 1]>(x, w)", CONV), True, True, False),
    "no attribute": Case(calling("y = own.F(x, w)", CONV), True, True, False),
    "no attribute, which nobody uses": Case(
        calling("y = own.F(x, w)", PLAIN.replace("F (", "F <s> (")), True, True, False
    ),
    "no attribute, passed on to another call": Case(
        calling("y = own.G(x, w)", CONV, "G <t> (a, b) => (c) { c = own.F <s: ints = @t> (a, b) }"),
        *(True, True, False),
    ),
    "fewer inputs": Case(
        calling("y = own.F(x, w)", "F (a, b, d) => (c) { c = Conv(a, b, d) }"), True, True, False
    ),
    # From here on the rule is stricter than both of them, or than one.
    "an unknown attribute": Case(calling("y = own.F<s = [2, 1]>(x, w)", PLAIN), True, True, True),
    "a reference to nothing": Case(
        calling("y = own.F(x, w)", "F (a, b) => (c) { c = Conv <strides: ints = @s> (a, b) }"),
        *(True, True, True),
    ),
    # Both execute the operator, which is no more right than executing the function would be.
    "the name of an operator": Case(replacing(calling("y = own.F(x, x)", PLAIN)), True, True, True),
    "an input as output": Case(
        calling("y = own.F(x, w)", "F (a, b) => (a) { c = Conv(a, b) }"), True, False, True
    ),
    "an output that nobody makes": Case(
        calling("y = own.F(x, w)", "F (a, b) => (d) { c = Conv(a, b) }"), True, False, True
    ),
    "an input too many": Case(calling("y = own.F(x, w, w)", PLAIN), True, False, True),
    "an output too many": Case(calling("y, z = own.F(x, w)", PLAIN), True, False, True),
    # Here all agree.
    "two functions of one name": Case(calling("y = own.F(x, w)", PLAIN, PLAIN), False, False, True),
}


def checker_accepts(model: ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def run_by_onnxruntime(model: ModelProto) -> np.ndarray | None:
    """What onnxruntime computes; None where it refuses."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return np.asarray(session.run(None, {"x": X, "w": W})[0])
    except Exception:  # its exceptions have no class of their own that could be named here
        return None


def test_the_rule_refuses_what_the_witnesses_say_it_refuses() -> None:
    wrong = []
    for name, case in CASES.items():
        found = (
            checker_accepts(case.model),
            run_by_onnxruntime(case.model) is not None,
            "graph.D13" in broken(read(case.model)),
        )
        if found != (case.checker, case.runtime, case.broken):
            wrong.append(f"{name}: {found}")
    assert wrong == []


def test_the_rule_says_that_it_restricts_onnx_because_it_refuses_what_onnx_allows() -> None:
    (rule,) = (rule for rule in GRAPH_RULES if rule.identifier == "graph.D13")
    assert rule.restricts_onnx is any(
        case.checker and case.runtime and case.broken for case in CASES.values()
    )


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.broken])
def test_what_a_call_leaves_out_is_absent_in_the_body(name: str) -> None:
    # Products of small integers: every order and every rounding of the sum gives these bits.
    model = CASES[name].model
    done = normalize(read(model))
    assert rules(done) == []
    (y,) = execute(done.graph, {"x": X, "w": W}, Settings()).values()
    expected = run_by_onnxruntime(model)
    assert expected is not None
    assert sonnx.same_bits(y, expected)
    step = 2 if name == "all attributes" else 1
    by_hand = 2 * X[:, :, ::step, :-1] - 3 * X[:, :, ::step, 1:]
    assert sonnx.same_bits(y, by_hand)


def test_a_default_holds_where_what_is_passed_on_is_absent() -> None:
    inner = "F <s: ints = [2, 1]> (a, b) => (c) { c = Conv <strides: ints = @s> (a, b) }"
    outer = "G <t> (a, b) => (c) { c = own.F <s: ints = @t> (a, b) }"
    model = calling("y = own.G(x, w)", inner, outer)
    done = normalize(read(model))
    assert rules(done) == []
    (y,) = execute(done.graph, {"x": X, "w": W}, Settings()).values()
    assert sonnx.same_bits(y, 2 * X[:, :, ::2, :-1] - 3 * X[:, :, ::2, 1:])
    witness = run_by_onnxruntime(model)
    assert witness is not None
    assert sonnx.same_bits(y, witness)
