"""How trials of an operator that only moves elements are cut: read off its contract and its definition.

Axes of operands, and sizes that are written down, are cut one by one where that breaks no rule, else together
with those at the same distance from the last one. Sizes of as many elements as an operand has follow it, and
so do divisors of its sizes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from sonnx.derive.calls import obeys
from sonnx.derive.moves import origins
from sonnx.numeric.arrays import Array
from sonnx.vocabulary import form as forms
from sonnx.vocabulary.form import Form, Labels, Place, from_the_end, shape_only
from sonnx.vocabulary.integers import Axes, Divisor, OneOf, Parts, Sizes, regrouped
from sonnx.vocabulary.moves import Asked
from sonnx.vocabulary.operator import Attribute, Operand, Operator
from sonnx.vocabulary.trial import Trial

# So many are remembered at once.
_MOST_KNOWN = 10_000


@cache
def form_of(operator: Operator) -> Form:
    """The form of an operator that only moves elements."""
    cut = _Cut(operator)
    return Form(cut.labels, cut.parts, cut.whole, cut.places, cut.near, cut.others)


@dataclass(frozen=True, eq=False)
class _Cut:
    operator: Operator
    # The names of axes by shapes and integers: a trial is asked for them each time that it is cut.
    known: dict[str, Labels] = field(default_factory=dict)

    def parts(self, trial: Trial) -> forms.Parts:
        """The operands, and sizes as shapes."""
        settled = self.operator.contract.settled
        moved = {name: array for name, array in trial.inputs.items() if name not in settled}
        return moved | {name: shape_only(self._held(trial, name)) for name in self._sizes()}

    def whole(self, trial: Trial, parts: forms.Parts) -> Trial:
        """The trial with other operands and sizes."""
        sizes = self._sizes()
        inputs = {name: parts[name].copy() for name in trial.inputs if name in parts and name not in sizes}
        written = {name: parts[name].shape for name in sizes}
        cut = replace(trial, inputs=inputs | self._settled(trial))
        return self._with_values(cut, written | dict(self._following(cut, trial)))

    def labels(self, trial: Trial) -> Labels:
        """The axes that are cut together have one name."""
        parts = self.parts(trial)
        shapes = [(name, part.shape) for name, part in parts.items()]
        decided = [array.tolist() for array in self._settled(trial).values()]
        key = repr((shapes, decided, dict(trial.attributes)))
        if key not in self.known:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            self.known[key] = self._labels(trial, parts)
        return self.known[key]

    def _labels(self, trial: Trial, parts: forms.Parts) -> Labels:
        together = from_the_end(parts)
        return {
            name: tuple(
                f"{name} {label}" if self._is_alone(trial, parts, name, axis) else label
                for axis, label in enumerate(together[name])
            )
            for name in parts
        }

    def places(self, trial: Trial, place: Place) -> Mapping[str, int]:
        """Where the element lies in the operand that it comes from; of sizes one is enough."""
        (name, index), labels = self._origin(trial, place), self.labels(trial)
        sizes = {label: 0 for each in self._sizes() for label in labels[each]}
        return sizes | dict(zip(labels[name], index, strict=True))

    def near(self, trial: Trial, place: Place) -> Iterator[Trial]:
        """Of any number of tensors the one that the element comes from: its one element, or all of it."""
        (moved, *_) = self.operator.contract.inputs
        if moved.variadic and trial.inputs:
            name, index = self._origin(trial, place)
            array = trial.inputs[name]
            one = array[tuple(slice(at, at + 1) for at in index)]
            for each in (one, array):
                yield self._numbered(replace(trial, inputs={**trial.inputs, name: each.copy()}), [name])

    def others(self, trial: Trial) -> Iterator[Trial]:
        """With a tensor less, or with an axis less of size 1, which is named no more."""
        (moved, *_) = self.operator.contract.inputs
        for name in trial.inputs if moved.variadic else ():
            yield self._numbered(trial, [each for each in trial.inputs if each != name])
        form = form_of(self.operator)
        for label in form.names(trial):
            less = form.without(trial, label)
            values = None if less is None else self._without_axis(trial, int(label.split(" ")[-1]))
            if less is not None and values is not None:
                yield self._with_values(less, values)
        for holder in self.operator.contract.holders:
            for simpler in self._simpler(trial, holder):
                yield self._with_values(trial, {holder.name: simpler})

    # What the contract says of integers.

    def _following(self, trial: Trial, before: Trial) -> Iterator[tuple[str, Any]]:
        """What an operand's sizes decide: sizes of as many elements, of parts, a divisor up to that there."""
        for holder in self.operator.contract.holders:
            match holder.holds:
                case Sizes(of=of) if of:
                    held = tuple(self._held(trial, holder.name))
                    yield holder.name, regrouped(held, trial.inputs[of].size)
                case Divisor(of=of) as divisor:
                    numbers = range(self._held(trial, holder.name), 1, -1)
                    shape = trial.inputs[of].shape
                    yield holder.name, next((each for each in numbers if divisor.divides(each, shape)), 1)
                # Where an axis is gone, the number of the one that is cut is not written yet.
                case Parts(of=of, along=along) if trial.inputs[of].ndim == before.inputs[of].ndim:
                    size = trial.inputs[of].shape[trial.attributes[along]]
                    yield holder.name, _first(size, self._held(trial, holder.name))

    def _simpler(self, trial: Trial, holder: Attribute | Operand) -> Iterator[Any]:
        """What may stand in the place of what is written, the operand being the same."""
        match holder.holds:
            case Sizes(of=of) if of:
                held = tuple(self._held(trial, holder.name))
                yield from (held[:at] + held[at + 1 :] for at, size in enumerate(held) if size == 1)
            case Parts():
                held = tuple(self._held(trial, holder.name))
                empty = [at for at, size in enumerate(held) if size == 0 and len(held) > 1]
                yield from (held[:at] + held[at + 1 :] for at in empty)
            case Divisor() as divisor:
                shape = trial.inputs[divisor.of].shape
                numbers = range(1, self._held(trial, holder.name))
                yield from (each for each in numbers if divisor.divides(each, shape))
            case Axes(order="apart", least=least, added=added) as axes:
                held = self._held(trial, holder.name)
                whole = axes.rank(max(array.ndim for array in trial.inputs.values()), len(held))
                named = [each % whole for each in held]
                for gone in named if len(named) > least else ():
                    yield tuple(each - (added and each > gone) for each in named if each != gone)
            case OneOf(values=values):
                yield from values[: values.index(self._held(trial, holder.name))]

    def _sizes(self) -> list[str]:
        return [each.name for each in self.operator.contract.holders if each.holds == Sizes()]

    def _held(self, trial: Trial, name: str) -> Any:
        return trial.inputs[name].tolist() if name in trial.inputs else trial.attributes[name]

    def _settled(self, trial: Trial) -> dict[str, Array]:
        return {name: trial.inputs[name] for name in self.operator.contract.settled}

    def _with_values(self, trial: Trial, values: Mapping[str, Any]) -> Trial:
        """Integers written as attributes, or as the constants that they are."""
        constants = {
            name: np.array(value, np.int64) for name, value in values.items() if name in trial.inputs
        }
        attributes = {name: value for name, value in values.items() if name not in trial.inputs}
        return replace(
            trial, inputs={**trial.inputs, **constants}, attributes={**trial.attributes, **attributes}
        )

    def _without_axis(self, trial: Trial, place: int) -> dict[str, Any] | None:
        """What names axes, once the one at a place counted from the end is gone; None where it is needed."""
        values = dict[str, Any]()
        for holder in self.operator.contract.holders:
            if isinstance(holder.holds, Axes):
                rank = max(array.ndim for array in trial.inputs.values())
                held = self._held(trial, holder.name)
                left = _left(holder.holds, held if holder.holds.is_list else [held], rank, rank + place)
                if not holder.holds.is_list and not left:
                    return None
                values[holder.name] = left if holder.holds.is_list else left[0]
        return values

    # What the definition says of elements.

    def _origin(self, trial: Trial, place: Place) -> tuple[str, Place]:
        """The operand that an element of the first result comes from, and its index there."""
        first, *_ = origins(self.operator, trial.inputs, trial.attributes).values()
        number = int(first[place])
        moved = [name for name in trial.inputs if name not in self._settled(trial)]
        ends = np.cumsum([trial.inputs[name].size for name in moved])
        which = int(np.searchsorted(ends, number, side="right"))
        array = trial.inputs[moved[which]]
        return moved[which], tuple(
            map(int, np.unravel_index(number - int(ends[which]) + array.size, array.shape))
        )

    def _is_alone(self, trial: Trial, parts: forms.Parts, name: str, axis: int) -> bool:
        """Tell whether an axis can be cut without the others; one of size 1, whether it can be left out."""
        size = parts[name].shape[axis]
        if not size:
            return True  # there is nothing to cut
        less = np.take(parts[name], 0 if size == 1 else range(size - 1), axis)
        return self._obeys(self.whole(trial, {**parts, name: np.asarray(less)}))

    def _obeys(self, trial: Trial) -> bool:
        settled = self._settled(trial)
        shapes = {name: array.shape for name, array in trial.inputs.items() if name not in settled}
        decided = {name: tuple(array.tolist()) for name, array in settled.items()}
        return obeys(self.operator.contract, Asked(shapes, trial.attributes, decided))

    def _numbered(self, trial: Trial, names: list[str]) -> Trial:
        """The trial with some of any number of tensors."""
        (moved, *_) = self.operator.contract.inputs
        inputs = {f"{moved.name}{m}": trial.inputs[name] for m, name in enumerate(names)}
        held = frozenset(f"{moved.name}{m}" for m, name in enumerate(names) if name in trial.constants)
        return replace(trial, inputs=inputs, constants=held)


def _first(size: int, parts: Sequence[int]) -> tuple[int, ...]:
    """The sizes of parts where an axis has fewer places: the first ones keep what they can."""
    ends = [min(size, sum(parts[: at + 1])) for at in range(len(parts))]
    return tuple(end - begin for begin, end in zip((0, *ends), ends, strict=False))


def _left(axes: Axes, named: Sequence[int], rank: int, gone: int) -> tuple[int, ...]:
    """The numbers that are left of some where an operand of some rank has an axis less."""
    if axes.order == "between":
        return tuple(each - (each > gone) for each in (each + rank * (each < 0) for each in named))
    if axes.added:
        whole = axes.rank(rank, len(named))
        there = [each % whole for each in named]
        gone = [each for each in range(whole) if each not in there][gone]
        return tuple(each - (each > gone) for each in there)
    return tuple(each - (each > gone) for each in (each % rank for each in named) if each != gone)
