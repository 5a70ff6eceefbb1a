"""Which axes of operands and attributes belong together: what is cut where a trial is made small."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

Place = tuple[int, ...]
# Arrays by name: operands, and in place of a list of sizes an array of that shape.
Parts = Mapping[str, Array]
# The axes of each part by name.
Labels = Mapping[str, tuple[str, ...]]
Indices = Sequence[int] | slice | Array


def _operands(trial: Trial) -> Parts:
    return trial.inputs


def with_operands(trial: Trial, parts: Parts) -> Trial:
    """The trial of other operands."""
    return replace(trial, inputs={name: part.copy() for name, part in parts.items()})


def shape_only(sizes: Any) -> Array:
    """An array of a shape that a list of sizes states, to be cut as operands are."""
    return np.broadcast_to(np.False_, tuple(map(int, sizes)))


def from_the_end(parts: Parts) -> Labels:
    """Names for axes that stand for the same axis of the output at the same distance from the last one."""
    return {name: tuple(f"{axis - part.ndim}" for axis in range(part.ndim)) for name, part in parts.items()}


def _aligned(trial: Trial) -> Labels:
    return from_the_end(trial.inputs)


def _nowhere(_trial: Trial, _place: Place) -> Iterator[Trial]:
    return iter(())


def same_places(_: Trial, place: Place) -> Mapping[str, int]:
    """An output element is decided at the same place."""
    return {f"{axis - len(place)}": index for axis, index in enumerate(place)}


@dataclass(frozen=True, eq=False)
class Form:
    """How the trials of an operator are cut.

    Axes of one name are cut together, but for a size 1 beside a larger one. `parts` are what has axes, and
    `whole` is the trial with other parts. `places` says at which index of which axes an output element is
    decided, `near` are trials that have little more than what decides it. `others` are trials with an axis or
    an operand less; without it, any axis may be left out. `simplest` says what the whole numbers of an
    attribute are where they do nothing, `plainest` which text does least, of those that may be in its place.
    """

    labels: Callable[[Trial], Labels] = _aligned
    parts: Callable[[Trial], Parts] = _operands
    whole: Callable[[Trial, Parts], Trial] = with_operands
    places: Callable[[Trial, Place], Mapping[str, int]] = same_places
    near: Callable[[Trial, Place], Iterator[Trial]] = _nowhere
    others: Callable[[Trial], Iterator[Trial]] | None = None
    simplest: Mapping[str, int] = field(default_factory=dict)
    plainest: Mapping[str, str] = field(default_factory=dict)

    def size(self, trial: Trial, label: str) -> int:
        """The size of an axis."""
        return max(self._sizes(trial).get(label, [0]))

    def names(self, trial: Trial) -> list[str]:
        """The axes, the largest first."""
        sizes = self._sizes(trial)
        return sorted(sizes, key=lambda label: -max(sizes[label]))

    def _sizes(self, trial: Trial) -> Mapping[str, list[int]]:
        parts, sizes = self.parts(trial), dict[str, list[int]]()
        for name, labels in self.labels(trial).items():
            for label, size in zip(labels, parts[name].shape, strict=True):
                sizes.setdefault(label, []).append(size)
        return sizes

    def cut(self, trial: Trial, label: str, keep: Indices) -> Trial:
        """The trial with some indices of an axis."""
        parts, labels, size = self.parts(trial), self.labels(trial), self.size(trial, label)

        def taken(name: str, part: Array) -> Array:
            cuts = [
                keep if each == label and length == size else slice(None)
                for each, length in zip(labels[name], part.shape, strict=True)
            ]
            # Without the dots, an array of no axes would become its element.
            return part[(*cuts, ...)]

        return self.whole(trial, {name: taken(name, part) for name, part in parts.items()})

    def without(self, trial: Trial, label: str) -> Trial | None:
        """The trial without an axis, where that has size 1 everywhere."""
        if self.size(trial, label) != 1:
            return None
        labels = self.labels(trial)

        def squeezed(name: str, part: Array) -> Array:
            return part.reshape(
                [size for each, size in zip(labels[name], part.shape, strict=True) if each != label]
            )

        return self.whole(trial, {name: squeezed(name, part) for name, part in self.parts(trial).items()})

    def smaller(self, trial: Trial) -> Iterator[Trial]:
        """Trials with an axis or an operand less."""
        if self.others is not None:
            yield from self.others(trial)
            return
        for label in self.names(trial):
            if (less := self.without(trial, label)) is not None:
                yield less


def at(form: Form, trial: Trial, places: Mapping[str, int]) -> Trial:
    """The trial with one index of some axes."""
    for label, index in places.items():
        trial = form.cut(trial, label, [index])
    return trial


# That of operators that treat elements alone.
ALIGNED = Form()
