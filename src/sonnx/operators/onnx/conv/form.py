"""How trials of Conv are cut: channels together, and what lies under one position of the kernel."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sonnx.operators.onnx.conv.geometry import sliding
from sonnx.operators.shared.convolution_form import met, position
from sonnx.vocabulary.form import Form, Labels, Parts, Place, with_operands
from sonnx.vocabulary.trial import Trial


def _is_depthwise(trial: Trial) -> bool:
    return int(trial.attributes["group"]) > 1


def _labels(trial: Trial) -> Labels:
    """Output channels m of a depthwise convolution are its channels c."""
    outputs, channels = ("c", "one") if _is_depthwise(trial) else ("m", "c")
    labels = {"X": ("n", "c", "h", "w"), "W": (outputs, channels, "k", "l"), "B": (outputs,)}
    return {name: labels[name] for name in trial.inputs}


def _whole(trial: Trial, parts: Parts) -> Trial:
    group = parts["X"].shape[1] if _is_depthwise(trial) else 1
    stated = {"kernel_shape": parts["W"].shape[2:], "group": group}
    return replace(with_operands(trial, parts), attributes={**trial.attributes, **stated})


def _places(trial: Trial, place: Place) -> Mapping[str, int]:
    return {"n": place[0], "c" if _is_depthwise(trial) else "m": place[1]}


def _near(trial: Trial, place: Place) -> Iterator[Trial]:
    """What one position of the kernel meets, and the zeros that it meets there."""
    W = trial.inputs["W"]
    found = list(map(met, trial.inputs["X"].shape[2:], sliding(W, trial.attributes), place[2:]))
    ends = [end for _, end in found]
    pads = (*(low for low, _ in ends), *(high for _, high in ends))
    attributes = {**trial.attributes, "strides": (1, 1), "pads": pads}
    yield position(FORM, replace(trial, attributes=attributes), place, "hw", found)


def _others(trial: Trial) -> Iterator[Trial]:
    inputs = {name: operand for name, operand in trial.inputs.items() if name != "B"}
    if len(inputs) < len(trial.inputs):
        yield replace(trial, inputs=inputs, constants=trial.constants - {"B"})


FORM = Form(
    _labels,
    whole=_whole,
    places=_places,
    near=_near,
    others=_others,
    simplest={"strides": 1, "dilations": 1, "pads": 0},
)
