"""Calls of Collapse: every run of dimensions of several shapes."""

from collections.abc import Mapping

from sonnx.operators.rules.limits import MOST_AXES
from sonnx.vocabulary.draws import Draw, choice, drawn_shape
from sonnx.vocabulary.moves import Asked, Moves
from sonnx.vocabulary.special_values import Shape

# Of each shape every run of neighbouring dimensions is collapsed.
_SHAPES: Mapping[str, Shape] = {
    "vector": (5,),
    "one-element": (1,),
    "matrix": (3, 4),
    "three-dimensions": (4, 2, 3),
    "ones": (1, 1, 1),
    "ones-between": (2, 1, 3, 1),
    "six-dimensions": (2, 1, 3, 2, 1, 2),
    "no-elements": (2, 0, 3),
}
_MOST = (2, *[1] * (MOST_AXES - 2), 3)


def _runs(rank: int) -> list[Shape]:
    return [tuple(range(first, last)) for first in range(rank) for last in range(first + 1, rank + 1)]


def _asked(shape: Shape, run: Shape) -> Asked:
    return Asked({"operand": shape}, {"dimensions": run})


def _drawn(draw: Draw) -> Asked:
    shape = drawn_shape(draw, least=1)
    return _asked(shape, choice(draw, _runs(len(shape))))


MOVES = Moves(
    ("D-XLA-6",),
    {
        f"{name}-{'-'.join(map(str, run))}": _asked(shape, run)
        for name, shape in _SHAPES.items()
        for run in _runs(len(shape))
    }
    | {
        "most-axes-kept": _asked(_MOST, (MOST_AXES - 1,)),
        "most-axes-made-one": _asked(_MOST, tuple(range(MOST_AXES))),
    },
    lines=(
        lambda n: _asked((n,), (0,)),
        lambda n: _asked((1, n) if n % 2 else (2, n // 2), (0, 1)),
    ),
    grown=(
        lambda n: _asked((n, 3), (0,)),
        lambda n: _asked((n, 3), (1,)),
        lambda n: _asked((n, 3), (0, 1)),
    ),
    drawn=_drawn,
    rest="The elements stay in their order, the last index fastest.",
)
