"""Of operators that nobody has got wrong by hand: the right result, its last element wrong by one bit."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from tests.conformance.wrong.mutant import F32, F64, Mutant

from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.subjects import SUBJECTS
from sonnx.derive.evaluate import evaluate
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.operator import Operator


def last_bit_wrong(operator: Operator) -> Callable[[Question], Sequence[Array]]:
    def answer(question: Question) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            made = evaluate(operator, question.operands, question.attributes)
        outputs = [np.array(each) for each in made.values()]
        for output in outputs:
            if output.size:
                output.reshape(-1, 1).view(np.uint8)[-1, 0] ^= 1
        return outputs

    return answer


def mutants(others: Iterable[Mutant]) -> Iterator[Mutant]:
    """One for each operator that the others leave out."""
    known = {mutant.operator for mutant in others}
    for subject in SUBJECTS:
        if subject.identifier not in known:
            operator = subject.operator
            types = tuple(each for each in (F32, F64) if each in subject.types) or subject.types[:1]
            ruling = operator.contract.ruling
            yield Mutant("the last is wrong", subject.identifier, types, ruling, last_bit_wrong(operator))
