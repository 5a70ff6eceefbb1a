"""Clip as ONNX allows it made explicit: absent bounds written."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sonnx.model.call import Call
from sonnx.model.dtype import IEEE, INTEGERS, DType
from sonnx.model.operator import Amendment, FillOperand
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators.shared.predicates import known


def amend(call: Call) -> Sequence[Amendment]:
    """Fill in absent bounds with the ends that ONNX documents: the lowest and highest finite numbers."""
    limited = known(call, "input")
    if limited is None or limited.dtype is None or limited.dtype not in (*IEEE, *INTEGERS):
        return ()
    bound = TensorType(limited.dtype, ())
    bounds = zip(("min", "max"), ("lowest", "highest"), _ends(limited.dtype), strict=True)
    return tuple(
        FillOperand(name, bound, end, f"absent, it is the {which} finite {limited.dtype}", f"clip.{name}.D1")
        for name, which, end in bounds
        if name not in call.inputs
    )


def _ends(dtype: DType) -> tuple[Array, Array]:
    stored = numpy_dtype(dtype)
    # Two classes of NumPy with the same two attributes.
    ends: Any = np.finfo(stored) if dtype in IEEE else np.iinfo(stored)
    return np.array(ends.min, stored), np.array(ends.max, stored)
