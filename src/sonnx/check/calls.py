"""Check one call of an operator against the general rules and the operator's own."""

from dataclasses import replace

from sonnx.model.call import ABSENT, Call
from sonnx.model.operator import Operator
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
        inputs=dict.fromkeys(demanded, nothing) | dict(call.inputs),
        attributes={attribute.name: ABSENT for attribute in contract.attributes} | dict(call.attributes),
    )
