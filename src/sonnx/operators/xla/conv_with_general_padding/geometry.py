"""How both XLA convolutions slide, from types and attributes alone."""

from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import extents
from sonnx.operators.shared.convolution import Axis
from sonnx.operators.shared.convolution_operator import LEADING, Convolution, Ends, Read, Sizes, Told, slide
from sonnx.operators.shared.convolution_trials import Rulings
from sonnx.vocabulary.call import Call

SAME, VALID = "SAME", "VALID"
_ENDS = 2


def spatial(call: Call) -> int | None:
    """The number of spatial dimensions; None where `lhs` has no such rank."""
    lhs = extents(call, "lhs")
    return None if lhs is None or len(lhs) < LEADING else len(lhs) - LEADING


def pairs(value: object, read: Read = integers) -> tuple[tuple[int, int], ...] | None:
    """A list of pairs (low, high) of integers; None for anything else."""
    if not isinstance(value, (list, tuple)):
        return None
    found = [pair for item in value if (pair := read(item)) is not None and len(pair) == _ENDS]
    return tuple((pair[0], pair[1]) for pair in found) if len(found) == len(value) else None


def _along(_base: Sizes, window: Sizes, told: Told, read: Read) -> tuple[Axis, ...] | None:
    names = ("window_strides", "rhs_dilation", "lhs_dilation")
    strides, taps, spread = (read(told.get(name)) for name in names)
    return None if spread is None else slide(window, strides, taps, pairs(told.get("padding"), read), spread)


def _along_by_word(base: Sizes, window: Sizes, told: Told, read: Read) -> tuple[Axis, ...] | None:
    """With the padding that SAME or VALID stands for, and no dilation (D-XLA-4)."""
    word = told.get("padding")
    plain = slide(window, read(told.get("window_strides")), (1,) * len(base), ((0, 0),) * len(base))
    if plain is None or not isinstance(word, str) or word not in (SAME, VALID):
        return None
    return plain if word == VALID else tuple(map(Axis.same, plain, base))


def _met(told: Told, ends: Ends) -> Told:
    return {**told, "window_strides": (1,) * len(ends), "padding": tuple(ends)}


def _met_by_word(told: Told, ends: Ends) -> Told | None:
    """What SAME stands for cannot be kept."""
    return None if told["padding"] == SAME else {**told, "window_strides": (1,) * len(ends)}


_GENERAL = Rulings(zeros="D-XLA-5", padding="D-XLA-5", places="D-XLA-5", order="D-XLA-5")
_BY_WORD = Rulings(zeros="D-XLA-5", padding="D-XLA-4", places="D-XLA-5", order="D-XLA-5")
GENERAL = Convolution("lhs", "rhs", "output", _along, _met, _GENERAL, empty=True)
BY_WORD = Convolution("lhs", "rhs", "output", _along_by_word, _met_by_word, _BY_WORD, empty=True)
