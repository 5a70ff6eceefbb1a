"""Cases as goals of Why3: texts by hand, and what provers say of a wrong case and of a wrong walk."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.loops import for_each
from tests.prove.support import needs_provers

from sonnx.derive import why3_cases
from sonnx.derive.why3 import theories, written
from sonnx.derive.why3_cases import case_theories, case_theory
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases, read_cases
from sonnx.prove.mlw import read_theory
from sonnx.prove.running import Options
from sonnx.prove.theories import operators_sources, prove_theories
from sonnx.terms.tensors import tensor
from sonnx.terms.tracing import tensorwise
from sonnx.vocabulary.operator import BodyNode, Operator

pytestmark = pytest.mark.measured

OPERATOR = {operator.identifier: operator for operator in OPERATORS}


def text_of(identifier: str, given: str, gives: str, more: str = "") -> str:
    """The modules of one case."""
    operator = OPERATOR[identifier]
    case = f'["A case, \'told\'"]\nsource = "by hand"\ngiven = {{ {given} }}\ngives = {{ {gives} }}\n{more}'
    return case_theory(written(operator), f"onnx/{identifier}", read_cases(case))


def goals(text: str) -> list[str]:
    """The lines of the only goal, its head first."""
    lines = [line.strip() for line in text.splitlines()]
    return [line.removeprefix("/\\ ") for line in lines[lines.index("") + 2 : -1]]


def test_a_case_is_a_goal_on_the_module_of_its_type() -> None:
    assert text_of("relu", 'X = "int8[2] -3 4"', 'Y = "int8[2] 0 4"') == (
        "module ReluInt\n"
        "  use int.Int\n"
        "  use onnx.relu.definition.ReluInt\n"
        "\n"
        "  (* cases.toml, \"A case, 'told'\". *)\n"
        "  goal example_a_case_told:\n"
        "    relu (-3) = 0\n"
        "    /\\ relu 4 = 4\n"
        "end\n"
    )


# Operator, what is given, what it gives, further lines of the case; the goal's lines.
TOLD: dict[str, tuple[str, str, str, str, list[str]]] = {
    "a real number is exact": (
        "relu",
        'X = "real[2] -1/3 0.5"',
        'Y = "real[2] 0 1/2"',
        "",
        ["relu (-. (1.0 /. 3.0)) = 0.0", "relu (1.0 /. 2.0) = (1.0 /. 2.0)"],
    ),
    "floats are told bit for bit": (
        "relu",
        'X = "float[4] -0.0 -0x1p-149 inf 0.1"',
        'Y = "float[4] -0.0 0.0 inf 0.1"',
        "",
        [
            "relu (.- zeroF) = (.- zeroF)",
            "relu (.- (0x1.0000000000000p-149: t)) = zeroF",
            "relu plus_infinity = plus_infinity",
            "relu (0x1.99999a0000000p-4: t) = (0x1.99999a0000000p-4: t)",
        ],
    ),
    "a NaN is the same where its bits are": (
        "max",
        'data_0 = "double[2] nan nan(0x1)", data_1 = "double[2] nan -inf"',
        'max = "double[2] nan nan(0x1)"',
        "",
        [
            "forall nan_1 nan_2: t. is_nan nan_1 -> is_nan nan_2 ->",
            "max nan_1 nan_1 = nan_1",
            "max nan_2 minus_infinity = nan_2",
        ],
    ),
    "any NaN will do where the case says so": (
        "max",
        'data_0 = "float[2] nan 1", data_1 = "float[2] 1 2"',
        'max = "float[2] nan 2"',
        'nan = "any"',
        [
            "forall nan_1: t. is_nan nan_1 ->",
            "is_nan (max nan_1 (0x1.0000000000000p+0: t))",
            "max (0x1.0000000000000p+0: t) (0x1.0000000000000p+1: t) = (0x1.0000000000000p+1: t)",
        ],
    ),
    "of another format zeros, infinities and NaN are told": (
        "relu",
        'X = "float16[3] -0.0 2.0 nan"',
        'Y = "float16[3] -0.0 2.0 nan"',
        "",
        ["ieee -> forall nan_1: t. is_nan nan_1 ->", "relu minus_zero = minus_zero", "relu nan_1 = nan_1"],
    ),
    "integers that are calculated wrap": (
        "add",
        'A = "int8[1] 127", B = "int8[1] 1"',
        'C = "int8[1] -128"',
        "",
        ["mod (add 127 1 - (-128)) 256 = 0"],
    ),
    "attributes are numbers of the type": (
        "hard_sigmoid",
        'X = "real[1] 1", alpha = 0.25, beta = 0.5',
        'Y = "real[1] 3/4"',
        "",
        ["hard_sigmoid 1.0 (1.0 /. 4.0) (1.0 /. 2.0) = (3.0 /. 4.0)"],
    ),
    "a scalar is told of tensors too": (
        "clip",
        'input = "uint8[] 9", min = "uint8[] 1", max = "uint8[] 5"',
        'output = "uint8[] 5"',
        "",
        ["clip 9 1 5 = 5", "on_tensors (scalar 9) (scalar 1) (scalar 5) == scalar 5"],
    ),
    "elements of any type are told apart by their bits alone": (
        "where",
        'condition = "bool[2] true false", X = \'string[2] "a" "b"\', Y = \'string[2] "b" "a"\'',
        'output = \'string[2] "a" "a"\'',
        "",
        ["forall x_1 x_2: t.", "where 1 x_1 x_2 = x_1", "where 0 x_2 x_1 = x_1"],
    ),
}


@for_each("told", TOLD)
def test_elements_are_told_as_far_as_their_type_has_words(told: str) -> None:
    identifier, given, gives, more, expected = TOLD[told]
    head, *lines = goals(text_of(identifier, given, gives, more))
    assumed = head.removeprefix("goal example_a_case_told:").strip()
    assert ([assumed] if assumed else []) + lines == expected


def test_a_composition_is_its_parts_one_in_the_other() -> None:
    text = theories([OPERATOR["hard_swish"]])["onnx/hard_swish/definition.mlw"]
    line = "plus (times number_11184811_over_67108864 x) number_1_over_2"
    cut = f"if less ({line}) zero then zero else if less one ({line}) then one else {line}"
    assert f"    times x ({cut})\n" in text
    assert "constant number_11184811_over_67108864: real = 11184811.0 /. 67108864.0" in text
    assert goals(text_of("hard_swish", 'X = "real[2] 0 100"', 'Y = "real[2] 0 100"')) == [
        "goal example_a_case_told:",
        "hard_swish 0.0 = 0.0",
        "hard_swish 100.0 = 100.0",
    ]


def composed_of(move: Callable[..., Any]) -> Operator:
    """A composition whose only part makes that of a matrix."""
    part = replace(OPERATOR["relu"], definition=tensorwise(move))
    return replace(OPERATOR["hard_swish"], body=lambda _: (BodyNode(part, ("X",), ("Y",)),))


def test_a_composition_of_more_than_elements_has_no_module() -> None:
    # Elements that lie elsewhere: the lines backwards, columns for lines, the first line in place of each.
    for move in (
        lambda X: tensor(X.shape, lambda i, j: X[X.shape[0] - 1 - i, j]),
        lambda X: tensor(X.shape[::-1], lambda i, j: X[j, i]),
        lambda X: tensor(X.shape, lambda i, j: X[0, j]),
    ):
        assert written(composed_of(move)) is None
    # With attributes it would be a definition for each of their values.
    known = OPERATOR["hard_sigmoid"]
    assert written(replace(known, definition=None, body=OPERATOR["hard_swish"].body)) is None


def test_a_part_that_leaves_elements_where_they_are_is_one_on_elements() -> None:
    found = written(composed_of(lambda X: tensor(X.shape, lambda i, j: X[i, j])))
    assert found is not None
    case = '["A case"]\nsource = "by hand"\ngiven = { X = "int8[1] -3" }\ngives = { Y = "int8[1] -3" }\n'
    (line,) = goals(case_theory(found, "onnx/hard_swish", read_cases(case)))[1:]
    assert line == "hard_swish x_1 = x_1"


def test_what_has_no_words_has_no_goal() -> None:
    one, two = 'X = "float16[1] 2.0"', 'Y = "float16[1] 2.0"'
    assert text_of("relu", one, two) == ""
    # The module of Max is of two.
    assert text_of("max", 'data_0 = "int8[1] 2"', 'max = "int8[1] 2"') == ""
    # Sums of floats are rounded.
    assert text_of("add", 'A = "float[1] 1", B = "float[1] 2"', 'C = "float[1] 3"') == ""
    assert case_theory(written(OPERATOR["conv"]), "onnx/conv", load_cases("conv")) == ""


def test_all_operators_on_elements_have_their_cases_as_goals() -> None:
    found = case_theories(OPERATORS, load_cases)
    # Some have cases of which no prover finds the results: of bits, roots, any number of operands.
    assert set(found) <= {
        f"{each.contract.domain or 'onnx'}/{each.folder}/cases.mlw" for each in OPERATORS if written(each)
    }
    # A composition of operators on elements is one.
    assert {"onnx/relu/cases.mlw", "onnx/hard_swish/cases.mlw", "onnx/reciprocal/cases.mlw"} <= set(found)
    for file, text in found.items():
        laws = [law.name for module in read_theory(file, text).modules for law in module.laws]
        assert laws
        assert len(laws) == len(set(laws))


def lost(text: str) -> list[str]:
    """The goals of Relu's cases that no prover proves."""
    shared = {file: text for file, text in operators_sources().items() if file.startswith("shared/")}
    found = prove_theories(
        ["onnx/relu/cases"],
        sources={**shared, "onnx/relu/cases.mlw": text},
        definitions=theories(OPERATORS),
        options=Options(seconds=1, cache=False),
    )
    ours = [goal for goal in found.goals if goal.subject == "onnx/relu/cases" and goal.kind == "proof"]
    assert ours
    return [goal.law for goal in ours if goal.verdict != "proved"]


@needs_provers
@pytest.mark.prover
@pytest.mark.no_cover
@pytest.mark.parametrize(("gives", "bad"), [("0 4", 0), ("0 3", 1), ("-3 4", 1)])
def test_provers_reject_a_wrong_case(gives: str, bad: int) -> None:
    assert len(lost(text_of("relu", 'X = "int8[2] -3 4"', f'Y = "int8[2] {gives}"'))) == bad


def _always_positive(self: Any, value: Any) -> str:
    return f"{abs(value.numerator)}"


WRONG: list[tuple[Any, str, Callable[..., Any]]] = [
    (why3_cases._Elements, "_number", _always_positive),
    (why3_cases, "_equal", lambda _text, _elements, applied, _result, **_: f"{applied} = 3"),
]


@needs_provers
@pytest.mark.prover
@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize(("owner", "name", "wrong"), WRONG)
def test_a_wrong_walk_loses_a_right_case(
    owner: Any, name: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    assert lost(text_of("relu", 'X = "int8[2] -3 4"', 'Y = "int8[2] 0 4"'))
