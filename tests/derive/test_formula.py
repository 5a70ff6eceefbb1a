r"""Definitions as formulas: every text here is written by hand, as a page would show it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from docs.formulas import formula as mathml

from sonnx.derive import formula as walk
from sonnx.derive.formula import formula, latex, made_formula
from sonnx.operators import OPERATORS, operator
from sonnx.terms.tensors import Given, Made, fold, tensor
from sonnx.terms.term import DefinitionError, Sort, Term, make
from sonnx.terms.words import (
    LOWEST,
    absolute,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    cases,
    converted,
    is_minus_zero,
    is_nan,
    left_over,
    maximum,
    minimum,
    narrow,
    otherwise,
    plus_product,
    root,
    select,
    shifted_left,
    shifted_right,
    truncated,
    value,
    wide,
)

pytestmark = pytest.mark.measured

X, Y, C = value("x"), value("y"), value("c", Sort.TRUTH)
SYMBOLS = {"x": "x", "y": "y", "c": "c", "X": "X", "W": "W"}


def negated(condition: Any) -> Term:
    assert isinstance(condition, Term)
    return ~condition


ELEMENTS: dict[str, Term] = {
    "x + y - x": X + Y - X,
    r"x - \left(y + x\right)": X - (Y + X),
    r"x \cdot \left(y + 1\right)": X * (Y + 1),
    r"x + x \cdot y": plus_product(X, X, Y),
    r"\frac{x + 1}{y} \cdot \left(-0.75\right)": (X + 1) / Y * -0.75,
    r"-x \cdot y": -(X * Y),
    r"-\left(x + y\right)": -(X + Y),
    r"\left|x - 1\right| + \sqrt{y}": absolute(X - 1) + root(Y),
    r"x + \frac{1}{3}": X + Fraction(1, 3),
    r"x + \left(-\frac{2}{3}\right)": X + Fraction(-2, 3),
    r"x + \left(-2\right)": X + -2,
    r"x \cdot \left(+\infty\right)": X * float("inf"),
    r"\text{lowest} + \text{NaN} - \left(-\infty\right)": LOWEST + float("nan") - float("-inf"),
    r"\max(x, y) \cdot x": maximum(X, Y) * X,
    r"\text{truncated}\left(\frac{x}{y}\right)": truncated(X, Y),
    r"x - 2 - \left(y + 1\right) \cdot \text{truncated}\left(\frac{x - 2}{y + 1}\right)": left_over(
        X - 2, Y + 1
    ),
    r"x \mathbin{\&} \left(y + 1\right)": bits_and(X, Y + 1),
    r"\left(x \mathbin{|} y\right) \oplus 1": bits_xor(bits_or(X, Y), 1),
    r"x \cdot 2^{y} \bmod 2^n": shifted_left(X, Y),
    r"\left\lfloor \frac{x + 1}{2^{y}} \right\rfloor": shifted_right(X + 1, Y),
    r"\mathord{\sim} x": bits_not(X),
    r"\text{converted}(x + y)": converted(X + Y),
    r"x + y": cases(otherwise(narrow(wide(X) + wide(Y)), "D-ALL-4", "Summed.")),
    r"\begin{cases} x & \text{if } x \text{ is NaN} \\ y & \text{if } x < y \\ 0 & \text{otherwise} "
    r"\end{cases}": select(is_nan(X), X, select(X < Y, Y, 0)),
    r"\begin{cases} x & \text{if } c \text{ is true} \\ y & \text{otherwise} \end{cases}": select(C, X, Y),
}
CONDITIONS: dict[str, Any] = {
    r"x \le y \text{ and } x = y + 1": (X <= Y) & (X == Y + 1),
    r"x < y \text{ or } y \text{ is } -0 \text{ and } x < 1": (X < Y) | (is_minus_zero(Y) & (X < 1)),
    r"\left(x < y \text{ or } y < x\right) \text{ and } c \text{ is true}": ((X < Y) | (Y < X)) & C,
    r"0 < x \le y \text{ and } y < 1 \text{ and } x = y": (X > 0) & (X <= Y) & (Y < 1) & (X == Y),
    r"\text{not } \left(x \text{ is NaN}\right)": negated(is_nan(X)),
}


@pytest.mark.parametrize("text", ELEMENTS | CONDITIONS)
def test_terms_have_few_brackets(text: str) -> None:
    term = (ELEMENTS | CONDITIONS)[text]
    found = latex(term, SYMBOLS)
    assert found == text
    mathml(found)  # the site can show it


def moved(shape: tuple[int, ...], at: Callable[..., Any]) -> Made:
    return tensor(shape, at)


XS, WS = Given("X", (4, 6)), Given("W", (3, 3))
TENSORS: dict[str, Made] = {
    r"Y[i, j] = X[j, 3 - i]": moved((2, 3), lambda i, j: XS[j, 3 - i]),
    r"Y[i_{0}, i_{1}] = X_{\text{flat}}[i_{0} \cdot 3 + i_{1}]": moved(
        (2, 3), lambda *i: XS.flat(i[0] * 3 + i[1])
    ),
    r"Y[i] = X[\left\lfloor \frac{i + 1}{2} \right\rfloor, \left(i + 1\right) \bmod 3]": moved(
        (4,), lambda i: XS[(i + 1) // 2, (i + 1) % 3]
    ),
    r"Y[i] = \begin{cases} 0 & \text{if } i < 2 \\ X[i - 2, 0] & \text{otherwise} \end{cases}": moved(
        (4,), lambda i: select(i < 2, 0, XS[i - 2, 0])
    ),
    r"Y[i] = \sum_{k=0}^{5} X[i, k] \cdot W[k, i]": moved(
        (3,), lambda i: narrow(fold((6,), wide(0), lambda s, k: plus_product(s, wide(XS[i, k]), WS[k, i])))
    ),
    r"Y[i] = 1 + \sum_{p=0}^{1} \sum_{q=0}^{2} X[p, q]": moved(
        (3,), lambda i: fold((2, 3), 1, lambda s, p, q: cases(otherwise(s + XS[p, q], "D-CONV-6", "Summed.")))
    ),
    r"Y[i] = \sum_{q=0}^{2} \left(X[0, q] + 1\right)": moved(
        (3,), lambda i: fold((1, 3), 0, lambda s, p, q: (XS[p, q] + 1) + s)
    ),
    r"Y[i] = \left(\sum_{k=0}^{5} X[i, k]\right) + \frac{\sum_{k=0}^{5} X[i, k]}{2}": moved(
        (3,),
        lambda i: fold((6,), 0, lambda s, k: s + XS[i, k]) + fold((6,), 0, lambda s, k: s + XS[i, k]) / 2,
    ),
    r"Y[i] = \prod_{k=0}^{5} \left(X[i, k] + 1\right)": moved(
        (3,), lambda i: fold((6,), 1, lambda s, k: s * (XS[i, k] + 1))
    ),
    r"Y[i] = \left(-2\right) \cdot \prod_{k=0}^{5} X[i, k]": moved(
        (3,), lambda i: fold((6,), -2, lambda s, k: XS[i, k] * s)
    ),
    r"Y[i] = \max_{0 \le k < 6} X[i, k]": moved(
        (3,), lambda i: fold((6,), LOWEST, lambda s, k: maximum(s, XS[i, k]))
    ),
    r"Y[i] = \min_{0 \le p < 2, 0 \le q < 3} X[p, q]": moved(
        (3,), lambda i: fold((2, 3), float("inf"), lambda s, p, q: minimum(s, XS[p, q]))
    ),
    r"Y[i] = \max(0, \max_{0 \le k < 6} X[i, k])": moved(
        (3,), lambda i: fold((6,), 0, lambda s, k: maximum(s, XS[i, k]))
    ),
    r"Y[i] = \min(\text{lowest}, \min_{0 \le k < 6} X[i, k])": moved(
        (3,), lambda i: fold((6,), LOWEST, lambda s, k: minimum(s, XS[i, k]))
    ),
    r"Y[i] = 7": moved((3,), lambda i: fold((0,), 7, lambda s, k: s + XS[i, k])),
    r"Y[i] = s_{6} \text{ where } s_{0} = 0, \; s_{k + 1} = X[i, k] - s_{k} \text{ for } 0 \le k < 6": moved(
        (3,), lambda i: fold((6,), 0, lambda s, k: XS[i, k] - s)
    ),
    r"Y[i] = s_{6} \text{ where } s_{0} = 0, \; s_{k + 1} = s_{k} - X[i, k] \text{ for } 0 \le k < 6": moved(
        (3,), lambda i: fold((6,), 0, lambda s, k: s - XS[i, k])
    ),
    r"Y[i] = s_{6} \text{ where } s_{0} = 1, \; s_{p \cdot 3 + q + 1} = s_{p \cdot 3 + q} + "
    r"X[p, q] \cdot s_{p \cdot 3 + q} \text{ for } 0 \le p < 2, 0 \le q < 3": moved(
        (3,), lambda i: fold((2, 3), 1, lambda s, p, q: s + XS[p, q] * s)
    ),
    r"Y[i] = s_{6} \text{ where } s_{0} = 0, \; s_{k + 1} = 1 \text{ for } 0 \le k < 6": moved(
        (3,), lambda i: fold((6,), 0, lambda s, k: 1)
    ),
}


@pytest.mark.parametrize("text", TENSORS)
def test_tensors_are_given_at_their_indices(text: str) -> None:
    found = made_formula(TENSORS[text], "Y", SYMBOLS)
    assert found == text
    mathml(found)


def test_a_known_index_below_zero_is_in_brackets() -> None:
    assert latex(make("index", data="i", sort=Sort.INDEX) * -2, {}) == r"i \cdot \left(-2\right)"


OPERATORS_BY_NAME = {operator.name: operator for operator in OPERATORS}
BY_HAND = {
    "Where": r"Z[i] = \begin{cases} X[i] & \text{if } C[i] \text{ is true} \\ "
    r"Y[i] & \text{otherwise} \end{cases}",
    "Clip": r"Y[i] = \begin{cases} X[i] & \text{if } X[i] \text{ is NaN} \\ M & \text{if } M < L \\ "
    r"L & \text{if } X[i] < L \\ M & \text{if } M < X[i] \\ X[i] & \text{otherwise} \end{cases}",
    "xla.Clamp": r"Y[i] = \min(\max(X[i], L[i]), M[i])",
    "Max": r"Y[i] = \max(X_0[i], X_1[i])",
    "Expand": r"Z[i_{0}, i_{1}, i_{2}] = X[i_{1}, 0] \qquad \text{for } \text{shape of } X = [N_{0}, 1], "
    r"\; S = [S_{0}, 1, S_{2}]",
    "xla.Broadcast": r"Y[i_{0}, i_{1}, i_{2}] = X[i_{2}] \qquad \text{for } \text{shape of } X = [N_{0}], "
    r"\; \text{broadcast sizes} = [b_{0}, b_{1}]",
    "xla.Collapse": r"Y[i_{0}, i_{1}] = X_{\text{flat}}[i_{0} \cdot N_{2} + i_{1}] \qquad \text{for } "
    r"\text{shape of } X = [N_{0}, N_{1}, N_{2}], \; \text{dimensions} = [0, 1]",
    "xla.Concatenate": r"Y[i_{0}, i_{1}] = \begin{cases} X_0[i_{0}, i_{1}] & \text{if } i_{0} < N_{0} \\ "
    r"X_1[i_{0} - N_{0}, i_{1}] & \text{otherwise} \end{cases} \qquad \text{for } \text{shape of } X_0 = "
    r"[N_{0}, N_{1}], \; \text{shape of } X_1 = [1, N_{1}], \; \text{dimension} = 0",
    "Conv": r"\begin{array}{l} Y[b, c, m_{0}, m_{1}] = B[c] + \sum_{z=0}^{N_{1} - 1} "
    r"\sum_{k_{0}=0}^{N_{5} - 1} \sum_{k_{1}=0}^{N_{6} - 1} \begin{cases} X[b, z, j_{0}, j_{1}] & \text{if } "
    r"0 \le j_{0} < N_{2} \text{ and } 0 \le j_{1} < N_{3} \\ 0 & \text{otherwise} \end{cases} \cdot "
    r"W[c, z, k_{0}, k_{1}] \\ \text{where } j_{0} = m_{0} \cdot s_{0} + k_{0} \cdot d_{0} - p_{0}, \quad "
    r"j_{1} = m_{1} \cdot s_{1} + k_{1} \cdot d_{1} - p_{1} \\ \text{for } \text{shape of } X = "
    r"[N_{0}, N_{1}, N_{2}, N_{3}], \; \text{shape of } W = [N_{4}, N_{1}, N_{5}, N_{6}], \; "
    r"\text{shape of } B = [N_{4}], \; \text{strides} = [s_{0}, s_{1}], \; \text{pads} = "
    r"[p_{0}, p_{1}, p_{2}, p_{3}], \; \text{dilations} = [d_{0}, d_{1}], \; \text{group} = 1 \end{array}",
    "xla.Conv": r"Y[b, c, m_{0}, m_{1}] = \sum_{z=0}^{N_{1} - 1} \sum_{k_{0}=0}^{N_{5} - 1} "
    r"\sum_{k_{1}=0}^{N_{6} - 1} X[b, z, m_{0} \cdot w_{0} + k_{0}, m_{1} \cdot w_{1} + k_{1}] \cdot "
    r"W[c, z, k_{0}, k_{1}] \qquad \text{for } \text{shape of } X = [N_{0}, N_{1}, N_{2}, N_{3}], \; "
    r"\text{shape of } W = [N_{4}, N_{1}, N_{5}, N_{6}], \; \text{window strides} = [w_{0}, w_{1}], \; "
    r"\text{padding} = \text{VALID}",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_operators_have_the_symbols_of_their_contracts(name: str) -> None:
    found = formula(OPERATORS_BY_NAME[name])
    assert found == BY_HAND[name]
    mathml(found)


def test_attributes_are_greek_letters_or_words() -> None:
    operator = OPERATORS_BY_NAME["HardSigmoid"]
    found = formula(operator)
    assert found is not None
    assert r"\text{if } \alpha \cdot X[i] + \beta < 0" in found
    assert walk._attribute("slope") == r"\text{slope}"


def test_what_is_no_element_has_no_formula() -> None:
    assert formula(OPERATORS_BY_NAME["xla.ConvertElementType"]) is None
    assert formula(replace(OPERATORS_BY_NAME["Where"], definition=None, meaning=lambda _a, _b: {})) is None


def test_a_word_without_a_formula_is_refused() -> None:
    with pytest.raises(DefinitionError, match="`flow`"):
        latex(make("flow"), {})


FORMULA: Any = walk._Formula
SMALLER: Any = FORMULA.size
MUTANTS: list[tuple[str, Any]] = [
    ("_subtract", FORMULA._add),
    ("_less", FORMULA._less_equal),
    ("_both", FORMULA._either),
    ("_negate", FORMULA._absolute),
    ("text", lambda self, term, _tightness=0: self.word(term)[0]),
    ("_is_nan", FORMULA._is_minus_zero),
    ("_divide", FORMULA._multiply),
    ("_read", FORMULA._read_flat),
    ("_index", lambda self, term: ("i", 3)),
    ("recurrence", lambda self, running, start, step, along: (self.text(step), 0)),
    ("extreme", lambda self, step, start, each, along: (self.text(each), 0)),
    ("size", lambda self, size: SMALLER(self, size + 1)),
    ("below", lambda self, along, between: ""),
    ("_fold", lambda self, term: self.word(term.arguments[1])),
]


@pytest.mark.mutant
@pytest.mark.no_cover
@pytest.mark.parametrize(("name", "wrong"), MUTANTS)
def test_a_wrong_formula_is_noticed(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FORMULA, name, wrong)
    if name.startswith("_"):
        monkeypatch.setitem(walk._WORDS, name[1:], wrong)
    every: dict[str, Any] = ELEMENTS | CONDITIONS
    tensors = any(made_formula(made, "Y", SYMBOLS) != text for text, made in TENSORS.items())
    assert tensors or any(latex(term, SYMBOLS) != text for text, term in every.items())


def test_a_composition_is_told_by_its_parts() -> None:
    assert formula(operator("HardSwish")) == (
        r"\begin{array}{ll} \text{slope} & = \text{HardSigmoid}(X;\ \alpha = \text{0x1.555556p-3}, "
        r"\beta = 0.5) \\ Y & = \text{Mul}(X, \text{slope}) \end{array}"
    )


def test_the_site_can_show_every_formula() -> None:
    found = [text for each in OPERATORS if (text := formula(each)) is not None]
    assert len(found) > len(BY_HAND)
    for text in found:
        assert "<math" in mathml(text, display=True)
