"""Trials of Expand: sizes repeated, kept, put before, or 0; and the clauses that decide an element."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.broadcast.shapes import equal_ranks
from sonnx.operators.onnx.expand.meaning import meaning
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
    special_block,
    special_vector,
    spread,
    told_apart,
)
from sonnx.operators.shared.trials import Clause, Trial

_RULES = ("expand.shape.C1", "expand.shape.D1", "expand.output.D1", "expand.output.D2", "D-BCAST-1")
_EMPTY = (*_RULES, "expand.shape.D2", "D-BCAST-2")
_SHAPE = frozenset({"shape"})
_RANDOM = 24
# The shape of the input, and the one that is asked for.
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
}
# Sizes 0 stand beside sizes 0 only.
_EMPTY_SIZES: Mapping[str, tuple[Shape, Shape]] = {
    "no-elements": ((0,), (0,)),
    "no-elements-repeated": ((1, 0), (3, 0)),
    "no-elements-put-before": ((0,), (2, 3, 0)),
    "no-elements-in-the-middle": ((2, 0, 1), (2, 0, 5)),
    "no-elements-and-fewer-axes": ((2, 0), (0,)),
}
_LARGE = ((7, 1, 20_011), (7, 8, 20_011))


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Shapes filled with special values, all of them in either direction, a large one; random ones."""
    every = special_vector(dtype, signalling=True)
    for first, (name, (given, asked)) in enumerate({**_SIZES, **_EMPTY_SIZES}.items()):
        shows = _EMPTY if name in _EMPTY_SIZES else _RULES
        text = f"{name.replace('-', ' ').capitalize()}: {list(given)} with {list(asked)}."
        yield _trial(name, spread(every, given, first), asked, shows, text)
    for name, given, asked in (
        ("special-values-kept", (len(every),), (len(every),)),
        ("special-values-side-by-side", (len(every), 1), (len(every), 3)),
        ("special-values-again", (1, len(every)), (3, len(every))),
    ):
        yield _trial(name, every.reshape(given), asked, (*_RULES, "D-ALL-4"), "Every special value.")
    yield from _lengths(dtype)
    text = "As many axes as an array may have."
    yield _trial("most-axes", every[:1].reshape(()), (1,) * MOST_AXES, ("expand.shape.D4",), text)
    if dtype is DType.FLOAT:
        given, asked = _LARGE
        many = distinct_floats(np.random.default_rng(asked), dtype, int(np.prod(given))).reshape(given)
        yield _trial("million", many, asked, _RULES, "A million floats, each again at eight places.")
    yield from _random(dtype, np.random.default_rng(seed))


def _trial(name: str, given: Array, asked: Shape, shows: tuple[str, ...], text: str) -> Trial:
    inputs = {"input": given, "shape": np.array(asked, np.int64)}
    return Trial(name, inputs, (*shows, "expand.shape.D3"), text, constants=_SHAPE)


def _lengths(dtype: DType) -> Iterator[Trial]:
    """One element again and again, and elements that are kept: so many in all."""
    for number, length in enumerate(LENGTHS):
        every = special_block(dtype, length)
        given = every if number % 2 else every.reshape(-1)[-1:].reshape(())
        text = f"In all {length} elements: {list(given.shape)} with {list(every.shape)}."
        yield _trial(f"length-{length}", given, every.shape, _RULES, text)
    many = told_apart(dtype, THOUSANDS // 3).reshape(-1, 1)
    text = "Thousands of elements, each again at three places."
    yield _trial("thousands", many, (len(many), 3), _RULES, text)


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    for number in range(_RANDOM):
        target = tuple(int(size) for size in random.integers(1, 5, int(random.integers(0, 5))))
        given, asked = (_some_ones(random, target) for _ in range(2))
        elements = random_bits(random, dtype, given, signalling=True)
        text = f"Random elements: {list(given)} with {list(asked)}."
        yield _trial(f"random-{number}", elements, asked, _RULES, text)


def _some_ones(random: np.random.Generator, target: Shape) -> Shape:
    """A shape that broadcasts to another: the first sizes may be missing, others may be 1."""
    last = target[int(random.integers(0, len(target) + 1)) :]
    return tuple(1 if random.integers(0, 3) == 0 else size for size in last)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds; both shapes are parts of that of the output."""
    target = drawn_shape(draw)
    given, asked = (_drawn_part(draw, target) for _ in range(2))
    text = f"Drawn elements: {list(given)} with {list(asked)}."
    return _trial("drawn", drawn_array(draw, dtype, given, signalling=True), asked, _RULES, text)


def _drawn_part(draw: Draw, target: Shape) -> Shape:
    """A shape that broadcasts to another; sizes 0 stand in both."""
    most = target.index(0) if 0 in target else len(target)
    last = target[draw.integer(0, most) :]
    return tuple(1 if size and draw.integer(0, 2) == 2 else size for size in last)


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """What is easily lost of an element; whether it is the one at this place, or one that is repeated."""
    output = meaning(inputs, attributes)["output"]
    given, _ = equal_ranks([inputs["input"].shape, output.shape])
    again = np.zeros(output.shape, bool)
    for axis, size in enumerate(given):
        if size != output.shape[axis]:
            index = np.arange(output.shape[axis]).reshape(-1, *[1] * (output.ndim - axis - 1))
            again |= index > 0
    return (
        *kept_bits(output, "D-ALL-4"),
        Clause("D-BCAST-1", "Along an axis of size 1 the one element is given at every index.", again),
        Clause(
            "D-BCAST-1", "Elements keep their place, counted from the last axis.", everywhere(output.shape)
        ),
    )
