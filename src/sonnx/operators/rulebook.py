"""All rules, by what they are about."""

from sonnx.operators.catalogue import OPERATORS, XLA_OPERATORS, operator
from sonnx.operators.general.contract import RULES as GENERAL_RULES
from sonnx.operators.graph.contract import RULES as GRAPH_RULES
from sonnx.vocabulary.rule import AnyRule, Rule

__all__ = ["GENERAL_RULES", "GRAPH_RULES", "call_rules", "profile_rules", "rules"]


def call_rules() -> tuple[Rule, ...]:
    """List the rules on single calls: the general ones and those of every operator."""
    return GENERAL_RULES + tuple(rule for op in OPERATORS for rule in op.contract.rules)


def profile_rules() -> tuple[AnyRule, ...]:
    """List the rules that a model may break; those on XLA operations are about no file."""
    return tuple(rule for rule in rules() if not rule.identifier.startswith("xla."))


def rules(name: str | None = None) -> tuple[AnyRule, ...]:
    """List the rules of an operator, those called "general", "graph" or "xla", or all of them."""
    if name is None:
        return (*GRAPH_RULES, *call_rules())
    groups: dict[str, tuple[AnyRule, ...]] = {
        "general": GENERAL_RULES,
        "graph": GRAPH_RULES,
        "xla": tuple(rule for op in XLA_OPERATORS for rule in op.contract.rules),
    }
    found = groups.get(str(name).lower())
    return operator(name).contract.rules if found is None else found
