"""Where for XLA: its select moves bits."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, select


def lower(inputs: Mapping[str, Tensor], _attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Choose element by element."""
    return {"output": select(inputs["condition"], inputs["X"], inputs["Y"])}
