"""How trials of Expand are cut: the shape that is asked for together with the input."""

from dataclasses import replace

import numpy as np

from sonnx.vocabulary.form import Form, Parts, from_the_end, shape_only
from sonnx.vocabulary.trial import Trial


def _parts(trial: Trial) -> Parts:
    return {"input": trial.inputs["input"], "shape": shape_only(trial.inputs["shape"])}


def _whole(trial: Trial, parts: Parts) -> Trial:
    shape = np.array(parts["shape"].shape, np.int64)
    return replace(trial, inputs={"input": parts["input"].copy(), "shape": shape})


FORM = Form(lambda trial: from_the_end(_parts(trial)), _parts, _whole)
