"""What decides an element of Clamp: NaNs, crossed bounds, zeros, subnormal numbers; then how it lies."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.vocabulary.special_values import everywhere, is_nan, is_subnormal
from sonnx.vocabulary.trial import Clause


def before(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """The case of the definition, cut into what is easily got wrong and what is left."""
    x = inputs["operand"]
    low, high = (np.broadcast_to(inputs[name], x.shape) for name in ("min", "max"))
    with np.errstate(invalid="ignore"):  # a comparison with a signalling NaN raises a flag
        crossed, zero, low_zero, high_zero = low > high, x == 0, low == 0, high == 0
        below, above = x < low, x > high
    zeros = (zero & (low_zero | high_zero)) | (low_zero & high_zero)
    tiny = is_subnormal(x) | is_subnormal(low) | is_subnormal(high)
    return (
        Clause("D-XLA-1", "A NaN element gives NaN, whatever the bounds are.", is_nan(x)),
        Clause("D-XLA-1", "A NaN min gives NaN.", is_nan(low)),
        Clause("D-XLA-1", "A NaN max gives NaN.", is_nan(high)),
        Clause("D-XLA-1", "Where min is above max, the output is max.", crossed),
        Clause("D-XLA-1", "Zeros are ordered: -0 is below +0.", zeros & (x.dtype.kind not in "iub")),
        Clause("D-ALL-4", "Subnormal numbers are compared as they are, and kept.", tiny),
        Clause("D-XLA-1", "An element below min becomes min.", below),
        Clause("D-XLA-1", "An element above max becomes max.", above),
        Clause("D-XLA-1", "An element between the bounds stays.", everywhere(x.shape)),
    )
