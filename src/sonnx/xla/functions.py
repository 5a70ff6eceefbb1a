"""The XLA operations as functions on arrays: the same arguments as the builder's, arrays for handles."""

from collections.abc import Callable, Mapping
from typing import Any

from sonnx.evaluate.apply import apply
from sonnx.numeric.arrays import Array
from sonnx.operators.catalogue import XLA_OPERATORS
from sonnx.report.text import printable
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.signatures import Arguments, Calling, function_of
from sonnx.xla.builder import CALL, BuildError, Handle, frozen
from sonnx.xla.computation import Computation


def call(computation: Computation, *args: Any) -> Array:
    """Apply a computation to arrays, one for each parameter."""
    operands = {f"args{m}": argument for m, argument in enumerate(args)}
    return _apply(CALL, Arguments(operands, {"computation": computation}))


def _function(operator: Operator) -> Callable[..., Array]:
    def run(given: Arguments) -> Array:
        return _apply(operator, given)

    calling = Calling(operand=Any, result=Array, listed=True)
    return function_of(operator.folder, "sonnx.xla", operator.contract, calling, run)


def _apply(operator: Operator, given: Arguments) -> Array:
    for operand in given.operands.values():
        if isinstance(operand, Handle):
            builder = printable(operand.builder.name)
            raise BuildError(
                f"{operand!r} belongs to the builder `{builder}`: call its method `{operator.folder}`"
            )
    attributes = {name: frozen(value) for name, value in given.attributes.items()}
    return apply(operator, given.operands, attributes)["output"]


# By name; a call takes a computation first.
FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    operator.folder: call if operator.calls else _function(operator) for operator in XLA_OPERATORS
}
