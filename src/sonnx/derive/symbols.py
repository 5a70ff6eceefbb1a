"""The element of an operator for any call: operands by name, and so are numbers among its attributes."""

from collections.abc import Mapping
from dataclasses import dataclass

from sonnx.derive.tracing import traced
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.terms.tensors import Given
from sonnx.terms.term import DefinitionError, Sort
from sonnx.terms.tracing import Element, trace
from sonnx.vocabulary.operator import Operator, operand_names


@dataclass(frozen=True)
class Symbolic:
    """What an element-wise definition takes, and its trees."""

    operands: Mapping[str, Sort]
    element: Element


def symbolic(operator: Operator) -> Symbolic | None:
    """The trees of a definition, a variadic operand taken twice; None where it is of tensors.

    None as well where attributes that are no numbers decide what it means. A composition without attributes
    has the trees of its parts, one in the other.
    """
    definition, contract = operator.definition, operator.contract
    attributes = [attribute for attribute in contract.attributes if not attribute.mode]
    if operator.body is not None and not attributes:
        return _composed(operator)
    if definition is None or not definition.elementwise or any(each.kind != "float" for each in attributes):
        return None
    operands = {
        name: Sort.TRUTH if operand.types == (DType.BOOL,) else Sort.NUMBER
        for operand in contract.inputs
        for name in operand_names((operand,), 2 if operand.variadic else 1)
    }
    operands |= {attribute.name: Sort.NUMBER for attribute in attributes}
    given = {name: Given(name, (), sort) for name, sort in operands.items()}
    element = trace(definition, given, {}).element
    assert element is not None  # it is a definition of elements
    return Symbolic(operands, element)


def _composed(operator: Operator) -> Symbolic | None:
    """The trees of a composition; None where some part of it is no function of elements."""
    inputs = operator.contract.inputs
    # One element alone is left where it is by every move, so there are several along each axis.
    types = {
        name: TensorType(operand.types[0], (2, 3))
        for operand in inputs
        for name in operand_names((operand,), 2 if operand.variadic else 1)
    }
    try:
        element = traced(operator, types, {}, {}).element
    except DefinitionError:
        return None
    assert element is not None  # whatever is not, raises
    return Symbolic(dict.fromkeys(types, Sort.NUMBER), element)
