"""Definitions of elements as modules of Why3: texts by hand, and laws that a wrong one loses."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.prove.support import needs_provers

from sonnx.derive import why3
from sonnx.derive.why3 import modules, theories, theory
from sonnx.model.dtype import DType
from sonnx.operators import OPERATORS
from sonnx.prove.running import Options
from sonnx.prove.theories import operators_sources, prove_theories
from sonnx.terms.tensors import tensor
from sonnx.terms.term import DefinitionError, Sort, Term, make
from sonnx.terms.tracing import elementwise, tensorwise
from sonnx.terms.words import (
    LOWEST,
    absolute,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    cases,
    is_minus_zero,
    is_nan,
    left_over,
    maximum,
    narrow,
    otherwise,
    plus_product,
    root,
    select,
    truncated,
    when,
    wide,
)

pytestmark = pytest.mark.measured

RELU = elementwise(
    lambda X: cases(when(X < 0, 0, "D-RELU", "Below zero: +0."), otherwise(X, "D-RELU", "Else kept.")),
    executed=lambda X: select(X < 0, 0, X),
)
INFINITY = float("inf")
EVERY = {DType.REAL, DType.INT32, DType.FLOAT, DType.DOUBLE, DType.FLOAT16}


def one(*names: str) -> dict[str, Sort]:
    return dict.fromkeys(names, Sort.NUMBER)


def test_one_module_over_any_type_and_one_for_each() -> None:
    assert modules("relu_like", one("X"), RELU, {DType.REAL, DType.INT8}) == (
        "module ReluLike\n"
        "  type t\n"
        "  predicate less t t\n"
        "  constant zero: t\n"
        "\n"
        "  function relu_like (x: t) : t =\n"
        "    (* D-RELU: Below zero: +0. *)\n"
        "    if less x zero then zero\n"
        "    (* D-RELU: Else kept. *)\n"
        "    else x\n"
        "\n"
        "  function relu_like_executed (x: t) : t =\n"
        "    if less x zero then zero\n"
        "    else x\n"
        "\n"
        "  clone export shared.elementwise.Unary with\n"
        "    type a = t, type made = t, function f = relu_like\n"
        "end\n"
        "\n"
        "module ReluLikeReal\n"
        "  use real.RealInfix\n"
        "\n"
        "  constant zero: real = 0.0\n"
        "\n"
        "  clone export ReluLike with\n"
        "    type t = real, predicate less = (<.), constant zero = zero\n"
        "end\n"
        "\n"
        "module ReluLikeInt\n"
        "  use int.Int\n"
        "\n"
        "  constant zero: int = 0\n"
        "\n"
        "  clone export ReluLike with\n"
        "    type t = int, predicate less = (<), constant zero = zero\n"
        "end\n"
    )


def test_bools_are_bytes_and_a_choice_asks_nothing_of_its_type() -> None:
    choice = elementwise(lambda at, X, Y: select(at, X, Y))  # noqa: PLW0108  operands are called by their own names
    assert modules("choice", {"at": Sort.TRUTH, **one("X", "Y")}, choice, EVERY) == (
        "module Choice\n"
        "  use shared.elementwise.Flag\n"
        "\n"
        "  type t\n"
        "\n"
        "  function choice (at_: flag) (x y: t) : t =\n"
        "    if holds at_ then x\n"
        "    else y\n"
        "\n"
        "  clone export shared.elementwise.Ternary with\n"
        "    type a = flag, type b = t, type c = t, type made = t, function f = choice\n"
        "end\n"
    )


def test_named_words_are_functions_before_what_uses_them() -> None:
    text = modules(
        "both", one("a", "b", "c", "d"), elementwise(lambda a, b, c, d: maximum(a, maximum(b, c) + d)), EVERY
    )
    first, *_ = text.split("\n\nmodule")
    body = [
        line for line in first.split("function maximum ")[1].split("\n\n")[0].split("\n") if "(*" not in line
    ]
    assert body[:3] == ["(a b: t) : t =", "    if is_nan a then a", "    else if is_nan b then b"]
    assert "\n  function both (a b c d: t) : t =\n    maximum a (plus (maximum b c) d)\nend" in first
    assert first.count("function maximum") == 1
    # Floats of any format are compared, not calculated with.
    assert "module BothFloat\n" not in text
    assert "module BothFloat32\n" in text


def _neither(x: Term, y: Term) -> Term:
    special = is_nan(x) | is_minus_zero(y)
    assert isinstance(special, Term)
    return select(~special, -x, absolute(y))


WORDS: dict[str, Callable[..., Any]] = {
    "if less x y /\\ (less_equal y x \\/ equal x y) then x\nelse y": lambda x, y: select(
        (x < y) & ((y <= x) | (x == y)), x, y
    ),
    "if not (is_nan x \\/ is_minus_zero y) then negate x\nelse absolute y": _neither,
    "minus (times x number_3_over_4) (over y minus_number_5)": lambda x, y: x * 0.75 - y / -5,
    "plus_product x (if less x y then x else two) (root y)": lambda x, y: plus_product(
        x, select(x < y, x, 2), root(y)
    ),
    "truncated (wide x) (narrow (root y))": lambda x, y: truncated(wide(x), narrow(root(y))),
    "left_over x (negate y)": lambda x, y: left_over(x, -y),
    "bits_or (bits_and x y) (bits_xor x (bits_not y))": lambda x, y: bits_or(
        bits_and(x, y), bits_xor(x, bits_not(y))
    ),
    "plus (plus x plus_infinity) (plus lowest a_nan)": lambda x, y: (x + INFINITY) + (LOWEST + float("nan")),
}


@pytest.mark.parametrize("text", WORDS)
def test_words_are_written_with_few_brackets(text: str) -> None:
    written = modules("it", one("x", "y"), elementwise(WORDS[text]), set())
    indented = text.replace("\n", "\n    ")
    assert f"function it (x y: t) : t =\n    {indented}\n" in written


def all_words() -> None:
    for text in WORDS:
        test_words_are_written_with_few_brackets(text)


BROKEN = {
    "both for either": Mutant(why3._either, " \\\\/ ", " /\\\\ ", all_words),
    "either for both": Mutant(why3._both, " /\\\\ ", " \\\\/ ", all_words),
    "no opposite": Mutant(why3._opposite, "not {", "{", all_words),
    "the other number": Mutant(
        why3._select, "then {chosen} else {otherwise}", "then {otherwise} else {chosen}", all_words
    ),
    "no brackets": Mutant(why3.expression, "loose and bound >= loose", "False", all_words),
    "brackets everywhere": Mutant(why3.expression, "loose and bound >= loose", "loose", all_words),
    "a word by its own name": Mutant(why3._operation, "called(term.word)", "term.word", all_words),
    "operands the other way round": Mutant(
        why3._applied, "for each in arguments)", "for each in arguments[::-1])", all_words
    ),
    "a literal without its sign": Mutant(why3.literal_name, '"minus_" if value < 0 else ""', '""', all_words),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_word_is_noticed(name: str) -> None:
    see_noticed(BROKEN[name])


def test_literals_are_rounded_once_where_a_format_is_known() -> None:
    third = elementwise(lambda x: select(x < Fraction(-1, 3), 0, select(x < INFINITY, -1, LOWEST)))
    text = modules("third", one("x"), third, EVERY)
    real, integer, anything, single, double = (
        part.split("\nend")[0] for part in text.split("\n\nmodule ")[1:]
    )
    assert "constant minus_number_1_over_3: real = -. (1.0 /. 3.0)" in real
    assert "infinity" not in real
    assert "constant minus_one: int = -1" in integer
    assert "1_over_3" not in integer
    assert "constant zero: t = plus_zero" in anything
    assert "constant lowest: t = minus_infinity" in anything
    assert "constant plus_infinity = plus_infinity" in anything
    assert "minus_one" not in anything
    assert "constant minus_number_1_over_3: t = .- (0x1.5555560000000p-2: t)" in single
    assert "constant minus_number_1_over_3: t = .- (0x1.5555555555555p-2: t)" in double
    assert "constant zero: t = zeroF" in double


def test_calculation_on_reals_and_integers_uses_their_libraries() -> None:
    text = modules("far", one("x", "y"), elementwise(lambda x, y: absolute(-x) + y), EVERY)
    assert "use real.Abs\n\n  function negate (x: real) : real = -. x\n" in text
    assert "function absolute = abs, function negate = negate, function plus = (+)" in text
    assert "FarFloat64" in text


def test_what_has_no_elements_of_its_own_has_no_module() -> None:
    assert set(theories(OPERATORS)) >= {
        "onnx/clip/definition.mlw",
        "onnx/where/definition.mlw",
        "xla/clamp/definition.mlw",
    }
    without = {op.name for op in OPERATORS if theory(op) is None}
    assert {"Conv", "Expand", "xla.Call", "xla.ConvertElementType"} <= without


def test_tensors_and_indices_are_refused() -> None:
    with pytest.raises(DefinitionError, match="only definitions of elements"):
        modules("move", one("x"), tensorwise(lambda x: tensor((), lambda: x[()])), EVERY)
    with pytest.raises(DefinitionError, match="`carried` is no word"):
        why3.expression(make("carried", data="s"))


LAWS = """module Laws
  use real.RealInfix
  use onnx.relu_like.definition.ReluLikeReal
  goal kept: forall x. x >. 0.0 -> relu_like x = x
  goal never_below: forall x. relu_like x >=. 0.0
  goal executed: forall x. relu_like_executed x = relu_like x
end
"""


def proved(text: str) -> list[str]:
    shared = {file: text for file, text in operators_sources().items() if file.startswith("shared/")}
    found = prove_theories(
        ["onnx/relu_like"],
        sources={**shared, "onnx/relu_like/laws.mlw": LAWS},
        definitions={"onnx/relu_like/definition.mlw": text},
        options=Options(seconds=2, cache=False),
    )
    ours = (goal for goal in found.goals if goal.subject == "onnx/relu_like" and goal.kind == "proof")
    return [goal.law for goal in ours if goal.verdict == "proved"]


MUTANTS: list[tuple[Any, str, Any, set[str]]] = [
    (why3, "_chain", why3._chain, {"kept", "never_below", "executed"}),
    (why3, "_chain", lambda term: iter([why3.expression(term.arguments[2])]), {"kept", "executed"}),
    (why3.Domain, "literal", lambda _domain, _term: "1.0", {"never_below", "executed"}),
]


@needs_provers
@pytest.mark.prover
@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize(("owner", "name", "wrong", "left"), MUTANTS)
def test_a_wrong_definition_loses_laws(
    owner: Any, name: str, wrong: Callable[..., Any], left: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    assert set(proved(modules("relu_like", one("X"), RELU, {DType.REAL}))) == left
