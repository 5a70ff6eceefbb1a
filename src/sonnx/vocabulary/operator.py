"""An operator: its signature, rules, shape rule, meaning and accuracy in one value."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from keyword import iskeyword
from typing import Any, Literal

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.terms.tracing import Definition
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.integers import Integers
from sonnx.vocabulary.kernel import KernelRequest, NodeKernels
from sonnx.vocabulary.rule import Rule
from sonnx.vocabulary.trying import Trying

# What an operand contributes to an element of the result: its element at the same place, or the one it has.
Contribution = Literal["", "elements", "scalar", "either"]
# The first operator set of ONNX that the profile speaks of.
OLDEST_OPSET = 13
# The ends of a type's range; of floats, the finite ones.
End = Literal["lowest", "highest"]


@dataclass(frozen=True)
class Operand:
    """An input or output; `types` lists the element types the profile allows there.

    Operands that name one type `variable` have one element type in a call. Those of the form "elements" are
    combined element by element, so they have one shape (D-ALL-5); a "scalar" has the empty shape, and where
    it may be "either" the operator has a rule of its own. `optional` is the profile's word. Where ONNX lets
    an operand be absent and the profile does not, `optional_in_onnx` is set, a rule demands the operand, and
    `default_in_onnx` is what normalizing writes in its place.
    """

    name: str
    symbol: str
    text: str
    types: tuple[DType, ...] = ()
    optional: bool = False
    optional_in_onnx: bool = False
    # Its elements decide a shape, so rules look at them: they must be known before anything runs.
    constant: bool = False
    variadic: bool = False
    variable: str = ""
    form: Contribution = ""
    # Of operands combined element by element: ONNX broadcasts others to its shape, and never it to theirs.
    whole: bool = False
    default_in_onnx: End | float | None = None
    # What its elements stand for, where they are integers that decide something.
    holds: Integers | None = None
    # What its axes are, such as "channel", of an operand that always has so many.
    axes: tuple[str, ...] = ()


def operand_names(operands: Sequence[Operand], count: int) -> list[str]:
    """The names of operands by position; a variadic one X stands for X0, X1 and so on, up to `count`."""
    names = [operand.name for operand in operands if not operand.variadic]
    rest = range(count - len(names))
    return names + [f"{operand.name}{m}" for operand in operands if operand.variadic for m in rest]


def goes_by(operand: Operand, name: str) -> bool:
    """Tell whether an operand, or one of those that a variadic one stands for, has this name."""
    if not operand.variadic:
        return name == operand.name
    number = name.removeprefix(operand.name)
    return name.startswith(operand.name) and re.fullmatch("0|[1-9][0-9]*", number) is not None


@dataclass(frozen=True)
class Attribute:
    """An attribute; `mode` marks one that says how to evaluate and is not in an ONNX file.

    `default` is what a call of the operator's function may leave out; a model may leave out nothing.
    `default_in_onnx` is what an absent one stands for in a file of ONNX: a value, or a function that finds it
    out from the call and answers None where it cannot; None where ONNX has no default either. Versions of the
    operator before `since` do not have the attribute, and mean what the default says.
    """

    name: str
    kind: str
    text: str
    mode: bool = False
    default: str | None = None
    default_in_onnx: Any = None
    # Why normalizing writes that, where it is not simply ONNX's default.
    default_because: str = ""
    # What it stands for.
    holds: Integers | None = None
    since: int = 0

    def is_in(self, version: int | None) -> bool:
        """Tell whether a version of the operator has it; where no version is spoken of, it is there."""
        return version is None or version >= self.since


@lru_cache(1024)
def folder_of(name: str) -> str:
    """The name of an operator's folder, such as `convert_element_type`; that of `IsNaN` is `is_nan`.

    A word of Python's own has `_` behind it: the folder is a package, and a function is called as it is.
    """
    folder = re.sub(r"(?<=[a-z])(?=[A-Z].)", "_", name).lower()
    return f"{folder}_" if iskeyword(folder) else folder


def identifier_of(domain: str, name: str) -> str:
    """What the rules of an operator begin with: its folder, after the domain where that is not ONNX's own."""
    return f"{domain}.{folder_of(name)}" if domain else folder_of(name)


@dataclass(frozen=True)
class Contract:
    """Everything about an operator that can be said without data.

    `versions` are those of ONNX's operator sets that changed the operator and that the contract covers;
    between them its meaning on the profile's types is the same. `oldest` is the first operator set in which
    it is, perhaps written otherwise: `formerly` names, by version, operands that are attributes there, with
    what an absent one stands for. Normalizing writes models of older sets anew.
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
    # The ruling that defines it, such as `D-RELU`; where there are several, what they begin with (`D-CONV`).
    ruling: str = ""
    oldest: int = OLDEST_OPSET
    formerly: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    # A call that obeys every rule, of an operator that only moves elements.
    good: Call | None = None
    # A call for which its page has the definition as a formula; unlike numbers in it may be any. Else `good`.
    shown: Call | None = None

    @property
    def holders(self) -> tuple[Attribute | Operand, ...]:
        """What may have integers that stand for something."""
        return (*self.attributes, *self.inputs)

    @cached_property
    def demanded(self) -> tuple[str, ...]:
        """The operands that no call of ONNX may leave out, by name."""
        inputs = self.inputs
        return tuple(o.name for o in inputs if not (o.optional or o.optional_in_onnx or o.variadic))

    @cached_property
    def needed(self) -> frozenset[str]:
        """The operands without which no type follows; of a variadic one, the first."""
        operands = [operand for operand in self.inputs if not operand.optional]
        return frozenset(f"{o.name}0" if o.variadic else o.name for o in operands)

    @cached_property
    def dispensable(self) -> frozenset[str]:
        """The operands that a call of ONNX may leave out."""
        return frozenset(o.name for o in self.inputs if o.optional or o.optional_in_onnx)

    @cached_property
    def settled(self) -> frozenset[str]:
        """The operands whose elements decide a shape."""
        return frozenset(operand.name for operand in self.inputs if operand.constant)

    @cached_property
    def named(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return {attribute.name: attribute for attribute in self.attributes}

    def whole(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Attributes with what those mean that versions of the operator do not have."""
        later = {each.name: each.default_in_onnx for each in self.attributes if each.since}
        return {**later, **written} if later else written


# Arrays by operand name, attributes by name → arrays by output name.
Meaning = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
# The same on tensors of a StableHLO function, to which it adds the operations that make the results. An
# operand whose elements decide a shape comes as an array.
Lowering = Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]]
# A node of given types → the compiled functions that execute it; None where there are none for it.
AskKernels = Callable[[KernelRequest], NodeKernels | None]
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


@dataclass(frozen=True, eq=False)
class BodyNode:
    """A node of a composition's body; its tensors are operands and outputs of that, or known inside alone."""

    operator: "Operator"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class BodyConstant:
    """A tensor of a composition's body whose elements are known: integers, or one for all."""

    name: str
    type: TensorType
    elements: tuple[int, ...]


# A call that obeys every rule → the nodes that stand for it, in the order in which they are executed, and
# what they take as constants, before them.
Body = Callable[[Call], Sequence[BodyNode | BodyConstant]]

# What makes a call conform without changing its meaning.
Amendment = WriteAttribute | FillOperand | ExpandOperand
# A call as ONNX allows it → what to change; nothing where that cannot be told.
Amend = Callable[[Call], Sequence[Amendment]]


def _nothing(call: Call) -> Sequence[Amendment]:
    return ()


@dataclass(frozen=True, eq=False)
class Operator:
    """A contract together with what it means, how accurate that is, and what makes a call conform.

    `definition` says what it means in the language of `terms/`, `meaning` where that is said otherwise;
    `body` says it by other operators, whose nodes take its place before anything is executed (D-ALL-14).
    `stablehlo` writes it for XLA; an operator that no graph holds as a node, or that is a call, has none.
    `kernels` names compiled functions with the same bits; `is_followed` says that they call what is to be
    done with the elements of the first output, channel by channel along its second axis.
    """

    contract: Contract
    definition: Definition | None = None
    body: Body | None = None
    meaning: Meaning | None = None
    error_bound: ErrorBound | None = None
    amend: Amend = _nothing
    stablehlo: Lowering | None = None
    kernels: AskKernels | None = None
    is_followed: bool = False
    # How runtimes are tried on it.
    trying: Trying = Trying()  # noqa: RUF009  nothing in it changes

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
        return identifier_of(self.contract.domain, self.contract.name)

    @property
    def calls(self) -> bool:
        """Tell whether it applies a computation; a node that does names a function of the graph instead."""
        return any(attribute.kind == "computation" for attribute in self.contract.attributes)

    @property
    def folder(self) -> str:
        """The name of its folder, such as `clip` or `convert_element_type`."""
        return folder_of(self.contract.name)

    @property
    def package(self) -> str:
        """The package that holds everything about it."""
        return f"sonnx.operators.{self.contract.domain or 'onnx'}.{self.folder}"
