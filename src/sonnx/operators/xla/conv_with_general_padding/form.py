"""How trials of XLA's convolutions are cut: features together, and what one position of a window meets."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sonnx.operators.shared.convolution_form import met, position
from sonnx.operators.xla.conv_with_general_padding.geometry import (
    LEADING,
    SAME,
    VALID,
    general_attributes,
    sliding,
)
from sonnx.vocabulary.form import Form, Labels, Place
from sonnx.vocabulary.trial import Trial


def _labels(trial: Trial) -> Labels:
    axes = range(trial.inputs["lhs"].ndim - LEADING)
    return {"lhs": ("n", "c", *(f"s{i}" for i in axes)), "rhs": ("m", "c", *(f"k{i}" for i in axes))}


def _places(_: Trial, place: Place) -> Mapping[str, int]:
    return {"n": place[0], "m": place[1]}


def _near(trial: Trial, place: Place) -> Iterator[Trial]:
    """The same for XLA's convolutions; what SAME stands for cannot be kept."""
    padding, base = trial.attributes["padding"], trial.inputs["lhs"].shape[LEADING:]
    if padding == SAME:
        return
    general = general_attributes(trial.inputs, trial.attributes) if padding == VALID else trial.attributes
    found = list(map(met, base, sliding(trial.inputs["rhs"], general), place[LEADING:]))
    ends = VALID if padding == VALID else tuple(end for _, end in found)
    attributes = {**trial.attributes, "window_strides": (1,) * len(base), "padding": ends}
    labels = [f"s{i}" for i in range(len(base))]
    yield position(FORM, replace(trial, attributes=attributes), place, labels, found)


def _others(trial: Trial) -> Iterator[Trial]:
    """Without a spatial dimension that has one element, as its window has."""
    lhs, rhs = trial.inputs["lhs"], trial.inputs["rhs"]
    for axis in range(lhs.ndim - LEADING):
        if lhs.shape[LEADING + axis] == rhs.shape[LEADING + axis] == 1:
            inputs = {name: each.squeeze(LEADING + axis) for name, each in trial.inputs.items()}
            lists = {
                name: value if isinstance(value, str) else (*value[:axis], *value[axis + 1 :])
                for name, value in trial.attributes.items()
            }
            yield replace(trial, inputs=inputs, attributes=lists)


FORM = Form(
    _labels,
    places=_places,
    near=_near,
    others=_others,
    simplest={"window_strides": 1, "lhs_dilation": 1, "rhs_dilation": 1, "padding": 0},
    plainest={"padding": VALID},
)
