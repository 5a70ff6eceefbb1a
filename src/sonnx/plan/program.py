"""From a graph to a program: kernel calls in order, on buffers, with constants folded and nodes fused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from sonnx.derive.fast_c import kernels
from sonnx.derive.fast_domains import FOUND, NoScanError, guarded, scan
from sonnx.derive.loops import Tree, following, loop
from sonnx.derive.views import View
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.location import Location
from sonnx.model.order import given_order
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.operators import node_operator
from sonnx.operators.composing import executable
from sonnx.plan.fusion import Asked, Fused, Work, fused, one_by_one
from sonnx.plan.slots import Lifetime
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels, Scratch
from sonnx.vocabulary.operator import Operator, operand_names

# What every buffer begins at a multiple of: a cache line, and the widest vector.
ALIGNMENT = 64


@dataclass(frozen=True)
class Defined:
    """A node that no kernel executes: its definition does. Buffers are named by operand.

    `constants` has the elements of operands that decide a shape.
    """

    operator: Operator
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    attributes: Mapping[str, Any]
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    # The node in the model.
    location: Location | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The buffers it needs."""
        return tuple(self.inputs.values())

    @property
    def writes(self) -> tuple[str, ...]:
        """The buffers it fills."""
        return tuple(self.outputs.values())


@dataclass(frozen=True)
class Guard:
    """Ends a run where the call before it has met an element outside a domain (D-ALL-11).

    `found` is the buffer which that call fills; `inputs` are those of the node, by operand.
    """

    operator: Operator
    inputs: Mapping[str, str]
    found: str
    location: Location | None = None
    writes: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The buffers it needs: the elements are shown."""
        return (self.found, *self.inputs.values())


Step = KernelCall | Defined | Guard


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

    `once` are the steps on constants alone: their results are constants too. `steps` are done at every run;
    `nodes` has for each of them the numbers of the nodes that it executes, several that are done together.
    """

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: Mapping[str, Array]
    once: tuple[Step, ...]
    steps: tuple[Step, ...]
    nodes: tuple[tuple[int, ...], ...]
    buffers: Mapping[str, Buffer]
    accumulate: str
    threads: int

    @property
    def defines(self) -> bool:
        """Whether definitions are executed, which need memory of their own."""
        return any(isinstance(step, Defined) for step in (*self.once, *self.steps))

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


def definitions(graph: Graph, accumulate: str) -> tuple[tuple[int, Defined], ...]:
    """The nodes of a graph as engines take it, by number and in order, each executed by its definition."""
    constants = {constant.name: constant.data for constant in graph.constants}
    places = executable(graph).locations
    planner = _Planner(graph, constants, _Planned({}, [], [], set()), accumulate, 1, 0, places)
    order = given_order(graph.nodes)
    return tuple((number, planner.definition(number)) for number in order)


def program(
    graph: Graph, accumulate: str, *, threads: int = 1, vector_bytes: int = 32, fuse: bool = True
) -> Program:
    """Plan a graph that has been found to conform; without `fuse` every node makes its tensors in memory."""
    made = executable(graph)
    flat = made.graph
    planned = _Planned({}, [], [], set())
    for constant in flat.constants:
        planned.constant.add(constant.name)
    for name, kind in flat.types.items():
        planned.buffers[name] = _buffer(kind)
    constants = {constant.name: constant.data for constant in flat.constants}
    plan = _Planner(flat, constants, planned, accumulate, threads, vector_bytes, made.locations)
    begin = _prefix(flat)
    found = plan.works(fuse=fuse)
    for place, work in enumerate(found.works):
        plan.add(work, found.views, f"{begin}{place}.")
    return Program(
        flat.inputs,
        flat.outputs,
        constants,
        tuple(planned.once),
        tuple(step for step, _ in planned.steps),
        tuple(numbers for _, numbers in planned.steps),
        planned.buffers,
        accumulate,
        threads,
    )


@dataclass(frozen=True)
class _Planned:
    """What has been planned so far; `constant` names the buffers whose content no input changes."""

    buffers: dict[str, Buffer]
    once: list[Step]
    steps: list[tuple[Step, tuple[int, ...]]]
    constant: set[str]


def _buffer(kind: TensorType) -> Buffer:
    assert kind.dtype is not None  # the graph conforms
    shape = kind.sizes or ()
    return Buffer(kind.dtype, prod(shape), shape)


def _operator(node: Node, graph: Graph) -> Operator:
    operator = node_operator(node, graph.dialect)
    assert operator is not None  # the graph conforms
    return operator


@dataclass(frozen=True)
class _Planner:
    """Adds the steps of nodes to a plan."""

    graph: Graph
    constants: Mapping[str, Array]
    planned: _Planned
    accumulate: str
    threads: int
    vector_bytes: int
    locations: Sequence[Location]

    def works(self, *, fuse: bool) -> Fused:
        """Which nodes are done together."""
        order = given_order(self.graph.nodes)
        asked = {}
        for number in order:
            node = self.graph.nodes[number]
            operator = _operator(node, self.graph)
            asked[number] = Asked(operator, self._request(operator, node, ""))
        return fused(self.graph, order, asked) if fuse else one_by_one(order, asked)

    def add(self, work: Work, views: Mapping[str, View], prefix: str) -> None:
        """Add what is done at once, if kernels can; else one after the other."""
        if work.sums is not None:
            self._add_sums(work, work.sums, views, prefix)
        elif work.parts:
            self._add_loop(work, views, prefix)
        else:
            (number,) = work.numbers
            node = self.graph.nodes[number]
            operator = _operator(node, self.graph)
            request = self._request(operator, node, prefix)
            found = kernels(operator, request)
            if found is not None and self._is_guarded(operator, request, work.numbers):
                _add_kernels(self.planned, found, self.threads, work.numbers)
            else:
                _add(self.planned, self.definition(number), work.numbers)

    def _add_loop(self, work: Work, views: Mapping[str, View], prefix: str) -> None:
        node = self.graph.nodes[work.numbers[-1]]
        request = self._request(_operator(node, self.graph), node, prefix)
        call = loop(Tree(work.parts, self.graph.types, views), request)
        _add(self.planned, call, work.numbers)

    def _add_sums(self, work: Work, sums: int, views: Mapping[str, View], prefix: str) -> None:
        """Add a node and the tree that is done with its elements, as they are made if its kernels can."""
        node = self.graph.nodes[sums]
        operator = _operator(node, self.graph)
        tree = Tree(work.parts, self.graph.types, views, node.outputs[0])
        request = self._request(operator, node, prefix)
        (first, *_) = request.outputs
        after = following(tree, request)
        found = kernels(
            operator, replace(request, outputs={**request.outputs, first: tree.output}, after=after)
        )
        if found is not None:
            _add_kernels(self.planned, found, self.threads, work.numbers)
        else:
            self.add(Work((sums,)), views, prefix)
            rest = tuple(number for number in work.numbers if number != sums)
            self.add(Work(rest, work.parts), views, f"{prefix}last.")

    def _is_guarded(self, operator: Operator, request: KernelRequest, numbers: tuple[int, ...]) -> bool:
        """Add what looks whether elements are in the domain; False where nothing but the definition can."""
        guard = guarded(operator, request)
        # Of constants of the model the check has found it out.
        if guard is None or self.constants.keys() >= {request.inputs[name] for name in guard.asked}:
            return True
        found = f"{request.prefix}outside"
        try:
            call = scan(operator, request, guard, found)
        except NoScanError:
            return False
        self.planned.buffers[found] = Buffer(FOUND, call.tasks, (call.tasks,))
        inputs = {name: request.inputs[name] for name in guard.operands}
        ends = Guard(operator, inputs, found, self.locations[numbers[0]])
        # Both at once, where all that an error shows is there.
        if self.planned.constant.issuperset(inputs.values()):
            self.planned.once.extend((call, ends))
        else:
            self.planned.steps.extend(((call, numbers), (ends, numbers)))
        return True

    def definition(self, number: int) -> Defined:
        """The step that executes a node by its definition."""
        node = self.graph.nodes[number]
        operator = _operator(node, self.graph)
        request = self._request(operator, node, "")
        return Defined(
            operator,
            request.inputs,
            request.outputs,
            request.attributes,
            self._constants(operator, node),
            self.locations[number],
        )

    def _request(self, operator: Operator, node: Node, prefix: str) -> KernelRequest:
        contract = operator.contract
        modes = [attribute.name for attribute in contract.attributes if attribute.mode]
        outputs = zip(operand_names(contract.outputs, len(node.outputs)), node.outputs, strict=False)
        return KernelRequest(
            _inputs(operator, node),
            {operand: name for operand, name in outputs if name},
            self.graph.types,
            {**node.attributes, **dict.fromkeys(modes, self.accumulate)},
            prefix,
            self.vector_bytes,
            self.threads,
            constants=self._constants(operator, node),
        )

    def _constants(self, operator: Operator, node: Node) -> dict[str, tuple[Any, ...]]:
        """The elements of operands that decide a shape."""
        return {
            operand: tuple(self.constants[name].reshape(-1).tolist())
            for operand, name in _inputs(operator, node).items()
            if operand in operator.contract.settled and name in self.constants
        }


def _inputs(operator: Operator, node: Node) -> dict[str, str]:
    """The tensors that a node takes, by operand."""
    operands = operand_names(operator.contract.inputs, len(node.inputs))
    return {operand: name for operand, name in zip(operands, node.inputs, strict=False) if name}


def _prefix(graph: Graph) -> str:
    """A beginning that no tensor's name has."""
    return "." * (1 + max((len(name) - len(name.lstrip(".")) for name in graph.types), default=0))


def _add_kernels(planned: _Planned, found: NodeKernels, threads: int, numbers: tuple[int, ...]) -> None:
    for scratch in found.scratch:
        planned.buffers[scratch.name] = _scratch(scratch, threads)
    for call in found.calls:
        _add(planned, call, numbers)


def _scratch(scratch: Scratch, threads: int) -> Buffer:
    elements = scratch.elements * (threads if scratch.per_thread else 1)
    return Buffer(scratch.dtype, elements, (elements,))


def _add(planned: _Planned, step: Step, numbers: tuple[int, ...]) -> None:
    """Add a step where it belongs: before the first run if it needs constants alone, else to every run."""
    if planned.constant.issuperset(step.reads):
        planned.once.append(step)
        planned.constant.update(step.writes)
    else:
        planned.steps.append((step, numbers))
