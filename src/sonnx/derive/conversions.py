"""Trials and clauses of operators with the word `converted`: from one type to every other.

Beside special values and random ones they take elements beside the edges of the new type: its ends, the
middles between its numbers, and where these grow sparse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sonnx.model.dtype import INTEGERS, ONNX_NUMBERS, XLA_NAMES, DType
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.convert import PART, convert
from sonnx.numeric.real import real
from sonnx.numeric.rounding import FORMATS, nearest_bits
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.draws import Draw, choice, drawn_array, drawn_from, drawn_shape, simple_values
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.special_values import (
    EVERY_BYTE,
    MANY,
    SHAPES,
    THOUSANDS,
    everywhere,
    is_infinite,
    is_nan,
    is_negative_zero,
    is_subnormal,
    kept_bits,
    random_bits,
    random_numbers,
    special_block,
    special_vector,
    spread,
    told_apart,
    words,
)
from sonnx.vocabulary.trial import Clause, Trial

_ARITHMETIC = "D-ALL-4"
_SOME_SHAPES = (
    *("scalar", "matrix", "no-elements", "no-elements-in-the-middle", "one-element-of-three-axes"),
    *("six-axes", "eight-axes"),
)
_RANDOM = 4
# Lengths of three kinds, one of each to every type: one element less than whole vectors, whole vectors, and a
# rest behind more than a hundred elements.
_LENGTHS = ((63, 95, 127, 255), (8, 32, 64, 128, 256), (137, 257, 300))
# What all elements of a type are converted to: it has so few of them.
_OF_ALL: Mapping[DType, tuple[DType, ...]] = {
    DType.FLOAT16: (DType.FLOAT, DType.BFLOAT16, DType.INT16),
    DType.BFLOAT16: (DType.FLOAT, DType.FLOAT16, DType.INT16),
}


def trials(operator: Operator, dtype: DType, seed: int) -> Iterator[Trial]:
    """To every type: special values, numbers beside its own edges, shapes, a large one; random ones."""
    asked, random = _Asked(operator, dtype), np.random.default_rng(seed)
    every = _every(dtype)
    for number, target in enumerate(asked.targets):
        name = asked.spelled(target)
        yield asked.trial(f"special-values-to-{name}", every, target, "Every special value.")
        text = f"Elements beside the edges of {name}."
        yield asked.trial(f"edges-of-{name}", _beside(dtype, target), target, text)
        shape = _SOME_SHAPES[number % len(_SOME_SHAPES)]
        text = f"An operand of shape {words(shape)}."
        yield asked.trial(f"{shape}-to-{name}", spread(every, SHAPES[shape]), target, text)
        yield from _random(asked, target, random)
    yield from _lengths(asked)
    for shape in _SOME_SHAPES:
        operand = spread(special_vector(dtype), SHAPES[shape], 1)
        text = f"An operand of shape {words(shape)} to {asked.spelled(DType.BOOL)}."
        yield asked.trial(f"shape-{shape}", operand, DType.BOOL, text)
    if dtype is DType.BOOL:
        yield from _bytes(asked)
    if dtype is DType.FLOAT:
        halves = np.random.default_rng(MANY).permutation(MANY).astype(np.float32) + np.float32(0.5)
        text = "A million floats, each half-way between other integers."
        yield asked.trial(f"million-to-{asked.spelled(DType.INT32)}", halves, DType.INT32, text)
    for target in _OF_ALL.get(dtype, ()):
        every = np.arange(1 << 16).astype(np.uint16).view(numpy_dtype(dtype))
        name = asked.spelled(target)
        text = f"All elements of {asked.spelled(dtype)} to {name}."
        yield asked.trial(f"all-elements-to-{name}", every, target, text)


@dataclass(frozen=True)
class _Asked:
    """An operator that converts, and the type from which it does."""

    operator: Operator
    source: DType

    @property
    def targets(self) -> tuple[DType, ...]:
        """What the type may be converted to: every type that is held, and for which no rule is broken."""
        listed = self.operator.contract.outputs[0].types
        return tuple(target for target in XLA_NAMES if target in listed and self._allows(target))

    def _allows(self, target: DType) -> bool:
        contract = self.operator.contract
        given = TensorType(self.source, (1,), dialect=self._dialect)
        asked = Call(self.operator.name, {contract.inputs[0].name: given}, self.attributes(target))
        return not any(rule.predicate(asked) for rule in contract.rules)

    @property
    def _dialect(self) -> Dialect:
        return "xla" if self.operator.contract.domain == "xla" else "onnx"

    def spelled(self, dtype: DType) -> str:
        """A type as the operator's dialect names it."""
        return XLA_NAMES[dtype] if self._dialect == "xla" else dtype.value

    def attributes(self, target: DType) -> Mapping[str, Any]:
        """The attributes of a conversion to a type: modes are as usual, what is left over means nothing."""
        told = XLA_NAMES[target] if self._dialect == "xla" else ONNX_NUMBERS[target]
        named = self.operator.contract.attributes
        rest = {each.name: each.default_in_onnx for each in named if each.default_in_onnx is not None}
        return {self.operator.trying.converts_to: told, **rest, **self._modes}

    @property
    def _modes(self) -> Mapping[str, Any]:
        return {each.name: each.default for each in self.operator.contract.attributes if each.mode}

    def trial(self, name: str, operand: Array, target: DType, text: str) -> Trial:
        """A question, which is about every rule but those on modes, which no runtime is told of."""
        contract = self.operator.contract
        rules = [
            each.identifier for each in contract.rules if each.identifier.split(".")[-2] not in self._modes
        ]
        shows = (*rules, contract.ruling, _ARITHMETIC)
        return Trial(name, {contract.inputs[0].name: operand}, shows, text, self.attributes(target))


def _lengths(asked: _Asked) -> Iterator[Trial]:
    every, dtype = asked.targets, asked.source
    for lengths in _LENGTHS:
        for number in range(max(len(lengths), len(every))):
            length, target = lengths[number % len(lengths)], every[number % len(every)]
            name, text = f"length-{length}-to-{asked.spelled(target)}", f"An operand of {length} elements."
            yield asked.trial(name, special_block(dtype, length), target, text)
    wide = DType.COMPLEX128 if dtype in PART else DType.DOUBLE
    text = f"Thousands of elements to {asked.spelled(wide)}."
    yield asked.trial("thousands", told_apart(dtype, THOUSANDS), wide, text)


def _bytes(asked: _Asked) -> Iterator[Trial]:
    """Truths of every byte, to every type of numbers; to bool they are moved, as programs give them."""
    for target in asked.targets:
        if target is not DType.BOOL:
            name, text = asked.spelled(target), "Truths of every byte, of which 0 alone is false"
            yield asked.trial(f"every-byte-to-{name}", EVERY_BYTE, target, f"{text}, to {name}.")


def _every(dtype: DType) -> Array:
    """Special values; and NaNs of one bit each, without which an infinity would be left."""
    special, part = special_vector(dtype, signalling=True), PART.get(dtype, dtype)
    if part not in FORMATS:
        return special
    form = FORMATS[part]
    raw = [form.infinity | 1 << place for place in range(form.precision - 1)]
    return np.concatenate([special, _paired(np.array(raw, form.held_as).view(numpy_dtype(part)), dtype)])


def _paired(parts: Array, dtype: DType) -> Array:
    """Numbers as elements of a type; where it is complex, each beside the one before it."""
    if dtype not in PART:
        return parts
    return np.stack([parts, np.roll(parts, 1)], axis=1).view(numpy_dtype(dtype)).reshape(-1)


def _random(asked: _Asked, target: DType, random: np.random.Generator) -> Iterator[Trial]:
    """Any bits; and for floats numbers of the sizes that the new type holds."""
    dtype = asked.source
    for number in range(_RANDOM):
        wide = FORMATS[dtype].emax - 1 if dtype in FORMATS else 0
        octaves = (3, min(40, wide))[number // 2 % 2]
        plain = number % 2 and dtype in FORMATS
        operand = (
            random_numbers(random, dtype, (50,), octaves=octaves)
            if plain
            else random_bits(random, dtype, (50,), signalling=True)
        )
        name = asked.spelled(target)
        yield asked.trial(f"random-{number}-to-{name}", operand, target, f"Random elements to {name}.")


def drawn(operator: Operator, draw: Draw, dtype: DType) -> Trial:
    """Elements of all kinds, or those beside the edges of any new type."""
    asked = _Asked(operator, dtype)
    target = choice(draw, asked.targets)
    shape = drawn_shape(draw)
    if dtype is DType.BOOL and target is not DType.BOOL:
        operand = drawn_from(draw, EVERY_BYTE, shape)
    elif draw.integer(0, 1):
        operand = drawn_from(draw, _drawn_edges(dtype, target), shape)
    else:
        operand = drawn_array(draw, dtype, shape, signalling=True)
    return asked.trial("drawn", operand, target, f"Drawn elements to {asked.spelled(target)}.")


@lru_cache
def _drawn_edges(source: DType, target: DType) -> Array:
    """A zero, which is the simplest, and the elements beside the edges."""
    return np.concatenate([simple_values(source)[:1], _beside(source, target)])


# --- edges -------------------------------------------------------------------------------------------------


def _beside(source: DType, target: DType) -> Array:
    """The elements of one type at the edges of another, and their neighbours on both sides."""
    part = PART.get(target, target)
    if source in PART:
        return _paired(_beside(PART[source], part), source)
    if source is DType.BOOL:
        return np.array([False, True, True, False])
    values = sorted(_edges(part))
    signed = sorted({*values, *(-value for value in values)})
    held = _integers_near(signed, source) if source in INTEGERS else _floats_near(signed, source)
    return np.array(held, f"u{numpy_dtype(source).itemsize}").view(numpy_dtype(source))


def _edges(target: DType) -> set[Fraction]:
    """Where a conversion to a type changes: numbers, and middles between them."""
    half = Fraction(1, 2)
    if target is DType.BOOL:
        return {Fraction(0), Fraction(256), Fraction(65536), half}
    if target in INTEGERS:
        info = np.iinfo(numpy_dtype(target))
        ends = {Fraction(end) for end in (info.min, info.max, info.max + 1, 2 * (info.max + 1))}
        # Beyond the middle of an unsigned type lies what a conversion to a signed one does not reach.
        inside = {Fraction(quarters * (info.max + 1), 4) for quarters in (2, 3)}
        return {*ends, *(end + half for end in ends), *inside, half, Fraction(1), 3 * half, Fraction(300)}
    form = FORMATS[target]
    unit = form.unit_roundoff
    # 1 and 3 units above a power of two are ties: down and up to even. The last powers that integers reach,
    # signed and unsigned, are among them.
    powers = (0, 7, 15, 30, 31, 62, 63)
    ties = [(1 + times * unit) * Fraction(2) ** power for times in (1, 3) for power in powers]
    largest_tie = form.largest + unit * Fraction(2) ** form.emax
    small = [times * form.smallest / 2 for times in (1, 2, 3, 5)]
    at_normal = [form.smallest_normal - times * form.smallest / 2 for times in (0, 1, 2)]
    return {*ties, *small, *at_normal, form.largest, largest_tie, Fraction(2) ** form.precision}


def _integers_near(values: list[Fraction], source: DType) -> list[int]:
    """Two's complement of the integers next to each value, as far as the type has them."""
    info = np.iinfo(numpy_dtype(source))
    near = {int(value // 1) + step for value in values for step in (-1, 0, 1, 2)}
    return [number % 2**info.bits for number in sorted(near) if info.min <= number <= info.max]


def _floats_near(values: list[Fraction], source: DType) -> list[int]:
    """The encodings of the floats next to each value: one below, the nearest, one above."""
    form = FORMATS[source]
    found = []
    for value in values:
        magnitude = nearest_bits(abs(value), form)
        near = {min(max(magnitude + step, 0), form.infinity) for step in (-1, 0, 1)}
        found += [bits | (form.sign_bit if value < 0 else 0) for bits in sorted(near)]
    return list(dict.fromkeys(found))


# --- clauses -----------------------------------------------------------------------------------------------


def clauses(X: Array, target: DType, ruling: str) -> tuple[Clause, ...]:
    """By the kind of both types; of complex numbers a clause decides where it decides a part."""
    found = tuple(replace(each, identifier=each.identifier or ruling) for each in _clauses(X, target))
    if held_type(X) is not DType.BOOL or target is DType.BOOL:
        return found
    other = X.view(np.uint8) > 1
    return Clause("D-WHERE-1", "Every byte of a bool but 0 is true.", other, only_values=True), *found


def _clauses(X: Array, target: DType) -> tuple[Clause, ...]:
    """Those without an identifier follow from the ruling on the conversion itself."""
    source = held_type(X)
    if source is target:
        text = "From a type to itself nothing is changed."
        return *kept_bits(X, _ARITHMETIC), Clause("", text, everywhere(X.shape))
    if target is DType.BOOL:
        return _to_pred(X)
    if source in PART:
        parts = X.reshape(-1, 1).view(numpy_dtype(PART[source]))
        return tuple(
            replace(each, mask=np.asarray(each.mask.any(axis=1)).reshape(X.shape))
            for each in _to_float(parts, PART[source], PART[target])
        )
    if target in INTEGERS:
        return _to_integer(X, source, target)
    if target in PART:
        return tuple(
            replace(each, text=f"{each.text} The imaginary part is +0.")
            for each in _to_float(X, source, PART[target])
        )
    return _to_float(X, source, target)


def _to_pred(X: Array) -> tuple[Clause, ...]:
    with np.errstate(invalid="ignore"):  # comparing NaNs of bfloat16 raises a flag
        negative_zero = is_negative_zero(X) & (X == 0)
    return (
        Clause("", "A NaN is not 0, so it is true.", is_nan(X)),
        Clause(_ARITHMETIC, "A subnormal number is not 0, so it is true.", is_subnormal(X)),
        Clause("", "-0 is 0, so it is false.", negative_zero),
        Clause("", "What is not 0 is true.", everywhere(X.shape)),
    )


def _to_integer(X: Array, source: DType, target: DType) -> tuple[Clause, ...]:
    info = np.iinfo(numpy_dtype(target))
    if source in INTEGERS or source is DType.BOOL:
        wide = X.view(np.uint8) if source is DType.BOOL else X
        beyond = (wide > info.max) | (wide < info.min)
        kept = "false becomes 0 and true 1." if source is DType.BOOL else "An integer that fits is kept."
        return (
            Clause("", "An integer that does not fit keeps its low bits.", beyond),
            Clause("", kept, everywhere(X.shape)),
        )
    with np.errstate(all="ignore"):
        wide = X.astype(np.float64)  # exact
        whole = np.trunc(wide)
        # The ends of a type are powers of two, or one less.
        above, below = whole >= float(info.max + 1), whole < float(info.min)
    return (
        Clause("", "NaN becomes 0.", is_nan(X)),
        Clause("", "What lies above the range becomes the greatest integer.", above),
        Clause("", "What lies below the range becomes the least integer.", below),
        Clause("", "Fractions are dropped, towards 0.", wide != whole),
        Clause("", "A whole number is kept.", everywhere(X.shape)),
    )


def _to_float(X: Array, source: DType, target: DType) -> tuple[Clause, ...]:
    Y = convert(X, source, target)
    overflow = is_infinite(Y) & ~is_infinite(X)
    rounded, tie = _roundings(X, Y, source, target)
    small = is_subnormal(X) | is_subnormal(Y)
    return (
        Clause("", "NaN becomes a NaN.", is_nan(X)),
        Clause("", "An infinity stays.", is_infinite(X)),
        Clause("", "What is too large becomes an infinity.", overflow),
        Clause("", "-0 stays -0.", is_negative_zero(X)),
        Clause(_ARITHMETIC, "Subnormal numbers and subnormal results are kept, and rounded once.", small),
        Clause("", "In the middle of two numbers the even one is taken.", tie),
        Clause("", "The nearest number is taken, in one rounding.", rounded),
        Clause("", "A number that the new type holds is kept.", everywhere(X.shape)),
    )


def _roundings(X: Array, Y: Array, source: DType, target: DType) -> tuple[Array, Array]:
    """Where a number is rounded, and where it lies in the middle: as far beyond it lies another number."""
    finite = ~(is_nan(Y) | is_infinite(Y) | is_nan(X))
    exact = real(X[finite].view(np.uint8) if source is DType.BOOL else X[finite])
    error = exact - real(Y[finite])
    beyond = exact + error
    held = convert(beyond, DType.REAL, target)
    held[is_infinite(held)] = 0  # no number
    rounded, tie = (np.zeros(X.shape, bool) for _ in range(2))
    rounded[finite] = error != 0
    tie[finite] = (error != 0) & (real(held) == beyond)
    return rounded, tie
