"""A model: nodes that take tensors and make tensors, as the file writes them, right or wrong.

Nothing here is guessed or repaired: a graph may hold what no rule allows, so that the check can name it.
What is made here is checked for its form only: names are text, lists are tuples, types are types.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sonnx.model.location import Location, PlaceKind
from sonnx.model.tensor_type import Dialect, TensorType

_NONE: Mapping[str, Any] = MappingProxyType({})


def _texts(owner: object, **fields: object) -> None:
    """Refuse names that are no text."""
    for name, value in fields.items():
        if not isinstance(value, str):
            raise TypeError(f"{type(owner).__name__}: {name} must be text, not {type(value).__name__}")


def _tuples(owner: object, **fields: tuple[Any, type]) -> None:
    """Take any sequence as a tuple, and refuse elements of another type."""
    for name, (value, kind) in fields.items():
        listed = tuple(value)
        for element in listed:
            if not isinstance(element, kind):
                raise TypeError(
                    f"{type(owner).__name__}: {name} must hold {kind.__name__}, not {type(element).__name__}"
                )
        object.__setattr__(owner, name, listed)


@dataclass(frozen=True)
class Notes:
    """What a model says of one of its parts to people; it is kept, and means nothing to any computation."""

    documentation: str = ""
    metadata: tuple[tuple[str, str], ...] = ()


NO_NOTES = Notes()


@dataclass(frozen=True)
class Provenance:
    """Where a model comes from, by its own account."""

    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    documentation: str = ""


@dataclass(frozen=True)
class Value:
    """A tensor's name and the type that the model writes for it; `denotation` is what it is said to be."""

    name: str
    type: TensorType
    denotation: str = ""
    notes: Notes = NO_NOTES

    def __post_init__(self) -> None:
        """Check the form."""
        _texts(self, name=self.name)
        if not isinstance(self.type, TensorType):
            raise TypeError(f"Value: type must be a TensorType, not {type(self.type).__name__}")


@dataclass(frozen=True, eq=False)
class Constant:
    """A tensor whose elements the model holds (an initializer).

    `data` is None where they cannot be had; `problem` then says why, unless the type already does.
    """

    name: str
    type: TensorType
    data: Any = field(default=None, repr=False)
    problem: str = ""
    notes: Notes = NO_NOTES

    def __post_init__(self) -> None:
        """Check the form, and that the data has the shape it is said to have."""
        _texts(self, name=self.name, problem=self.problem)
        if not isinstance(self.type, TensorType):
            raise TypeError(f"Constant: type must be a TensorType, not {type(self.type).__name__}")
        if self.data is not None and tuple(self.data.shape) != self.type.sizes:
            raise ValueError(f"Constant {self.name!r}: data of shape {self.data.shape} for {self.type}")


@dataclass(frozen=True)
class Reference:
    """The value of an attribute that the function's caller gives under the name `attribute`."""

    attribute: str
    kind: str = "ints"


@dataclass(frozen=True)
class Opaque:
    """The value of an attribute that no operator of the profile has, such as a graph; `kind` names it.

    `taken` are the names that a graph's nodes take, among them tensors of the graph around it.
    """

    kind: str
    taken: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Print what messages show."""
        return f"a value of kind {self.kind}"


@dataclass(frozen=True)
class Node:
    """One use of an operator or a function; an absent operand is the empty name.

    `version` is that of the operator: the operator set in which it last changed, as far as the model's
    own operator set goes; None where nobody knows it. `repeated` names attributes written more than once.
    """

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    name: str = ""
    domain: str = ""
    overload: str = ""
    version: int | None = None
    repeated: tuple[str, ...] = ()
    notes: Notes = NO_NOTES
    # Where the node was before something moved it, for messages.
    origin: Location | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the form."""
        _texts(self, operator=self.operator, name=self.name, domain=self.domain, overload=self.overload)
        _tuples(self, inputs=(self.inputs, str), outputs=(self.outputs, str), repeated=(self.repeated, str))

    @property
    def function(self) -> tuple[str, str, str]:
        """What identifies the function that the node calls, if it calls one."""
        return self.domain, self.operator, self.overload


@dataclass(frozen=True)
class Function:
    """A graph with names for its inputs, which stand for whatever a call gives.

    `attributes` are absent in the body where a call leaves them out; `defaults` holds the values of those
    that are not, and `repeated` names those that have two. `constants` are tensors whose elements the
    function itself holds; a function of an ONNX file has none.
    """

    name: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    attributes: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    values: tuple[Value, ...] = ()
    opsets: tuple[tuple[str, int], ...] = ()
    overload: str = ""
    notes: Notes = NO_NOTES
    repeated: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()

    def __post_init__(self) -> None:
        """Check the form."""
        _texts(self, name=self.name, domain=self.domain, overload=self.overload)
        _tuples(
            self,
            constants=(self.constants, Constant),
            inputs=(self.inputs, str),
            outputs=(self.outputs, str),
            nodes=(self.nodes, Node),
            attributes=(self.attributes, str),
            values=(self.values, Value),
            opsets=(self.opsets, tuple),
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """What a call names it by."""
        return self.domain, self.name, self.overload


@dataclass(frozen=True)
class Scope:
    """A list of nodes that see one another's tensors: the graph itself, or the body of a function."""

    location: Location
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: tuple[str, ...]
    nodes: tuple[Node, ...]
    opsets: tuple[tuple[str, int], ...]

    def at(self, kind: PlaceKind, name: str = "") -> Location:
        """Locate a part of the scope."""
        return _inside(self.location, kind, name)

    def node_location(self, index: int) -> Location:
        """Locate a node of the scope by its place in the list, or where it was before it was moved."""
        node = self.nodes[index]
        return node.origin or _inside(self.location, "node", node.name, index, node.operator)


def _inside(
    outer: Location, kind: PlaceKind, name: str, index: int | None = None, operator: str = ""
) -> Location:
    inside = None if outer.kind == "model" else outer
    return Location(kind, name, index, operator, outer.file, inside)


@dataclass(frozen=True)
class Graph:
    """A model as written: nodes, tensors, functions, and the operator sets it speaks of.

    `dialect` says whose operators the nodes are: ONNX's, or the XLA operations of a computation.
    `source` is the file as the user named it, for messages; `values` are the types written for tensors
    between nodes; `extras` names parts of the file that the profile does not have. `metadata`,
    `documentation` and `provenance` are kept and mean nothing.
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    constants: tuple[Constant, ...] = ()
    values: tuple[Value, ...] = ()
    functions: tuple[Function, ...] = ()
    opsets: tuple[tuple[str, int], ...] = ()
    ir_version: int = 8
    source: str = ""
    extras: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    documentation: str = ""
    graph_metadata: tuple[tuple[str, str], ...] = ()
    provenance: Provenance = Provenance()
    dialect: Dialect = "onnx"
    # Of the file that the model was read from, for reports.
    file_sha256: str = field(default="", compare=False)
    file_size: int = field(default=0, compare=False)
    external_files: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Check the form."""
        _texts(self, name=self.name, source=self.source, documentation=self.documentation)
        _tuples(
            self,
            inputs=(self.inputs, Value),
            outputs=(self.outputs, Value),
            nodes=(self.nodes, Node),
            constants=(self.constants, Constant),
            values=(self.values, Value),
            functions=(self.functions, Function),
            opsets=(self.opsets, tuple),
            extras=(self.extras, str),
            metadata=(self.metadata, tuple),
            graph_metadata=(self.graph_metadata, tuple),
        )

    @property
    def location(self) -> Location:
        """The model as a whole."""
        return Location("model", file=self.source)

    @cached_property
    def scope(self) -> Scope:
        """The nodes of the graph itself."""
        return Scope(
            self.location,
            tuple(value.name for value in self.inputs),
            tuple(value.name for value in self.outputs),
            tuple(constant.name for constant in self.constants),
            self.nodes,
            self.opsets,
        )

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The graph itself and the body of every function."""
        bodies = (
            Scope(
                Location("function", function.name, operator=function.domain, file=self.source),
                function.inputs,
                function.outputs,
                tuple(constant.name for constant in function.constants),
                function.nodes,
                function.opsets,
            )
            for function in self.functions
        )
        return (self.scope, *bodies)

    def declarations(self) -> Iterator[tuple[str, TensorType, Location]]:
        """Every place where the model writes a type, with the tensor's name."""
        for value in self.inputs:
            yield value.name, value.type, Location("input", value.name, file=self.source)
        for constant in self.constants:
            yield constant.name, constant.type, Location("initializer", constant.name, file=self.source)
        for value in self.values:
            yield value.name, value.type, Location("tensor", value.name, file=self.source)
        for value in self.outputs:
            yield value.name, value.type, Location("output", value.name, file=self.source)

    @cached_property
    def types(self) -> Mapping[str, TensorType]:
        """The type of every tensor that has one written.

        Where several are written the first counts, in the order inputs, initializers, values, outputs; axes
        may be denoted at any of them.
        """
        found: dict[str, TensorType] = {}
        for name, written, _ in self.declarations():
            first = found.setdefault(name, written)
            if first.denotation is None and written.denotation is not None:
                found[name] = TensorType(
                    first.dtype, first.shape, first.sparse, written.denotation, first.foreign
                )
        return found

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The arrays of the constants that could be read."""
        return {constant.name: constant.data for constant in self.constants if constant.data is not None}
