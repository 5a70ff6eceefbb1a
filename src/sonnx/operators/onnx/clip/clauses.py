"""What of Clip is easily got wrong, before its cases: NaNs, crossed bounds and zeros."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sonnx.numeric.arrays import Array
from sonnx.vocabulary.special_values import everywhere, is_nan
from sonnx.vocabulary.trial import Clause


def before(inputs: Mapping[str, Array], _attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    """The rulings that comparisons go wrong by."""
    x, low, high = inputs["input"], inputs["min"], inputs["max"]
    everything = everywhere(x.shape)
    with np.errstate(invalid="ignore"):  # a comparison with a signalling NaN raises a flag
        crossed, zeros = low > high, (x == 0) & ((low == 0) | (high == 0))
    return (
        Clause("D-CLIP-1", "A NaN input stays that NaN, bit for bit, whatever the bounds are.", is_nan(x)),
        Clause("D-CLIP-1", "A NaN min does not bound.", everything & is_nan(low)),
        Clause("D-CLIP-1", "A NaN max does not bound.", everything & is_nan(high)),
        Clause("D-CLIP-1", "Where min is above max, the output is max.", everything & crossed),
        Clause("D-CLIP-2", "Zeros of either sign are equal, so a zero at a zero bound stays.", zeros),
    )
