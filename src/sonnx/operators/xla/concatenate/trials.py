"""Trials of Concatenate: numbers of operands, dimensions, sizes 0; and the clauses that decide an element."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.draws import Draw, choice, drawn_array, drawn_shape
from sonnx.operators.shared.special_values import (
    LENGTHS,
    NOTHING,
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
from sonnx.operators.xla.concatenate.meaning import meaning

_OPERANDS = "xla.concatenate.operands"
_RULES = (
    *(f"{_OPERANDS}.D2", f"{_OPERANDS}.D3", f"{_OPERANDS}.D5", f"{_OPERANDS}.D6"),
    *("xla.concatenate.dimension.D1", "xla.concatenate.output.D1", "xla.concatenate.output.D2", "D-XLA-2"),
)
_ONE = (f"{_OPERANDS}.D1", *_RULES)
_VECTORS = (f"{_OPERANDS}.D4", *_RULES)
_RANDOM = 24
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
# The shapes of the operands, the dimension, and what is at its edge.
_SIZES: Mapping[str, tuple[Sequence[Shape], int, tuple[str, ...]]] = {
    "one-operand": ([(3, 2)], 0, _ONE),
    "one-operand-of-one-element": ([(1,)], 0, (*_ONE, *_VECTORS)),
    "two-vectors": ([(3,), (4,)], 0, _VECTORS),
    "single-elements": ([(1,), (1,), (1,)], 0, _VECTORS),
    "first-dimension": ([(3, 2), (1, 2)], 0, _RULES),
    "last-dimension": ([(3, 2), (3, 5)], 1, _RULES),
    "second-dimension-of-one-operand": ([(2, 3)], 1, _ONE),
    "last-of-three-dimensions-of-two-operands": ([(2, 3, 1), (2, 3, 4)], 2, _RULES),
    "middle-dimension": ([(2, 1, 3), (2, 4, 3), (2, 2, 3)], 1, _RULES),
    "columns-of-size-1": ([(5, 1), (5, 1), (5, 1)], 1, _RULES),
    "first-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (1, 1, 2, 1, 3, 2)], 0, _RULES),
    "fourth-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (2, 1, 2, 3, 3, 2)], 3, _RULES),
    "last-of-six-dimensions": ([(2, 1, 2, 1, 3, 2), (2, 1, 2, 1, 3, 1)], 5, _RULES),
    "empty-first": ([(0,), (3,)], 0, _VECTORS),
    "empty-between": ([(2, 2), (0, 2), (3, 2)], 0, _RULES),
    "empty-last": ([(2, 3), (2, 0)], 1, _RULES),
    "empty-alone": ([(0,)], 0, _ONE),
    "empty-all": ([(2, 0), (2, 0), (2, 0)], 1, _RULES),
    "empty-elsewhere": ([(2, 0), (3, 0)], 0, _RULES),
    "seventeen-operands": ([(m % 3, 2) for m in range(17)], 0, _RULES),
    **{
        f"{word}-operands": ([(m % 3 + 1, 2) if m % 2 else (1, 2) for m in range(count)], 0, _RULES)
        for word, count in _NUMBERS.items()
    },
    "third-of-seven-dimensions": ([(2, 1, 1, 2, 1, 2, 3), (2, 1, 4, 2, 1, 2, 3)], 2, _RULES),
    "last-of-eight-dimensions": ([(1, 2, 1, 2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 2, 1, 2)], 7, _RULES),
    "lengths-beside-vectors": ([(15,), (17,), (33,), (1,)], 0, _VECTORS),
}
_LARGE = (1009, 1000)
_FIRST = frozenset({"operands0"})


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Shapes filled with special values, all of them in each of three operands, a large one; random ones."""
    every = special_vector(dtype, signalling=True)
    for name, (shapes, dimension, shows) in _SIZES.items():
        arrays = [spread(every, shape, 3 * m) for m, shape in enumerate(shapes)]
        yield _trial(name, arrays, dimension, shows, f"{name.replace('-', ' ').capitalize()}.")
        held = frozenset(f"operands{m}" for m in range(1, len(shapes)))
        if held:
            text = f"{name.replace('-', ' ').capitalize()}, all but the first constant."
            yield _trial(f"{name}-constant", arrays, dimension, shows, text, held)
    for dimension, shape in enumerate([(len(every), 1), (1, len(every))]):
        arrays = [spread(every, shape, first) for first in range(3)]
        text = "Every special value in each of three operands."
        yield _trial(f"special-values-{dimension}", arrays, dimension, (*_RULES, "D-ALL-4"), text)
    yield from _lengths(dtype)
    if dtype is DType.FLOAT:
        many = distinct_floats(np.random.default_rng(_LARGE), dtype, int(np.prod(_LARGE))).reshape(_LARGE)
        arrays = np.split(many, [501, 504])
        yield _trial("million", arrays, 0, _RULES, "A million floats, each another.")
    yield from _random(dtype, np.random.default_rng(seed))


def _trial(
    name: str,
    operands: Sequence[Array],
    dimension: int,
    shows: tuple[str, ...],
    text: str,
    held: frozenset[str] = NOTHING,
) -> Trial:
    inputs = {f"operands{m}": operand for m, operand in enumerate(operands)}
    return Trial(name, inputs, shows, text, {"dimension": dimension}, held)


def _lengths(dtype: DType) -> Iterator[Trial]:
    """So many elements in all, of which two thirds come first; these are a constant every other time."""
    for number, length in enumerate(LENGTHS):
        arrays = np.split(special_line(dtype, length), [length - length // 3])
        held, text = (NOTHING, _FIRST)[number % 2], f"In all {length} elements."
        yield _trial(f"length-{length}", arrays, 0, _VECTORS, text, held)
    arrays = np.split(told_apart(dtype, THOUSANDS), [THOUSANDS // 3, THOUSANDS // 2])
    yield _trial("thousands", arrays, 0, _VECTORS, "Thousands of elements of three operands.")


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    for number in range(_RANDOM):
        sizes = [int(size) for size in random.integers(1, 4, int(random.integers(1, 5)))]
        dimension = int(random.integers(0, len(sizes)))
        shapes = [_with(sizes, dimension, int(random.integers(0, 5))) for _ in range(random.integers(1, 5))]
        arrays = [random_bits(random, dtype, shape, signalling=True) for shape in shapes]
        yield _trial(f"random-{number}", arrays, dimension, _RULES, "Random elements and sizes.")


def _with(sizes: Sequence[int], dimension: int, size: int) -> Shape:
    return (*sizes[:dimension], size, *sizes[dimension + 1 :])


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds in one to four operands; the first or all others may be constants."""
    first = drawn_shape(draw, least=1)
    dimension = draw.integer(0, len(first) - 1)
    more = range(draw.integer(0, _MOST_DRAWN - 1))
    shapes = [first, *(_with(first, dimension, draw.integer(0, first[dimension])) for _ in more)]
    held = choice(draw, (NOTHING, frozenset(f"operands{m + 1}" for m in more), _FIRST if more else NOTHING))
    arrays = [drawn_array(draw, dtype, shape, signalling=True) for shape in shapes]
    return _trial("drawn", arrays, dimension, _RULES, "Drawn elements and sizes.", held)


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """What is easily lost of an element; which operand it comes from."""
    output = meaning(inputs, attributes)["output"]
    operands, dimension = list(inputs.values()), int(attributes["dimension"])
    first = np.arange(output.shape[dimension]) < operands[0].shape[dimension]
    along = first.reshape(-1, *[1] * (output.ndim - dimension - 1))
    return (
        *kept_bits(output, "D-ALL-4"),
        Clause(
            "D-XLA-2",
            "The first operand comes first, its elements in their order.",
            along & everywhere(output.shape),
        ),
        Clause("D-XLA-2", "An operand begins where those before it end.", everywhere(output.shape)),
    )
