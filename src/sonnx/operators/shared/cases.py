"""Cases: inputs and expected outputs of an operator, kept as text beside its definition.

A table of `cases.toml` is a case, and the table's name is the name of the case:

    ["a NaN max does not bound"]
    source = "by hand from D-CLIP-1"
    given = { input = "float[2,2] -inf 0.0; inf nan", min = "float[] -1.0", max = "float[] nan" }
    gives = { output = "float[2,2] -1.0 0.0; inf nan" }

A tensor is its type and then its elements, line by line; a semicolon may stand between lines. Attributes
are given beside the tensors, or `with = { ... }` where the line gets long. `types = ["float", "double"]` make
the table one case for each of them, and `T` is that type in its tensors. What stands before the first table
holds for every case that does not say otherwise, attribute by attribute; `each = { strides = 1 }` there gives
attributes an entry for each spatial axis of the first tensor, those after batch and channels.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import Array, hold, numpy_dtype
from sonnx.numeric.bits import NanRule
from sonnx.numeric.convert import PART
from sonnx.numeric.literals import parse_literal

# Axes before the spatial ones: batch and channels.
_LEADING = 2
_TRUTH = {"true": True, "false": False}
# The type that stands for each of a case's `types`.
_ANY = "T["
_TENSOR = re.compile(r"(?P<type>[A-Za-z0-9?]+\[[^\]]*\])(?P<elements>.*)", re.DOTALL)
_ELEMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\((?:[^()]|\([^()]*\))*\)|;|[^\s;]+')
# The keys of a case with the form of their values.
_KEYS: Mapping[str, type] = {
    "source": str,
    "given": dict,
    "with": dict,
    "each": dict,
    "gives": dict,
    "rulings": list,
    "types": list,
    "nan": str,
    "page": bool,
}


@dataclass(frozen=True)
class Tensor:
    """A tensor as a case writes it: its type and its elements as text, the last axis fastest."""

    type: TensorType
    elements: tuple[str, ...]

    def array(self) -> Array:
        """The array that holds it, for the caller to keep; floats are rounded once from their literals."""
        return self._read.copy()

    @cached_property
    def _read(self) -> Array:
        dtype, shape = self.type.dtype, self.type.sizes
        if dtype is None or shape is None:
            raise ValueError(f"a case needs a type of the profile and a static shape, not {self.type}")
        flat = np.empty(prod(shape), numpy_dtype(dtype))
        if len(self.elements) != len(flat):
            raise ValueError(f"{self.type} has {len(flat)} elements, the case writes {len(self.elements)}")
        flat[:] = [_element(text, dtype) for text in self.elements]
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
    try:
        return read_cases(text)
    except ValueError as error:
        raise ValueError(f"cases.toml of {identifier}: {error}") from error


def read_cases(text: str) -> tuple[Case, ...]:
    """Read a file of cases; raises ValueError, which says in what case what is wrong."""
    # An attribute that is a float is one of 32 bits, rounded once.
    tables = tomllib.loads(text, parse_float=lambda written: float(parse_literal(written, DType.FLOAT)))
    common = {key: value for key, value in tables.items() if key in _KEYS}
    cases: list[Case] = []
    for name, table in tables.items():
        if name not in _KEYS:
            try:
                cases += _cases(name, table, common)
            except ValueError as error:
                raise ValueError(f"case {name!r}: {error}") from error
    return tuple(cases)


def _cases(name: str, table: Any, common: Mapping[str, Any]) -> Iterator[Case]:
    """The case of a table, or one case for each of its types."""
    if not isinstance(table, dict):
        raise ValueError(f"is no table; before the first case may stand {', '.join(_KEYS)}")
    whole = {**common, **table}
    for key, value in whole.items():
        if key not in _KEYS:
            raise ValueError(f"has {key!r}; there are {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):
            raise ValueError(f"{key} = {value!r} is no {_KEYS[key].__name__}")
    for key in ("source", "given", "gives"):
        if not whole.get(key):
            raise ValueError(f"needs {key}, as every case")
    if whole.get("nan", "bits") not in ("bits", "any"):
        raise ValueError(f"nan = {whole['nan']!r}; it is bits or any")
    whole["with"] = table.get("with", {})
    if "types" not in whole:
        yield _case(name, whole, common.get("with", {}), _ANY)
    for dtype in whole.get("types", ()):
        yield _case(f"{name}, {dtype}", whole, common.get("with", {}), f"{dtype}[")


def _case(name: str, table: Mapping[str, Any], usual: Mapping[str, Any], meant: str) -> Case:
    given = table["given"]
    inputs = _tensors({name: value for name, value in given.items() if _is_tensor(value)}, meant)
    axes = max(len(next(iter(inputs.values())).type.shape or ()) - _LEADING, 0) if inputs else 0
    return Case(
        name=name,
        source=table["source"],
        inputs=inputs,
        attributes={
            **usual,
            **{name: [entry] * axes for name, entry in table.get("each", {}).items()},
            **table["with"],
            **{name: value for name, value in given.items() if not _is_tensor(value)},
        },
        outputs=_tensors(table["gives"], meant),
        rulings=tuple(table.get("rulings", ())),
        nan=table.get("nan", "bits"),
        page=table.get("page", False),
    )


def _is_tensor(given: Any) -> bool:
    """Tell whether something is no attribute: it has a shape, or blanks between what may be elements."""
    return isinstance(given, str) and re.search(r"[\[\s]", given) is not None


def _tensors(texts: Mapping[str, Any], meant: str) -> Mapping[str, Tensor]:
    tensors = {}
    for name, text in texts.items():
        try:
            tensors[name] = tensor(str(text).replace(_ANY, meant, 1))
            tensors[name].array()
        except ValueError as error:
            raise ValueError(f"{name} = {text!r}: {error}") from error
    return tensors


def tensor(text: str) -> Tensor:
    """Read a tensor, such as `float[2,2] 1 2; 3 nan(0x5)`, `bool[] true` or `string[1] "a b"`."""
    match = _TENSOR.fullmatch(text.strip())
    if match is None:
        raise ValueError("is no tensor; write its type, then its elements: float[2,2] 1 2; 3 4")
    lines: list[list[str]] = [[]]
    for token in _ELEMENT.findall(match["elements"]):
        if token == ";":
            lines.append([])
        else:
            lines[-1].append(token)
    read = Tensor(tensor_type(match["type"]), tuple(chain(*lines)))
    columns = (read.type.sizes or (0,))[-1]
    for line in lines if len(lines) > 1 else ():
        if len(line) != columns:
            raise ValueError(
                f"a line of {read.type} has {columns} elements, not {len(line)}: {' '.join(line)}"
            )
    return read


def _element(text: str, dtype: DType) -> Any:
    if dtype is DType.BOOL:
        if text not in _TRUTH:
            raise ValueError(f"{text!r} is neither true nor false")
        return _TRUTH[text]
    if dtype is DType.STRING:
        return json.loads(text)
    if dtype in PART:  # written as (real, imaginary)
        parts = [parse_literal(part.strip(), PART[dtype]) for part in text[1:-1].split(",")]
        return np.array(parts).view(numpy_dtype(dtype))[0]
    return parse_literal(text, dtype)
