"""Check a call at the boundary, then run an operator's definition."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sonnx.check.calls import check_call
from sonnx.derive.evaluate import evaluate
from sonnx.evaluate.memory import require_short
from sonnx.model.dtype import ONNX_NUMBERS, DType
from sonnx.numeric.arrays import Array, describe, finish
from sonnx.numeric.environment import require_ieee
from sonnx.operators.rules.limits import MOST_AXES
from sonnx.operators.rules.lists import elements
from sonnx.operators.rules.values import as_float
from sonnx.operators.shared.xla_types import FLOATS
from sonnx.report.outside import domain_error
from sonnx.report.text import findings_text
from sonnx.vocabulary.call import Alike, Call, alike
from sonnx.vocabulary.operator import Contract, Operator
from sonnx.vocabulary.outside import OutsideError
from sonnx.vocabulary.rule import RuleError

_NUMBERS: Mapping[str, int] = {dtype.value: number for dtype, number in ONNX_NUMBERS.items()}


@dataclass(frozen=True)
class Prepared:
    """Arguments that obey every rule, and the types of what they give."""

    call: Call
    arrays: Mapping[str, Array]
    attributes: Mapping[str, Any]
    output_types: Mapping[str, DType | None]


def prepare(
    operator: Operator,
    operands: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> Prepared:
    """Find the types of the operands and check the call; raises RuleError with every broken rule."""
    contract = operator.contract
    described = {
        name: describe(value, operator.dialect)
        for name, value in operands.items()
        if not (value is None and name in contract.dispensable)
    }
    # Lists are read once: what the rules have seen is what the definition gets.
    attributes = kept(contract, {name: _frozen(value) for name, value in attributes.items()})
    arrays = {name: array for name, (_, array) in described.items() if array is not None}
    inputs = {name: kind for name, (kind, _) in described.items()}
    call = Call(operator.name, inputs, attributes, constants=_constants(contract, arrays))
    types = _conforming(operator, alike(call) or call)
    if contract.uses_arithmetic and any(kind.dtype in FLOATS for kind in inputs.values()):
        require_ieee()
    return Prepared(call, arrays, attributes, types)


def _conforming(operator: Operator, asked: Alike | Call) -> Mapping[str, DType | None]:
    """The types of the results; raises RuleError with every broken rule."""
    if isinstance(asked, Alike):
        return _remembered(operator, asked)
    require(operator, asked)
    return {name: kind.dtype for name, kind in operator.contract.output_types(asked).items()}


# To ask every rule takes longer than small arrays do; so calls that differ in elements alone are asked once.
@lru_cache(1024)
def _remembered(operator: Operator, asked: Alike) -> Mapping[str, DType | None]:
    return _conforming(operator, asked.call)


def kept(contract: Contract, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as a file of ONNX would keep them.

    A number that is to be a float is the nearest one; an element type has a number.
    """
    found = dict(attributes)
    for name, attribute in contract.named.items():
        if attribute.kind == "float" and name in found:
            found[name] = as_float(found[name])
        if attribute.kind == "element type" and isinstance(found.get(name), str):
            found[name] = _NUMBERS.get(found[name], found[name])
    return found


def _frozen(value: Any) -> Any:
    listed = elements(value)
    # Of a longer list only its length matters: a rule refuses it.
    return value if listed is None or len(listed) < len(value) else tuple(listed)


def _constants(contract: Contract, arrays: Mapping[str, Array]) -> Mapping[str, tuple[Any, ...]]:
    """The elements of vectors that decide a shape; no more of them than rules need to see."""
    vectors = {name: arrays[name] for name in contract.settled if name in arrays}
    return {name: tuple(v[: MOST_AXES + 1].tolist()) for name, v in vectors.items() if v.ndim == 1}


def require(operator: Operator, call: Call) -> None:
    """Raise RuleError with every rule that the call breaks, if there is one."""
    findings = check_call(operator, call)
    if findings:
        raise RuleError(findings, findings_text(findings))


def apply(
    operator: Operator,
    operands: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> Mapping[str, Array]:
    """Run the definition of an operator on arrays by operand name; results by output name.

    Raises RuleError where a rule is broken, DomainError where the operator is not defined for an element,
    TooLongError where exact numbers would become too long.
    """
    ready = prepare(operator, operands, attributes)
    require_short(operator, ready.call, ready.arrays)
    try:
        with np.errstate(all="ignore"):  # infinities and NaNs are results here, not accidents
            results = evaluate(operator, ready.arrays, ready.attributes)
    except OutsideError as error:
        raise domain_error(error.outside, None) from None
    return {name: finish(result, ready.output_types[name]) for name, result in results.items()}
