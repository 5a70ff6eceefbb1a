"""A runtime that does one thing wrong, and the ruling by which it must be caught."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.conformance.judge import Sums
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import Runtime
from sonnx.conformance.runtimes.worker import answer_to
from sonnx.model.dtype import DType

F16, BF16, F32, F64 = DType.FLOAT16, DType.BFLOAT16, DType.FLOAT, DType.DOUBLE
I8, I16, I32, I64 = DType.INT8, DType.INT16, DType.INT32, DType.INT64
U8, U16, U32, U64 = DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64
C64, C128, STRING, BOOL = DType.COMPLEX64, DType.COMPLEX128, DType.STRING, DType.BOOL

# What each operator breaks that gives another element.
RULINGS = {
    "clip": "D-CLIP-5",
    "where": "D-WHERE-2",
    "expand": "D-BCAST-1",
    "xla.broadcast": "D-XLA-6",
    "xla.clamp": "D-XLA-1",
    "xla.collapse": "D-XLA-6",
    "xla.concatenate": "D-XLA-2",
    "xla.convert_element_type": "D-XLA-3",
}


@dataclass(frozen=True)
class Mutant:
    """Wrong in `operator` on each of `types`, judged by the trials whose names begin with `trials`.

    `twins` says that it looks at what is constant; only then such trials are asked once more.
    """

    name: str
    operator: str
    types: tuple[DType, ...]
    ruling: str
    answer: Callable[[Question], Sequence[Any]]
    sums: Sums = "free"
    trials: str = ""
    twins: bool = False
    version: str = "0"

    def supports(self, question: Question) -> bool:
        return question.operator == self.operator

    def run(self, question: Question) -> Sequence[Any]:
        return self.answer(question)


@dataclass(frozen=True)
class Here:
    """A runtime asked in this process, for speed."""

    runtime: Runtime

    def ask_many(self, questions: Iterable[Question], seconds: float = 0) -> Iterator[Answer]:
        for question in questions:
            yield answer_to(self.runtime, question)
