"""What a graph becomes in C: which tensor is which array, which node is which function."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

import numpy as np

from sonnx.derive.c_types import C_NAMES, CType
from sonnx.derive.tracing import makes_nans
from sonnx.emit.names import shown, word
from sonnx.emit.places import Place
from sonnx.emit.types import c_type, has_nan
from sonnx.model.graph import Graph, Node
from sonnx.model.names import Names
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.numeric.literals import format_float
from sonnx.operators import node_operator
from sonnx.plan.program import Defined, definitions
from sonnx.plan.slots import Lifetime, Slots, assign
from sonnx.vocabulary.operator import operand_names

# A literal takes about twenty characters, and no reader wants more of them than fill a megabyte or two.
MOST_LITERALS = 65_536


@dataclass(frozen=True)
class Port:
    """An input or output of the model: its parameter in C."""

    tensor: str
    parameter: str
    kind: CType
    type: TensorType
    # A NaN there may be any NaN: it was calculated, not moved (D-ALL-4).
    any_nan: bool = False

    @property
    def elements(self) -> int:
        """How many there are."""
        return prod(self.type.sizes or ())


@dataclass(frozen=True, eq=False)
class Weight:
    """A constant: its name in C, and whether it is held as bits, because no literal has those of its NaNs."""

    tensor: str
    name: str
    kind: CType
    type: TensorType
    data: Array
    as_bits: bool

    @property
    def expression(self) -> str:
        """The array of its elements in C."""
        return f"{self.name}.values" if self.as_bits else self.name


@dataclass(frozen=True, eq=False)
class CFunction:
    """A function in C without parameters: the nodes that it executes, and what they make.

    It is called only where the function `guard`, if there is one, has answered 0 (D-ALL-11).
    """

    name: str
    nodes: tuple[tuple[Place, Node], ...]
    makes: tuple[str, ...]
    text: str
    guard: str = ""
    # What ACSL says where the guard answers 1.
    outside: str = ""

    @property
    def status(self) -> int:
        """What the entry point returns where the guard stops it."""
        return self.nodes[0][0].status


@dataclass(frozen=True, eq=False)
class Memory:
    """Static arrays that tensors share, and the names of the tensors in C."""

    slots: Slots
    names: Mapping[str, str]

    @property
    def bytes(self) -> int:
        """What the arrays take."""
        return sum(C_NAMES[kind].bytes * elements for kind, elements in self.slots.sizes)


@dataclass(frozen=True, eq=False)
class Layout:
    """A graph laid out for C; `arrays` has the C expression of every tensor."""

    prefix: str
    graph: Graph
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    weights: tuple[Weight, ...]
    functions: tuple[CFunction, ...]
    arrays: Mapping[str, str]
    memory: Memory
    # C functions of the package and headers that the functions of nodes need.
    helpers: tuple[str, ...] = ()
    # C functions that several of them call, each after those that it calls.
    words: Mapping[str, str] = field(default_factory=dict)
    # The constants are too many for literals: they come from a file, through a function of the project.
    loaded: bool = False
    # Nodes on constants alone whose results are constants of the project.
    folded: tuple[tuple[Place, Node], ...] = ()
    # C files with kernels, `$about` in their heads; with some, the caller's arrays are used in place.
    kernels: Mapping[str, str] | None = None

    @property
    def guarded(self) -> tuple[CFunction, ...]:
        """The functions that may not be called, whatever the operands hold."""
        return tuple(each for each in self.functions if each.guard)

    @property
    def fails(self) -> bool:
        """Whether a call may return something else than 0."""
        return self.loaded or bool(self.guarded)


def type_text(kind: TensorType) -> str:
    """A type as comments and tables have it; it is static, so nothing in it is a name of the model's."""
    return f"{kind.dtype}[{','.join(map(str, kind.sizes or ()))}]"


def share(lifetimes: Sequence[Lifetime]) -> Memory:
    """Place tensors and name them; their kinds are names of C types, so no element changes its type."""
    names = Names(set())
    ordered = sorted(lifetimes, key=lambda each: each.first)
    return Memory(
        assign(ordered), {each.name: names.fresh(f"t_{word(each.name) or 'tensor'}") for each in ordered}
    )


def weights_of(
    begin: str, constants: Iterable[tuple[str, TensorType, Array]]
) -> tuple[tuple[Weight, ...], bool]:
    """The constants with their names in C, and whether they are too many for literals."""
    listed = list(constants)
    loaded = sum(data.size for _, _, data in listed) > MOST_LITERALS
    found = []
    for number, (name, kind, data) in enumerate(listed):
        held = c_type(kind, name)
        called = f"{begin}_w{number}_{word(name)}".rstrip("_")
        found.append(Weight(name, called, held, kind, data, not loaded and has_nan(data, held)))
    return tuple(found), loaded


def ports(side: str, names: Sequence[str], graph: Graph) -> tuple[Port, ...]:
    """The parameters for tensors of one side of the model."""
    fresh, computed = Names(set()), calculated(graph)
    return tuple(
        Port(
            name,
            fresh.fresh(f"{side}_{word(name)}".rstrip("_")),
            c_type(graph.types[name], name),
            graph.types[name],
            name in computed,
        )
        for name in names
    )


def calculated(graph: Graph) -> frozenset[str]:
    """Tensors with elements that were calculated, or moved from such."""
    found: set[str] = set()
    for _, step in definitions(graph, "separate"):
        if found & set(step.reads) or _calculates(graph, step):
            found |= set(step.writes)
    return frozenset(found)


def _calculates(graph: Graph, step: Defined) -> bool:
    """Whether a node may make NaNs of its own; of a meaning that is no definition nothing is known."""
    types = {operand: graph.types[name] for operand, name in step.inputs.items()}
    defined = step.operator.definition is not None
    return not defined or makes_nans(step.operator, types, step.attributes, step.constants)


def node_comment(graph: Graph, place: Place, node: Node) -> str:
    """Which node a function executes, and what it takes and makes in the model."""
    operator = node_operator(node, graph.dialect)
    assert operator is not None  # the graph conforms
    lines = [place.title]
    contract = operator.contract
    for operands, tensors in ((contract.inputs, node.inputs), (contract.outputs, node.outputs)):
        lines += [
            f"  {operand} = `{shown(tensor)}`: {type_text(graph.types[tensor])}"
            for operand, tensor in zip(operand_names(operands, len(tensors)), tensors, strict=False)
            if tensor
        ]
    for attribute in contract.attributes:
        value = node.attributes.get(attribute.name)
        listed = value if isinstance(value, list | tuple) else [value]
        if all(isinstance(each, int | float) for each in listed):
            lines.append(f"  {attribute.name} = {', '.join(map(_number, listed))}")
    return "\n   ".join(lines)


def _number(value: float) -> str:
    """A number of an attribute, which is a float of 32 bits; in decimals too, and whether those are all."""
    if isinstance(value, int):
        return str(value)
    held = np.float32(value)
    decimal = f"{value:.7g}"
    if not np.isfinite(held):
        return format_float(held)
    exact = Fraction(decimal) == Fraction(float(held))
    return f"{format_float(held)} ({'' if exact else 'about '}{decimal})"
