"""What an operator's folder says of the plain C of one node: a template and what fills it.

A template is C in which `$name` stands for a text and `//if NAME`, `//else`, `//end` on lines of their own
ask for a flag, one inside the other if need be. The emitter itself gives `$function`, the names of operands
and scratch arrays, and `$element`, the C type of the output.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType


@dataclass(frozen=True)
class PlainRequest:
    """A node of a conforming graph: the types of its operands by name, and its attributes with modes."""

    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, TensorType]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class PlainScratch:
    """A static array that a node needs for itself, under the name that the template has for it."""

    name: str
    dtype: DType
    elements: int


@dataclass(frozen=True)
class PlainKernel:
    """The file of the template under `operators/`, and what fills it.

    `helpers` names C functions of the emitter that the filled template calls; `<math.h>` is one of them.
    """

    source: str
    values: Mapping[str, str | int]
    flags: Mapping[str, bool] = field(default_factory=dict)
    scratch: tuple[PlainScratch, ...] = ()
    helpers: tuple[str, ...] = ()


AskPlain = Callable[[PlainRequest], PlainKernel]


def place(flat: str, sizes: Sequence[int], axis: int) -> str:
    """The index on one axis of the element at `flat` in C order; empty where it is always 0.

    Nothing is divided by 1, and the first axis that counts needs no remainder.
    """
    inner = prod(sizes[axis + 1 :])
    if sizes[axis] == 1:
        return ""
    quotient = flat if inner == 1 else f"{flat} / {inner}"
    return quotient if prod(sizes[:axis]) == 1 else f"{quotient} % {sizes[axis]}"


def position(indices: Sequence[str], sizes: Sequence[int]) -> str:
    """Where the element with these indices lies in C order; an empty index, or one on an axis of 1, is 0."""
    text, single = "", True
    for index, size in zip(indices, sizes, strict=True):
        if size == 1:
            continue
        if text:
            text, single = f"{text if single else f'({text})'} * {size}", True
        if index:
            text, single = (f"{text} + {index}", False) if text else (index, " + " not in index)
    return text or "0"
