"""What an operator's folder says of the plain C of one node: a template and what fills it.

A template is C in which `$name` stands for a text and `//if NAME`, `//else`, `//end` on lines of their own
ask for a flag. The emitter itself gives `$function`, the names of operands and scratch arrays, and
`$element`, the C type of the output.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
