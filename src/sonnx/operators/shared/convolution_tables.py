"""Trials of a convolution from a table of geometries: whole numbers, special values, sums.

A line of a table is a geometry: its name, the shapes of image and kernel, values, and what it shows:

    dilated-kernel: 1,2,4,5 by 2,2,3,3 pads=1,0,0,2 dilations=2,3 depthwise; edge conv.dilations.C1

A pair is written 1:2. What is shown is a rule, a ruling, or a name that the operator has for several.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.shared.convolution_trials import element, long_sums, ordered_terms, sums, with_special
from sonnx.vocabulary.special_values import Shape, random_numbers, special_vector, tiny_numbers, whole_numbers
from sonnx.vocabulary.trial import Trial

Shows = tuple[str, ...]
# The largest numbers in images, kernels and biases, so small that sums are exact in any order.
_MOST = (7, 3, 9)
_LARGE = (1, 8, 120, 110), (8, 8, 3, 3)


@dataclass(frozen=True)
class Asked:
    """Whose trials: operands in their order, and the attributes for the shapes and values of a geometry.

    `shown` has names for what several geometries are about, and "" what those are about that say nothing.
    """

    operands: tuple[str, ...]
    attributes: Callable[[Shape, Shape, Mapping[str, Any]], Mapping[str, Any]]
    shown: Mapping[str, Shows]

    def table(self, text: str) -> Iterator["Geometry"]:
        """The geometries of a table."""
        for line in text.strip().splitlines():
            name, rest = line.strip().split(": ")
            written, _, shows = rest.partition("; ")
            X, _, W, *values = written.split()
            labels = [self.shown.get(label, (label,)) for label in shows.split() or [""]]
            shapes = (_numbers(X), _numbers(W))
            yield Geometry(self, name, *shapes, dict(map(_value, values)), tuple(sum(labels, ())))

    def trial(self, name: str, operands: Sequence[Array], text: str, shows: Shows, **values: Any) -> Trial:
        """The trial of a geometry that stands in no table."""
        X, W, *_ = operands
        return Geometry(self, name, X.shape, W.shape, values, shows).trial(operands, text)


@dataclass(frozen=True)
class Geometry:
    """Shapes, the values that are not as usual, and what is shown; where it is `unbiased`, without a bias."""

    of: Asked
    name: str
    X: Shape
    W: Shape
    values: Mapping[str, Any]
    shows: Shows

    def trial(self, operands: Sequence[Array], text: str) -> Trial:
        """A trial with such operands, of which the last may be missing."""
        told = self.of.attributes(self.X, self.W, self.values)
        return Trial(self.name, dict(zip(self.of.operands, operands, strict=False)), self.shows, text, told)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of all operands: a bias has an element for each output channel."""
        return (self.X, self.W, self.W[:1])[: len(self.of.operands) - ("unbiased" in self.values)]

    def whole(self, dtype: DType) -> list[Array]:
        """Whole numbers that hang on the shapes alone."""
        random = np.random.default_rng([*self.X, *self.W])
        return [
            whole_numbers(random, dtype, shape, most) for shape, most in zip(self.shapes, _MOST, strict=False)
        ]

    def counted(self, dtype: DType, name: str = "") -> Trial:
        """The trial of whole numbers: only what meets can go wrong."""
        called = name or self.name.replace("-", " ").capitalize()
        return self.trial(self.whole(dtype), f"{called}: whole numbers, exact in any order.")

    def special(self, dtype: DType) -> Trial:
        """Quick ways that are right for numbers may not be for what is not finite ..."""
        X, W, *rest = self.whole(dtype)
        text = "Whole numbers, and NaNs and infinities among them."
        return self._also("special", ("D-ALL-4",)).trial([*with_special(X, W), *rest], text)

    def tiny(self, dtype: DType) -> Trial:
        """... or very small."""
        random = np.random.default_rng([*self.X, *self.W])
        X, *B = (tiny_numbers(random, dtype, shape, _MOST[0]) for shape in (self.X, *self.shapes[2:]))
        W = whole_numbers(random, dtype, self.W, _MOST[1])
        text = "Subnormal elements times whole numbers, exact in any order."
        return self._also("tiny", ("D-ALL-4",)).trial([X, W, *B], text)

    def holding(self, dtype: DType, name: str, place: tuple[Any, ...], text: str) -> Trial:
        """Whole numbers, and all special values at one place of every image, kernel or channel."""
        trial = self.trial(self.whole(dtype), text)
        changed = trial.inputs[name].copy()
        changed[place] = special_vector(dtype, signalling=True)
        return replace(trial, inputs={**trial.inputs, name: changed})

    def _also(self, word: str, shows: Shows) -> "Geometry":
        return replace(self, name=f"{self.name}-{word}", shows=(*self.shows, *shows))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _value(text: str) -> tuple[str, Any]:
    """A value of a geometry; a word alone is true."""
    name, _, value = text.partition("=")
    if ":" in value:
        return name, tuple(tuple(map(int, pair.split(":"))) for pair in value.split(","))
    return name, _numbers(value) if value else True


def twice(trial: Trial, held: frozenset[str], words: str) -> Iterator[Trial]:
    """The trial, and again with constants: what is calculated beforehand may come out otherwise."""
    yield trial
    text = f"{trial.text.removesuffix('.')}, {words}."
    yield replace(trial, name=f"{trial.name}-constant", text=text, constants=held)


def sum_trials(of: Asked, dtype: DType, along: Mapping[str, Shape], shows: Shows) -> Iterator[Trial]:
    """Each sum along some axes, which are -1 in a shape; without a bias, its start is the first term."""
    biased = len(of.operands) > 2
    for each in sums(dtype):
        first = () if each.start is None or biased else ((each.start, 1),)
        factors = replace(each, terms=(*first, *each.terms)).factors(dtype)
        start = [] if each.start is None or not biased else [element(each.start, dtype).reshape(1)]
        for label, shape in along.items():
            text = f"{each.text.removesuffix('.')}, along {label.replace('-', ' ')}."
            operands = [*(terms.reshape(shape) for terms in factors), *start]
            yield of.trial(f"sum-{each.name}-along-{label}", operands, text, shows)


def long_trials(of: Asked, dtype: DType, shows: Shows) -> Iterator[Trial]:
    """Sums of many terms."""
    for each in long_sums(dtype):
        operands = (each.X, each.W, each.B)[: len(of.operands)]
        yield of.trial(each.name, operands, each.text, shows)


def order_trials(of: Asked, dtype: DType, text: str, shows: Shows) -> Iterator[Trial]:
    """A sum whose axes cannot be swapped, at one position and at several."""
    first, second = (terms[np.newaxis] for terms in ordered_terms(dtype))
    yield of.trial("order-of-axes", (first, second), text, shows, unbiased=True)
    twice_as_wide = np.concatenate([first, first], axis=3)
    text = f"{text.removesuffix('.')}, wherever the kernel lies."
    name = "order-of-axes-at-every-position"
    yield of.trial(name, (twice_as_wide, second), text, shows, unbiased=True)


def large_trials(of: Asked, dtype: DType, seed: Any, text: str, shows: Shows) -> Iterator[Trial]:
    """So many results that an engine may take them in parts."""
    if dtype is DType.FLOAT:
        random = np.random.default_rng(seed)
        shapes = (*_LARGE, _LARGE[1][:1])[: len(of.operands)]
        operands = [random_numbers(random, dtype, shape) for shape in shapes]
        yield of.trial("hundred-thousand-sums", operands, text, shows)
