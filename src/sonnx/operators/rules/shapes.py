"""The one shape of operands that are combined element by element (D-ALL-5)."""

from collections.abc import Callable, Mapping, Sequence

from sonnx.model.dtype import DType
from sonnx.operators.rules.broadcasting import broadcast_shape
from sonnx.operators.rules.operands import Extents, alike, extents, known, sizes
from sonnx.operators.rules.wording import FEW, show, unlike, written
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operand, operand_names
from sonnx.vocabulary.rule import Broken, Predicate, Shown

# The operands of a call that something is said of.
NamesOf = Callable[[Call], Sequence[str]]
_ALL = {2: "both inputs", 3: "all three inputs"}


def element_names(inputs: Sequence[Operand]) -> NamesOf:
    """The operands that are combined element by element, as a call names them."""
    combined = [operand for operand in inputs if operand.form == "elements"]
    fixed = [operand.name for operand in combined if not operand.variadic]
    various = [operand for operand in combined if operand.variadic]

    def names(call: Call) -> Sequence[str]:
        numbered = operand_names(various, len(call.inputs)) if various else ()
        return [*fixed, *(name for name in numbered if name in call.inputs)]

    return names


def common_shape(names_of: NamesOf) -> Callable[[Call], Extents | None]:
    """The shape of operands where all of them have it; a size of one name is one size."""

    def shape(call: Call) -> Extents | None:
        names = names_of(call)
        kinds = [known(call, name) for name in names]
        written_shapes = {None if kind is None else kind.shape for kind in kinds}
        one = written_shapes.pop() if len(written_shapes) == 1 else None
        return None if one is None or (None in one and len(names) > 1) else extents(call, names[0])

    return shape


def broadcast_to(inputs: Sequence[Operand], shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape to which ONNX broadcasts operands of these shapes, by name; None where there is none."""
    common = broadcast_shape(list(shapes.values()))
    fixed = {shapes[operand.name] for operand in inputs if operand.whole and operand.name in shapes}
    return common if fixed <= {common} else None


def _sizes(call: Call, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    return {name: shape for name in names if (shape := sizes(call, name)) is not None}


def _shown(call: Call, names: Sequence[str]) -> tuple[Shown, ...]:
    """All operands where they are few, else two that differ."""
    if len(names) > FEW:
        names = unlike(_sizes(call, names))
    return show(call, *names)


def one_shape(inputs: Sequence[Operand]) -> Predicate:
    """Operands have one shape; those that could be broadcast are left to another rule."""
    names_of = element_names(inputs)

    def predicate(call: Call) -> Broken | None:
        names = names_of(call)
        shapes = _sizes(call, names)
        if len(set(shapes.values())) <= 1 or broadcast_to(inputs, shapes) is not None:
            return None
        return Broken(_shown(call, names), f"give {_ALL.get(len(names), 'all inputs')} one shape")

    return predicate


def no_broadcasting(inputs: Sequence[Operand]) -> Predicate:
    """Shapes that broadcasting would make one are one already."""
    names_of = element_names(inputs)

    def predicate(call: Call) -> Broken | None:
        names = names_of(call)
        shapes = _sizes(call, names)
        common = broadcast_to(inputs, shapes)
        if len(set(shapes.values())) <= 1 or common is None:
            return None
        # Of a shape that is not known nobody can say what it broadcasts to.
        target = written(common) if len(shapes) == len(names) else "one shape"
        return Broken(_shown(call, names), f"expand every input to {target} first, with Expand")

    return predicate


def scalar(name: str) -> Predicate:
    """The operand has the empty shape."""

    def predicate(call: Call) -> Broken | None:
        if extents(call, name) in (None, ()):
            return None
        return Broken(show(call, name), f"give `{name}` the empty shape: a single value, not a list of one")

    return predicate


def scalar_or_shape(name: str, whole: str) -> Predicate:
    """The operand has the shape of another one, or none; a size that is open contradicts nothing."""

    def predicate(call: Call) -> Broken | None:
        given, wanted = extents(call, name), extents(call, whole)
        if wanted is None or given is None or given == () or alike(given, wanted):
            return None
        return Broken(show(call, name, whole), f"give `{name}` the shape of `{whole}`, or make it a scalar")

    return predicate


def rank(name: str, axes: str, length: int) -> Predicate:
    """The operand has so many axes; `axes` says what they are."""

    def predicate(call: Call) -> Broken | None:
        shape = extents(call, name)
        if shape is None or len(shape) == length:
            return None
        shown = Shown(name, str(call.inputs[name]), f"rank {len(shape)}")
        return Broken((shown,), f"give `{name}` rank {length}: {axes}")

    return predicate


def denoted(name: str, wanted: tuple[str, ...]) -> Predicate:
    """The axes of the operand have these denotations, or none."""

    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        if operand is None or operand.denotation in (None, wanted):
            return None
        return Broken(show(call, name), f"denote the axes {', '.join(wanted)}, or none of them")

    return predicate


def vector(name: str) -> Predicate:
    """The operand is a list of integers: int64, of rank 1."""

    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        rank = None if operand is None or operand.shape is None else len(operand.shape)
        if operand is None or (operand.dtype is DType.INT64 and rank in (None, 1)):
            return None
        return Broken(show(call, name), f"give `{name}` as an int64 tensor of rank 1")

    return predicate


def constant(name: str) -> Predicate:
    """The elements of the operand are known before anything runs; another rule says that it is a vector."""
    is_vector = vector(name)

    def predicate(call: Call) -> Broken | None:
        if name in call.constants or known(call, name) is None or is_vector(call) is not None:
            return None
        return Broken((Shown(name, "not constant"),), f"make `{name}` a constant of the model")

    return predicate
