"""Every operator of the catalogue on the real XLA: cases by hand and trials, on all types that XLA has.

Sums have orders and roundings of XLA's own, and what calculates takes subnormal numbers for zero: neither is
compared.
"""

import numpy as np
import pytest
from tests.budgets import thinned
from tests.catalogue import (
    MODES,
    SUBJECTS,
    Array,
    Asked,
    by_hand,
    complaints,
    on_xla,
    some_tried,
)

from sonnx.conformance.subjects import Subject
from sonnx.model.dtype import XLA_NAMES

# Of operators that sum there are tests with bounds.
PLAIN = [subject for subject in SUBJECTS if subject.enclose is None]
TYPES = {subject: [dtype for dtype in subject.types if dtype in XLA_NAMES] for subject in PLAIN}


def subnormal(array: Array) -> Array:
    if array.dtype.kind != "f":
        return np.False_
    return (array != 0) & (np.abs(array) < np.finfo(array.dtype).tiny)


def calculated_from_subnormals(asked: Asked, right: Array) -> Array:
    """Where XLA calculates with subnormal numbers, or should make one."""
    if asked.subject.nan == "bits":  # nothing is calculated
        return np.False_
    return subnormal(right) | np.logical_or.reduce([subnormal(each) for each in asked.operands])


def test_xla_gives_what_cases_and_trials_say() -> None:
    asked = [each for subject in PLAIN for each in by_hand(subject)]
    asked = [each for each in asked if each.dtypes <= XLA_NAMES.keys()]
    # XLA takes milliseconds for each: four types of an operator here, all of them below.
    asked += [each for of in TYPES for dtype in thinned(TYPES[of], 4) for each in some_tried(of, dtype, 1)]
    assert complaints(asked, MODES[0], on_xla, calculated_from_subnormals) == []


@pytest.mark.long
@pytest.mark.parametrize("subject", PLAIN, ids=lambda subject: subject.identifier)
def test_xla_gives_what_many_trials_say(subject: Subject) -> None:
    asked = [each for dtype in TYPES[subject] for each in some_tried(subject, dtype, 8)]
    assert complaints(asked, MODES[0], on_xla, calculated_from_subnormals) == []
