"""The operators of the profile: a new one is a new folder and one line here."""

from sonnx.model.operator import Operator
from sonnx.model.rule import Rule
from sonnx.operators.general.contract import RULES as GENERAL_RULES
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE

__all__ = ["BROADCAST", "CLIP", "CONV", "EXPAND", "GENERAL_RULES", "OPERATORS", "WHERE", "operator", "rules"]

OPERATORS: tuple[Operator, ...] = (CLIP, CONV, WHERE, BROADCAST, EXPAND)


def operator(name: str) -> Operator:
    """Find an operator by its name, such as `Clip` or `clip`; raises ValueError with the names there are."""
    found = next((op for op in OPERATORS if op.folder == str(name).lower()), None)
    if found is None:
        raise ValueError(
            f"no operator {str(name)[:60]!r}; there are {', '.join(op.name for op in OPERATORS)}"
        )
    return found


def rules(name: str | None = None) -> tuple[Rule, ...]:
    """List the rules of an operator, those called "general", or all of them."""
    if str(name).lower() == "general":
        return GENERAL_RULES
    if name is not None:
        return operator(name).contract.rules
    return GENERAL_RULES + tuple(rule for op in OPERATORS for rule in op.contract.rules)
