"""Definitions that give truths, some of them known beforehand, in every walk; wrong walks are noticed."""

from math import inf
from typing import Any

import numpy as np
import pytest
from tests.derive.plain_walk import needs_compiler, run_c
from tests.derive.test_bound_walk import bounded
from tests.derive.test_evaluate_walk import operator, run
from tests.derive.test_formula import SYMBOLS
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.derive.xla_walk import on_xla

import sonnx
from sonnx.derive import (
    bound,
    c_elements,
    c_numbers,
    evaluate,
    formula,
    lengths,
    plain_expressions,
    stablehlo,
    why3,
)
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.lengths import OF_INTEGERS, Lengths
from sonnx.terms import term, walking
from sonnx.terms.term import Sort, Term, condition
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import holds, is_nan, value
from sonnx.vocabulary.call import Call

pytestmark = pytest.mark.measured

X = np.array([-inf, -1.5, -0.0, 0.0, 2.0, inf, np.nan], np.float32)
RULING = ("D-ALL-4", "A truth.")
# By name: what it says of X, and the bytes that it makes of it.
DEFINITIONS: dict[str, tuple[Any, list[int]]] = {
    "a comparison": (lambda X: holds(X < 0, *RULING), [1, 1, 0, 0, 0, 0, 0]),
    "an infinity": (lambda X: holds(inf == X, *RULING), [0, 0, 0, 0, 0, 1, 0]),
    "a NaN": (lambda X: holds(is_nan(X), *RULING), [0, 0, 0, 0, 0, 0, 1]),
    "never": (lambda X: holds(False, *RULING), [0] * 7),
    "always": (lambda X: True, [1] * 7),
}


def made(name: str) -> tuple[Any, list[int]]:
    function, right = DEFINITIONS[name]
    return elementwise(function), right


def see_evaluated() -> None:
    for name in DEFINITIONS:
        definition, right = made(name)
        assert run(definition, X, made="bool[7]").view(np.uint8).tolist() == right, name
        # A single element, for which a truth that is known beforehand is as good as any.
        assert run(definition, X[0], made="bool[]").view(np.uint8).item() == right[0], name


def see_plain_c() -> None:
    for name in DEFINITIONS:
        definition, right = made(name)
        found = run_c(definition, {"X": X}, {"X": "float"}, ("bool", (7,)))
        assert found.view(np.uint8).tolist() == right, name


def see_fast_c() -> None:
    """What the innermost loop writes: an expression without branches."""
    told = {}
    for name in DEFINITIONS:
        lines = c_elements.statements(trees(name), DType.FLOAT, DType.BOOL, ()).lines
        told[name] = " ".join(line.strip() for line in lines if "from_" not in line)
    assert told == {
        "a comparison": "to[i] = (uint8_t)(X < 0x0p+0f);",
        "an infinity": "to[i] = (uint8_t)(X == __builtin_inff());",
        "a NaN": "to[i] = (uint8_t)(X != X);",
        "never": "const element is = (element)(0); to[i] = is & 1;",
        "always": "const element is = (element)(~0); to[i] = is & 1;",
    }


def trees(name: str) -> Term:
    found = DEFINITIONS[name][0](value("X"))
    return condition(found) if isinstance(found, bool) else found


def see_xla() -> None:
    for name in DEFINITIONS:
        definition, right = made(name)
        assert on_xla(definition, DType.BOOL, X=X).view(np.uint8).tolist() == right, name


def see_formula() -> None:
    told = {name: formula.latex(trees(name), SYMBOLS) for name in ("never", "always")}
    assert told == {"never": r"\text{false}", "always": r"\text{true}"}


def see_why3() -> None:
    for name, text in (("never", "false"), ("always", "true"), ("a comparison", "less x zero")):
        found = why3.modules("said", {"X": Sort.NUMBER}, made(name)[0], {DType.FLOAT})
        assert f"if {text} then 1 else 0" in found
        assert "function said_flag (x: t) : flag =" in found
        assert "type a = t, type made = flag, function f = said_flag" in found


def see_bounds() -> None:
    for name, right in (("never", 0), ("always", 1)):
        found = bounded(DEFINITIONS[name][0], {"X": X[1:5]})
        assert (found.value.astype(int).tolist(), found.error.tolist()) == ([right] * 4, [0] * 4)


def see_lengths() -> None:
    call = Call("Stand", {"X": tensor_type("real[2]")})
    for name in DEFINITIONS:
        op = operator(made(name)[0], "X", made="bool[2]")
        assert lengths.lengths(op, call, {"X": Lengths(900, longest=900)}).longest <= OF_INTEGERS.longest + 1


def see_reals() -> None:
    given = sonnx.real([-1, 0])
    found = {name: run(made(name)[0], given, made="bool[2]").tolist() for name in DEFINITIONS}
    none = [False, False]
    assert found.pop("a comparison") == [True, False]
    assert found == {"an infinity": none, "a NaN": none, "never": none, "always": [True, True]}


def see_equal_truths() -> None:
    a, b = (value(name, Sort.TRUTH) for name in "XY")
    assert isinstance(a == b, Term)
    bytes_ = np.array([[x, y] for x in (0, 1, 7) for y in (0, 1, 9)], np.uint8).view(np.bool_)
    known = {"X": bytes_[:, 0].copy(), "Y": bytes_[:, 1].copy()}
    found = evaluate.Walk(DType.BOOL, DType.BOOL, known, known)(condition(a == b))
    assert found.tolist() == [True, False, False, False, True, True, False, True, True]


CHECKS = (
    *(see_evaluated, see_fast_c, see_xla, see_formula, see_why3),
    *(see_bounds, see_lengths, see_reals, see_equal_truths),
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.__name__)
def test_a_walk_has_truths(check: Any) -> None:
    check()


@needs_compiler
def test_plain_c_has_truths() -> None:
    see_plain_c()


def test_what_is_no_condition_states_no_truth() -> None:
    with pytest.raises(term.DefinitionError, match="a condition is needed"):
        holds(value("X"), *RULING)


WRONG = {
    "a known truth is always false": Mutant(
        evaluate.Walk._whole, "term.data", "term.data * 0", see_evaluated
    ),
    "C has another truth": Mutant(
        plain_expressions.CWriter.decided, '"1" if holds', '"1" if not holds', see_plain_c
    ),
    "fast C has another truth": Mutant(
        c_numbers.Bits._decided, "if term.data", "if not term.data", see_fast_c
    ),
    "XLA has another truth": Mutant(stablehlo.Walk._decided, "term.data", "not term.data", see_xla),
    "a formula says the opposite": Mutant(
        formula._Formula._decided, "str(term.data)", "str(not term.data)", see_formula
    ),
    "Why3 is told the opposite": Mutant(why3._decided, "str(term.data)", "str(not term.data)", see_why3),
    "a truth of Why3 is no byte": Mutant(why3._chain, "then 1 else 0", "then 0 else 1", see_why3),
    "a bound has another truth": Mutant(bound._Walk._decided, "term.data", "not term.data", see_bounds),
    "a truth is as long as its numbers": Mutant(
        lengths._Walk.__call__,
        "return OF_INTEGERS",
        "return self(term.arguments[0].arguments[0])",
        see_lengths,
    ),
    "a real may be infinite": Mutant(walking._is_endless, '("inf", "-inf", "nan")', '("nan",)', see_reals),
    "bytes that are true differ": Mutant(term._compare, "(~a & ~b)", "(a & ~b)", see_equal_truths),
}


@pytest.mark.mutant
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_walk_is_noticed(wrong: str) -> None:
    see_noticed(WRONG[wrong])
