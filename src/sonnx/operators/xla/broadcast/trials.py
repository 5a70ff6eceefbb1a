"""Trials of Broadcast: new dimensions of all sizes before those of an operand; and the clauses."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.draws import Draw, drawn_array, drawn_shape
from sonnx.operators.shared.predicates import MOST_AXES
from sonnx.operators.shared.special_values import (
    LENGTHS,
    THOUSANDS,
    Shape,
    distinct_floats,
    everywhere,
    kept_bits,
    random_bits,
    special_line,
    special_vector,
    spread,
    told_apart,
)
from sonnx.operators.shared.trials import Clause, Trial
from sonnx.operators.xla.broadcast.meaning import meaning

_RULES = (
    *("xla.broadcast.operand.D1", "xla.broadcast.broadcast_sizes.D1"),
    *("xla.broadcast.output.D1", "xla.broadcast.output.D2", "D-XLA-6"),
)
_RANDOM = 20
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
}
_LARGE = ((20_011, 7), (8,))


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Shapes filled with special values, all of them several times, a large one; random ones."""
    every = special_vector(dtype, signalling=True)
    for first, (name, (shape, new)) in enumerate(_SIZES.items()):
        text = f"{name.replace('-', ' ').capitalize()}: {list(new)} before {list(shape)}."
        yield _trial(name, spread(every, shape, first), new, _RULES, text)
    for new in ((), (1,), (3,), (2, 2)):
        name = "special-values" + "".join(f"-{size}" for size in new)
        yield _trial(name, every, new, (*_RULES, "D-ALL-4"), "Every special value, in every copy.")
    yield from _lengths(dtype)
    text = "As many dimensions as an array may have."
    most = (1,) * (MOST_AXES - 1)
    yield _trial("most-axes", every, most, ("xla.broadcast.broadcast_sizes.D2",), text)
    if dtype is DType.FLOAT:
        shape, new = _LARGE
        many = distinct_floats(np.random.default_rng(shape), dtype, int(np.prod(shape))).reshape(shape)
        yield _trial("million", many, new, _RULES, "A million floats, each eight times.")
    yield from _random(dtype, np.random.default_rng(seed))


def _trial(name: str, operand: Array, new: Shape, shows: tuple[str, ...], text: str) -> Trial:
    return Trial(name, {"operand": operand}, shows, text, {"broadcast_sizes": new})


def _lengths(dtype: DType) -> Iterator[Trial]:
    """One element again and again, and elements that are kept: so many in all."""
    for number, length in enumerate(LENGTHS):
        line, text = special_line(dtype, length), f"In all {length} elements."
        operand, new = (line, (1,)) if number % 2 else (line[-1:].reshape(()), (length,))
        yield _trial(f"length-{length}", operand, new, _RULES, text)
    many = told_apart(dtype, THOUSANDS // 3)
    yield _trial("thousands", many, (3,), _RULES, "Thousands of elements, three times.")


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    for number in range(_RANDOM):
        sizes = tuple(int(size) for size in random.integers(0, 5, int(random.integers(0, 6))))
        place = int(random.integers(0, len(sizes) + 1))
        operand = random_bits(random, dtype, sizes[place:], signalling=True)
        yield _trial(f"random-{number}", operand, sizes[:place], _RULES, "Random elements and sizes.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds; some sizes of a shape are new, none is the simplest."""
    sizes = drawn_shape(draw)
    place = draw.integer(0, len(sizes))
    operand = drawn_array(draw, dtype, sizes[place:], signalling=True)
    return _trial("drawn", operand, sizes[:place], _RULES, "Drawn elements and sizes.")


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """What is easily lost of an element; whether it lies in the first copy or in a later one."""
    output, operand = meaning(inputs, attributes)["output"], inputs["operand"]
    copies = np.arange(int(np.prod(attributes["broadcast_sizes"], dtype=np.int64)))
    ones = (1,) * operand.ndim
    later = (copies > 0).reshape((*output.shape[: output.ndim - operand.ndim], *ones))
    return (
        *kept_bits(output, "D-ALL-4"),
        Clause(
            "D-XLA-6",
            "At every index of the new dimensions the operand is there again.",
            later & everywhere(output.shape),
        ),
        Clause("D-XLA-6", "The new dimensions come before those of the operand.", everywhere(output.shape)),
    )
