"""A graph executed by its definitions: each node once all its inputs are defined (D-GRAPH-1)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal

import numpy as np

from sonnx.check.inference import node_call
from sonnx.model.dtype import IEEE, DType
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.inline import flatten
from sonnx.model.location import Location
from sonnx.model.operator import Operator, operand_names
from sonnx.model.order import given_order, random_order
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, RealArray, describe, finish, hold, numpy_dtype
from sonnx.numeric.environment import require_ieee
from sonnx.numeric.real import real
from sonnx.operators import node_operator
from sonnx.report.text import printable

Domain = Literal["ieee", "real"]
Accumulate = Literal["separate", "fused"]
Order = Literal["given", "random"]

DEFAULT_MEMORY = 4 * 2**30
# A fraction takes about this much.
_REAL_BYTES = 150
_STRING_BYTES = 60
_NARROW = (DType.FLOAT16, DType.BFLOAT16)


class InputError(ValueError):
    """What was given to a run is not what the model takes; the text names every difference."""


class MemoryLimitError(ValueError):
    """A run would need more memory than its limit; nothing was computed."""


@dataclass(frozen=True)
class Step:
    """One executed node: `number` of `total`, and the tensors it made, by name."""

    number: int
    total: int
    node: Node
    location: Location
    results: Mapping[str, Array]


@dataclass(frozen=True)
class Settings:
    """How to execute: the domain, the roundings of sums, the order of nodes, the memory allowed."""

    domain: Domain = "ieee"
    accumulate: Accumulate = "separate"
    order: Order = "given"
    seed: int = 0
    memory: int = DEFAULT_MEMORY

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        for name, value, known in (
            ("domain", self.domain, ("ieee", "real")),
            ("accumulate", self.accumulate, ("separate", "fused")),
            ("order", self.order, ("given", "random")),
        ):
            if value not in known:
                raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")


def execute(
    graph: Graph,
    inputs: Mapping[str, Any],
    settings: Settings,
    watch: Callable[[Step], None] | None = None,
) -> dict[str, Array]:
    """Execute a graph that has been found to conform; `watch` is called after every node.

    Raises InputError where the arrays are not what the graph takes, MemoryLimitError where it needs too much.
    """
    flat = flatten(graph)
    nodes = flat.graph.nodes
    order = given_order(nodes) if settings.order == "given" else random_order(nodes, settings.seed)
    _require_memory(flat.graph, order, settings)
    require_ieee()
    tensors = _given(flat.graph, inputs, settings.domain)
    outputs = [value.name for value in graph.outputs]
    uses = _uses(flat.graph)
    for number, index in enumerate(order, start=1):
        node = nodes[index]
        operator = node_operator(node, graph.dialect)
        assert operator is not None  # the graph conforms
        results = _execute(operator, node, tensors, settings, flat.graph.types)
        tensors |= results
        if watch is not None:
            shown = {name: _read_only(array) for name, array in results.items()}
            watch(Step(number, len(order), node, flat.locations[index], shown))
        for name in _last_used(node, uses):
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


def _uses(graph: Graph) -> Counter[str]:
    """How many nodes and outputs are still to come that need each tensor."""
    uses = Counter(name for node in graph.nodes for name in set(node.inputs) if name)
    return uses + Counter(value.name for value in graph.outputs)


def _last_used(node: Node, uses: Counter[str]) -> list[str]:
    """The tensors that nobody needs once a node has run; counts the node's own uses."""
    taken = dict.fromkeys(name for name in node.inputs if name)
    for name in taken:
        uses[name] -= 1
    made = [name for name in node.outputs if name]
    return [name for name in (*taken, *made) if uses[name] == 0]


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
    with np.errstate(all="ignore"):  # infinities and NaNs are results here, not accidents
        results = operator.meaning(arrays, attributes)
    made = zip(operator.contract.outputs, node.outputs, strict=False)
    return {
        name: finish(results[operand.name], _held_as(types[name], settings.domain))
        for operand, name in made
        if name
    }


def _held_as(kind: TensorType, domain: Domain) -> DType | None:
    """In the real domain floats are real numbers; integers, booleans and text are exact already.

    Operators of ONNX only move bfloat16; XLA operations calculate with it.
    """
    lifted = kind.dtype in IEEE or (kind.dtype is DType.BFLOAT16 and kind.dialect == "xla")
    return DType.REAL if domain == "real" and lifted else kind.dtype


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
        known = ", ".join(f"{value.name}: {value.type}" for value in values) or "none"
        raise InputError("\n".join(printable(line) for line in (*problems, f"inputs of the model: {known}")))


def _matched(
    values: Sequence[Value], inputs: Mapping[str, Any], domain: Domain
) -> tuple[dict[str, Array], list[str]]:
    """The arrays that have the types the model takes, and what is wrong with the rest."""
    if not isinstance(inputs, Mapping):
        return {}, ["give the inputs by name, as a dict of arrays"]
    wanted = {value.name: value.type for value in values}
    problems = [f"`{name}` is no input of the model" for name in inputs if name not in wanted]
    arrays: dict[str, Array] = {}
    for name, kind in wanted.items():
        found, array = describe(inputs.get(name))
        exact = found.dtype is DType.REAL and _held_as(kind, domain) is DType.REAL
        if name not in inputs:
            problems.append(f"`{name}` is missing; it must be {kind}")
        elif array is None or found.sizes != kind.sizes or not (found.dtype is kind.dtype or exact):
            spelled = replace(found, dialect=kind.dialect)
            problems.append(f"`{name}` must be {kind}, not {spelled}; nothing is converted")
        else:
            arrays[name] = array
    return arrays, problems


def _lifted(name: str, array: Array, kind: TensorType, domain: Domain) -> Array:
    held = _held_as(kind, domain)
    if held is not DType.REAL or isinstance(array, RealArray):
        return array if held is None else hold(array, held)
    try:
        return real(array)
    except ValueError as error:
        reason = str(error).removeprefix("sonnx.real: ")
        raise InputError(f"`{name}` cannot be taken into the reals: {reason}") from None


def require_memory(graph: Graph, settings: Settings) -> None:
    """Raise MemoryLimitError where the tensors of a graph would take more than is allowed."""
    flat = flatten(graph).graph
    _require_memory(flat, given_order(flat.nodes), settings)


def _require_memory(graph: Graph, order: Sequence[int], settings: Settings) -> None:
    """Refuse a run whose tensors, as they live and die, would exceed the limit."""
    uses = _uses(graph)
    sizes = {name: _bytes(kind, settings.domain) for name, kind in graph.types.items()}
    alive = {value.name for value in graph.inputs} | {constant.name for constant in graph.constants}
    total = most = sum(sizes[name] for name in alive)
    for index in order:
        node = graph.nodes[index]
        total += sum(sizes[name] for name in set(node.outputs) if name)
        most = max(most, total + _working_bytes(graph, node, settings))
        total -= sum(sizes[name] for name in _last_used(node, uses))
    # At the end each result is copied where others could write to it too.
    most = max(most, total + max((sizes[value.name] for value in graph.outputs), default=0))
    if most > settings.memory:
        raise MemoryLimitError(
            f"running the model takes up to {most:,} bytes for tensors, allowed are {settings.memory:,}; "
            "allow more if the machine has it"
        )


def _working_bytes(graph: Graph, node: Node, settings: Settings) -> int:
    """What a definition takes for copies of its inputs and outputs, and for what it makes in between."""
    kinds = [graph.types[name] for name in {*node.inputs, *node.outputs} if name]
    operator = node_operator(node, graph.dialect)
    working = (
        ()
        if operator is None
        else operator.contract.working_types(node_call(operator, node, graph.types, {}))
    )
    if not working:
        return sum(_bytes(kind, settings.domain) for kind in kinds)
    # Sums of two-byte floats are held as float, and so is all that they are made of.
    wide = 3 if working[0].dtype in _NARROW else 1
    return wide * sum(_bytes(kind, settings.domain) for kind in (*kinds, *working))


def _bytes(kind: TensorType, domain: Domain) -> int:
    held = _held_as(kind, domain)
    number = prod(kind.sizes or ())
    if held is DType.REAL:
        return number * _REAL_BYTES
    return number * (_STRING_BYTES if held is None or held is DType.STRING else numpy_dtype(held).itemsize)
