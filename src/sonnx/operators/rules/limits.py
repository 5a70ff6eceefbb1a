"""How large a tensor may be."""

from collections.abc import Callable, Iterable
from math import prod

from sonnx.operators.rules.wording import show, written
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Broken, Predicate, Shown

# Code for a target counts elements with 32-bit integers; NumPy's arrays end at 64 axes.
MOST_ELEMENTS = 2**31 - 1
MOST_AXES = 64
# Formulas of more operands grow longer than compilers take in their stride.
MOST_OPERANDS = 32


def not_too_many(prefix: str) -> Predicate:
    """An operand that stands for several stands for a few dozen at most."""

    def predicate(call: Call) -> Broken | None:
        names = [name for name in call.inputs if name.startswith(prefix)]
        if len(names) <= MOST_OPERANDS:
            return None
        return Broken(
            (Shown("tensors", str(len(names))),),
            f"give {MOST_OPERANDS} at most; of more, say by several nodes what is meant",
        )

    return predicate


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
