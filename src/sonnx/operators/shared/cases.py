"""Cases: inputs and expected outputs of an operator, kept as text beside its definition."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import Array, hold, numpy_dtype
from sonnx.numeric.bits import NanRule
from sonnx.numeric.convert import PART
from sonnx.numeric.literals import parse_literal


@dataclass(frozen=True)
class Tensor:
    """A tensor as a case writes it: its type and its elements, nested as written."""

    type: TensorType
    values: Any

    def array(self) -> Array:
        """The array that holds it; floats are rounded once from their literals."""
        dtype, shape = self.type.dtype, self.type.sizes
        if dtype is None or shape is None:
            raise ValueError(f"a case needs a type of the profile and a static shape, not {self.type}")
        flat = np.empty(int(np.prod(shape, dtype=np.int64)), numpy_dtype(dtype))
        elements = [_element(leaf, dtype) for leaf in leaves(self.values)]
        if len(elements) != len(flat):
            raise ValueError(f"{self.type} has {len(flat)} elements, the case writes {len(elements)}")
        flat[:] = elements
        return hold(flat.reshape(shape), dtype)


@dataclass(frozen=True)
class Case:
    """One example with its expected outputs.

    `source` says where the expected values come from; `nan` is "any" where a NaN is computed, not moved
    (D-ALL-4); `rulings` names the decisions that the case shows; `page` cases are printed on the page.
    """

    name: str
    source: str
    inputs: Mapping[str, Tensor]
    attributes: Mapping[str, Any]
    outputs: Mapping[str, Tensor]
    rulings: tuple[str, ...]
    nan: NanRule
    page: bool


@lru_cache
def load_cases(identifier: str) -> tuple[Case, ...]:
    """Read the cases of an operator, such as `clip` or `xla.clamp`."""
    folder = identifier if identifier.startswith("xla.") else f"onnx.{identifier}"
    text = files(f"sonnx.operators.{folder}").joinpath("cases.toml").read_text(encoding="utf-8")
    return tuple(map(_case, tomllib.loads(text)["case"]))


def _case(table: Mapping[str, Any]) -> Case:
    return Case(
        name=table["name"],
        source=table["source"],
        inputs=_tensors(table["inputs"]),
        attributes=table.get("attributes", {}),
        outputs=_tensors(table["outputs"]),
        rulings=tuple(table.get("rulings", ())),
        nan=table.get("nan", "bits"),
        page=table.get("page", False),
    )


def _tensors(table: Mapping[str, Any]) -> Mapping[str, Tensor]:
    return {name: Tensor(tensor_type(entry["type"]), entry["values"]) for name, entry in table.items()}


def leaves(values: Any) -> Iterator[Any]:
    """The elements of nested lists, in order."""
    if isinstance(values, list):
        for value in values:
            yield from leaves(value)
    else:
        yield values


def _element(leaf: Any, dtype: DType) -> Any:
    if dtype in (DType.BOOL, DType.STRING):
        return leaf
    if dtype in PART:  # written as "(real, imaginary)"
        parts = [parse_literal(part.strip(), PART[dtype]) for part in leaf[1:-1].split(",")]
        return np.array(parts).view(numpy_dtype(dtype))[0]
    return parse_literal(str(leaf), dtype)
