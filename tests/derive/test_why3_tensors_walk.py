"""Definitions of tensors as modules of Why3: texts by hand, and theories that a wrong one contradicts."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.prove.support import needs_provers
from tests.prove.test_prove_theory_mutants import is_proved

from sonnx.definitions import definitions
from sonnx.derive import why3_tensors
from sonnx.derive.why3_tensors import Traced, Values, Walk, theory, title, traces
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases, read_cases
from sonnx.prove.theories import operators_sources
from sonnx.terms.tensors import Given, fold, index, tensor
from sonnx.terms.term import DefinitionError, Term, make
from sonnx.terms.tracing import Trace
from sonnx.terms.words import LOWEST, cases, is_nan, maximum, otherwise, select

pytestmark = pytest.mark.measured

X = Given("X", (2, 3))
BY_NAME = {operator.identifier: operator for operator in OPERATORS}


def text(at: Callable[..., Any], *shape: int) -> str:
    """The element of a result over X[2,3], as it is written."""
    made = tensor(shape, at)
    lines = Traced(Trace({"X": X}, (made,)), {"Y": made}).lines()
    return lines[
        next(place for place, line in enumerate(lines) if line.startswith("function y ")) + 1
    ].strip()


def test_a_module_has_the_function_that_the_trace_is_and_ties_it_to_tensors() -> None:
    (case,) = read_cases(
        '["a line, twice"]\nsource = "by hand"\n'
        'given = { operand = "s32[2] 7 -8", broadcast_sizes = [3] }\n'
        'gives = { output = "s32[3,2] 7 -8; 7 -8; 7 -8" }\n'
    )
    assert theory(BY_NAME["xla.broadcast"], [case]) == (
        "(* a line, twice: operand s32[2], broadcast_sizes = [3]. *)\n"
        "module ALineTwice\n"
        "  use int.Int\n"
        "  use int.EuclideanDivision\n"
        "  use shared.shapes.Shape\n"
        "  use shared.shapes.Sizes\n"
        "\n"
        "  type t\n"
        "\n"
        "  function output (operand: int -> t) (i0 i1: int) : t =\n"
        "    operand i1\n"
        "\n"
        "  function operand_of (operand: int -> t) : tensor t =\n"
        "    { shape = sizes1 2; value = fun i -> operand (i 0) }\n"
        "  predicate defined (operand: int -> t) (output_: tensor t) =\n"
        "    output_.shape.rank = 2 /\\ output_.shape.size 0 = 2 /\\ output_.shape.size 1 = 3 /\\\n"
        "    (forall i: index. 0 <= i 0 < 2 -> 0 <= i 1 < 3 -> "
        "output_.value i = output operand (i 1) (i 0))\n"
        "end\n"
    )


def _flat(i: Term, j: Term) -> Term:
    return X.flat(i * 3 + j - 1)


WORDS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "x j i": (lambda i, j: X[j, i], (3, 2)),
    "x (div i 2) (mod (i + 1) 2)": (lambda i: X[i // 2, (i + 1) % 2], (4,)),
    "x (1 - i) ((2 * i) + 1)": (lambda i: X[1 - i, 2 * i + 1], (2,)),
    "x 0 (-1)": (lambda: X[0, -1], ()),
    "x (div (((i * 3) + j) - 1) 3) (mod (((i * 3) + j) - 1) 3)": (_flat, (2, 3)),
    "if i < 1 then x i 0 else x 1 i": (lambda i: select(i < 1, X[i, 0], X[1, i]), (3,)),
    "if (0 <= i) /\\ (not (i = 2)) then x i 0 else zero": (
        lambda i: select((i >= 0) & (i != 2), X[i, 0], 0),
        (3,),
    ),
    "if (less (x i 0) lowest) \\/ (is_nan (x i 0)) then one else plus (x i 0) (times (x i 1) two)": (
        lambda i: select((X[i, 0] < LOWEST) | is_nan(X[i, 0]), 1, X[i, 0] + X[i, 1] * 2),
        (2,),
    ),
    "let s = zero in let s = plus s (x i 0) in let s = plus s (x i 1) in let s = plus s (x i 2) in s": (
        lambda i: fold((3,), 0, lambda s, k: s + X[i, k]),
        (2,),
    ),
    "x i 2": (lambda i: cases(otherwise(X[i, 2], "D-X", "The last.")), (2,)),
}


@pytest.mark.parametrize("written", WORDS)
def test_words_are_written_one_by_one(written: str) -> None:
    at, shape = WORDS[written]
    assert text(at, *shape) == written


def test_what_is_asked_of_the_type_is_named() -> None:
    made = tensor((2,), lambda i: maximum(X[i, 0], 0))
    lines = Traced(Trace({"X": X}, (made,)), {"Y": made}).lines()
    asked = lines[lines.index("type t") + 1 : lines.index("", lines.index("type t"))]
    assert asked == ["constant zero: t", "predicate is_nan t", "predicate less t t"]


def test_an_index_that_is_called_as_an_operand_gets_another_name() -> None:
    made = tensor((2,), lambda x: X[x, 0])
    lines = Traced(Trace({"X": X}, (made,)), {"Y": made}).lines()
    assert "function y (x: int -> int -> t) (x_: int) : t =" in lines
    assert "  x x_ 0" in lines


def test_what_is_too_long_is_left_out_and_what_is_no_word_refused() -> None:
    long = tensor((2,), lambda i: fold((3, 6), 0, lambda s, k, l: s + X[i, k]))  # noqa: E741  an index
    deep = tensor((1, 1, 1, 1, 2), lambda a, b, c, d, e: X[e, 0])
    assert not any(Traced(Trace({"X": X}, (made,)), {"Y": made}).is_small for made in (long, deep))
    with pytest.raises(DefinitionError, match="`value` is no word for tensors"):
        Walk({}).expression(make("value", data="x"), Values({}))
    assert Walk({}).index(index("i") + 0, Values({"i": 4})) == 4
    # A step of a fold whose index is 0 there leaves no sum behind.
    assert Walk({}).index(index("k") + index("i"), Values({"k": 0, "i": "i"})) == "i"


def test_every_case_of_every_operator_by_tensors_has_a_module_of_its_own() -> None:
    found = traces(OPERATORS, load_cases)
    assert {"onnx/conv/definition.mlw", "xla/collapse/definition.mlw"} <= found.keys()
    assert "onnx/relu/definition.mlw" not in found
    for file, written in found.items():
        named = [line.split()[1] for line in written.split("\n") if line.startswith("module ")]
        assert len(named) == len(set(named)), file
    assert title("a line's end: 2 and 3") == "ALineSEnd2And3"


def test_known_numbers_are_calculated_at_once() -> None:
    known = (("add", 3), ("subtract", -11), ("multiply", -28), ("floor", -1), ("remainder", 3))
    for word, value in known:
        assert why3_tensors._calculated(word, -4, 7) == value
    assert why3_tensors._calculated("floor", 7, 2) == 3


def all_words() -> None:
    for written in WORDS:
        test_words_are_written_one_by_one(written)


MUTANTS = {
    "a test of both for either": Mutant(Walk._either, '" \\\\/ "', "_AND", all_words),
    "a condition the other way round": Mutant(Walk._opposite, '"not"', '""', all_words),
    "the other number": Mutant(
        Walk._select, "then {chosen} else {otherwise}", "then {otherwise} else {chosen}", all_words
    ),
    "elements compared like indices": Mutant(Walk._less, "is not Sort.INDEX", "is Sort.INDEX", all_words),
    "a step too few": Mutant(
        Walk._fold, "*map(range, counts)", "*(range(each - 1) for each in counts)", all_words
    ),
    "a fold from nothing": Mutant(Walk._fold, "{self.expression(start, values)}", "one", all_words),
    "sizes before an axis": Mutant(Walk._read_flat, "shape[axis + 1 :]", "shape[:axis]", all_words),
    "what is bound without brackets": Mutant(Walk.expression, 'bound and " " in text', "False", all_words),
    "a remainder for a quotient": Mutant(
        why3_tensors._calculated,
        'a // b if word == "floor" else a % b',
        'a % b if word == "floor" else a // b',
        test_known_numbers_are_calculated_at_once,
    ),
    "a divisor that changes nothing": Mutant(
        why3_tensors._calculated, 'b == 1 and word in ("multiply", "floor")', "b == 1", all_words
    ),
    "a negative number without brackets": Mutant(
        why3_tensors._bound, ' or text.startswith("-")', "", all_words
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_word_is_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])


READ = Walk._read
WRONG: list[tuple[str, Any]] = [
    ("read", lambda walk, term, values: READ(walk, make("read", term.arguments[::-1], term.data), values)),
    ("select", lambda walk, term, values: walk.expression(term.arguments[1], values)),
    ("less", lambda _walk, _term, _values: "0 < 1"),
]


@needs_provers
@pytest.mark.prover
@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize(("word", "wrong"), WRONG)
def test_a_wrong_walk_is_not_what_the_theory_says(
    word: str, wrong: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(why3_tensors._WORDS, word, wrong)
    sources = operators_sources() | definitions()
    assert not is_proved(sources, "xla/concatenate/theory.mlw", "Cases", "lines")
