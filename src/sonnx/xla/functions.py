"""The XLA operations as functions on arrays: the same arguments as the builder's, arrays for handles."""

from collections.abc import Sequence
from typing import Any

from sonnx.evaluate.apply import apply
from sonnx.evaluate.graphs import Accumulate, Domain
from sonnx.numeric.arrays import Array
from sonnx.operators.catalogue import XLA_CALL
from sonnx.report.text import printable
from sonnx.xla import operations
from sonnx.xla.builder import BuildError, Handle, frozen
from sonnx.xla.computation import Computation
from sonnx.xla.operations import Operation


def broadcast(operand: Any, broadcast_sizes: Sequence[int]) -> Array:
    """Repeat an array along new dimensions, which are put before its own; a read-only view of it."""
    return _apply(operations.broadcast(operand, broadcast_sizes))


def call(computation: Computation, *args: Any) -> Array:
    """Apply a computation to arrays, one for each parameter."""
    operands = {f"args{m}": argument for m, argument in enumerate(args)}
    return _apply(Operation(XLA_CALL, operands, {"computation": computation}))


def clamp(operand: Any, min: Any, max: Any) -> Array:
    """Limit every element to the range from `min` to `max`, each a scalar or of the operand's shape.

    The operand comes first, as in the documents; `jax.lax.clamp` takes it second.
    """
    return _apply(operations.clamp(operand, min, max))


def collapse(operand: Any, dimensions: Sequence[int]) -> Array:
    """Make neighbouring dimensions into one; where the memory's order allows, a view of the operand."""
    return _apply(operations.collapse(operand, dimensions))


def concatenate(operands: Sequence[Any], dimension: int) -> Array:
    """Join arrays, given as a list, along one dimension."""
    return _apply(operations.concatenate(operands, dimension))


def convert_element_type(operand: Any, new_element_type: str, *, domain: Domain = "ieee") -> Array:
    """Convert every element to another type, such as "f32"; in the domain "real" floats stay exact."""
    return _apply(operations.convert_element_type(operand, new_element_type), domain=domain)


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str, *, accumulate: Accumulate = "separate"
) -> Array:
    """Convolve with "SAME" or "VALID" padding.

    The dimensions of `lhs` are batch, features, then the spatial ones; those of `rhs` output features, input
    features, then the window's. SAME gives ceil(size / stride) positions, an odd zero at the high end; VALID
    pads nothing. Sums are taken in the specified order. Raises RuleError where a rule is broken.
    """
    return _apply(operations.conv(lhs, rhs, window_strides, padding), accumulate=accumulate)


def conv_with_general_padding(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    *,
    accumulate: Accumulate = "separate",
) -> Array:
    """Convolve with padding and dilations in numbers, one entry for each spatial dimension.

    The dimensions of `lhs` are batch, features, then the spatial ones; those of `rhs` output features, input
    features, then the window's. `lhs` is dilated first: `lhs_dilation` - 1 zeros are put between elements.
    Then each pair (low, high) of `padding` adds zeros at the ends, or takes elements away where it is
    negative. `rhs_dilation` is the distance of the window's elements. An empty result is allowed. Sums are
    taken in the specified order. Raises RuleError where a rule is broken.
    """
    operation = operations.conv_with_general_padding(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation
    )
    return _apply(operation, accumulate=accumulate)


def _apply(operation: Operation, **modes: str) -> Array:
    for operand in operation.operands.values():
        if isinstance(operand, Handle):
            builder = printable(operand.builder.name)
            method = operation.operator.folder
            raise BuildError(f"{operand!r} belongs to the builder `{builder}`: call its method `{method}`")
    attributes = {name: frozen(value) for name, value in operation.attributes.items()}
    return apply(operation.operator, operation.operands, {**attributes, **modes})["output"]
