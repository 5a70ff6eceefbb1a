"""How trials of Collapse are cut: dimensions that become one are places of the operand."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from sonnx.vocabulary.form import ALIGNED, Form, Place, same_places
from sonnx.vocabulary.trial import Trial


def _places(trial: Trial, place: Place) -> Mapping[str, int]:
    shape, run = trial.inputs["operand"].shape, trial.attributes["dimensions"]
    inside = np.unravel_index(place[run[0]], shape[run[0] : run[-1] + 1])
    whole = (*place[: run[0]], *map(int, inside), *place[run[0] + 1 :])
    return same_places(trial, whole)


def _others(trial: Trial) -> Iterator[Trial]:
    run, rank = tuple(trial.attributes["dimensions"]), trial.inputs["operand"].ndim
    for axis in range(rank):
        left = tuple(each - (each > axis) for each in run if each != axis)
        less = ALIGNED.without(trial, f"{axis - rank}")
        if less is not None and left:
            yield replace(less, attributes={**trial.attributes, "dimensions": left})


FORM = Form(places=_places, others=_others)
