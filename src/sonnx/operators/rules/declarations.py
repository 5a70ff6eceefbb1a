"""Predicates on what a model declares of a node's outputs. Each answers None where it cannot be asked."""

from collections.abc import Callable, Mapping

from sonnx.model.dtype import DType
from sonnx.operators.rules.operands import Extents, alike, known
from sonnx.operators.rules.wording import show, show_held, spelled
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Broken, Predicate, Shown

# The shape that operands and attributes give; None where another rule says why there is none.
ShapeOf = Callable[[Call], Extents | None]
# The shapes of everything that a call makes, by name.
ShapesOf = Callable[[Call], Mapping[str, Extents] | None]


def only(output: str, shape_of: ShapeOf) -> ShapesOf:
    """The shapes where there is one output."""

    def shapes_of(call: Call) -> Mapping[str, Extents] | None:
        shape = shape_of(call)
        return None if shape is None else {output: shape}

    return shapes_of


def declared_type(output: str, reference: str) -> Predicate:
    """A declared output has the element type of an operand."""

    def predicate(call: Call) -> Broken | None:
        declared, operand = call.outputs.get(output), known(call, reference)
        if declared is None or operand is None or declared.dtype in (None, operand.dtype):
            return None
        return Broken(
            (Shown(output, str(declared), "declared"), *show(call, reference)),
            f"declare `{output}` with type {spelled(operand)}",
        )

    return predicate


def declared_as(output: str, dtype: DType) -> Predicate:
    """A declared output has the one element type that it can have."""

    def predicate(call: Call) -> Broken | None:
        declared = call.outputs.get(output)
        if declared is None or declared.dtype in (None, dtype):
            return None
        advice = f"declare `{output}` with type {declared.spell(dtype)}"
        return Broken((Shown(output, str(declared), "declared"),), advice)

    return predicate


def declared_shape(output: str, shape_of: ShapeOf, *shown: str) -> Predicate:
    """A declared output has the shape that the operands and attributes give."""

    def predicate(call: Call) -> Broken | None:
        declared = call.outputs.get(output)
        given = None if declared is None else declared.extents
        shape = None if given is None else shape_of(call)
        if declared is None or given is None or shape is None or alike(given, shape):
            return None
        right = f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
        return Broken(
            (Shown(output, str(declared), f"declared; the shape is {right}"), *show_held(call, *shown)),
            f"declare `{output}` with shape {right}",
        )

    return predicate
