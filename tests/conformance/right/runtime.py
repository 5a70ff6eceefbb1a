"""Runtimes made of what lies in this folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tests.conformance.right.bounding import clamp, clip
from tests.conformance.right.converting import convert
from tests.conformance.right.elements import Array
from tests.conformance.right.moving import (
    Attributes,
    Operands,
    broadcast,
    collapse,
    concatenate,
    expand,
    where,
)
from tests.conformance.right.sliding import PROBLEMS, Fold, Problem, Term, convolved
from tests.conformance.right.summing import FOLDS

from sonnx.conformance.runtimes.question import Question

ELEMENTWISE: dict[str, Callable[[Operands, Attributes], Array]] = {
    "cast": convert,
    "clip": clip,
    "where": where,
    "expand": expand,
    "xla.broadcast": broadcast,
    "xla.clamp": clamp,
    "xla.collapse": collapse,
    "xla.concatenate": concatenate,
    "xla.convert_element_type": convert,
}


@lru_cache(1)
def cut(question: Question) -> tuple[Problem, Sequence[Term]]:
    """Which elements meet; most questions are put to many runtimes, one after the other."""
    problem = PROBLEMS[question.operator](question.operands, question.attributes)
    return problem, list(problem.terms())


@dataclass(frozen=True)
class Plain:
    """Every operator as its page says; sums are taken in one of the ways of `FOLDS`."""

    name: str = "separate"
    version: str = "1"

    @property
    def fold(self) -> Fold:
        return FOLDS[self.name]

    def supports(self, question: Question) -> bool:
        return question.operator in ELEMENTWISE or question.operator in PROBLEMS

    def run(self, question: Question) -> Sequence[Array]:
        if question.operator in PROBLEMS:
            problem, terms = cut(question)
            return [convolved(problem, self.fold, terms)]
        return [ELEMENTWISE[question.operator](question.operands, question.attributes)]
