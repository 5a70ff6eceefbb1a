"""ConvertElementType: the nearest value of the new type, by D-XLA-3."""

from collections.abc import Mapping
from typing import Any

from sonnx.model.dtype import XLA_TYPES, DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.numeric.convert import convert
from sonnx.operators.shared.xla_types import FLOATS


def meaning(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> Mapping[str, Array]:
    """Y[i] = X[i] converted once; in the domain of the reals a float type holds every real number."""
    X = inputs["operand"]
    target = XLA_TYPES[attributes["new_element_type"]]
    if attributes["domain"] == "real" and target in FLOATS:
        target = DType.REAL
    return {"output": convert(X, held_type(X), target)}
