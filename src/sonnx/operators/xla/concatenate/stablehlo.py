"""Concatenate for XLA."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, moved, type_text
from sonnx.operators.xla.concatenate.shapes import joined_shape


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The operands one after the other."""
    dimension = int(attributes["dimension"])
    return {"output": moved(partial(_joined, dimension=dimension), *inputs.values())}


def _joined(*operands: Tensor, dimension: int) -> Tensor:
    first = operands[0]
    shape = joined_shape([X.shape for X in operands], dimension)
    names, types = (", ".join(texts) for texts in ([X.name for X in operands], [X.type for X in operands]))
    made = type_text(first.dtype, shape)
    text = f"stablehlo.concatenate {names}, dim = {dimension} : ({types}) -> {made}"
    return first.block.add(text, first.dtype, shape)
