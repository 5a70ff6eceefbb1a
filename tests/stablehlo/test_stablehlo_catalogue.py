"""Every operator of the catalogue on the real XLA: cases by hand and trials, on all types that XLA has.

Sums have orders and roundings of XLA's own, and what calculates takes subnormal numbers for zero: neither is
compared.
"""

import numpy as np
import pytest
from tests.catalogue import (
    CELLS,
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
PLAIN = [(subject, dtype) for subject, dtype in CELLS if subject.enclose is None and dtype in XLA_NAMES]


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
    asked = [each for subject in SUBJECTS if not subject.enclose for each in by_hand(subject)]
    asked = [each for each in asked if each.dtypes <= XLA_NAMES.keys()]
    asked += [each for cell in PLAIN for each in some_tried(*cell, 1)]
    assert complaints(asked, MODES[0], on_xla, calculated_from_subnormals) == []


@pytest.mark.long
@pytest.mark.parametrize(
    "subject", dict.fromkeys(subject for subject, _ in PLAIN), ids=lambda s: s.identifier
)
def test_xla_gives_what_many_trials_say(subject: Subject) -> None:
    asked = [each for cell in PLAIN if cell[0] is subject for each in some_tried(*cell, 12)]
    assert complaints(asked, MODES[0], on_xla, calculated_from_subnormals) == []
