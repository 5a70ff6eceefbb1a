"""Trials of Where: every special value chosen beside every other; and the clauses that decide an element."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.where.meaning import meaning
from sonnx.operators.shared.draws import Draw, choice, drawn_array, drawn_from, drawn_shape
from sonnx.operators.shared.special_values import (
    LONGER,
    MANY,
    NOTHING,
    SHAPES,
    THOUSANDS,
    Shape,
    distinct_floats,
    everywhere,
    filled,
    is_infinite,
    is_nan,
    kept_bits,
    random_bits,
    special_block,
    special_values,
    special_vector,
    spread,
    told_apart,
)
from sonnx.operators.shared.trials import Clause, Trial

_RULES = ("where.R1", "where.R3", "where.condition.D1", "where.output.D1", "D-WHERE-1")
_SHAPE_RULES = ("where.R2", "where.R4", "where.output.C1", "D-WHERE-1")
# Operands that a model may hold itself; something is left to be an input.
_HELD = (
    *(NOTHING, frozenset({"X"}), frozenset({"Y"}), frozenset({"condition"})),
    *(frozenset({"X", "Y"}), frozenset({"condition", "X"}), frozenset({"condition", "Y"})),
)
_RANDOM = 40
# Every byte but 0 is true.
_BYTES = (0, 1, 2, 127, 128, 254, 255)
_TRUTHS = _BYTES[:2]
_CONDITION = frozenset({"condition"})
# So far X and Y are shifted against each other: no zeros meet and no NaNs.
_APART = 5
_LONG_TEXT = "0123456789" * 500


def trials(dtype: DType, seed: int) -> Iterator[Trial]:
    """Special values beside each other, conditions, shapes, bytes of bools, a large one; random ones."""
    yield from _special_values(dtype)
    yield from _conditions(dtype)
    yield from _every_byte(dtype)
    yield from _shapes(dtype)
    if dtype is DType.STRING:
        yield from _long_texts()
    if dtype is DType.FLOAT:
        yield _large()
    yield from _random(dtype, np.random.default_rng(seed))


def _trial(
    name: str, operands: tuple[Array, Array, Array], shows: tuple[str, ...], text: str, held: frozenset[str]
) -> Trial:
    inputs = dict(zip(("condition", "X", "Y"), operands, strict=True))
    return Trial(name, inputs, shows, text, constants=held)


def _special_values(dtype: DType) -> Iterator[Trial]:
    every = special_vector(dtype, signalling=True)
    true = everywhere(every.shape)
    for name, value in special_values(dtype, signalling=True).items():
        same, words = filled(value, every.shape), name.replace("-", " ").capitalize()
        shows = (*_RULES, "D-WHERE-2", "D-ALL-4")
        text = f"{words} is chosen from X beside every special value."
        yield _trial(f"{name}-from-x", (true, same, every), shows, text, NOTHING)
        text = f"{words} is chosen from Y beside every special value."
        yield _trial(f"{name}-from-y", (~true, every, same), shows, text, NOTHING)
        text = f"{words} in turns with every special value."
        turns = spread(np.array([True, False]), every.shape)
        yield _trial(f"{name}-in-turns", (turns, same, every), shows, text, frozenset({"X"}))


def _conditions(dtype: DType) -> Iterator[Trial]:
    every = special_vector(dtype, signalling=True)
    X, Y = (spread(every, (41,), first) for first in (0, len(every) // 2))
    patterns = {
        "all-true": [True],
        "all-false": [False],
        "in-turns": [True, False],
        "other-turns": [False, True],
        "in-threes": [True, True, False],
        "in-sevens": [False] * 7 + [True] * 7,
    }
    for name, pattern in patterns.items():
        condition = spread(np.array(pattern), X.shape)
        text = f"A condition that is {name.replace('-', ' ')}."
        for number, held in enumerate(_HELD):
            yield _trial(f"condition-{name}-{number}", (condition, X, Y), ("D-WHERE-2",), text, held)
    condition = spread(np.array(_BYTES, np.uint8), X.shape).view(np.bool_)
    text = "A condition of bytes other than 0 and 1."
    yield _trial("condition-of-many-bytes", (condition, X, Y), ("D-WHERE-1",), text, NOTHING)
    turns = spread(np.array([True, False]), X.shape)
    yield _trial("equal-operands", (turns, X, X), ("D-WHERE-2",), "X and Y hold the same.", NOTHING)


def _every_byte(dtype: DType) -> Iterator[Trial]:
    """All bytes side by side, and some of them alone, as an input and as a constant."""
    every, held_bytes = special_vector(dtype, signalling=True), np.arange(256, dtype=np.uint8)
    X, Y = (spread(every, held_bytes.shape, first) for first in (0, _APART))
    text = "A condition of every byte, of which 0 alone is false."
    for name, held in (("", NOTHING), ("-held", _CONDITION)):
        condition = held_bytes.view(np.bool_)
        yield _trial(f"condition-of-every-byte{name}", (condition, X, Y), ("D-WHERE-1",), text, held)
    for byte, held in ((2, NOTHING), (128, _CONDITION)):
        c, x, y = (values[byte : byte + 1].reshape(()) for values in (held_bytes, X, Y))
        text = f"One condition, of the byte {byte}, which is true."
        yield _trial(f"scalar-condition-of-byte-{byte}", (c.view(np.bool_), x, y), ("D-WHERE-1",), text, held)


def _long_texts() -> Iterator[Trial]:
    for name, long, words in (
        ("long-texts", _LONG_TEXT, "five thousand"),
        # More than sixteen bits count.
        ("longer-texts", _LONG_TEXT * 14, "seventy thousand"),
    ):
        X, Y = (np.array(texts, object) for texts in ((long, "x"), ("y", long[::-1])))
        text = f"Texts of {words} characters."
        yield _trial(name, (np.array([True, False]), X, Y), ("D-WHERE-2",), text, NOTHING)


def _shapes(dtype: DType) -> Iterator[Trial]:
    every = special_vector(dtype, signalling=True)
    for first, (name, shape) in enumerate(SHAPES.items()):
        X, Y = spread(every, shape, first), spread(every, shape, first + 1)
        text = f"Operands of shape {name.replace('-', ' ')}."
        for turn in range(2):
            condition = spread(np.array([True, False, False]), shape, turn)
            held = _HELD[(first + turn) % len(_HELD)]
            yield _trial(f"shape-{name}-{turn}", (condition, X, Y), _SHAPE_RULES, text, held)
    for number, length in enumerate(LONGER):
        X, Y = (special_block(dtype, length, shift) for shift in (0, _APART))
        condition = spread(np.array([True, False, False]), X.shape, number)
        text, held = f"Operands of {length} elements.", _HELD[number % len(_HELD)]
        yield _trial(f"length-{length}", (condition, X, Y), _SHAPE_RULES, text, held)
    condition, X, Y = (
        told_apart(each, THOUSANDS, seed) for seed, each in enumerate((DType.BOOL, dtype, dtype))
    )
    yield _trial("thousands", (condition, X, Y), _SHAPE_RULES, "Thousands of elements.", NOTHING)


def _large() -> Trial:
    random = np.random.default_rng(MANY)
    X, Y = distinct_floats(random, DType.FLOAT, 2 * MANY).reshape(2, MANY)
    condition = np.asarray(random.integers(0, 2, MANY), np.bool_)
    text = "Two million floats, each another, of which one million are chosen."
    return _trial("million", (condition, X, Y), ("D-WHERE-2",), text, NOTHING)


def _random(dtype: DType, random: np.random.Generator) -> Iterator[Trial]:
    shapes: list[Shape] = list(SHAPES.values())
    for number in range(_RANDOM):
        shape = shapes[int(random.integers(0, len(shapes)))]
        condition = random_bits(random, DType.BOOL, shape)
        X, Y = (random_bits(random, dtype, shape, signalling=True) for _ in range(2))
        held = _HELD[number % len(_HELD)]
        yield _trial(f"random-{number}", (condition, X, Y), ("D-WHERE-2",), "Random elements.", held)


def drawn(draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds; in one of four trials bytes other than 0 and 1 are true as well."""
    shape = drawn_shape(draw)
    truths = np.array(choice(draw, (_TRUTHS, _TRUTHS, _TRUTHS, _BYTES)), np.uint8)
    condition = drawn_from(draw, truths, shape).view(np.bool_)
    X, Y = (drawn_array(draw, dtype, shape, signalling=True) for _ in range(2))
    held = choice(draw, _HELD)
    return _trial("drawn", (condition, X, Y), ("D-WHERE-2",), "A drawn choice of drawn elements.", held)


def clauses(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """What is easily lost of a chosen element, what may not touch it, and where it comes from."""
    condition = inputs["condition"].view(np.uint8)
    chosen = meaning(inputs, attributes)["output"]
    other = meaning({"condition": condition == 0, "X": inputs["X"], "Y": inputs["Y"]}, attributes)["output"]
    text = "What is not chosen has no influence, be it NaN or infinite."
    return (
        Clause("D-WHERE-1", "Every byte of a bool but 0 is true.", condition > 1, only_values=True),
        *kept_bits(chosen, "D-WHERE-2"),
        Clause("D-WHERE-2", text, is_nan(other) | is_infinite(other)),
        Clause("D-WHERE-2", "Where the condition is true, X is copied bit for bit.", condition != 0),
        Clause("D-WHERE-2", "Where the condition is false, Y is copied bit for bit.", condition == 0),
    )
