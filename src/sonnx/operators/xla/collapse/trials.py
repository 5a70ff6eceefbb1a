"""Trials of Collapse: every run of dimensions of several shapes; and the clauses that decide an element."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.draws import Draw, choice, drawn_array, drawn_shape
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
from sonnx.operators.xla.collapse.meaning import meaning

_DIMENSIONS = "xla.collapse.dimensions"
_RULES = (
    *("xla.collapse.operand.D1", f"{_DIMENSIONS}.D1", f"{_DIMENSIONS}.D2", f"{_DIMENSIONS}.D3"),
    *("xla.collapse.output.D1", "xla.collapse.output.D2", "D-XLA-6"),
)
_RANDOM = 20
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
_LARGE = (101, 99, 101)


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Shapes filled with special values and every run in them, a large one; random ones."""
    every = special_vector(dtype, signalling=True)
    for first, (name, shape) in enumerate(_SHAPES.items()):
        for run in _runs(len(shape)):
            text = f"{name.replace('-', ' ').capitalize()}: dimensions {list(run)} of {list(shape)}."
            label = "-".join(map(str, run))
            yield _trial(f"{name}-{label}", spread(every, shape, first), run, _RULES, text)
    grid = spread(every, (len(every), 3))
    for run in _runs(2):
        name = f"special-values-{'-'.join(map(str, run))}"
        yield _trial(name, grid, run, (*_RULES, "D-ALL-4"), "Every special value, three times.")
    for length in LENGTHS:
        line = special_line(dtype, length)
        operand = line if length % 2 else line.reshape(2, -1)
        run, text = tuple(range(operand.ndim)), f"In all {length} elements."
        yield _trial(f"length-{length}", operand, run, _RULES, text)
    many = told_apart(dtype, THOUSANDS).reshape(1, THOUSANDS)
    yield _trial("thousands", many, (0, 1), _RULES, "Thousands of elements.")
    most = spread(every, (2, *[1] * (MOST_AXES - 2), 3))
    shows = (f"{_DIMENSIONS}.D4", *_RULES)
    text = "As many dimensions as an array may have, before and after."
    yield _trial("most-axes-kept", most, (MOST_AXES - 1,), shows, text)
    yield _trial("most-axes-made-one", most, tuple(range(MOST_AXES)), shows, text)
    if dtype is DType.FLOAT:
        random = np.random.default_rng(_LARGE)
        many = distinct_floats(random, dtype, int(np.prod(_LARGE))).reshape(_LARGE)
        yield _trial("million", many, (0, 1), _RULES, "A million floats, each another.")
    yield from _random(dtype, np.random.default_rng(seed))


def _runs(rank: int) -> list[Shape]:
    return [tuple(range(first, last)) for first in range(rank) for last in range(first + 1, rank + 1)]


def _trial(name: str, operand: Array, run: Shape, shows: tuple[str, ...], text: str) -> Trial:
    return Trial(name, {"operand": operand}, shows, text, {"dimensions": run})


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    for number in range(_RANDOM):
        shape = tuple(int(size) for size in random.integers(1, 5, int(random.integers(1, 5))))
        runs = _runs(len(shape))
        operand = random_bits(random, dtype, shape, signalling=True)
        run = runs[int(random.integers(0, len(runs)))]
        yield _trial(f"random-{number}", operand, run, _RULES, "Random elements and sizes.")


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds, and any run of dimensions."""
    shape = drawn_shape(draw, least=1)
    run = choice(draw, _runs(len(shape)))
    operand = drawn_array(draw, dtype, shape, signalling=True)
    return _trial("drawn", operand, run, _RULES, "Drawn elements and dimensions.")


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """What is easily lost of an element; that all stay in their order."""
    output = meaning(inputs, attributes)["output"]
    return (
        *kept_bits(output, "D-ALL-4"),
        Clause(
            "D-XLA-6", "The elements stay in their order, the last index fastest.", everywhere(output.shape)
        ),
    )
