"""Check one call of an operator against the general rules and the operator's own."""

from sonnx.model.call import Call
from sonnx.model.operator import Operator
from sonnx.model.rule import Finding
from sonnx.operators import GENERAL_RULES


def check_call(operator: Operator, call: Call, location: str = "") -> tuple[Finding, ...]:
    """List every rule that the call breaks, with the values that show it."""
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
