"""Plain kernels: one function per node from the template of its operator, on static arrays alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import prod

from sonnx.emit.acsl import same
from sonnx.emit.errors import EmitError
from sonnx.emit.layout import Function, Layout, node_comment, ports, share, weights_of
from sonnx.emit.names import prefix, shown, word
from sonnx.emit.template import fill
from sonnx.emit.types import c_type
from sonnx.model.graph import Graph, Node
from sonnx.model.names import Names
from sonnx.model.operator import Operator, operand_names
from sonnx.model.order import given_order
from sonnx.model.plain import PlainKernel, PlainRequest
from sonnx.model.tensor_type import TensorType
from sonnx.operators import node_operator
from sonnx.plan.slots import Lifetime


@dataclass(frozen=True, eq=False)
class Draft:
    """A node with the kernel that executes it; tensors by operand, but for those that only decide a shape."""

    number: int
    node: Node
    operator: Operator
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    kernel: PlainKernel
    empty: bool
    # What its scratch arrays are called among tensors.
    own: Mapping[str, str]

    @property
    def function(self) -> str:
        """Its function in C."""
        return f"node_{self.number}_{word(self.node.name) or self.operator.folder}"

    def scratch(self, step: int) -> list[Lifetime]:
        """The memory that it needs for itself."""
        return [
            Lifetime(
                self.own[each.name],
                c_type(TensorType(each.dtype, (each.elements,)), each.name).name,
                max(each.elements, 1),
                step,
                step,
            )
            for each in self.kernel.scratch
        ]


def drafted(graph: Graph, number: int, accumulate: str, names: Names) -> Draft:
    """Ask an operator for the plain kernel of a node; raises EmitError where it has none.

    `names` are those that tensors have.
    """
    node = graph.nodes[number]
    operator = node_operator(node, graph.dialect)
    if operator is None or operator.plain is None:
        raise EmitError(f"{shown(node.operator)} has no C; the operators of ONNX have")
    named = zip(operand_names(operator.contract.inputs, len(node.inputs)), node.inputs, strict=False)
    settled = {operand.name for operand in operator.contract.inputs if operand.constant}
    inputs = {operand: name for operand, name in named if name and operand not in settled}
    made = zip(operator.contract.outputs, node.outputs, strict=False)
    outputs = {operand.name: name for operand, name in made if name}
    modes = {each.name: accumulate for each in operator.contract.attributes if each.mode}
    request = PlainRequest(
        {operand: graph.types[name] for operand, name in inputs.items()},
        {operand: graph.types[name] for operand, name in outputs.items()},
        {**node.attributes, **modes},
    )
    empty = not all(prod(graph.types[name].sizes or ()) for name in outputs.values())
    kernel = operator.plain(request)
    own = {each.name: names.fresh(f"{each.name} of node {number}") for each in kernel.scratch}
    return Draft(number, node, operator, inputs, outputs, kernel, empty, own)


def require_types(graph: Graph) -> None:
    """Raise EmitError where a tensor's elements have no place in C."""
    for name, kind in graph.types.items():
        c_type(kind, name)


def lay_out(graph: Graph, accumulate: str) -> Layout:
    """Lay out a conforming graph without functions; raises EmitError where something has no place in C."""
    require_types(graph)
    names = Names(set(graph.types))
    drafts = [drafted(graph, number, accumulate, names) for number in given_order(graph.nodes)]
    begin, outputs = prefix(graph.name), [value.name for value in graph.outputs]
    read = {name for draft in drafts for name in draft.inputs.values()} | set(outputs)
    weights, loaded = weights_of(
        begin, ((each.name, each.type, each.data) for each in graph.constants if each.name in read)
    )
    arrays = {weight.tensor: weight.expression for weight in weights}
    memory = share(_lifetimes(graph, drafts, arrays))
    arrays |= memory.names
    return Layout(
        begin,
        graph,
        ports("in", [value.name for value in graph.inputs], graph),
        ports("out", outputs, graph),
        weights,
        tuple(function(graph, begin, draft, arrays) for draft in drafts),
        arrays,
        memory,
        helpers(drafts),
        loaded,
    )


def helpers(drafts: Sequence[Draft]) -> tuple[str, ...]:
    """What the functions of nodes need beside themselves."""
    return tuple(sorted({name for draft in drafts if not draft.empty for name in draft.kernel.helpers}))


def _lifetimes(graph: Graph, drafts: Sequence[Draft], weights: Mapping[str, str]) -> list[Lifetime]:
    """When each tensor is made and needed for the last time; step 0 copies inputs, the last one outputs."""
    first = {value.name: 0 for value in graph.inputs}
    last = dict(first)
    found: list[Lifetime] = []
    for step, draft in enumerate(drafts, start=1):
        first |= dict.fromkeys(draft.outputs.values(), step)
        last |= dict.fromkeys((*draft.inputs.values(), *draft.outputs.values()), step)
        found += [] if draft.empty else draft.scratch(step)
    last |= {value.name: len(drafts) + 1 for value in graph.outputs}
    unused = idle(graph)
    for name, step in first.items():
        if name not in weights and name not in unused:
            elements = max(prod(graph.types[name].sizes or ()), 1)
            found.append(Lifetime(name, c_type(graph.types[name], name).name, elements, step, last[name]))
    return found


def idle(graph: Graph) -> set[str]:
    """Tensors without elements, which no plain kernel mentions: nobody would use an array for them."""
    return {name for name, kind in graph.types.items() if 0 in (kind.sizes or ())}


@cache
def _template(source: str) -> str:
    return files("sonnx.operators").joinpath(*source.split("/")).read_text(encoding="utf-8")


def function(graph: Graph, begin: str, draft: Draft, arrays: Mapping[str, str]) -> Function:
    """The C of one node; `arrays` has the C expression of every tensor and scratch array."""
    comment = f"/* {node_comment(graph, draft.number, draft.node)} */"
    made = tuple(draft.outputs.values())
    nodes = ((draft.number, draft.node),)
    if draft.empty:
        body = f"static void {draft.function}(void)\n{{\n    /* It makes no element. */\n}}"
        return Function(draft.function, nodes, made, f"{comment}\n/*@ assigns \\nothing; */\n{body}")
    operands = (*draft.inputs.items(), *draft.outputs.items())
    names: dict[str, str | int] = {operand: arrays[name] for operand, name in operands if name in arrays}
    names |= {each.name: arrays[draft.own[each.name]] for each in draft.kernel.scratch}
    kind = c_type(graph.types[made[0]], made[0])
    names |= {"function": draft.function, "element": kind.spelled(begin), "same": same(kind.name)}
    # Values may name operands themselves.
    values = {
        key: fill(value, names) if isinstance(value, str) else value
        for key, value in draft.kernel.values.items()
    }
    body = fill(_template(draft.kernel.source), names | values, draft.kernel.flags).rstrip()
    return Function(draft.function, nodes, made, f"{comment}\n{body}")
