"""An operator: its signature, rules, shape rule, meaning and accuracy in one value."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.model.call import Call
from sonnx.model.dtype import DType
from sonnx.model.kernel import KernelRequest, Kernels
from sonnx.model.lengths import Lengths, moved
from sonnx.model.plain import AskPlain
from sonnx.model.rule import Rule
from sonnx.model.tensor_type import Dialect, TensorType


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


def operand_names(operands: Sequence[Operand], count: int) -> list[str]:
    """The names of operands by position; a variadic one X stands for X0, X1 and so on, up to `count`."""
    names = [operand.name for operand in operands if not operand.variadic]
    rest = range(count - len(names))
    return names + [f"{operand.name}{m}" for operand in operands if operand.variadic for m in rest]


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


def _nothing_between(call: Call) -> Sequence[TensorType]:
    return ()


def _lengths_moved(call: Call, given: Mapping[str, Lengths]) -> Lengths:
    return moved(given.values())


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
    # "" is ONNX's own, "xla" that of the XLA operations; some names occur in both.
    domain: str = ""
    # Operators that compare or calculate depend on the processor's arithmetic; those that move do not.
    uses_arithmetic: bool = False
    # What the definition holds in between, beside operands and outputs: whoever limits memory asks for it.
    working_types: Callable[[Call], Sequence[TensorType]] = _nothing_between
    # How long the results' exact numbers become, given those of the real operands by name: no longer than
    # them where an operator only moves or chooses elements.
    lengths: Callable[[Call, Mapping[str, Lengths]], Lengths] = _lengths_moved


# Arrays by operand name, attributes by name → arrays by output name.
Meaning = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
# The same on tensors of a StableHLO function, to which it adds the operations that make the results. An
# operand whose elements decide a shape comes as an array.
Lowering = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
# A node of given types → the compiled functions that execute it; None where there are none for it.
AskKernels = Callable[[KernelRequest], Kernels | None]
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
    """A contract together with what it means, how accurate that is, and what makes a call conform.

    `stablehlo` writes it for XLA; an operator that no graph holds as a node, or that is a call, has none.
    `kernels` names compiled functions with the same bits; `fuses_clip` where they can limit at once.
    `plain` is the C of one node, to be read and proved.
    """

    contract: Contract
    meaning: Meaning
    error_bound: ErrorBound
    amend: Amend = _nothing
    stablehlo: Lowering | None = None
    kernels: AskKernels | None = None
    fuses_clip: bool = False
    plain: AskPlain | None = None

    @property
    def name(self) -> str:
        """The name, such as `Clip`; with the domain where that is not ONNX's own, such as `xla.Clamp`."""
        contract = self.contract
        return f"{contract.domain}.{contract.name}" if contract.domain else contract.name

    @property
    def dialect(self) -> Dialect:
        """Whose operator it is, and so who spells its types."""
        return "xla" if self.contract.domain == "xla" else "onnx"

    @property
    def key(self) -> tuple[str, str]:
        """What nodes name it by: the domain and the name there."""
        return self.contract.domain, self.contract.name

    @property
    def identifier(self) -> str:
        """What its rules begin with, such as `clip` or `xla.convert_element_type`."""
        folder = self.folder
        return f"{self.contract.domain}.{folder}" if self.contract.domain else folder

    @property
    def folder(self) -> str:
        """The name of its folder, such as `clip` or `convert_element_type`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.contract.name).lower()

    @property
    def package(self) -> str:
        """The package that holds everything about it."""
        return f"sonnx.operators.{self.contract.domain or 'onnx'}.{self.folder}"
