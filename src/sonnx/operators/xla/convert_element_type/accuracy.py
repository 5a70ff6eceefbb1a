"""How far a converted element may lie from the one before: the rounding to a float type, and nothing else.

What truncation to an integer and the low bits of an integer mean is part of the definition, in the reals as
in IEEE arithmetic, so there is no error in them. A finite result r of a rounding is within u·|r| of what was
rounded, or within half the smallest number of the type.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.model.dtype import INTEGERS, XLA_TYPES, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS
from sonnx.operators.shared.moved import no_error
from sonnx.operators.xla.convert_element_type.meaning import meaning


def error_bound(
    inputs: Mapping[str, Array], attributes: Mapping[str, Any], _order: str
) -> Mapping[str, Array]:
    """Bound the rounding of every element; +inf where it overflows."""
    X = inputs["operand"]
    source = PART.get(held_type(X), held_type(X))
    target = XLA_TYPES[attributes["new_element_type"]]
    part = PART.get(target, target)
    exact = attributes["domain"] == "real" and target not in PART  # complex numbers are rounded there too
    if part not in FORMATS or exact or _holds(part, source):
        return {"output": no_error(X.shape)}
    Y = meaning(inputs, attributes)["output"]
    if target in PART:
        # No less than the sum of both, which the sum in doubles may be.
        both = _rounding(Y.real, part) + _rounding(Y.imag, part)
        return {"output": np.asarray(np.nextafter(both, np.inf))}
    return {"output": _rounding(Y, part)}


def _holds(target: DType, source: DType) -> bool:
    """Tell whether a float type holds every value of another type."""
    form = FORMATS[target]
    if source is DType.BOOL:
        return True
    if source in INTEGERS:
        info = np.iinfo(numpy_dtype(source))
        return int(info.max).bit_length() <= min(form.precision, form.emax)
    held = FORMATS.get(source)
    return held is not None and held.precision <= form.precision and held.emin >= form.emin


def _rounding(Y: Array, dtype: DType) -> Array:
    form = FORMATS[dtype]
    size = np.abs(Y.astype(np.float64))
    relative = size * float(form.unit_roundoff)
    least = float(form.smallest / 2) or float(form.smallest)
    bound = np.where(relative > least, relative, least)
    return np.where(np.isfinite(size), bound, np.inf)
