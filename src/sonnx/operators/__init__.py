"""The operators and their rules."""

from sonnx.operators.catalogue import (
    NODE_OPERATORS,
    ONNX_OPERATORS,
    OPERATORS,
    REWRITINGS,
    XLA_OPERATORS,
    node_operator,
    operator,
    rewriting,
)
from sonnx.operators.rulebook import GENERAL_RULES, GRAPH_RULES, call_rules, profile_rules

__all__ = [
    "GENERAL_RULES",
    "GRAPH_RULES",
    "NODE_OPERATORS",
    "ONNX_OPERATORS",
    "OPERATORS",
    "REWRITINGS",
    "XLA_OPERATORS",
    "call_rules",
    "node_operator",
    "operator",
    "profile_rules",
    "rewriting",
]
