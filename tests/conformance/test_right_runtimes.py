"""The kit accuses nobody wrongly: definitions written anew conform, and sums in any order do."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pytest
from tests.budgets import thinned
from tests.conformance.right.elements import Array
from tests.conformance.right.once import BY_NAME, SEED, Once, is_large, is_twin
from tests.conformance.right.runtime import ELEMENTWISE, Plain, cut
from tests.conformance.right.sliding import PROBLEMS, Problem, Term, convolved
from tests.conformance.right.summing import FOLDS, separate
from tests.conformance.wrong.mutant import Here

from sonnx.conformance.campaign import outcome, outcomes
from sonnx.conformance.judge import Sums
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.question import question
from sonnx.conformance.runtimes.worker import answer_to
from sonnx.model.dtype import IEEE, DType
from sonnx.vocabulary.trial import Trial

FLOATS = (*IEEE, DType.BFLOAT16)
# One of XLA's convolutions is the other with its padding in one word.
CELLS = [
    (operator, dtype)
    for operator in PROBLEMS
    for dtype in ((DType.FLOAT, DType.BFLOAT16) if operator == "xla.conv" else BY_NAME[operator].types)
    if dtype in FLOATS
]
# To look at a hundred thousand sums takes a second: few are asked, and for XLA they are the same.
LARGE = {"conv": ("separate", "fused", "matrices")}
# How it takes them is for a library to say.
NO_LAW = {"matrices"}
# Without a bias some ways are one; others differ in nothing that XLA's convolutions have.
XLA = (
    "separate",
    "fused",
    "reverse",
    "disorder 1",
    "first product first",
    "pairwise",
    "kahan",
    "kahan, corrected",
    "wide",
    "matrices",
)
# Types that are held or compared in different ways; what holds for these holds for the others.
TYPES = {
    *(DType.FLOAT, DType.FLOAT16, DType.BFLOAT16, DType.INT8, DType.UINT64),
    *(DType.BOOL, DType.STRING, DType.COMPLEX64),
}
# From these a conversion may round twice.
CONVERTED = {DType.DOUBLE, DType.INT64}
OTHER_SEED = SEED + 1


def asked(subject: Once, dtype: DType, seed: int = SEED) -> Iterator[Trial]:
    """What there is to ask; none of these runtimes looks at what is constant."""
    return (trial for trial in subject.trials(dtype, seed) if not is_twin(trial))


def with_other_random_ones(subject: Once, dtype: DType) -> Iterator[Trial]:
    yield from asked(subject, dtype)
    if subject.identifier == "conv":
        yield from (t for t in asked(subject, dtype, OTHER_SEED) if t.name.startswith("random-"))


def accused(subject: Once, dtype: DType, trial: Trial, sums: Sums = "free") -> str:
    found = outcome(subject, dtype, trial, answer_to(Plain(), question(subject.operator, trial)), sums)
    return "" if found.verdict == "conforms" else f"{dtype} {trial.name}: {found.said} {found.differences}"


@pytest.mark.thinned
@pytest.mark.parametrize("operator", ELEMENTWISE)
def test_a_definition_written_anew_conforms(operator: str) -> None:
    subject = BY_NAME[operator]
    more = CONVERTED if operator == "xla.convert_element_type" else set()
    types = thinned([dtype for dtype in subject.types if dtype in TYPES | more], 2)
    trials = ((dtype, trial) for dtype in types for trial in thinned(list(asked(subject, dtype)), 60))
    found = (accused(subject, dtype, trial) for dtype, trial in trials)
    assert list(filter(None, found)) == []


@pytest.mark.long
@pytest.mark.parametrize("operator", ["xla.conv", "xla.conv_with_general_padding"])
def test_a_convolution_of_integers_written_anew_conforms(operator: str) -> None:
    subject = BY_NAME[operator]
    integers = [dtype for dtype in subject.types if dtype in TYPES and dtype not in FLOATS]
    found = (accused(subject, dtype, trial, "fused") for dtype in integers for trial in asked(subject, dtype))
    assert list(filter(None, found)) == []


@pytest.mark.long
@pytest.mark.parametrize(("operator", "dtype"), CELLS, ids=str)
def test_sums_in_any_order_conform_and_are_graded_for_what_they_are(operator: str, dtype: DType) -> None:
    subject = BY_NAME[operator]
    names = tuple(FOLDS) if operator == "conv" else XLA
    grades = defaultdict(set)
    for trial in with_other_random_ones(subject, dtype):
        asking = question(operator, trial)
        for name in LARGE.get(operator, ()) if is_large(trial) else names:
            found = outcome(subject, dtype, trial, answer_to(Plain(name), asking), "free")
            assert found.verdict == "conforms", (name, trial.name, found.said, found.differences)
            grades[name].add(found.grade)
            if name in ("separate", "fused"):
                mode: Sums = "separate" if name == "separate" else "fused"
                assert not outcome(subject, dtype, trial, Answer("outputs", found.outputs), mode).differences
    assert grades["separate"] == {"separate"}
    # The product of two float16 is exact in float: both modes are one.
    assert grades["fused"] == ({"separate"} if dtype is DType.FLOAT16 else {"separate", "fused"})
    others = set(names) - NO_LAW - {"separate", "fused"}
    assert {name for name in others if "enclosure" not in grades[name]} == set()


def test_a_runtime_that_does_not_look_at_constants_is_not_said_to() -> None:
    subject = BY_NAME["conv"]
    found = outcomes(Here(Plain("reverse")), subject, DType.FLOAT16, subject.trials(DType.FLOAT16, SEED))
    assert {each.verdict for each in found} == {"conforms"}


def departs_when_scaled(operator: str, dtype: DType, by: float) -> bool:
    """Sums that are too large by so much, before they are rounded for the last time."""

    def scaled(problem: Problem, terms: Sequence[Term]) -> Array:
        return separate(problem, terms) * problem.held.type(by)

    subject = BY_NAME[operator]
    for trial in asked(subject, dtype):
        if is_large(trial):
            continue
        problem, terms = cut(question(operator, trial))
        output = convolved(problem, scaled, terms)
        if outcome(subject, dtype, trial, Answer("outputs", (output,)), "free").differences:
            return True
    return False


@pytest.mark.parametrize(("operator", "dtype"), CELLS, ids=str)
def test_sums_that_are_too_large_by_a_little_depart(operator: str, dtype: DType) -> None:
    # A step of bfloat16 is 2^-7 of the number: so little is lost in the last rounding, but for ties.
    assert departs_when_scaled(operator, dtype, 1 + 2.0**-12)
