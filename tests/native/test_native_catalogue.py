"""Every operator of the catalogue, compiled: cases by hand and trials, on all its types."""

from pathlib import Path

import pytest
from tests.catalogue import CELLS, MODES, SUBJECTS, by_hand, complaints, native, some_tried, tried
from tests.native.support import quick_compiler

from sonnx.conformance.subjects import Subject
from sonnx.evaluate.execution import Accumulate
from sonnx.model.dtype import DType


@pytest.mark.parametrize("mode", MODES)
def test_kernels_of_every_operator_give_what_cases_and_trials_say(
    mode: Accumulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    asked = [each for subject in SUBJECTS for each in by_hand(subject)]
    # Modes are for what sums.
    cells = [cell for cell in CELLS if mode == MODES[0] or cell[0].enclose]
    asked += [each for cell in cells for each in some_tried(*cell, 1)]
    assert complaints(asked, mode, native) == []


# Modes are for what sums.
IN_MODES = [(*cell, mode) for cell in CELLS for mode in (MODES if cell[0].enclose else MODES[:1])]


@pytest.mark.long
@pytest.mark.parametrize(
    ("subject", "dtype", "mode"),
    IN_MODES,
    ids=[f"{s.identifier}-{dtype}-{mode}" for s, dtype, mode in IN_MODES],
)
def test_kernels_of_every_operator_give_what_all_trials_say(
    subject: Subject, dtype: DType, mode: Accumulate
) -> None:
    assert complaints(tried(subject, dtype), mode, native) == []
