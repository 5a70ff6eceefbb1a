"""How trials of Concatenate are cut: along the dimension every operand by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sonnx.vocabulary.form import Form, Labels, Place, at, from_the_end, same_places
from sonnx.vocabulary.trial import Trial


def _labels(trial: Trial) -> Labels:
    """Along the dimension every operand has a size of its own."""
    dimension = trial.attributes["dimension"]
    return {
        name: tuple(f"{name} {label}" if axis == dimension else label for axis, label in enumerate(labels))
        for name, labels in from_the_end(trial.inputs).items()
    }


def _owner(trial: Trial, place: Place) -> tuple[str, int]:
    """The operand that an output element comes from, and its index there along the dimension."""
    dimension = trial.attributes["dimension"]
    ends = np.cumsum([operand.shape[dimension] for operand in trial.inputs.values()])
    number = int(np.searchsorted(ends, place[dimension], side="right"))
    name = list(trial.inputs)[number]
    return name, place[dimension] - int(ends[number]) + trial.inputs[name].shape[dimension]


def _places(trial: Trial, place: Place) -> Mapping[str, int]:
    (name, index), dimension = _owner(trial, place), trial.attributes["dimension"]
    along = f"{dimension - len(place)}"
    others = {label: other for label, other in same_places(trial, place).items() if label != along}
    return {**others, f"{name} {along}": index}


def _near(trial: Trial, place: Place) -> Iterator[Trial]:
    """The one operand that decides: its one element, or all of it."""
    (name, index), dimension = _owner(trial, place), trial.attributes["dimension"]
    alone = _concatenated(trial, [name])
    inside = (*place[:dimension], index, *place[dimension + 1 :])
    yield at(FORM, alone, _places(alone, inside))
    yield alone


def _concatenated(trial: Trial, names: Sequence[str]) -> Trial:
    """The trial with some of its operands."""
    inputs = {f"operands{m}": trial.inputs[name] for m, name in enumerate(names)}
    held = frozenset(f"operands{m}" for m, name in enumerate(names) if name in trial.constants)
    return replace(trial, inputs=inputs, constants=held)


def _others(trial: Trial) -> Iterator[Trial]:
    names, dimension = list(trial.inputs), trial.attributes["dimension"]
    for name in names:
        yield _concatenated(trial, [each for each in names if each != name])
    rank = trial.inputs[names[0]].ndim
    for axis in range(rank):
        less = FORM.without(trial, f"{axis - rank}")
        if less is not None and axis != dimension:
            attributes = {**trial.attributes, "dimension": dimension - (dimension > axis)}
            yield replace(less, attributes=attributes)


FORM = Form(_labels, places=_places, near=_near, others=_others)
