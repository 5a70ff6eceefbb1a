"""The kit in an implementer's own tests: cases as parameters of pytest, lists of what to skip, a fixture."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from sonnx.conformance.campaign import Outcome, compared, outcome, twin
from sonnx.conformance.judge import Sums
from sonnx.conformance.result import Verdict
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.child import DEFAULT_SECONDS, Child
from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, question
from sonnx.conformance.subjects import subject_named, units
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

# Patterns of names, such as `conv/float16/*`, and why.
Reasons = Mapping[str, str] | str | Path


@dataclass(frozen=True, eq=False)
class Case:
    """One question to a runtime, and the judge of its answer."""

    operator: str
    dtype: DType
    trial: Trial

    @property
    def name(self) -> str:
        """Operator, type and case, such as `clip/float/from-zero-to-one`."""
        return f"{self.operator}/{self.dtype}/{self.trial.name}"

    @property
    def question(self) -> Question:
        """What is asked, with inputs, constants, attributes and the types of outputs."""
        return question(self.operator, self.trial)

    @property
    def inputs(self) -> Mapping[str, Array]:
        """The inputs of the model by name."""
        return self.question.inputs

    def model(self, opset: int = NEWEST_OPSET) -> bytes:
        """The ONNX file; raises ValueError where ONNX has no such operator."""
        return model_bytes(self.question, opset)

    def check(self, outputs: Sequence[Any], sums: Sums = "free") -> None:
        """Judge the outputs, in the order of the model's; raises AssertionError with all that is wrong."""
        answer = Answer("outputs", tuple(outputs))
        self._demand(outcome(subject_named(self.operator), self.dtype, self.trial, answer, sums))

    def check_in(self, runtime: Child, sums: Sums = "free", seconds: float = DEFAULT_SECONDS) -> None:
        """Ask a runtime in its own process and judge it; what it does not support is skipped.

        Sums are asked with and without constants, and must have the same bits.
        """
        subject = subject_named(self.operator)
        answer = runtime.ask(self.question, seconds)
        found = outcome(subject, self.dtype, self.trial, answer, sums)
        if subject.enclose is not None and self.trial.constants and found.verdict == "conforms":
            other = twin(self.trial)
            again = runtime.ask(question(self.operator, other), seconds)
            found = compared(found, outcome(subject, self.dtype, other, again, sums))
        if self._demand(found) == "unsupported":
            pytest.skip(answer.text)

    def _demand(self, found: Outcome) -> Verdict:
        assert found.verdict != "crashes", f"{self.name}: {found.said}"
        lines = [f"{self.name} departs from the specification: {self.trial.text}"]
        for each in found.differences:
            where = "" if each.place is None else f"{each.output}{list(each.place)}: "
            more = f" ({each.elements} such elements)" if each.elements > 1 else ""
            lines += [
                f"  {each.identifier}: {each.clause}",
                f"    {where}specified {each.expected}, found {each.found}{more}",
            ]
        assert not found.differences, "\n".join(lines)
        return found.verdict


def cases(operators: Sequence[str] = (), types: Sequence[str] = (), seed: int = 0) -> Iterator[Case]:
    """All cases of operators and types by their names; raises ValueError where there is no such name."""
    for operator, dtype in units(operators, types):
        for trial in subject_named(operator).trials(dtype, seed):
            yield Case(operator, dtype, trial)


def parameters(
    operators: Sequence[str] = (),
    types: Sequence[str] = (),
    *,
    skip: Reasons = "",
    xfail: Reasons = "",
    seed: int = 0,
) -> list[Any]:
    """The cases for `pytest.mark.parametrize`.

    `skip` and `xfail` are patterns with reasons: a mapping, or a file of lines `pattern  # reason`, which is
    looked for from the current folder where its path is relative. A case of `xfail` must fail: what has been
    mended is told. Raises ValueError for a pattern without a reason, and for one that fits no case, so that
    no list grows old.
    """
    skipped, failing = _reasons(skip), _reasons(xfail)
    used: set[str] = set()
    made = []
    for case in cases(operators, types, seed):
        marks: list[Any] = []
        for reasons, mark in ((skipped, _skip), (failing, _xfail)):
            fitting = [pattern for pattern in reasons if fnmatchcase(case.name, pattern)]
            used.update(fitting)
            marks += [mark(reasons[fitting[0]])] if fitting else []
        made.append(pytest.param(case, id=case.name, marks=marks))
    old = [pattern for pattern in (*skipped, *failing) if pattern not in used]
    if old:
        raise ValueError(f"no case is called {', '.join(old)}; remove it from the list")
    return made


def _skip(reason: str) -> Any:
    return pytest.mark.skip(reason=reason)


def _xfail(reason: str) -> Any:
    return pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)


def _reasons(given: Reasons) -> Mapping[str, str]:
    if isinstance(given, Mapping):
        found = dict(given)
    elif not str(given):
        found = {}
    else:
        lines = Path(given).read_text(encoding="utf-8").splitlines()
        # Before the mark of a reason stands a blank, so that patterns may have it too.
        parts = (f"{line.strip()} ".partition(" #") for line in lines if not line.lstrip().startswith("#"))
        found = {pattern.strip(): reason.strip() for pattern, _, reason in parts if pattern.strip()}
    bare = [pattern for pattern, reason in found.items() if not reason.strip()]
    if bare:
        raise ValueError(f"{', '.join(bare)}: say why, as in `{bare[0]}  # reason`")
    return found


def runtime_fixture(runtime: str, /, **options: Any) -> Callable[..., Any]:
    """A fixture of the session: a runtime in its own process, for `Case.check_in`.

    `runtime` and the options are those of `sonnx conformance`. Assign it to the name of the fixture.
    """

    def asked() -> Iterator[Child]:
        with Child(runtime, **options) as child:
            yield child

    made: Callable[..., Any] = pytest.fixture(scope="session")(asked)
    return made
