"""Every operator on elements got wrong in every way that it can be: trials show it, and the kit says so."""

from collections.abc import Iterator
from itertools import islice

import pytest
from tests.budgets import thinned
from tests.conformance.right.once import BY_NAME, SEED, Once, is_large, is_twin
from tests.conformance.wrong import faults
from tests.conformance.wrong.faults import FAULTS, TYPES, Wrong

from sonnx.conformance.campaign import outcome
from sonnx.conformance.runtimes.question import question
from sonnx.conformance.runtimes.worker import answer_to
from sonnx.model.dtype import DType
from sonnx.numeric.bits import same_bits
from sonnx.vocabulary.trial import Trial

SUBJECTS = [subject for subject in BY_NAME.values() if faults.is_on_elements(subject.operator)]
CELLS = [
    (subject.identifier, dtype, fault)
    for fault in FAULTS
    for subject in SUBJECTS
    for dtype in subject.types
    if dtype in TYPES
]
# So many tests, for several processes.
PARTS = 4
# Attributes and absent operands change what an operator asks for.
FORMS = 6


def asked(subject: Once, dtype: DType) -> Iterator[Trial]:
    """Small trials that have results, each once."""
    for each in subject.trials(dtype, SEED):
        if not (is_twin(each) or is_large(each) or subject.specified(each, dtype).stop):
            yield each


def can_have(subject: Once, dtype: DType, fault: str) -> bool:
    questions = (question(subject.operator, trial) for trial in islice(asked(subject, dtype), FORMS))
    return faults.can_have(subject, fault, dtype, [(each.operands, each.attributes) for each in questions])


def is_caught(subject: Once, dtype: DType, fault: str) -> bool:
    """Tell whether the kit says that a runtime with this fault departs."""
    run, wrong = faults.right(subject.operator), faults.wrong_run(subject.operator, fault, dtype)
    for trial in asked(subject, dtype):
        given = question(subject.operator, trial)
        made = run(given.operands, given.attributes)
        if same_bits(wrong(given.operands, given.attributes), made, nan=subject.nan):
            continue
        found = outcome(
            subject, dtype, trial, answer_to(Wrong(subject.operator, wrong, fault), given), "free"
        )
        if found.verdict == "departs":
            return True
    return False


@pytest.mark.thinned
@pytest.mark.parametrize("part", range(PARTS))
def test_what_an_operator_on_elements_can_get_wrong_is_found(part: int) -> None:
    escaped = [
        (name, dtype, fault)
        for name, dtype, fault in thinned(CELLS[part::PARTS], 20)
        if can_have(BY_NAME[name], dtype, fault) and not is_caught(BY_NAME[name], dtype, fault)
    ]
    assert escaped == []


def test_every_operator_on_elements_can_be_wrong_and_every_fault_is_one_of_some_operator() -> None:
    unseen = set(FAULTS)
    for subject in SUBJECTS:
        dtype = next(each for each in subject.types if each in TYPES)
        assert can_have(subject, dtype, "the last bit is wrong"), subject.identifier
    for name, dtype, fault in CELLS:
        if fault in unseen and can_have(BY_NAME[name], dtype, fault):
            unseen.remove(fault)
    assert unseen == set()
