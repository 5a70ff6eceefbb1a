"""Where for XLA: its select."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, moved, select


def lower(inputs: Mapping[str, Tensor], _attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """Choose element by element."""
    condition = inputs["condition"]
    return {"output": moved(lambda X, Y: select(condition, X, Y), inputs["X"], inputs["Y"])}
