"""Calls of Concatenate: numbers of operands, dimensions, sizes 0."""

from collections.abc import Mapping, Sequence

from sonnx.vocabulary.draws import Draw, drawn_shape
from sonnx.vocabulary.moves import Asked, Moves
from sonnx.vocabulary.special_values import Shape

_MOST_DRAWN = 4
# Numbers of operands that are held in a list of some fixed length, or are not.
_NUMBERS = {
    "five": 5,
    "eight": 8,
    "twelve": 12,
    "sixteen": 16,
    "thirty-three": 33,
    "a-hundred-and-thirty": 130,
}
# The shapes of the operands, and the dimension.
_SIZES: Mapping[str, tuple[Sequence[Shape], int]] = {
    "one-operand": ([(3, 2)], 0),
    "one-operand-of-one-element": ([(1,)], 0),
    "two-vectors": ([(3,), (4,)], 0),
    "single-elements": ([(1,), (1,), (1,)], 0),
    "first-dimension": ([(3, 2), (1, 2)], 0),
    "last-dimension": ([(3, 2), (3, 5)], 1),
    "second-dimension-of-one-operand": ([(2, 3)], 1),
    "last-of-three-dimensions-of-two-operands": ([(2, 3, 1), (2, 3, 4)], 2),
    "middle-dimension": ([(2, 1, 3), (2, 4, 3), (2, 2, 3)], 1),
    "columns-of-size-1": ([(5, 1), (5, 1), (5, 1)], 1),
    "first-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (1, 1, 2, 1, 3, 2)], 0),
    "fourth-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (2, 1, 2, 3, 3, 2)], 3),
    "last-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (2, 1, 2, 1, 3, 1)], 5),
    "empty-first": ([(0,), (3,)], 0),
    "empty-between": ([(2, 2), (0, 2), (3, 2)], 0),
    "empty-last": ([(2, 3), (2, 0)], 1),
    "empty-alone": ([(0,)], 0),
    "empty-all": ([(2, 0), (2, 0), (2, 0)], 1),
    "empty-elsewhere": ([(2, 0), (3, 0)], 0),
    "seventeen-operands": ([(m % 3, 2) for m in range(17)], 0),
    **{
        f"{word}-operands": ([(m % 3 + 1, 2) if m % 2 else (1, 2) for m in range(count)], 0)
        for word, count in _NUMBERS.items()
    },
    "third-of-seven-dimensions": ([(2, 1, 1, 2, 1, 2, 3), (2, 1, 4, 2, 1, 2, 3)], 2),
    "last-of-eight-dimensions": ([(1, 2, 1, 2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 2, 1, 2)], 7),
    "lengths-beside-vectors": ([(15,), (17,), (33,), (1,)], 0),
}


def _asked(shapes: Sequence[Shape], dimension: int) -> Asked:
    return Asked({f"operands{m}": shape for m, shape in enumerate(shapes)}, {"dimension": dimension})


def _drawn(draw: Draw) -> Asked:
    """One to four operands."""
    first = drawn_shape(draw, least=1)
    dimension = draw.integer(0, len(first) - 1)
    before, after = first[:dimension], first[dimension + 1 :]
    sizes = [draw.integer(0, first[dimension]) for _ in range(draw.integer(0, _MOST_DRAWN - 1))]
    return _asked([first, *((*before, size, *after) for size in sizes)], dimension)


MOVES = Moves(
    ("D-XLA-2",),
    {name: _asked(*sizes) for name, sizes in _SIZES.items()},
    lines=(lambda n: _asked([(n - n // 3,), (n // 3,)], 0),),
    grown=(lambda n: _asked([(1, n)] * 3, 1), lambda n: _asked([(n, 1)] * 3, 0)),
    drawn=_drawn,
    first="The first operand comes first, its elements in their order.",
    rest="An operand begins where those before it end.",
    beyond=frozenset({"xla.concatenate.operands.D7"}),
)
