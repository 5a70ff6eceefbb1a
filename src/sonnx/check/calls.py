"""Check one call of an operator against the general rules and the operator's own."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from sonnx.model.location import Location
from sonnx.model.tensor_type import TensorType
from sonnx.operators import GENERAL_RULES
from sonnx.vocabulary.call import ABSENT, Alike, Call, alike
from sonnx.vocabulary.operator import Contract, Operand, Operator, goes_by, operand_names
from sonnx.vocabulary.rule import Broken, Finding, Rule

_NOTHING = TensorType(None, None, foreign="absent")


def check_call(operator: Operator, call: Call) -> tuple[Finding, ...]:
    """List every rule that a call of an operator's function breaks, with the values that show it."""
    complete = _complete(operator.contract, call, operator.contract.named)
    broken = _broken_rules(operator.contract, complete, complete)
    return tuple(finding(rule, call.operator, each, None) for rule, each in broken)


def check_node_call(operator: Operator, call: Call, location: Location) -> tuple[Finding, ...]:
    """List every rule that a node breaks.

    A model's tensors are checked one by one elsewhere, so the general rules see only operands that are
    absent. A mode of evaluation is nothing that a model can say.
    """
    asked = alike(call)
    broken = _broken_by_node(operator, call) if asked is None else _remembered(operator, asked)
    return tuple(finding(rule, call.operator, each, location) for rule, each in broken)


# Networks repeat themselves: nodes of one operator that differ in names alone are asked once.
@lru_cache(1024)
def _remembered(operator: Operator, asked: Alike) -> Sequence[tuple[Rule, Broken]]:
    return _broken_by_node(operator, asked.call)


def _broken_by_node(operator: Operator, call: Call) -> Sequence[tuple[Rule, Broken]]:
    contract = operator.contract
    modes = {attribute.name: attribute.default for attribute in contract.attributes if attribute.mode}
    written = [name for name in contract.named if name not in modes]
    complete = _complete(contract, call, written)
    complete = replace(complete, attributes={**complete.attributes, **modes})
    absent = {name: kind for name, kind in complete.inputs.items() if kind is _NOTHING}
    return _broken_rules(contract, replace(complete, inputs=absent, outputs={}), complete)


def _broken_rules(contract: Contract, general: Call, call: Call) -> Sequence[tuple[Rule, Broken]]:
    """What breaks the general rules, then the operator's own; where those say it better, only they say it."""
    own = _broken(contract.rules, call)
    instead = {rule.instead_of for rule, _ in own}
    others = [found for found in _broken(GENERAL_RULES, general) if found[0].identifier not in instead]
    return (*others, *own)


def _broken(rules: Sequence[Rule], call: Call) -> list[tuple[Rule, Broken]]:
    return [(rule, broken) for rule in rules if (broken := rule.broken(call)) is not None]


def finding(rule: Rule, operator: str, broken: Broken, location: Location | None) -> Finding:
    """What is reported where a rule is broken."""
    return Finding(rule.identifier, rule.statement, operator, broken.values, broken.help, rule.page, location)


def _complete(contract: Contract, call: Call, attributes: Collection[str]) -> Call:
    """Give what the contract demands and the call leaves out an entry, so that rules can name it."""
    gaps = [name for operand in contract.inputs if operand.variadic for name in _gaps(operand, call)]
    inputs = {**dict.fromkeys((*contract.demanded, *gaps), _NOTHING), **call.inputs}
    there = [name for name in attributes if contract.named[name].is_in(call.version)]
    given = {**dict.fromkeys(there, ABSENT), **call.attributes}
    unknown = tuple(_unknown(contract, call, inputs, attributes))
    same = [*inputs] == [*call.inputs] and [*given] == [*call.attributes]
    if same and unknown == call.unknown:
        return call  # whole already; what rules find out about it serves whoever asks later
    return replace(call, inputs=inputs, attributes=given, unknown=unknown)


def _gaps(operand: Operand, call: Call) -> Iterator[str]:
    """The tensors of a variadic operand that are left out before others that are there."""
    rest = [name.removeprefix(operand.name) for name in call.inputs if name.startswith(operand.name)]
    numbers = {each for each in rest if each.isdecimal() and each == (each.lstrip("0") or "0")}
    yield from (f"{operand.name}{m}" for m in range(len(numbers)) if str(m) not in numbers)


def _unknown(
    contract: Contract, call: Call, inputs: Mapping[str, TensorType], attributes: Collection[str]
) -> Iterator[str]:
    """Names in a call that the contract does not have, operands first."""
    if inputs:
        # A variadic operand X stands for X0, X1, and so on, without a gap.
        fixed = sum(not operand.variadic for operand in contract.inputs)
        known = {*operand_names(contract.inputs, fixed + len(inputs))}
        yield from (name for name in inputs if name not in known)
    # A node may leave outputs unnamed, so there may be gaps among them.
    yield from (
        name for name in call.outputs if not any(goes_by(operand, name) for operand in contract.outputs)
    )
    yield from (name for name in call.attributes if name not in attributes)
