"""Where, Expand, Broadcast, Collapse and Concatenate got wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from tests.conformance.right import moving as right
from tests.conformance.right.elements import Array
from tests.conformance.right.moving import Attributes, Operands
from tests.conformance.right.runtime import ELEMENTWISE
from tests.conformance.wrong import damage
from tests.conformance.wrong.damage import Damage
from tests.conformance.wrong.mutant import (
    BF16,
    BOOL,
    C64,
    C128,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    STRING,
    U64,
    Mutant,
)

from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Meaning = Callable[[Operands, Attributes], Array]
# The ruling on NaNs and zeros that are moved, and the one on everything else.
_RULINGS: Mapping[str, tuple[str, str]] = {
    "where": ("D-WHERE-2", "D-WHERE-2"),
    "expand": ("D-ALL-4", "D-BCAST-1"),
    "xla.broadcast": ("D-ALL-4", "D-XLA-6"),
    "xla.collapse": ("D-ALL-4", "D-XLA-6"),
    "xla.concatenate": ("D-ALL-4", "D-XLA-2"),
}


def answering(meaning: Meaning) -> Callable[[Question], Sequence[Array]]:
    return lambda question: [meaning(question.operands, question.attributes)]


def damaged(operator: str, change: Damage) -> Callable[[Question], Sequence[Array]]:
    """The right output with something done to it."""
    return answering(lambda operands, attributes: change(ELEMENTWISE[operator](operands, attributes)))


def _everywhere() -> Iterator[Mutant]:
    """What can be done to the elements of every operator that moves them."""
    for operator, (kept, others) in _RULINGS.items():

        def bad(
            name: str, ruling: str, change: Damage, *types: DType, at: str = "", op: str = operator
        ) -> Mutant:
            return Mutant(name, op, types, ruling, damaged(op, change), trials=at)

        for name, change in damage.NANS.items():
            yield bad(name, kept, change, F32, BF16)
        yield bad("the sign of zero is lost", kept, damage.zero_sign_lost, F16, F64, C64)
        yield bad("subnormal outputs are flushed", "D-ALL-4", damage.flushed, F32, C128)
        yield bad("infinities become the largest number", others, damage.saturated, F32, BF16)
        yield bad("integers go through double", others, damage.through_double, I64, U64)
        yield bad("the imaginary part is lost", others, damage.imaginary_part_lost, C64)
        yield bad("complex numbers are conjugated", others, damage.conjugated, C128)
        yield bad("bytes come in reverse", others, damage.bytes_reversed, I32)
        yield bad(
            "one element of a million is wrong", others, damage.one_element_wrong(-1), F32, at="million"
        )
        yield bad("a rest of vectors is not written", others, damage.last_elements_lost(16), I8)


def _strings() -> Iterator[Mutant]:
    for operator in ("where", "expand"):
        for name, change in damage.STRINGS.items():
            yield Mutant(name, operator, (STRING,), _RULINGS[operator][1], damaged(operator, change))


# --- Where -------------------------------------------------------------------------------------------------


def _chosen(test: Callable[[Array], Array]) -> Meaning:
    """Where with another view of the condition's bytes."""

    def where(operands: Operands, attributes: Attributes) -> Array:
        condition = test(operands["condition"].view(np.uint8)).astype(np.bool_)
        return right.where({**operands, "condition": condition}, attributes)

    return where


def _blended(operands: Operands, _attributes: Attributes) -> Array:
    """Both operands times a mask of ones and zeros."""
    X, Y = operands["X"], operands["Y"]
    mask = (operands["condition"].view(np.uint8) != 0).astype(X.dtype)
    with np.errstate(all="ignore"):
        return X * mask + Y * (mask.dtype.type(1) - mask)


def _nan_aware(operands: Operands, attributes: Attributes) -> Array:
    """A chosen NaN is taken for a missing element."""
    X, Y = operands["X"], operands["Y"]
    chosen = right.where(operands, attributes)
    other = right.where({**operands, "X": Y, "Y": X}, attributes)
    return np.where(np.isnan(chosen), other, chosen)


def _by_first(operands: Operands, attributes: Attributes) -> Array:
    """The first element of the condition decides for all."""
    condition = operands["condition"].view(np.uint8).reshape(-1)[:1] != 0
    whole = np.broadcast_to(condition if condition.size else False, operands["X"].shape).copy()
    return right.where({**operands, "condition": whole}, attributes)


_WHERE = (
    Mutant(
        "only the byte 1 is true", "where", (F32, BOOL), "D-WHERE-1", answering(_chosen(lambda c: c == 1))
    ),
    Mutant("the lowest bit decides", "where", (F32, I8), "D-WHERE-1", answering(_chosen(lambda c: c & 1))),
    Mutant(
        "bytes are signed", "where", (F32,), "D-WHERE-1", answering(_chosen(lambda c: c.view(np.int8) > 0))
    ),
    Mutant(
        "X and Y change places", "where", (F32, STRING), "D-WHERE-2", answering(_chosen(lambda c: c == 0))
    ),
    Mutant("X and Y are blended", "where", (F32, F64), "D-WHERE-2", answering(_blended)),
    Mutant("a NaN is not chosen", "where", (F32,), "D-WHERE-2", answering(_nan_aware)),
    Mutant("one condition decides for all", "where", (I64,), "D-WHERE-2", answering(_by_first)),
)

# --- Expand ------------------------------------------------------------------------------------------------


def _repeated_elsewhere(operands: Operands, attributes: Attributes) -> Array:
    """Each element stands beside its copies, wherever the axis is."""
    output = right.expand(operands, attributes)
    given = operands["input"].reshape(-1)
    return np.repeat(given, output.size // given.size).reshape(output.shape) if given.size else output


def _over_and_over(operands: Operands, attributes: Attributes) -> Array:
    """All elements one after the other, over and over, wherever the axis is."""
    output = right.expand(operands, attributes)
    given = operands["input"].reshape(-1)
    return np.resize(given, output.shape) if given.size else output


def _one_way(operands: Operands, attributes: Attributes) -> Array:
    """The shape that is asked for is the shape that comes."""
    output = right.expand(operands, attributes)
    sizes = tuple(operands["shape"].tolist())
    return output if output.shape == sizes else np.resize(output, sizes)


def _from_the_first_axis(operands: Operands, attributes: Attributes) -> Array:
    """Axes are added behind, not in front."""
    given, asked = operands["input"], operands["shape"].tolist()
    rank = max(given.ndim, len(asked))
    output = given.reshape(given.shape + (1,) * (rank - given.ndim))
    for axis, size in enumerate(asked + [1] * (rank - len(asked))):
        if output.shape[axis] == 1:
            output = right.repeated(output, axis, size)
    return output


def _written_once(operands: Operands, attributes: Attributes) -> Array:
    """Only the first copy is written."""
    output = right.expand(operands, attributes).copy()
    for axis, size in enumerate(output.shape):
        before = output.ndim - operands["input"].ndim
        if axis < before or (operands["input"].shape[axis - before] == 1 and size > 1):
            np.moveaxis(output, axis, 0)[1:] = 0
    return output


_EXPAND = (
    Mutant(
        "elements stand beside their copies",
        "expand",
        (F32, U64),
        "D-BCAST-1",
        answering(_repeated_elsewhere),
    ),
    Mutant("elements come over and over", "expand", (F32, STRING), "D-BCAST-1", answering(_over_and_over)),
    Mutant("sizes of the input do not remain", "expand", (F32,), "expand.outputs", answering(_one_way)),
    Mutant("axes are added behind", "expand", (F32,), "expand.outputs", answering(_from_the_first_axis)),
    Mutant("only the first copy is written", "expand", (F32, I32), "D-BCAST-1", answering(_written_once)),
)

# --- XLA ---------------------------------------------------------------------------------------------------


def _appended(operands: Operands, attributes: Attributes) -> Array:
    output = right.broadcast(operands, attributes)
    sizes = len(attributes["broadcast_sizes"])
    return np.moveaxis(output, range(sizes), range(output.ndim - sizes, output.ndim))


def _appended_elements(operands: Operands, attributes: Attributes) -> Array:
    """In the shape of dimensions put before, elements lie as if they were put behind."""
    return _appended(operands, attributes).reshape(right.broadcast(operands, attributes).shape)


def _column_order(operands: Operands, attributes: Attributes) -> Array:
    """The first index of the run is the fastest."""
    operand, run = operands["operand"], attributes["dimensions"]
    turned = np.moveaxis(operand, run, run[::-1])
    return turned.reshape(right.collapse(operands, attributes).shape)


def _one_more(operands: Operands, attributes: Attributes) -> Array:
    """The dimension after the last is collapsed too, where there is one."""
    run = attributes["dimensions"]
    longer = (*run, run[-1] + 1) if run[-1] + 1 < operands["operand"].ndim else run
    return right.collapse(operands, {"dimensions": longer})


def _at_the_last(operands: Operands, attributes: Attributes) -> Array:
    """Joined along the last dimension, whatever is asked for, in the shape that is asked for."""
    output = right.concatenate(operands, attributes)
    arrays = [np.moveaxis(array, attributes["dimension"], -1) for array in operands.values()]
    return right.joined(arrays, output.ndim - 1).reshape(output.shape)


def _another_dimension(operands: Operands, attributes: Attributes) -> Array:
    arrays = list(operands.values())
    other = (attributes["dimension"] + 1) % arrays[0].ndim
    same = {
        array.shape[: attributes["dimension"]] + array.shape[attributes["dimension"] + 1 :]
        for array in arrays
    }
    alike = len({array.shape for array in arrays}) == 1 and len(same) == 1
    return right.joined(arrays, other) if alike else right.concatenate(operands, attributes)


def _reversed(operands: Operands, attributes: Attributes) -> Array:
    return right.joined(list(operands.values())[::-1], attributes["dimension"])


def _without_empty_first(operands: Operands, attributes: Attributes) -> Array:
    """An operand of size 0 counts as one of size 1."""
    axis = attributes["dimension"]
    output = right.concatenate(operands, attributes)
    return np.roll(output, sum(array.shape[axis] == 0 for array in operands.values()), axis=axis)


_XLA = (
    Mutant(
        "dimensions are put behind", "xla.broadcast", (F32,), "xla.broadcast.outputs", answering(_appended)
    ),
    Mutant("elements lie as if behind", "xla.broadcast", (F32, I8), "D-XLA-6", answering(_appended_elements)),
    Mutant("collapsed by columns", "xla.collapse", (F32, C64), "D-XLA-6", answering(_column_order)),
    Mutant("one dimension too many", "xla.collapse", (F32,), "xla.collapse.outputs", answering(_one_more)),
    Mutant("joined at the last dimension", "xla.concatenate", (F32, U64), "D-XLA-2", answering(_at_the_last)),
    Mutant(
        *("joined at another dimension", "xla.concatenate", (F32,), "xla.concatenate.outputs"),
        answering(_another_dimension),
    ),
    Mutant("the last operand comes first", "xla.concatenate", (F32, BOOL), "D-XLA-2", answering(_reversed)),
    Mutant(
        "empty operands take a place", "xla.concatenate", (I32,), "D-XLA-2", answering(_without_empty_first)
    ),
)

MUTANTS = (*_everywhere(), *_strings(), *_WHERE, *_EXPAND, *_XLA)
