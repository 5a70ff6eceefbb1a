"""Calls of Expand: sizes repeated, kept, put before, or 0."""

from collections.abc import Mapping

from sonnx.operators.rules.limits import MOST_AXES
from sonnx.vocabulary.draws import Draw, drawn_shape
from sonnx.vocabulary.moves import Asked, Moves
from sonnx.vocabulary.special_values import Shape

# The shape of the input, and the one that is asked for; sizes 0 stand beside sizes 0 only.
_SIZES: Mapping[str, tuple[Shape, Shape]] = {
    "nothing-to-do": ((3, 4), (3, 4)),
    "no-shape": ((3, 4), ()),
    "scalar-to-scalar": ((), ()),
    "scalar-to-vector": ((), (5,)),
    "scalar-to-three-axes": ((), (2, 3, 4)),
    "one-element-to-vector": ((1,), (7,)),
    "one-element-kept": ((1,), (1,)),
    "lines": ((1, 5), (3, 5)),
    "columns": ((5, 1), (5, 3)),
    "both-axes": ((1, 1), (3, 4)),
    "crosswise": ((3, 1), (1, 4)),
    "ones-asked-for": ((3, 4), (1, 1)),
    "one-asked-for-of-three": ((2, 3, 4), (1, 4)),
    "fewer-axes-asked-for": ((2, 3, 4), (4,)),
    "axes-put-before": ((4,), (2, 3, 4)),
    "axes-put-before-and-repeated": ((3, 1), (2, 1, 6)),
    "ones-put-before": ((3,), (1, 1, 3)),
    "middle-axis": ((2, 1, 3), (2, 4, 3)),
    "outer-axes": ((1, 3, 1), (2, 3, 4)),
    "six-axes": ((2, 1, 3, 1, 2, 1), (1, 2, 3, 2, 1, 3)),
    "every-other-of-six-axes": ((1, 2, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2)),
    "eight-axes": ((1, 2, 1, 1, 3, 1, 1, 2), (2, 1, 1, 2, 3, 1, 2, 2)),
    "seven-axes": ((2, 1, 2, 1, 1, 3, 1), (1, 2, 1, 1, 2, 3, 2)),
    "nine-axes": ((1, 2, 1, 1, 2, 1, 3, 1, 1), (2, 1, 1, 2, 2, 1, 1, 1, 2)),
    "seventeen-times": ((1, 3), (17, 3)),
    "lines-ten-times": ((2, 1, 9), (2, 10, 9)),
    "sixty-six-each": ((3, 1), (3, 66)),
    "thirty-three-each": ((3, 1), (3, 33)),
    "eight-each": ((9, 1), (9, 8)),
    "most-axes": ((), (1,) * MOST_AXES),
    "no-elements": ((0,), (0,)),
    "no-elements-repeated": ((1, 0), (3, 0)),
    "no-elements-put-before": ((0,), (2, 3, 0)),
    "no-elements-in-the-middle": ((2, 0, 1), (2, 0, 5)),
    "no-elements-and-fewer-axes": ((2, 0), (0,)),
}


def _asked(given: Shape, shape: Shape) -> Asked:
    return Asked({"input": given}, decided={"shape": shape})


def _drawn(draw: Draw) -> Asked:
    """Both shapes are parts of that of the output."""
    target = drawn_shape(draw)
    return _asked(_part(draw, target), _part(draw, target))


def _part(draw: Draw, target: Shape) -> Shape:
    """A shape that broadcasts to another; sizes 0 stand in both."""
    most = target.index(0) if 0 in target else len(target)
    last = target[draw.integer(0, most) :]
    return tuple(1 if size and draw.integer(0, 2) == 2 else size for size in last)


MOVES = Moves(
    ("D-BCAST-1", "D-BCAST-2"),
    {name: _asked(*sizes) for name, sizes in _SIZES.items()},
    lines=(lambda n: _asked((n,), (n,)), lambda n: _asked((), (n,))),
    grown=(
        lambda n: _asked((n,), (n,)),
        lambda n: _asked((1, n), (3, n)),
        lambda n: _asked((n, 1), (n, 3)),
    ),
    drawn=_drawn,
    again="Along an axis of size 1 the one element is given at every index.",
    rest="Elements keep their place, counted from the last axis.",
)
