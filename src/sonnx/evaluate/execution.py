"""A graph executed by its definitions: each node once all its inputs are defined (D-GRAPH-1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from sonnx.derive.evaluate import evaluate
from sonnx.evaluate.memory import (
    DEFAULT_MEMORY,
    Domain,
    MemoryLimitError,
    TooLongError,
    held_as,
    last_used,
    require_limits,
    tensor_uses,
)
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.location import Location
from sonnx.model.order import given_order, random_order
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, RealArray, describe, finish, hold
from sonnx.numeric.balls import DEFAULT_PRECISION, precise, require_precision
from sonnx.numeric.environment import require_ieee
from sonnx.numeric.real import real
from sonnx.operators import node_operator
from sonnx.operators.composing import executable
from sonnx.report.outside import domain_error
from sonnx.report.text import inputs_text, printable, short
from sonnx.vocabulary.operator import Operator, operand_names
from sonnx.vocabulary.outside import OutsideError

Accumulate = Literal["separate", "fused"]
Order = Literal["given", "random"]

# The limits belong to whoever executes.
__all__ = [
    "DEFAULT_MEMORY",
    "Accumulate",
    "Domain",
    "ExecutedNode",
    "InputError",
    "MemoryLimitError",
    "Order",
    "Settings",
    "TooLongError",
    "execute",
    "require_inputs",
    "require_memory",
]


class InputError(ValueError):
    """What was given to a run is not what the model takes; the text names every difference."""


@dataclass(frozen=True)
class ExecutedNode:
    """One executed node: `number` of `total`, and the tensors it made, by name."""

    number: int
    total: int
    node: Node
    location: Location
    results: Mapping[str, Array]


@dataclass(frozen=True)
class Settings:
    """How to execute: the domain, the roundings of sums, the order of nodes, the memory allowed.

    `precision` is that of real numbers that are no fractions, in bits.
    """

    domain: Domain = "ieee"
    accumulate: Accumulate = "separate"
    order: Order = "given"
    seed: int = 0
    memory: int = DEFAULT_MEMORY
    precision: int = DEFAULT_PRECISION

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        for name, value, known in (
            ("domain", self.domain, ("ieee", "real")),
            ("accumulate", self.accumulate, ("separate", "fused")),
            ("order", self.order, ("given", "random")),
        ):
            if value not in known:
                raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        if require_precision(self.precision) != DEFAULT_PRECISION and self.domain != "real":
            raise ValueError('precision is for the domain "real": floats have that of their type')


def execute(
    graph: Graph,
    inputs: Mapping[str, Any],
    settings: Settings,
    watch: Callable[[ExecutedNode], None] | None = None,
) -> dict[str, Array]:
    """Execute a graph that has been found to conform; `watch` is called after every node.

    Raises InputError where the arrays are not what the graph takes, MemoryLimitError where it needs too much,
    DomainError where an operator is not defined for an element.
    """
    flat = executable(graph)
    nodes = flat.graph.nodes
    order = given_order(nodes) if settings.order == "given" else random_order(nodes, settings.seed)
    require_limits(flat, order, settings.domain, settings.memory)
    require_ieee()
    tensors = _given(flat.graph, inputs, settings.domain)
    if settings.domain == "real":  # how long exact numbers become hangs on those that are given
        require_limits(flat, order, settings.domain, settings.memory, tensors)
    outputs = [value.name for value in graph.outputs]
    uses = tensor_uses(flat.graph)
    for number, index in enumerate(order, start=1):
        node = nodes[index]
        operator = node_operator(node, graph.dialect)
        assert operator is not None  # the graph conforms
        try:
            results = _execute(operator, node, tensors, settings, flat.graph.types)
        except OutsideError as error:
            raise domain_error(error.outside, flat.locations[index]) from None
        tensors |= results
        if watch is not None:
            shown = {name: _read_only(array) for name, array in results.items()}
            watch(ExecutedNode(number, len(order), node, flat.locations[index], shown))
        for name in last_used(node, uses):
            del tensors[name]  # a tensor that nobody needs any more gives its memory back
    require_ieee()
    made = {name for node in nodes for name in node.outputs}
    return {name: _own(tensors.pop(name), name in made) for name in outputs}


def _read_only(array: Array) -> Array:
    """A view that whoever watches cannot write through: it may share memory with inputs."""
    view = array.view()
    view.setflags(write=False)
    return view


def _own(array: Array, computed: bool) -> Array:
    """A result that shares no memory with inputs, constants or itself: the caller may write to it."""
    alone = computed and array.flags.owndata and array.flags.writeable
    return array if alone else array.copy()


def _execute(
    operator: Operator,
    node: Node,
    tensors: Mapping[str, Array],
    settings: Settings,
    types: Mapping[str, TensorType],
) -> dict[str, Array]:
    """Run the definition of one operator."""
    operands = zip(operand_names(operator.contract.inputs, len(node.inputs)), node.inputs, strict=False)
    arrays = {operand: tensors[name] for operand, name in operands if name}
    modes = [attribute.name for attribute in operator.contract.attributes if attribute.mode]
    attributes = {**node.attributes, **{name: getattr(settings, name) for name in modes}}
    # Infinities and NaNs are results here, not accidents.
    with np.errstate(all="ignore"), precise(settings.precision):
        results = evaluate(operator, arrays, attributes)
    made = zip(operand_names(operator.contract.outputs, len(results)), node.outputs, strict=False)
    return {
        name: finish(results[operand], held_as(types[name], settings.domain))
        for operand, name in made
        if name
    }


def require_inputs(values: Sequence[Value], inputs: Mapping[str, Any], domain: Domain) -> dict[str, Array]:
    """The arrays that a model takes; raises InputError where they are not, without a look at elements."""
    arrays, problems = _matched(values, inputs, domain)
    _refuse(problems, values)
    return arrays


def _given(graph: Graph, inputs: Mapping[str, Any], domain: Domain) -> dict[str, Array]:
    """The tensors that are there before the first node: constants and what the caller gives."""
    arrays, problems = _matched(graph.inputs, inputs, domain)
    held = [(name, array, graph.types[name]) for name, array in arrays.items()]
    held += [(constant.name, constant.data, constant.type) for constant in graph.constants]
    tensors: dict[str, Array] = {}
    for name, array, kind in held:
        try:
            tensors[name] = _lifted(name, array, kind, domain)
        except InputError as problem:
            problems.append(str(problem))
    _refuse(problems, graph.inputs)
    return tensors


def _refuse(problems: Sequence[str], values: Sequence[Value]) -> None:
    if problems:
        known = inputs_text((value.name, value.type) for value in values)
        raise InputError("\n".join(printable(line) for line in (*problems, known)))


def _matched(
    values: Sequence[Value], inputs: Mapping[str, Any], domain: Domain
) -> tuple[dict[str, Array], list[str]]:
    """The arrays that have the types the model takes, and what is wrong with the rest."""
    if not isinstance(inputs, Mapping):
        return {}, ["give the inputs by name, as a dict of arrays"]
    wanted = {value.name: value.type for value in values}
    problems = [f"`{short(name)}` is no input of the model" for name in inputs if name not in wanted]
    arrays: dict[str, Array] = {}
    for name, kind in wanted.items():
        found, array = describe(inputs.get(name))
        exact = found.dtype is DType.REAL and held_as(kind, domain) is DType.REAL
        if name not in inputs:
            problems.append(f"`{short(name)}` is missing; it must be {short(kind)}")
        elif array is None or found.sizes != kind.sizes or not (found.dtype is kind.dtype or exact):
            spelled = replace(found, dialect=kind.dialect)
            problems.append(
                f"`{short(name)}` must be {short(kind)}, not {short(spelled)}; nothing is converted"
            )
        else:
            arrays[name] = array
    return arrays, problems


def _lifted(name: str, array: Array, kind: TensorType, domain: Domain) -> Array:
    held = held_as(kind, domain)
    if held is not DType.REAL or isinstance(array, RealArray):
        return array if held is None else hold(array, held)
    try:
        return real(array)
    except ValueError as error:
        reason = str(error).removeprefix("sonnx.real: ")
        raise InputError(f"`{short(name)}` cannot be taken into the reals: {reason}") from None


def require_memory(graph: Graph, settings: Settings) -> None:
    """Raise MemoryLimitError where the tensors of a graph would take more than is allowed."""
    flat = executable(graph)
    require_limits(flat, given_order(flat.graph.nodes), settings.domain, settings.memory)
