"""The judge: what is as specified passes, and every way to be wrong is named with its clause."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned

import sonnx
from sonnx.conformance.campaign import outcome
from sonnx.conformance.judge import SpecifiedError, Sums, judge
from sonnx.conformance.runtimes.answer import Answer, AnswerKind
from sonnx.conformance.subjects import SUBJECTS, Subject
from sonnx.conformance.words import element_text, text_at
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import dtype_of
from sonnx.numeric.environment import NotIeeeError
from sonnx.terms.tracing import elementwise
from sonnx.vocabulary.trial import Trial

F = np.float32
BY_NAME = {subject.identifier: subject for subject in SUBJECTS}
GEOMETRY = {
    "auto_pad": "NOTSET",
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (1, 1),
    "pads": (0, 0, 0, 0),
    "strides": (1, 1),
}


def clip(values: Any, low: float, high: float) -> Trial:
    return Trial(
        "t", {"input": np.array(values, F), "min": np.array(low, F), "max": np.array(high, F)}, (), ""
    )


def conv(x: Any, w: Any) -> Trial:
    X, W = np.array(x, F).reshape(1, -1, 1, 1), np.array(w, F).reshape(1, -1, 1, 1)
    return Trial("t", {"X": X, "W": W}, (), "", GEOMETRY)


def judged(subject: str, trial: Trial, *found: Any, sums: Sums = "free") -> Any:
    return judge(BY_NAME[subject].specified(trial, DType.FLOAT), found, sums)


def identifiers(judgement: Any) -> list[str]:
    assert judgement.grade is None
    return [difference.identifier for difference in judgement.differences]


def test_the_specified_bits_conform() -> None:
    trial = clip([-1, 0.5, 3, np.nan], 0, 1)
    assert judged("clip", trial, np.array([0, 0.5, 1, np.nan], F)).grade == "bits"


def test_a_definition_that_fails_is_told_with_its_operator_and_the_trial() -> None:
    def failing(X: Any) -> Any:
        raise KeyError("alpha")

    trial = Trial("one-zero", {"X": np.zeros(1, F)}, (), "")
    right = BY_NAME["relu"].specified(trial, DType.FLOAT)
    wrong = replace(right, operator=replace(right.operator, definition=elementwise(failing)))
    with pytest.raises(SpecifiedError) as error:
        judge(wrong, [np.zeros(1, F)])
    assert str(error.value) == "the definition of Relu fails on the trial one-zero: KeyError: 'alpha'"


def test_a_processor_that_does_not_calculate_as_ieee_754_says_is_no_fault_of_a_definition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: Any) -> Any:
        raise NotIeeeError("flushes subnormals")

    monkeypatch.setattr("sonnx.conformance.judge.apply", refused)
    with pytest.raises(NotIeeeError, match="flushes"):
        judged("clip", clip([1], 0, 1), np.zeros(1, F))


def divided(*divisors: int) -> Trial:
    """Seven divided by integers, none of which is a constant."""
    given = {"A": np.full(len(divisors), 7, np.int32), "B": np.array(divisors, np.int32)}
    return Trial("t", given, (), "")


def test_outputs_where_a_run_must_stop_break_the_ruling_on_domains() -> None:
    subject = BY_NAME["div"]
    stopping = subject.specified(divided(2, 0, 3), DType.INT32)
    assert stopping.stop == "A[1] is 7, B[1] is 0"
    for found, told in (([np.array([3, 0, 2], np.int32)], "int32[3]"), ([], "no error"), ([F(1)] * 2, "")):
        ((difference,), grade) = (judge(stopping, found).differences, judge(stopping, found).grade)
        assert grade is None
        assert (difference.identifier, difference.place, difference.kind) == ("D-ALL-11", None, "value")
        text = "At every element, the divisor is not 0; where not, the run stops and gives no output."
        assert difference.clause == text
        assert difference.expected == "no output: the run stops, for A[1] is 7, B[1] is 0"
        assert difference.found == (told or "float[], float[]")
    goes_on = subject.specified(divided(2, 1, 3), DType.INT32)
    assert goes_on.stop == ""
    assert judge(goes_on, [np.array([3, 7, 2], np.int32)]).grade == "bits"


@pytest.mark.parametrize(
    ("kind", "stops", "verdict", "grade"),
    [
        ("refused", True, "conforms", "stop"),
        ("refused", False, "unsupported", None),  # without need
        ("unsupported", True, "unsupported", None),
        ("crashed", True, "crashes", None),  # which is no error that anybody could hear of
        ("late", True, "crashes", None),
    ],
)
def test_a_refusal_conforms_where_a_run_must_stop(
    kind: AnswerKind, stops: bool, verdict: str, grade: str | None
) -> None:
    asked = divided(2, 0) if stops else divided(2, 1)
    found = outcome(BY_NAME["div"], DType.INT32, asked, Answer(kind), "free")
    assert (found.verdict, found.grade, found.differences) == (verdict, grade, ())


WRONG: dict[str, tuple[list[float], float, float, list[float], str]] = {
    "a NaN that is lost": ([np.nan], 0, 1, [0], "D-CLIP-1"),
    "a NaN bound that spreads": ([2], np.nan, 3, [np.nan], "D-CLIP-1"),
    "min above max": ([2], 5, 3, [5], "D-CLIP-1"),
    "a zero that changes its sign": ([-0.0], 0.0, 1, [0.0], "D-CLIP-2"),
    "a subnormal that is flushed": ([1e-40], 0, 1, [0.0], "D-ALL-4"),
    "a bound that is not kept": ([7], 0, 1, [7], "D-CLIP-5"),
    "one step beside": ([0.5], 0, 1, [float(np.nextafter(F(0.5), F(1)))], "D-CLIP-5"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_element_is_named_with_its_clause(name: str) -> None:
    values, low, high, found, identifier = WRONG[name]
    assert identifiers(judged("clip", clip(values, low, high), np.array(found, F))) == [identifier]


def test_each_clause_is_told_once_with_the_first_place_and_the_number_of_elements() -> None:
    trial = clip([[np.nan, 9.0], [9.0, -0.0]], 0, 1)
    judgement = judged("clip", trial, np.array([[0, 1], [9, 0]], F))
    told = {d.identifier: (d.place, d.expected, d.found, d.elements) for d in judgement.differences}
    assert told["D-CLIP-2"] == ((1, 1), "-0x0p+0 (0x80000000)", "0x0p+0 (0x00000000)", 1)
    assert told["D-CLIP-5"] == ((1, 0), "0x1p+0 (0x3f800000)", "0x1.2p+3 (0x41100000)", 1)
    assert told["D-CLIP-1"][0] == (0, 0)


def where(condition: int, x: Any, y: Any) -> Trial:
    held = np.array([condition], np.uint8).view(np.bool_)
    return Trial("t", {"condition": held, "X": np.array([x]), "Y": np.array([y])}, (), "")


NAN = np.array([0x7FC00001, 0x7FC00002], np.uint32).view(F)
KINDS: dict[str, tuple[Trial, Any, list[tuple[str, str]]]] = {
    "a zero": (where(1, F(-0.0), F(1)), F(0), [("D-WHERE-2", "sign of zero")]),
    "a NaN": (where(1, NAN[0], F(1)), NAN[1], [("D-WHERE-2", "bits of NaN")]),
    "a NaN that became a number": (where(1, NAN[0], F(1)), F(1), [("D-WHERE-2", "value")]),
    "a number": (where(0, F(2), F(1)), F(2), [("D-WHERE-2", "value")]),
    # The byte is blamed for what was chosen, not for what became of it.
    "a strange byte": (where(2, F(2), F(1)), F(1), [("D-WHERE-1", "value")]),
    "a zero under a strange byte": (where(2, F(-0.0), F(1)), F(0), [("D-WHERE-2", "sign of zero")]),
    "a part beside a NaN": (
        where(1, np.complex64(complex(np.nan, 1)), np.complex64(0)),
        np.complex64(complex(np.nan, 2)),
        [("D-WHERE-2", "value")],
    ),
    "a part beside a zero": (
        where(1, np.complex64(complex(-0.0, 1)), np.complex64(0)),
        np.complex64(complex(0.0, 1)),
        [("D-WHERE-2", "sign of zero")],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_it_is_told_what_was_lost_of_an_element(name: str) -> None:
    trial, found, expected = KINDS[name]
    specified = BY_NAME["where"].specified(trial, dtype_of(found) or DType.REAL)
    told = judge(specified, [np.array([found])]).differences
    assert [(each.identifier, each.kind) for each in told] == expected


@pytest.mark.parametrize("condition", [1, 2])
def test_a_bool_with_another_byte_is_told_with_it_and_has_lost_its_value(condition: int) -> None:
    trial = where(condition, True, False)
    found = np.array([255], np.uint8).view(np.bool_)
    (told,) = judge(BY_NAME["where"].specified(trial, DType.BOOL), [found]).differences
    # Both are true: no byte of the condition is blamed for it.
    assert (told.identifier, told.kind) == ("D-WHERE-2", "value")
    assert (told.expected, told.found) == ("True", "True (0xff)")


NUMBER = "there are as many outputs as the contract has"
TYPES = "outputs have the types of the contract"
SHAPES = "outputs have the shapes of the contract"


@pytest.mark.parametrize(
    ("found", "clauses"),
    [
        ([], [NUMBER]),
        ([np.zeros(1, F), np.zeros(1, F)], [NUMBER]),
        ([np.zeros(2, F)], [SHAPES]),
        ([np.zeros((1, 1), F)], [SHAPES]),
        ([np.zeros(1)], [TYPES]),
        ([np.zeros(2)], [TYPES, SHAPES]),
        ([np.array([None])], [TYPES]),
        (["no array"], [TYPES, SHAPES]),
        ([TensorType(None, None, foreign="no TensorProto")], [TYPES]),
        # Told without its elements: of another shape, or of no use.
        ([TensorType(DType.FLOAT, (2,))], [SHAPES]),
        ([TensorType(DType.FLOAT, (1,))], [TYPES]),
    ],
)
def test_outputs_of_another_number_type_or_shape_depart_each_by_a_clause_of_its_own(
    found: list[Any], clauses: list[str]
) -> None:
    judgement = judged("clip", clip([0.0], 0, 1), *found)
    assert set(identifiers(judgement)) == {"clip.outputs"}
    assert [each.clause for each in judgement.differences] == clauses
    assert {each.kind for each in judgement.differences} == {"type or shape"}


def one(value: float) -> Any:
    return np.array(value, F).reshape(1, 1, 1, 1)


# 2^24 and 1 - 2^24 leave 1 where products are rounded in this order; in another, 0; fused the same.
CANCELLING = conv([1.0, 2.0**24, -(2.0**24)], [1, 1, 1])
# The product 1 + 2^-11 + 2^-24 is rounded to 1 + 2^-11 before 1 + 2^-11 is taken away: 0, fused 2^-24.
FUSING = conv([-(1 + 2.0**-11), 1 + 2.0**-12], [1, 1 + 2.0**-12])


def test_sums_are_graded_by_their_mode() -> None:
    assert judged("conv", FUSING, one(0.0)).grade == "separate"
    assert judged("conv", FUSING, one(2.0**-24)).grade == "fused"


def test_another_order_lies_inside_the_enclosure_and_departs_where_a_mode_is_asked_for() -> None:
    specified = sonnx.conv(*CANCELLING.inputs.values(), **GEOMETRY)
    other = one(1.0 - float(specified[0, 0, 0, 0]))
    assert judged("conv", CANCELLING, other).grade == "enclosure"
    assert identifiers(judged("conv", CANCELLING, other, sums="separate")) == ["D-CONV-6"]
    assert identifiers(judged("conv", FUSING, one(2.0**-24), sums="separate")) == ["D-CONV-6"]
    assert judged("conv", FUSING, one(2.0**-24), sums="fused").grade == "fused"


def test_a_sum_outside_of_the_enclosure_departs() -> None:
    assert identifiers(judged("conv", conv([3, 5], [7, 11]), one(76 * (1 + 2.0**-12)))) == ["D-CONV-1"]


def test_a_skipped_zero_of_the_padding_departs() -> None:
    inputs = {"X": np.ones((1, 1, 1, 1), F), "W": np.array([np.inf, 1], F).reshape(1, 1, 1, 2)}
    padded = {**GEOMETRY, "kernel_shape": (1, 2), "pads": (0, 1, 0, 0)}
    assert identifiers(judged("conv", Trial("t", inputs, (), "", padded), one(1.0))) == ["D-CONV-5"]


@pytest.mark.thinned
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.identifier)
def test_every_subject_judges_what_it_specifies_as_conforming(subject: Subject) -> None:
    for dtype in thinned(subject.types, 3):
        for trial, _ in zip(subject.trials(dtype, 7), range(20), strict=False):
            specified = subject.specified(trial, dtype)
            mode = specified.modes[0] if specified.modes else ""
            grade = judge(specified, list(specified.results(mode).values())).grade
            assert grade == (mode or "bits"), (dtype, trial.name)


@pytest.mark.parametrize("subject", [each for each in SUBJECTS if each.enclose], ids=lambda s: s.identifier)
def test_no_trial_says_how_to_sum(subject: Subject) -> None:
    for dtype in subject.types:
        for trial, _ in zip(subject.trials(dtype, 7), range(40), strict=False):
            assert "accumulate" not in trial.attributes, (dtype, trial.name)


def test_elements_are_written_with_their_bits() -> None:
    assert element_text(np.float16(-0.0), DType.FLOAT16) == "-0x0p+0 (0x8000)"
    assert element_text(np.complex64(1 + 2j), DType.COMPLEX64) == "(0x1p+0 (0x3f800000), 0x1p+1 (0x40000000))"
    assert element_text(np.int8(-3), DType.INT8) == "-3"
    assert element_text("a\x1b" + "b" * 100, DType.STRING).startswith("'a\\x1bbbb")
    bytes_of_bools = np.array([[0, 1], [2, 255]], np.uint8).view(np.bool_)
    shown = [text_at(bytes_of_bools.T, place, DType.BOOL) for place in np.ndindex(2, 2)]
    assert shown == ["False", "True (0x02)", "True", "True (0xff)"]
    assert text_at(np.array([F(-0.0)]), (0,), DType.FLOAT) == "-0x0p+0 (0x80000000)"
