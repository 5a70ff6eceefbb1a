"""Plain kernels: one function per node, from the definition of its operator, on static arrays alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from sonnx.derive.domains import domain_of
from sonnx.derive.plain_c import plain
from sonnx.derive.plain_terms import NoPlainError
from sonnx.emit.errors import EmitError
from sonnx.emit.layout import CFunction, Layout, node_comment, ports, share, weights_of
from sonnx.emit.names import prefix, shown, word
from sonnx.emit.places import Place
from sonnx.emit.types import c_type
from sonnx.model.graph import Graph, Node
from sonnx.plan.program import Defined, definitions
from sonnx.plan.slots import Lifetime
from sonnx.vocabulary.plain import PlainRequest, PlainText


@dataclass(frozen=True, eq=False)
class Draft:
    """A node of the graph, where it is, and the step of the plan that executes it by its definition."""

    place: Place
    node: Node
    step: Defined

    @property
    def function(self) -> str:
        """Its function in C."""
        return f"node_{self.place.label}_{word(self.node.name) or self.step.operator.folder}"

    @property
    def inputs(self) -> dict[str, str]:
        """The tensors that it reads by operand, without those that only decide a shape."""
        settled = self.step.operator.contract.settled
        return {operand: name for operand, name in self.step.inputs.items() if operand not in settled}

    def empty(self, graph: Graph) -> bool:
        """Whether it makes no element."""
        return not any(prod(graph.types[name].sizes or ()) for name in self.step.writes)


def require_types(graph: Graph) -> None:
    """Raise EmitError where a tensor's elements have no place in C."""
    for name, kind in graph.types.items():
        c_type(kind, name)


def lay_out(graph: Graph, places: Sequence[Place], accumulate: str) -> Layout:
    """Lay out a conforming graph without functions, of whose nodes it is known where they are in the model.

    Raises EmitError where something has no place in C.
    """
    require_types(graph)
    steps = definitions(graph, accumulate)
    drafts = [Draft(places[number], graph.nodes[number], step) for number, step in steps]
    begin, outputs = prefix(graph.name), [value.name for value in graph.outputs]
    read = {name for draft in drafts for name in draft.inputs.values()} | set(outputs)
    weights, loaded = weights_of(
        begin, ((each.name, each.type, each.data) for each in graph.constants if each.name in read)
    )
    arrays = {weight.tensor: weight.expression for weight in weights}
    memory = share(_lifetimes(graph, drafts, arrays))
    arrays |= memory.names
    written = [text_of(graph, begin, draft, arrays) for draft in drafts]
    return Layout(
        begin,
        graph,
        ports("in", [value.name for value in graph.inputs], graph),
        ports("out", outputs, graph),
        weights,
        tuple(function(graph, draft, text) for draft, text in zip(drafts, written, strict=True)),
        arrays,
        memory,
        helpers(written),
        words(written),
        loaded,
    )


def helpers(written: Sequence[PlainText]) -> tuple[str, ...]:
    """What functions of nodes need of the package and of C."""
    return tuple(sorted({name for each in written for name in each.helpers}))


def words(written: Sequence[PlainText]) -> dict[str, str]:
    """The functions that several nodes may call."""
    return {name: text for each in written for name, text in each.words.items()}


def _lifetimes(graph: Graph, drafts: Sequence[Draft], weights: Mapping[str, str]) -> list[Lifetime]:
    """When each tensor is made and needed for the last time; step 0 copies inputs, the last one outputs."""
    first = {value.name: 0 for value in graph.inputs}
    last = dict(first)
    for step, draft in enumerate(drafts, start=1):
        first |= dict.fromkeys(draft.step.writes, step)
        last |= dict.fromkeys((*draft.inputs.values(), *draft.step.writes), step)
    last |= {value.name: len(drafts) + 1 for value in graph.outputs}
    unused = idle(graph)
    return [
        Lifetime(
            name,
            c_type(graph.types[name], name).name,
            max(prod(graph.types[name].sizes or ()), 1),
            step,
            last[name],
        )
        for name, step in first.items()
        if name not in weights and name not in unused
    ]


def idle(graph: Graph) -> set[str]:
    """Tensors without elements, which no plain kernel mentions: nobody would use an array for them."""
    return {name for name, kind in graph.types.items() if 0 in (kind.sizes or ())}


def text_of(graph: Graph, begin: str, draft: Draft, arrays: Mapping[str, str]) -> PlainText:
    """The C of a node; `arrays` has the C expression of every tensor. Raises EmitError where it has none."""
    step = draft.step
    if draft.empty(graph):
        body = f"static void {draft.function}(void)\n{{\n    /* It makes no element. */\n}}"
        return PlainText(f"/*@ assigns \\nothing; */\n{body}")
    tensors = {**step.inputs, **step.outputs}
    request = PlainRequest(
        draft.function,
        {operand: graph.types[name] for operand, name in step.inputs.items()},
        {operand: graph.types[name] for operand, name in step.outputs.items()},
        step.attributes,
        step.constants,
        {operand: arrays[name] for operand, name in tensors.items() if name in arrays},
        begin,
        guarded=not _is_checked(graph, step),
    )
    try:
        return plain(step.operator, request)
    except NoPlainError as error:
        raise EmitError(f"{shown(draft.node.operator)}: {error}") from error


def _is_checked(graph: Graph, step: Defined) -> bool:
    """Whether a domain hangs on constants of the model alone: the check has found nothing outside it."""
    domain = domain_of(step.operator)
    constants = {constant.name for constant in graph.constants}
    return domain is not None and all(step.inputs[operand] in constants for operand in domain.operands)


def function(graph: Graph, draft: Draft, text: PlainText) -> CFunction:
    """The function of a node, under what it takes and makes in the model."""
    comment = f"/* {node_comment(graph, draft.place, draft.node)} */"
    nodes = ((draft.place, draft.node),)
    code = f"{comment}\n{text.text}"
    return CFunction(draft.function, nodes, draft.step.writes, code, text.guard, text.outside)
