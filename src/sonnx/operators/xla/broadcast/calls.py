"""Calls of Broadcast: new dimensions of all sizes before those of an operand."""

from collections.abc import Mapping

from sonnx.operators.rules.limits import MOST_AXES
from sonnx.vocabulary.draws import Draw, drawn_shape
from sonnx.vocabulary.moves import Asked, Moves
from sonnx.vocabulary.special_values import Shape

# The shape of the operand, and the new sizes.
_SIZES: Mapping[str, tuple[Shape, Shape]] = {
    "no-sizes": ((2, 3), ()),
    "no-sizes-of-a-scalar": ((), ()),
    "scalar-to-vector": ((), (5,)),
    "scalar-to-three-dimensions": ((), (2, 3, 4)),
    "vector-twice": ((3,), (2,)),
    "vector-to-three-dimensions": ((3,), (2, 4)),
    "one-element": ((1,), (1,)),
    "sizes-of-1": ((2, 3), (1, 1)),
    "sizes-of-1-and-more": ((2, 3), (1, 3, 1)),
    "operand-of-size-1": ((1, 3, 1), (2,)),
    "matrix-three-times": ((4, 5), (3,)),
    "operand-of-six-dimensions": ((2, 1, 3, 1, 2, 1), (2,)),
    "six-dimensions-in-all": ((2, 1, 3), (2, 2, 1)),
    "eight-dimensions-in-all": ((2, 1, 2, 2), (1, 2, 2, 1)),
    "seventeen-times": ((3,), (17,)),
    "thirty-three-elements": ((33,), (3,)),
    "no-times": ((3,), (0,)),
    "no-times-in-the-middle": ((2,), (3, 0, 2)),
    "no-elements": ((0,), (3,)),
    "no-elements-and-no-times": ((2, 0), (0,)),
    "no-elements-no-sizes": ((0,), ()),
    "most-axes": ((3,), (1,) * (MOST_AXES - 1)),
}


def _asked(shape: Shape, new: Shape) -> Asked:
    return Asked({"operand": shape}, {"broadcast_sizes": new})


def _drawn(draw: Draw) -> Asked:
    """Some sizes of a shape are new, none is the simplest."""
    sizes = drawn_shape(draw)
    place = draw.integer(0, len(sizes))
    return _asked(sizes[place:], sizes[:place])


MOVES = Moves(
    ("D-XLA-6",),
    {name: _asked(*sizes) for name, sizes in _SIZES.items()},
    lines=(lambda n: _asked((n,), (1,)), lambda n: _asked((), (n,))),
    grown=(
        lambda n: _asked((n,), ()),
        lambda n: _asked((n,), (1,)),
        lambda n: _asked((n,), (2, 2)),
        lambda n: _asked((n,), (3,)),
    ),
    drawn=_drawn,
    again="At every index of the new dimensions the operand is there again.",
    rest="The new dimensions come before those of the operand.",
)
