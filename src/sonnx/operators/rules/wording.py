"""Values as messages show them."""

from collections.abc import Mapping, Sequence
from reprlib import Repr

import numpy as np

from sonnx.model.graph import Constant, Reference
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.lists import elements
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Shown

# Operands that a message shows, where many are wrong.
FEW = 3
# Characters of a value that a message shows.
LONGEST_TEXT = 80
# Lists in lists can stand for more text than any memory holds; what is long is cut again where it is shown.
_SHORT = Repr()
_SHORT.maxlevel = 3
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxarray = 2 * LONGEST_TEXT
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 20 * LONGEST_TEXT


def show(call: Call, *names: str) -> tuple[Shown, ...]:
    """Evidence: the types of operands, in the order given, those that are present."""
    return tuple(Shown(name, str(call.inputs[name])) for name in names if name in call.inputs)


def show_held(call: Call, *names: str) -> tuple[Shown, ...]:
    """The same with the elements of operands that are constants, as far as they are known."""
    held = {name: (Shown(name, written(call.constants[name])),) for name in names if name in call.constants}
    return tuple(each for name in names for each in held.get(name) or show(call, name))


def noted(call: Call, **notes: str) -> tuple[Shown, ...]:
    """Evidence: the types of operands that are present, and what is to be seen there."""
    return tuple(Shown(name, str(call.inputs[name]), note) for name, note in notes.items())


def unlike(values: Mapping[str, object]) -> tuple[str, ...]:
    """The first operand and the first that differs from it, which messages show: there may be thousands."""
    first = next(iter(values), "")
    return next(((first, name) for name, value in values.items() if value != values[first]), ())


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
    if isinstance(value, Constant):
        return f"a tensor, {value.type}"
    if isinstance(value, Reference):
        return "a reference to another attribute"
    try:
        if isinstance(value, (list, tuple, dict, set)):
            return _SHORT.repr(value)
        return str(value) if isinstance(value, (int, float, np.number)) else repr(value)
    except Exception:  # too many digits, nested too deep, or a class that cannot print itself
        return f"{type(value).__name__} that cannot be printed"


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 value`, `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def spelled(kind: TensorType) -> str:
    """The element type of an operand as its own dialect spells it."""
    return kind.spell(kind.dtype) if kind.dtype else "?"
