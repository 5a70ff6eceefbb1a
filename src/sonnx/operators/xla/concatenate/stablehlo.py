"""Concatenate for XLA."""

from collections.abc import Mapping
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, type_text
from sonnx.operators.xla.concatenate.shapes import joined_shape


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The operands one after the other."""
    operands, dimension = list(inputs.values()), int(attributes["dimension"])
    first = operands[0]
    shape = joined_shape([X.shape for X in operands], dimension)
    names, types = (", ".join(texts) for texts in ([X.name for X in operands], [X.type for X in operands]))
    made = type_text(first.dtype, shape)
    text = f"stablehlo.concatenate {names}, dim = {dimension} : ({types}) -> {made}"
    return {"output": first.block.add(text, first.dtype, shape)}
