"""Concatenate for XLA."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sonnx.operators.shared.stablehlo import Tensor, concatenate, moved
from sonnx.operators.xla.concatenate.shapes import joined_shape


def lower(inputs: Mapping[str, Tensor], attributes: Mapping[str, Any]) -> Mapping[str, Tensor]:
    """The operands one after the other."""
    dimension = int(attributes["dimension"])
    return {"output": moved(partial(_joined, dimension=dimension), *inputs.values())}


def _joined(*operands: Tensor, dimension: int) -> Tensor:
    return concatenate(operands, dimension, joined_shape([X.shape for X in operands], dimension))
