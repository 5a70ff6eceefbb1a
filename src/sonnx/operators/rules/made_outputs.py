"""Rules on what a call makes, from a contract's data: its shape, type, size, and how much there is of it.

An output that is variadic stands for as many as the call makes, and each of them is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules import element_types, limits
from sonnx.operators.rules.declarations import ShapesOf, declared_as, declared_shape, declared_type
from sonnx.operators.rules.examples import other_type
from sonnx.operators.rules.made import Owner
from sonnx.operators.rules.operands import Extents, static
from sonnx.operators.rules.wording import count, show_held
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operand, goes_by
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown


def output_shape(owner: Owner, output: Operand, label: str, shapes_of: ShapesOf, reference: str) -> Rule:
    """A declared output has the shape that follows; `reference` is the operand whose type it has."""
    shapes = shapes_of(owner.good) or {}
    held = _held(owner, output, reference)
    first, right = next(iter(shapes.items()), (output.name, ()))

    def predicate(name: str) -> Predicate:
        return declared_shape(name, lambda call: (shapes_of(call) or {}).get(name), *owner.good.inputs)

    return owner.rule(
        f"shape of {output.name}",
        f"{output.name}.{label}",
        f"{_whose(output)} must have the shape that the operands and attributes give.",
        "A declared shape that differs would make later operators read other elements.",
        _of_each(output, predicate),
        _declaring(owner, {**shapes, first: (*right, 2)}, held),
        passing=_declaring(owner, {**shapes, first: right}, held),
    )


def output_type(owner: Owner, output: Operand, label: str, shapes_of: ShapesOf, reference: str) -> Rule:
    """A declared output has the type of an operand, or the one it always has."""
    held, shapes = _held(owner, output, reference), shapes_of(owner.good) or {output.name: ()}
    shared = bool(output.variable)

    def predicate(name: str) -> Predicate:
        return declared_type(name, reference) if shared else declared_as(name, held)

    return owner.rule(
        f"type of {output.name}",
        f"{output.name}.{label}",
        f"{_whose(output)} must have the element type of `{reference}`."
        if shared
        else f"{_whose(output)} must be {element_types.in_words(output.types)}.",
        "No operator converts unless its name says so."
        if shared
        else "Whatever the operands are, the results are of this type.",
        _of_each(output, predicate),
        _declaring(owner, shapes, other_type(output.types, held)),
        passing=_declaring(owner, shapes, held),
    )


def addressable(owner: Owner, output: Operand, label: str, shapes_of: ShapesOf, failing: Call) -> Rule:
    """No output is too large; `failing` is a call of which one would be."""
    return owner.rule(
        f"size of {output.name}",
        f"{output.name}.{label}",
        f"{'Each' if output.variadic else 'The'} output must have fewer than 2^31 elements "
        "(sizes 0 not counted) and at most 64 axes.",
        "Indices of generated code are 32 bits wide, and no array here has more axes.",
        limits.addressable(made_shapes(shapes_of), *list(owner.good.inputs)[:1]),
        failing,
        restricts_onnx=True,
    )


def output_number(owner: Owner, output: Operand, label: str, shapes_of: ShapesOf, reference: str) -> Rule:
    """No more outputs are named than are made."""
    shapes = shapes_of(owner.good) or {}
    held = _held(owner, output, reference)

    def predicate(call: Call) -> Broken | None:
        made = shapes_of(call)
        # What has no name of an output's is refused in general.
        surplus = [name for name in call.outputs if goes_by(output, name) and name not in (made or ())]
        if made is None or not surplus:
            return None
        told = f"of {count(len(made), 'output')} there is no such one"
        values = (
            Shown(surplus[0], str(call.outputs[surplus[0]]), told),
            *show_held(call, *owner.good.inputs),
        )
        return Broken(values, f"name {count(len(made), 'output')} at most")

    return owner.rule(
        f"number of {output.name}",
        f"{output.name}.{label}",
        f"No more of `{output.name}` may be named than the operands and attributes give.",
        "What is named and never made would hold no elements.",
        predicate,
        _declaring(owner, {**shapes, f"{output.name}{len(shapes)}": ()}, held),
        passing=_declaring(owner, shapes, held),
    )


def made_shapes(shapes_of: ShapesOf) -> Callable[[Call], Sequence[tuple[int, ...]]]:
    """The shapes of the outputs, as far as they are known."""

    def shapes(call: Call) -> Sequence[tuple[int, ...]]:
        whole = map(static, (shapes_of(call) or {}).values())
        return [each for each in whole if each is not None]

    return shapes


def _of_each(output: Operand, predicate: Callable[[str], Predicate]) -> Predicate:
    """What is asked of an output, or of each that goes by its name; the first that breaks it is told."""
    if not output.variadic:
        return predicate(output.name)

    def asked(call: Call) -> Broken | None:
        found = (predicate(name)(call) for name in call.outputs)
        return next((broken for broken in found if broken is not None), None)

    return asked


def _whose(output: Operand) -> str:
    return f"Each `{output.name}`" if output.variadic else f"`{output.name}`"


def _held(owner: Owner, output: Operand, reference: str) -> DType:
    """The type of the output in the example."""
    return (owner.good.inputs[reference].dtype if output.variable else None) or output.types[0]


def _declaring(owner: Owner, shapes: Mapping[str, Extents], dtype: DType) -> Call:
    dialect = next(iter(owner.good.inputs.values())).dialect
    return replace(
        owner.good,
        outputs={name: TensorType(dtype, shape, dialect=dialect) for name, shape in shapes.items()},
    )
