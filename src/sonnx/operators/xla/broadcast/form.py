"""How trials of Broadcast are cut: new sizes before those of the operand."""

from dataclasses import replace

from sonnx.vocabulary.form import Form, Labels, Parts, shape_only
from sonnx.vocabulary.trial import Trial


def _parts(trial: Trial) -> Parts:
    return {**trial.inputs, "broadcast_sizes": shape_only(trial.attributes["broadcast_sizes"])}


def _whole(trial: Trial, parts: Parts) -> Trial:
    attributes = {**trial.attributes, "broadcast_sizes": parts["broadcast_sizes"].shape}
    return replace(trial, inputs={"operand": parts["operand"].copy()}, attributes=attributes)


def _labels(trial: Trial) -> Labels:
    operand, new = trial.inputs["operand"].ndim, len(trial.attributes["broadcast_sizes"])
    names = tuple(f"{axis - operand - new}" for axis in range(operand + new))
    return {"operand": names[new:], "broadcast_sizes": names[:new]}


FORM = Form(_labels, _parts, _whole)
