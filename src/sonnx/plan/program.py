"""From a graph to a program: kernel calls in order, on buffers, with constants folded and Clips fused."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.inline import flatten
from sonnx.model.kernel import KernelCall, KernelRequest, Kernels, Scratch
from sonnx.model.operator import Operator, operand_names
from sonnx.model.order import given_order
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators import node_operator
from sonnx.plan.slots import Lifetime

# What every buffer begins at a multiple of: a cache line, and the widest vector.
ALIGNMENT = 64


@dataclass(frozen=True)
class Definition:
    """A node that no kernel executes: its definition does. Buffers are named by operand."""

    operator: Operator
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    attributes: Mapping[str, Any]

    @property
    def reads(self) -> tuple[str, ...]:
        """The buffers it needs."""
        return tuple(self.inputs.values())

    @property
    def writes(self) -> tuple[str, ...]:
        """The buffers it fills."""
        return tuple(self.outputs.values())


Step = KernelCall | Definition


@dataclass(frozen=True)
class Buffer:
    """Memory for a tensor, or for what kernels need in between."""

    dtype: DType
    elements: int
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Its size; text is held by Python, not here."""
        return 0 if self.dtype is DType.STRING else self.elements * numpy_dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Program:
    """What a graph comes to.

    `once` are the steps on constants alone: their results are constants too. `steps` are done at every run.
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: Mapping[str, Array]
    once: tuple[Step, ...]
    steps: tuple[Step, ...]
    buffers: Mapping[str, Buffer]
    accumulate: str
    threads: int

    @property
    def defines(self) -> bool:
        """Whether definitions are executed, which need memory of their own."""
        return any(isinstance(step, Definition) for step in (*self.once, *self.steps))

    @property
    def folded(self) -> tuple[str, ...]:
        """The buffers that `once` fills."""
        return tuple(dict.fromkeys(name for step in self.once for name in step.writes))

    @property
    def remaining(self) -> tuple[str, ...]:
        """The constants that runs need, of the model and folded, in an order of the model's own."""
        needed = {name for step in self.steps for name in step.reads} | {value.name for value in self.outputs}
        return tuple(name for name in dict.fromkeys((*self.constants, *self.folded)) if name in needed)

    def temporaries(self) -> list[Lifetime]:
        """The buffers that live only while the program runs; sizes in bytes."""
        outside = {*self.constants, *self.folded, *(value.name for value in (*self.inputs, *self.outputs))}
        return lifetimes(self.steps, self.buffers, outside)


def lifetimes(steps: Sequence[Step], buffers: Mapping[str, Buffer], outside: set[str]) -> list[Lifetime]:
    """From which step to which one each buffer is needed, but for those that come from outside."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for number, step in enumerate(steps):
        for name in (*step.reads, *step.writes):
            if name not in outside:
                first.setdefault(name, number)
                last[name] = number
    return [
        Lifetime(name, "bytes", -(-buffers[name].bytes // ALIGNMENT) * ALIGNMENT, first[name], last[name])
        for name in first
        if buffers[name].dtype is not DType.STRING
    ]


def program(graph: Graph, accumulate: str, *, threads: int = 1, vector_bytes: int = 32) -> Program:
    """Plan a graph that has been found to conform."""
    flat = flatten(graph).graph
    planned = _Planned({}, [], [], set())
    for constant in flat.constants:
        planned.constant.add(constant.name)
    for name, kind in flat.types.items():
        planned.buffers[name] = _buffer(kind)
    plan = _Planner(flat, planned, accumulate, threads, vector_bytes)
    begin = _prefix(flat)
    for number, (node, clip) in enumerate(_fused(flat)):
        plan.add(node, clip, f"{begin}{number}.")
    return Program(
        flat.inputs,
        flat.outputs,
        {constant.name: constant.data for constant in flat.constants},
        tuple(planned.once),
        tuple(planned.steps),
        planned.buffers,
        accumulate,
        threads,
    )


@dataclass(frozen=True)
class _Planned:
    """What has been planned so far; `constant` names the buffers whose content no input changes."""

    buffers: dict[str, Buffer]
    once: list[Step]
    steps: list[Step]
    constant: set[str]


def _buffer(kind: TensorType) -> Buffer:
    assert kind.dtype is not None  # the graph conforms
    shape = kind.sizes or ()
    return Buffer(kind.dtype, prod(shape), shape)


def _fused(graph: Graph) -> Iterator[tuple[Node, Node | None]]:
    """The nodes in order; a Clip that limits what it alone takes from a kernel comes with that node."""
    uses = Counter(name for node in graph.nodes for name in node.inputs)
    uses.update(value.name for value in graph.outputs)
    makers = {
        node.outputs[0]: node
        for node in graph.nodes
        if (operator := node_operator(node, graph.dialect)) is not None and operator.fuses_clip
    }
    order = [graph.nodes[index] for index in given_order(graph.nodes)]
    pairs: dict[int, Node] = {}
    for node in order:
        operator = node_operator(node, graph.dialect)
        if operator is not None and operator.name == "Clip" and uses[node.inputs[0]] == 1:
            maker = makers.get(node.inputs[0])
            if maker is not None and node.inputs[0] not in node.inputs[1:]:
                pairs[id(node)] = maker
    taken = {id(maker) for maker in pairs.values()}
    for node in order:
        if id(node) in pairs:
            yield pairs[id(node)], node
        elif id(node) not in taken:
            yield node, None


@dataclass(frozen=True)
class _Planner:
    """Adds the steps of nodes to a plan."""

    graph: Graph
    planned: _Planned
    accumulate: str
    threads: int
    vector_bytes: int

    def add(self, node: Node, clip: Node | None, prefix: str) -> None:
        """Add one node, and the Clip that is done with it where kernels can."""
        operator = node_operator(node, self.graph.dialect)
        assert operator is not None  # the graph conforms
        request = self._request(operator, node, clip, prefix)
        found = None if operator.kernels is None else operator.kernels(request)
        if found is not None:
            _add_kernels(self.planned, found, self.threads)
        elif clip is not None:
            self.add(node, None, prefix)
            self.add(clip, None, f"{prefix}clip.")
        else:
            _add(self.planned, Definition(operator, request.inputs, request.outputs, request.attributes))

    def _request(self, operator: Operator, node: Node, clip: Node | None, prefix: str) -> KernelRequest:
        contract = operator.contract
        operands = zip(operand_names(contract.inputs, len(node.inputs)), node.inputs, strict=False)
        modes = [attribute.name for attribute in contract.attributes if attribute.mode]
        return KernelRequest(
            {operand: name for operand, name in operands if name},
            {contract.outputs[0].name: (node if clip is None else clip).outputs[0]},
            self.graph.types,
            {**node.attributes, **dict.fromkeys(modes, self.accumulate)},
            prefix,
            self.vector_bytes,
            self.threads,
            None if clip is None else (clip.inputs[1], clip.inputs[2]),
        )


def _prefix(graph: Graph) -> str:
    """A beginning that no tensor's name has."""
    return "." * (1 + max((len(name) - len(name.lstrip(".")) for name in graph.types), default=0))


def _add_kernels(planned: _Planned, found: Kernels, threads: int) -> None:
    for scratch in found.scratch:
        planned.buffers[scratch.name] = _scratch(scratch, threads)
    for call in found.calls:
        _add(planned, call)


def _scratch(scratch: Scratch, threads: int) -> Buffer:
    elements = scratch.elements * (threads if scratch.per_thread else 1)
    return Buffer(scratch.dtype, elements, (elements,))


def _add(planned: _Planned, step: Step) -> None:
    """Add a step where it belongs: before the first run if it needs constants alone, else to every run."""
    if planned.constant.issuperset(step.reads):
        planned.once.append(step)
        planned.constant.update(step.writes)
    else:
        planned.steps.append(step)
