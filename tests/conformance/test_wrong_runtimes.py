"""The kit can fail: runtimes that do one thing wrong are caught, by the ruling that they break."""

from collections.abc import Iterator

import pytest
from tests.budgets import thinned
from tests.conformance.right.once import BY_NAME, SEED, is_large, is_twin
from tests.conformance.wrong import (
    bounding,
    converting,
    corners,
    derived,
    edges,
    elementwise,
    gaps,
    moving,
    outputs,
    rounding,
    sliding,
)
from tests.conformance.wrong.mutant import Here, Mutant

from sonnx.conformance.campaign import Outcome, outcome, outcomes
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.question import question
from sonnx.model.dtype import DType

MUTANTS = [
    *(*moving.MUTANTS, *bounding.MUTANTS, *converting.MUTANTS),
    *(*sliding.MUTANTS, *rounding.MUTANTS, *gaps.MUTANTS),
    *(*corners.MUTANTS, *edges.MUTANTS, *elementwise.MUTANTS),
]
MUTANTS += derived.mutants(MUTANTS)
MUTANTS += outputs.MUTANTS
# So many tests, for several processes.
PARTS = 8
STOPPING = "tests.conformance.wrong.outputs:Stopping"


def called(mutant: Mutant) -> str:
    return f"{mutant.operator}: {mutant.name}"


def departures(mutant: Mutant, dtype: DType) -> Iterator[Outcome]:
    subject = BY_NAME[mutant.operator]
    trials = (
        trial
        for trial in subject.trials(dtype, SEED)
        if trial.name.startswith(mutant.trials)
        and (mutant.twins or not is_twin(trial))
        and (mutant.trials or not is_large(trial))
    )
    for found in outcomes(Here(mutant), subject, dtype, trials, mutant.sums):
        assert found.verdict in ("conforms", "departs"), (found.trial.name, found.said)
        if found.verdict == "departs":
            yield found


def is_caught(mutant: Mutant, dtype: DType) -> bool:
    """Tell whether some trial shows that the ruling is broken."""
    return any(
        difference.identifier == mutant.ruling
        for found in departures(mutant, dtype)
        for difference in found.differences
    )


@pytest.mark.thinned
@pytest.mark.parametrize("part", range(PARTS))
def test_a_wrong_runtime_departs_from_the_ruling_that_it_breaks(part: int) -> None:
    escaped = [
        (called(mutant), dtype)
        for mutant in thinned(MUTANTS[part::PARTS], 10)
        for dtype in mutant.types
        if not is_caught(mutant, dtype)
    ]
    assert escaped == []


def test_every_operator_and_every_ruling_that_clauses_name_has_a_wrong_runtime() -> None:
    named = set()
    for subject in BY_NAME.values():
        for dtype in {subject.types[0], DType.FLOAT} & set(subject.types):
            trial = next(subject.trials(dtype, SEED))
            named |= {clause.identifier for clause in subject.clauses(trial.inputs, trial.attributes)}
    assert {mutant.operator for mutant in MUTANTS} == set(BY_NAME)
    assert named <= {mutant.ruling for mutant in MUTANTS}


def test_an_operator_that_nobody_got_wrong_by_hand_has_a_wrong_runtime_that_is_caught() -> None:
    others = [mutant for mutant in MUTANTS if mutant.operator not in ("relu", "xla.collapse")]
    relu, collapse = derived.mutants(others)
    assert (relu.operator, collapse.operator) == ("relu", "xla.collapse")
    assert is_caught(relu, DType.FLOAT)
    assert is_caught(collapse, DType.DOUBLE)


def test_wrong_runtimes_have_names_of_their_own() -> None:
    names = [called(mutant) for mutant in MUTANTS]
    assert sorted(names) == sorted(set(names))


def test_a_runtime_that_ends_or_hangs_crashes_and_one_that_refuses_does_not_support_it() -> None:
    verdicts = {}
    with Child(STOPPING) as child:
        for operator in ("xla.collapse", "expand", "where", "clip"):
            subject = BY_NAME[operator]
            trial = next(subject.trials(DType.FLOAT, SEED))
            answer = child.ask(question(operator, trial), seconds=0.5)
            found = outcome(subject, DType.FLOAT, trial, answer, "free")
            verdicts[operator] = (found.verdict, found.said.partition(":")[0])
    assert verdicts == {
        "xla.collapse": ("unsupported", "unsupported"),
        "expand": ("unsupported", "refused"),
        "where": ("crashes", "late"),
        "clip": ("crashes", "crashed"),
    }
