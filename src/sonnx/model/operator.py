"""An operator: its signature, rules, shape rule, meaning and accuracy in one value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.model.call import Call
from sonnx.model.dtype import DType
from sonnx.model.rule import Rule
from sonnx.model.tensor_type import TensorType


@dataclass(frozen=True)
class Operand:
    """An input or output; `types` lists the element types the profile allows there.

    `optional` is the profile's word. Where ONNX lets an operand be absent and the profile does not,
    `optional_in_onnx` is set, and a rule of the operator demands the operand.
    """

    name: str
    symbol: str
    text: str
    types: tuple[DType, ...]
    optional: bool = False
    optional_in_onnx: bool = False
    # Its elements decide a shape, so rules look at them: they must be known before anything runs.
    constant: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Attribute:
    """An attribute; `mode` marks one that says how to evaluate and is not in an ONNX file.

    `default` is what a call of the operator's function may leave out; a model may leave out nothing.
    """

    name: str
    kind: str
    text: str
    mode: bool = False
    default: str | None = None


@dataclass(frozen=True)
class Contract:
    """Everything about an operator that can be said without data.

    `versions` are those of ONNX's operator sets that changed the operator and that the contract covers;
    between them its meaning on the profile's types is the same.
    """

    name: str
    versions: tuple[int, ...]
    summary: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    rules: tuple[Rule, ...]
    output_types: Callable[[Call], Mapping[str, TensorType]]
    # Operators that compare or calculate depend on the processor's arithmetic; those that move do not.
    uses_arithmetic: bool = False


# Arrays by operand name, attributes by name → arrays by output name.
Meaning = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
# The same arguments and the order of summation → a bound for every element, by output name.
ErrorBound = Callable[[Mapping[str, Any], Mapping[str, Any], str], Mapping[str, Any]]


@dataclass(frozen=True)
class WriteAttribute:
    """Write an attribute that ONNX lets a model leave out, or in place of what stands there."""

    name: str
    value: Any
    why: str
    rule: str


@dataclass(frozen=True)
class FillOperand:
    """Give an operand that ONNX lets a model leave out: a constant with these elements."""

    name: str
    type: TensorType
    value: Any
    why: str
    rule: str


@dataclass(frozen=True)
class ExpandOperand:
    """Put an Expand before an operand, so that it has this shape."""

    name: str
    shape: tuple[int, ...]
    why: str
    rule: str


# What makes a call conform without changing its meaning.
Amendment = WriteAttribute | FillOperand | ExpandOperand
# A call as ONNX allows it → what to change; nothing where that cannot be told.
Amend = Callable[[Call], Sequence[Amendment]]


def _nothing(call: Call) -> Sequence[Amendment]:
    return ()


@dataclass(frozen=True)
class Operator:
    """A contract together with what it means, how accurate that is, and what makes a call conform."""

    contract: Contract
    meaning: Meaning
    error_bound: ErrorBound
    amend: Amend = _nothing

    @property
    def name(self) -> str:
        """The name in ONNX, such as `Clip`."""
        return self.contract.name

    @property
    def folder(self) -> str:
        """The name of its folder, such as `clip`."""
        return self.contract.name.lower()
