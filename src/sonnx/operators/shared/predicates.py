"""Predicates that rules of several operators share. Each answers None where it cannot be asked."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from reprlib import Repr
from typing import Any

import numpy as np

from sonnx.model.call import Call
from sonnx.model.dtype import DType
from sonnx.model.rule import Broken, Predicate, Shown
from sonnx.model.tensor_type import TensorType

# The sizes of a tensor's shape, those that are known; None where another rule says why there are none.
Extents = tuple[int | None, ...]
ShapeOf = Callable[[Call], Extents | None]

# Code for a target counts elements with 32-bit integers; NumPy's arrays end at 64 axes.
MOST_ELEMENTS = 2**31 - 1
MOST_AXES = 64
_INT64 = range(-(2**63), 2**63)
# Characters of a value that a message shows.
LONGEST_TEXT = 80
# Lists in lists can stand for more text than any memory holds; what is long is cut again where it is shown.
_SHORT = Repr()
_SHORT.maxlevel = 3
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxarray = 2 * LONGEST_TEXT
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 20 * LONGEST_TEXT
# No attribute has as many elements; longer lists are not looked through.
LONGEST_LIST = 1000


def known(call: Call, name: str) -> TensorType | None:
    """The type of an operand that is present, dense and typed; else None."""
    operand = call.inputs.get(name)
    return None if operand is None or operand.dtype is None or operand.sparse else operand


def extents(call: Call, name: str, rank: int | None = None) -> Extents | None:
    """The sizes of a known operand, None for those left open, of the given rank where one is given.

    A rule needs some of the sizes only: what it can say, it says, though a batch size may still be open.
    """
    operand = known(call, name)
    if operand is None or operand.shape is None or rank not in (None, len(operand.shape)):
        return None
    return operand.extents


def sizes(call: Call, name: str, rank: int | None = None) -> tuple[int, ...] | None:
    """The sizes of a known operand where all of them are known; else None."""
    operand = known(call, name)
    if operand is None or operand.sizes is None or rank not in (None, len(operand.sizes)):
        return None
    return operand.sizes


def static(shape: Extents) -> tuple[int, ...] | None:
    """Sizes that are all known; else None."""
    numbers = tuple(size for size in shape if size is not None)
    return numbers if len(numbers) == len(shape) else None


def show(call: Call, *names: str) -> tuple[Shown, ...]:
    """Evidence: the types of operands, in the order given, those that are present."""
    return tuple(Shown(name, str(call.inputs[name])) for name in names if name in call.inputs)


def elements(value: object) -> list[Any] | None:
    """The elements of a list, a tuple or an array of rank 1, the first thousand; None for anything else."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value[:LONGEST_LIST])
    return None


def integers(value: object) -> tuple[int, ...] | None:
    """A list of integers as a tuple; None for anything else (NaN, 1.5, "1", True)."""
    listed = elements(value)
    if listed is None or not all(map(is_integer, listed)):
        return None
    return tuple(map(int, listed))


def is_integer(value: object) -> bool:
    """Tell whether a value is an integer that int64 holds; True and False are not, nor is a span of time."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, (bool, np.timedelta64)):
        return False
    return int(value) in _INT64


def written(value: object) -> str:
    """A value as messages show it, cut where it is long; lists, tuples and vectors in brackets."""
    listed = elements(value)
    return _cut(_plain(value)) if listed is None else f"[{written_elements(listed)}]"


def written_elements(values: Sequence[object]) -> str:
    """Values as messages show them, separated by commas, cut where they are many."""
    return _cut(", ".join(map(_plain, values[:LONGEST_TEXT])))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}..."


def _plain(value: object) -> str:
    """Numbers as they are, also NumPy's; anything else so that its type shows."""
    try:
        if isinstance(value, (list, tuple, dict, set)):
            return _SHORT.repr(value)
        return str(value) if isinstance(value, (int, float, np.number)) else repr(value)
    except Exception:  # too many digits, nested too deep, or a class that cannot print itself
        return f"{type(value).__name__} that cannot be printed"


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 value`, `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def one_of(name: str, types: Sequence[DType]) -> Predicate:
    """The operand has one of the types."""

    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        if operand is None or operand.dtype in types:
            return None
        names = ", ".join(map(operand.spell, types))
        return Broken(show(call, name), f"give `{name}` one of the types {names}")

    return predicate


def same_type(name: str, reference: str) -> Predicate:
    """Two operands have one element type."""

    def predicate(call: Call) -> Broken | None:
        one, other = known(call, name), known(call, reference)
        if one is None or other is None or one.dtype is other.dtype:
            return None
        return Broken(
            show(call, name, reference),
            f"give `{name}` the type {_spelled(other)}; no operand is converted",
        )

    return predicate


def _spelled(kind: TensorType) -> str:
    return kind.spell(kind.dtype) if kind.dtype else "?"


def declared_type(output: str, reference: str) -> Predicate:
    """A declared output has the element type of an operand."""

    def predicate(call: Call) -> Broken | None:
        declared, operand = call.outputs.get(output), known(call, reference)
        if declared is None or operand is None or declared.dtype in (None, operand.dtype):
            return None
        return Broken(
            (Shown(output, str(declared), "declared"), *show(call, reference)),
            f"declare `{output}` with type {_spelled(operand)}",
        )

    return predicate


def declared_shape(output: str, shape_of: ShapeOf, *shown: str) -> Predicate:
    """A declared output has the shape that the operands and attributes give."""

    def predicate(call: Call) -> Broken | None:
        declared, shape = call.outputs.get(output), shape_of(call)
        given = None if declared is None else declared.extents
        if declared is None or given is None or shape is None or alike(given, shape):
            return None
        right = f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
        return Broken(
            (Shown(output, str(declared), f"declared; the shape is {right}"), *show(call, *shown)),
            f"declare `{output}` with shape {right}",
        )

    return predicate


def alike(one: Extents, other: Extents) -> bool:
    """Tell whether two shapes agree as far as they are known; a size that is open contradicts nothing."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a == b or a is None or b is None for a, b in pairs)


def addressable(shapes: Callable[[Call], Iterable[tuple[int, ...]]], *shown: str) -> Predicate:
    """No tensor that the call makes is too large."""

    def predicate(call: Call) -> Broken | None:
        for shape in shapes(call):
            # A size 0 does not excuse the others: NumPy multiplies them whether or not there are elements.
            if len(shape) > MOST_AXES or prod(size or 1 for size in shape) > MOST_ELEMENTS:
                values = (Shown("result", written(shape)), *show(call, *shown))
                axes = f" and {MOST_AXES} axes" if len(shape) > MOST_AXES else ""
                return Broken(values, f"stay below 2^31 elements{axes}")
        return None

    return predicate
