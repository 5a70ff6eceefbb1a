"""Convolutions that add the right terms and round them wrongly: at ties, at the top and at the bottom."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from tests.conformance.right.elements import FORMS, Array, encoded
from tests.conformance.right.sliding import PROBLEMS, Fold, Problem, Term, convolved, narrowed
from tests.conformance.right.summing import added, separate
from tests.conformance.wrong.mutant import BF16, F16, F32, F64, Mutant

from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Narrowing = Callable[[Array, np.dtype[Any]], Array]
_LARGEST = 65504
_BEYOND = 65536


def _problem(question: Question) -> Problem:
    return PROBLEMS[question.operator](question.operands, question.attributes)


# --- the last rounding -------------------------------------------------------------------------------------


def _narrowed_by(narrow: Narrowing) -> Callable[[Question], Sequence[Array]]:
    def answer(question: Question) -> Sequence[Array]:
        problem = _problem(question)
        with np.errstate(all="ignore"):
            total = np.broadcast_to(separate(problem, list(problem.terms())), problem.shape)
            return [narrow(np.ascontiguousarray(total), problem.X.dtype)]

    return answer


def _upper_half(total: Array, kind: np.dtype[Any]) -> Array:
    """A quick way to bfloat16: half a step is added, and what is too much cut off."""
    rounded = ((total.view(np.uint32) + np.uint32(0x8000)) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(total), narrowed(total, kind), rounded.view(ml_dtypes.bfloat16))


def _away(total: Array, kind: np.dtype[Any]) -> Array:
    """Halfway between two numbers, the larger one."""
    near = narrowed(total, kind)
    larger = np.nextafter(near, np.copysign(np.inf, total).astype(kind))
    wide, beside, value = (array.astype(np.float64) for array in (near, larger, total))
    tie = np.isfinite(beside) & (np.abs(value) > np.abs(wide)) & (2 * value == wide + beside)
    return np.where(tie, larger, near)


def _infinite_too_early(total: Array, kind: np.dtype[Any]) -> Array:
    """What is larger than the largest number, by however little."""
    infinity = np.copysign(np.inf, total).astype(kind)
    return np.where(np.abs(total) > _LARGEST, infinity, narrowed(total, kind))


def _infinite_too_late(total: Array, kind: np.dtype[Any]) -> Array:
    """Infinite is only what would have an exponent too many."""
    late = (np.abs(total) > _LARGEST) & (np.abs(total) < _BEYOND)
    return np.where(late, np.copysign(_LARGEST, total).astype(kind), narrowed(total, kind))


# --- every rounding ----------------------------------------------------------------------------------------


def _larger_half(whole: int, rest: Fraction) -> int:
    return whole + (rest >= Fraction(1, 2))


def _ties_away(problem: Problem, terms: Sequence[Term]) -> Array:
    """Every product and every sum; what is not finite, or 0, is as usual."""
    form = FORMS[problem.held]

    def step(usual: Array, exact: Callable[..., Fraction], *operands: Array) -> Array:
        rounded = np.array(np.broadcast_to(usual, problem.shape))
        raw = rounded.view(form.raw)
        wide = [np.broadcast_to(operand, problem.shape) for operand in operands]
        finite = np.all([np.isfinite(operand) for operand in wide], axis=0)
        for place in zip(*np.nonzero(finite), strict=True):
            value = exact(*(Fraction(float(operand[place])) for operand in wide))
            if value:
                raw[place] = encoded(value, form, _larger_half)
        return rounded

    total = np.broadcast_to(problem.start, problem.shape)
    for term in terms:
        product = step(term.x * term.w, lambda x, w: x * w, term.x, term.w)
        total = step(total + product, lambda a, b: a + b, total, product)
    return total


def _below_zero(problem: Problem, terms: Sequence[Term]) -> Array:
    """A product that is too small for the type becomes the smallest number, of the other sign."""
    smallest = np.finfo(problem.held).smallest_subnormal

    def product(term: Term) -> Array:
        usual = term.x * term.w
        lost = (usual == 0) & (term.x != 0) & (term.w != 0)
        return np.where(lost, -np.copysign(smallest, usual), usual)

    return added([product(term) for term in terms], problem.start)


def _summed(fold: Fold) -> Callable[[Question], Sequence[Array]]:
    return lambda question: [convolved(_problem(question), fold)]


# --- the runtimes ------------------------------------------------------------------------------------------

_ORDER = {"conv": "D-CONV-6", "xla.conv": "D-XLA-5", "xla.conv_with_general_padding": "D-XLA-5"}


def _last(name: str, narrow: Narrowing, *types: DType, operator: str) -> Mutant:
    return Mutant(name, operator, types, _ORDER[operator], _narrowed_by(narrow), trials="sum-")


def _each(name: str, ruling: str, fold: Fold, *types: DType, operator: str) -> Mutant:
    return Mutant(name, operator, types, ruling, _summed(fold), trials="sum-")


MUTANTS = (
    *(
        _last("bfloat16 rounds halves up", _upper_half, BF16, operator=operator)
        for operator in ("xla.conv", "xla.conv_with_general_padding")
    ),
    *(
        mutant
        for operator, ruling in _ORDER.items()
        for mutant in (
            _last("float16 rounds ties away", _away, F16, operator=operator),
            _last("float16 is infinite too early", _infinite_too_early, F16, operator=operator),
            _last("float16 is infinite too late", _infinite_too_late, F16, operator=operator),
            _each("every step rounds ties away", ruling, _ties_away, F32, F64, operator=operator),
            _each("what underflows changes its sign", "D-ALL-4", _below_zero, F32, F64, operator=operator),
        )
    ),
)
