"""One fault is told once: what a plainer departure may have caused stands behind it, nothing gets lost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.conformance.report_samples import BY_NAME, GEOMETRY, F, trial
from tests.conformance.wrong.mutant import Here, Mutant

from sonnx.conformance.campaign import Outcome, outcome
from sonnx.conformance.causes import causes, plainer
from sonnx.conformance.result import Key
from sonnx.conformance.runtimes.ours import Reference
from sonnx.conformance.runtimes.question import Question, question
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

Answer = Callable[[Question], Sequence[Any]]
A, B, C, D = [(name, "", "value") for name in "ABCD"]
REFERENCE = Reference()
LARGEST = float(np.finfo(F).max)


@pytest.mark.parametrize(
    ("plainer_ones", "wanted"),
    [
        ({}, {}),
        ({A: B}, {A: B}),
        ({A: B, B: C, D: C}, {A: C, B: C, D: C}),
        # Where two are plainer in turn, the one that was found first.
        ({A: B, B: A}, {B: A}),
        ({A: B, B: C, C: B}, {A: B, C: B}),
    ],
)
def test_the_cause_is_the_end_of_a_chain(plainer_ones: dict[Key, Key], wanted: dict[Key, Key]) -> None:
    assert causes(plainer_ones) == wanted


def asking(answer: Answer, operator: str) -> Callable[[Trial], Outcome]:
    runtime, subject = Here(Mutant("", operator, (), "", answer)), BY_NAME[operator]

    def ask(asked: Trial) -> Outcome:
        (said,) = runtime.ask_many([question(subject.operator, asked)])
        return outcome(subject, DType.FLOAT, asked, said, "free")

    return ask


def run(asked: Question, **operands: Array) -> Any:
    """The definition of a convolution of other operands."""
    (output,) = REFERENCE.run(Question("conv", operands, {}, asked.attributes, asked.outputs))
    return output


def without_bias(asked: Question) -> Sequence[Any]:
    return [run(asked, X=asked.operands["X"], W=asked.operands["W"])]


def turned(asked: Question) -> Sequence[Any]:
    """The kernel from its end."""
    return [run(asked, **{**asked.operands, "W": asked.operands["W"][:, :, ::-1, ::-1].copy()})]


def scaled(asked: Question) -> Sequence[Any]:
    return [output * F(1 + 2.0**-9) for output in REFERENCE.run(asked)]


def without_nan(answer: Answer) -> Answer:
    """The same, and zeros for NaNs."""
    return lambda asked: [np.where(np.isnan(output), F(0), output) for output in answer(asked)]


def without_subnormal(answer: Answer) -> Answer:
    return lambda asked: [np.where(abs(output) < F(2.0**-126), F(0), output) for output in answer(asked)]


def conv(x: Any, w: Any, b: float | None = None, pads: Sequence[int] = (0, 0, 0, 0)) -> Trial:
    """Lines of elements."""
    X, W = (np.array(each, F).reshape(1, 1, 1, -1) for each in (x, w))
    operands: dict[str, Array] = {"X": X, "W": W}
    if b is not None:
        operands["B"] = np.full(1, b, F)
    return trial(operands, {**GEOMETRY, "kernel_shape": W.shape[2:], "pads": tuple(pads)})


def plainest(answer: Answer, asked: Trial) -> str:
    """The identifier of the plainer departure, if there is any."""
    ask = asking(answer, "conv")
    found = ask(asked)
    assert found.verdict == "departs"
    plain = plainer(ask, found, found.keys[0])
    if plain is None:
        return ""
    assert plain[0] in plain[1].keys
    return plain[0][0]


@pytest.mark.parametrize(
    "asked",
    [conv(0, 0, np.nan), conv(0, 0, np.inf), conv(2.0**-149, 0, 1), conv(1, 1, 1), conv(0, 0, LARGEST)],
)
def test_whatever_a_dropped_bias_breaks_is_the_dropped_bias(asked: Trial) -> None:
    assert plainest(without_bias, asked) == "D-CONV-4"


@pytest.mark.parametrize("asked", [conv([0, np.inf], [0, 1]), conv([0, 2.0**-149], [0, 1])])
def test_whatever_a_turned_kernel_breaks_is_the_place_of_its_taps(asked: Trial) -> None:
    # Ones in all places would hide it.
    assert plainest(turned, asked) == "D-CONV-1"


def test_the_plainest_departure_has_no_plainer_one() -> None:
    assert plainest(without_bias, conv(0, 0, 1)) == ""
    assert plainest(scaled, conv(1, 1)) == ""
    assert plainest(turned, conv([0, 1], [0, 1])) == ""


@pytest.mark.parametrize("plain", [without_bias, turned, scaled])
def test_a_lost_nan_is_a_fault_of_its_own(plain: Answer) -> None:
    assert plainest(without_nan(plain), conv(np.nan, 0)) == ""


def test_what_departs_everywhere_explains_nothing_that_is_lost_otherwise() -> None:
    assert plainest(scaled, conv(0.5, 3)) == "D-CONV-1"
    assert plainest(without_subnormal(scaled), conv(2.0**-149, 1)) == ""
    # But a number that is taken for another may be the same fault.
    assert plainest(without_subnormal(scaled), conv([2.0**-149, 1], [1, 1])) == "D-CONV-1"


def test_the_sign_of_a_zero_and_a_value_are_never_one_fault() -> None:
    def answer(asked: Question) -> Sequence[Any]:
        return [np.where(output == 0, F(-0.0), output * F(2)) for output in REFERENCE.run(asked)]

    assert plainest(answer, conv(0, 0)) == ""
    assert plainest(answer, conv(1, 1)) == ""


def test_a_zero_that_loses_its_sign_beside_a_subnormal_number_does_so_beside_a_one() -> None:
    def lost(asked: Question) -> Sequence[Any]:
        return [np.where(output == 0, F(-0.0), output) for output in REFERENCE.run(asked)]

    def lost_where_tiny(asked: Question) -> Sequence[Any]:
        tiny = any(((array != 0) & (abs(array) < F(2.0**-126))).any() for array in asked.operands.values())
        return lost(asked) if tiny else REFERENCE.run(asked)

    for asked in (conv(2.0**-149, 0), conv(-(2.0**-149), -0.0), conv([1, -(2.0**-127)], [0, 0])):
        ask = asking(lost, "conv")
        found = ask(asked)
        assert [(each.kind, each.expected, each.found) for each in found.differences] == [
            ("sign of zero", "0x0p+0 (0x00000000)", "-0x0p+0 (0x80000000)")
        ]
        assert "Subnormal" in found.keys[0][1]
        plain = plainer(ask, found, found.keys[0])
        assert plain is not None
        assert "Subnormal" not in plain[0][1]
        assert plain[0][2] == "sign of zero"
        # Where it takes a subnormal number, that is to blame.
        assert plainest(lost_where_tiny, asked) == ""


def test_what_contradicts_itself_breaks_nothing_else() -> None:
    ask = asking(without_bias, "conv")
    found = replace(ask(conv(1, 1, 1)), against=(np.zeros(1),))
    assert plainer(ask, found, found.keys[0]) is None


def test_a_wrong_type_is_no_wrong_element() -> None:
    def answer(asked: Question) -> Sequence[Any]:
        return [output.astype(np.float64) for output in without_bias(asked)]

    assert plainest(answer, conv(3, 1)) == ""


def test_strings_and_truths_are_made_plain_too() -> None:
    operands = {"condition": np.array([True]), "X": np.array(["ab"], object), "Y": np.array(["c"], object)}
    subject, asked = BY_NAME["where"], trial(operands)
    runtime = Here(Mutant("", "where", (), "", lambda _: [np.array(["no"], object)]))

    def ask(one: Trial) -> Outcome:
        (said,) = runtime.ask_many([question(subject.operator, one)])
        return outcome(subject, DType.STRING, one, said, "free")

    found = ask(asked)
    assert "condition is true" in found.keys[0][1]
    plain = plainer(ask, found, found.keys[0])
    assert plain is not None
    assert "condition is false" in plain[0][1]  # which is simpler


def test_ones_do_not_stand_for_sizes() -> None:
    asked = trial({"input": np.full((1, 2), 5, F), "shape": np.array([3, 1])}, constants=["shape"])
    heard: list[tuple[list[int], set[float]]] = []

    def answer(one: Question) -> Sequence[Any]:
        heard.append((one.operands["shape"].tolist(), set(one.operands["input"].reshape(-1).tolist())))
        return [output + F(1) for output in REFERENCE.run(one)]

    ask = asking(answer, "expand")
    found = ask(asked)
    assert plainer(ask, found, found.keys[0]) is not None
    assert heard[:2] == [([3, 1], {5.0}), ([3, 1], {1.0})]
