"""The XLA operations by their arguments' names: what the builder and the plain functions both check.

Each function names an operator, its operands and its attributes; what they are operands of, handles or
arrays, is the caller's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sonnx.model.operator import Operator
from sonnx.operators.catalogue import (
    XLA_BROADCAST,
    XLA_CLAMP,
    XLA_COLLAPSE,
    XLA_CONCATENATE,
    XLA_CONV,
    XLA_CONV_WITH_GENERAL_PADDING,
    XLA_CONVERT_ELEMENT_TYPE,
)


@dataclass(frozen=True)
class Operation:
    """An operator with its operands by name and the attributes that somebody wrote."""

    operator: Operator
    operands: Mapping[str, Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)


def broadcast(operand: Any, broadcast_sizes: Any) -> Operation:
    """Repeat along new dimensions."""
    return Operation(XLA_BROADCAST, {"operand": operand}, {"broadcast_sizes": broadcast_sizes})


def clamp(operand: Any, min: Any, max: Any) -> Operation:
    """Limit to a range."""
    return Operation(XLA_CLAMP, {"operand": operand, "min": min, "max": max})


def collapse(operand: Any, dimensions: Any) -> Operation:
    """Make neighbouring dimensions into one."""
    return Operation(XLA_COLLAPSE, {"operand": operand}, {"dimensions": dimensions})


def concatenate(operands: Any, dimension: Any) -> Operation:
    """Join along one dimension."""
    if not isinstance(operands, Sequence) or isinstance(operands, str):
        raise TypeError("concatenate: give the operands as a list, then the dimension")
    named = {f"operands{m}": operand for m, operand in enumerate(operands)}
    return Operation(XLA_CONCATENATE, named, {"dimension": dimension})


def convert_element_type(operand: Any, new_element_type: Any) -> Operation:
    """Convert every element."""
    return Operation(XLA_CONVERT_ELEMENT_TYPE, {"operand": operand}, {"new_element_type": new_element_type})


def conv(lhs: Any, rhs: Any, window_strides: Any, padding: Any) -> Operation:
    """Convolve with SAME or VALID padding."""
    attributes = {"window_strides": window_strides, "padding": padding}
    return Operation(XLA_CONV, {"lhs": lhs, "rhs": rhs}, attributes)


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Any, padding: Any, lhs_dilation: Any, rhs_dilation: Any
) -> Operation:
    """Convolve with padding and dilations in numbers."""
    attributes = {
        "window_strides": window_strides,
        "padding": padding,
        "lhs_dilation": lhs_dilation,
        "rhs_dilation": rhs_dilation,
    }
    return Operation(XLA_CONV_WITH_GENERAL_PADDING, {"lhs": lhs, "rhs": rhs}, attributes)


def modes(operator: Operator) -> dict[str, str | None]:
    """What a call may leave out: how to evaluate, which is no part of a computation."""
    return {attribute.name: attribute.default for attribute in operator.contract.attributes if attribute.mode}
