"""Every operator of the catalogue as C, plain and fast: cases by hand and trials, on all types that C has."""

from pathlib import Path

import pytest
from tests.catalogue import CELLS, MODES, SUBJECTS, Asked, by_hand, complaints, emitted, some_tried
from tests.emit.support import needs_gcc
from tests.native.support import quick_compiler

from sonnx.conformance.subjects import Subject
from sonnx.evaluate.execution import Accumulate
from sonnx.model.dtype import DType
from sonnx.vocabulary.kernel import KernelStyle

pytestmark = needs_gcc

KERNELS: tuple[KernelStyle, ...] = ("plain", "fast")
# Types that C has no word for are refused; a test of projects says so.
IN_C = tuple((subject, dtype) for subject, dtype in CELLS if dtype is not DType.STRING)


def in_c(asked: Asked) -> bool:
    return DType.STRING not in asked.dtypes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernels", KERNELS)
def test_c_of_every_operator_gives_what_cases_and_trials_say(
    kernels: KernelStyle, mode: Accumulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))
    (folder := tmp_path / "projects").mkdir()
    asked = [each for subject in SUBJECTS for each in by_hand(subject) if in_c(each)]
    # Fast kernels are those of the native engine, which is asked the trials; each is a file to be compiled.
    # Modes are for what sums.
    cells = [cell for cell in IN_C if kernels == "plain" and (mode == MODES[0] or cell[0].enclose)]
    asked += [each for cell in cells for each in some_tried(*cell, 1)]
    assert complaints(asked, mode, emitted(folder, kernels, "-O0")) == []


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.identifier)
def test_c_of_every_operator_gives_what_many_trials_say(
    subject: Subject, kernels: KernelStyle, mode: Accumulate, tmp_path: Path
) -> None:
    asked = [each for cell in IN_C if cell[0] is subject for each in some_tried(*cell, 10)]
    assert complaints(asked, mode, emitted(tmp_path, kernels, "-O1", "-march=native")) == []
