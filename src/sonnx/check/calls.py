"""Check one call of an operator against the general rules and the operator's own."""

from collections.abc import Iterator
from dataclasses import replace

from sonnx.model.call import ABSENT, Call
from sonnx.model.operator import Contract, Operator
from sonnx.model.rule import Finding
from sonnx.model.tensor_type import TensorType
from sonnx.operators import GENERAL_RULES


def check_call(operator: Operator, call: Call, location: str = "") -> tuple[Finding, ...]:
    """List every rule that the call breaks, with the values that show it."""
    call = _complete(operator, call)
    findings = []
    for rule in GENERAL_RULES + operator.contract.rules:
        broken = rule.predicate(call)
        if broken is not None:
            findings.append(
                Finding(
                    rule.identifier,
                    rule.statement,
                    operator.name,
                    broken.values,
                    broken.help,
                    rule.page,
                    location,
                )
            )
    return tuple(findings)


def _complete(operator: Operator, call: Call) -> Call:
    """Give what the contract demands and the call leaves out an entry, so that rules can name it."""
    contract = operator.contract
    demanded = [o.name for o in contract.inputs if not (o.optional or o.optional_in_onnx or o.variadic)]
    nothing = TensorType(None, None, foreign="absent")
    return replace(
        call,
        unknown=tuple(_unknown(contract, call)),
        inputs=dict.fromkeys(demanded, nothing) | dict(call.inputs),
        attributes={attribute.name: ABSENT for attribute in contract.attributes} | dict(call.attributes),
    )


def _unknown(contract: Contract, call: Call) -> Iterator[str]:
    """Names in a call that the contract does not have, operands first."""
    attributes = {attribute.name for attribute in contract.attributes}
    for given, operands in ((call.inputs, contract.inputs), (call.outputs, contract.outputs)):
        known = {operand.name for operand in operands if not operand.variadic}
        # A variadic operand X stands for X0, X1, and so on, without a gap.
        known |= {f"{operand.name}{m}" for operand in operands if operand.variadic for m in range(len(given))}
        yield from (name for name in given if name not in known)
    yield from (name for name in call.attributes if name not in attributes)
