"""Fast kernels: the functions that the native engine compiles, called in the order of its plan."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from sonnx.derive.domains import domain_of
from sonnx.emit.layout import CFunction, Layout, node_comment, ports, share, weights_of
from sonnx.emit.names import prefix, word
from sonnx.emit.places import Place
from sonnx.emit.plain import Draft, function, helpers, idle, require_types, text_of, words
from sonnx.emit.template import fill, own
from sonnx.emit.types import c_type
from sonnx.model.graph import Graph, Node
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.plan.program import Buffer, Defined, Guard, Program, Step, lifetimes, program
from sonnx.plan.slots import Lifetime
from sonnx.plan.sources import kernel_source, shared_text
from sonnx.vocabulary.kernel import KernelCall

# The width of vectors in the emitted C; compilers make of it what the target has. Not that of the machine on
# which the project is written: the same model gives the same bytes everywhere.
VECTOR_BYTES = 32

# A program → every constant that its steps read, those included that follow from constants alone.
Fold = Callable[[Program], Mapping[str, Array]]


@dataclass(frozen=True, eq=False)
class _Group:
    """Steps that execute one node, or several that are done together."""

    nodes: tuple[tuple[Place, Node], ...]
    steps: tuple[Step, ...]
    # The first node that no other group has: what several read in place, an Expand, is in each of them.
    first: tuple[Place, Node]
    # Where the node's only step is its definition, the plain kernel is called instead.
    draft: Draft | None = None


def lay_out(graph: Graph, places: Sequence[Place], accumulate: str, fold: Fold) -> Layout:
    """Lay out a conforming graph without functions, of whose nodes it is known where they are in the model.

    Raises EmitError where something has no place in C.
    """
    require_types(graph)
    planned = program(graph, accumulate, threads=1, vector_bytes=VECTOR_BYTES)
    begin = prefix(graph.name)
    groups = list(_groups(graph, places, planned))
    constants = fold(planned)
    weights, loaded = weights_of(
        begin, ((name, _type(planned.buffers[name]), constants[name]) for name in planned.remaining)
    )
    inputs = ports("in", [value.name for value in graph.inputs], graph)
    outputs = ports("out", [value.name for value in graph.outputs], graph)
    # Nobody gets an output before it is known that no node will stop.
    early = _early(planned)
    in_place = [port for port in outputs if port.tensor not in early]
    arrays = {port.tensor: f"caller_{port.parameter}" for port in (*in_place, *inputs)}
    arrays |= {weight.tensor: weight.expression for weight in weights}
    memory = share(_temporaries(graph, planned, early))
    arrays |= memory.names
    written = {group: text_of(graph, begin, group.draft, arrays) for group in groups if group.draft}
    listed = [step for step in planned.steps if isinstance(step, KernelCall)]
    calls = {each.symbol: each for step in listed for each in (step, step.after) if each is not None}
    afters = {step.after.symbol for step in listed if step.after is not None}
    return Layout(
        begin,
        graph,
        inputs,
        outputs,
        weights,
        tuple(
            function(graph, group.draft, written[group])
            if group.draft
            else _function(graph, begin, group, arrays)
            for group in groups
        ),
        arrays,
        memory,
        helpers([*written.values()]),
        words([*written.values()]),
        loaded,
        tuple((places[number], graph.nodes[number]) for number in _folded(graph, planned)),
        dict(_files(begin, list(calls.values()), afters)),
    )


def _folded(graph: Graph, planned: Program) -> tuple[int, ...]:
    """The nodes that no step executes any more."""
    executed = {number for numbers in planned.nodes for number in numbers}
    return tuple(number for number in range(len(graph.nodes)) if number not in executed)


def _type(buffer: Buffer) -> TensorType:
    return TensorType(buffer.dtype, buffer.shape)


def _early(planned: Program) -> frozenset[str]:
    """The tensors that are made before a node that may stop."""
    stops = [number for number, step in enumerate(planned.steps) if _may_stop(planned, step)]
    last = max(stops, default=0)
    return frozenset(name for step in planned.steps[:last] for name in step.writes)


def _may_stop(planned: Program, step: Step) -> bool:
    if isinstance(step, KernelCall):
        return False
    domain = domain_of(step.operator)
    return domain is not None and isinstance(step, Guard | Defined)


def _temporaries(graph: Graph, planned: Program, early: frozenset[str]) -> list[Lifetime]:
    """Everything that is neither a constant nor the caller's; sizes in elements of one C type."""
    outputs = {value.name for value in planned.outputs}
    outside = {*planned.constants, *planned.folded, *(outputs - early)}
    outside |= {value.name for value in planned.inputs}
    called = {
        name for step in planned.steps if isinstance(step, KernelCall) for name in (*step.reads, *step.writes)
    }
    outside |= idle(graph) - called
    found = []
    for each in lifetimes(planned.steps, planned.buffers, outside):
        buffer = planned.buffers[each.name]
        kind = c_type(_type(buffer), each.name).name
        last = len(planned.steps) if each.name in outputs else each.last
        found.append(Lifetime(each.name, kind, max(buffer.elements, 1), each.first, last))
    return found


def _groups(graph: Graph, places: Sequence[Place], planned: Program) -> Iterator[_Group]:
    """The steps node by node; nodes that are done together are one."""
    shares = Counter(number for numbers in dict.fromkeys(planned.nodes) for number in numbers)
    for numbers, pairs in groupby(zip(planned.nodes, planned.steps, strict=True), itemgetter(0)):
        steps = tuple(step for _, step in pairs)
        nodes = tuple((places[number], graph.nodes[number]) for number in numbers)
        alone = next(node for number, node in zip(numbers, nodes, strict=True) if shares[number] == 1)
        defined = [step for step in steps if isinstance(step, Defined)]
        yield _Group(nodes, steps, alone, Draft(*nodes[0], defined[0]) if defined else None)


def _function(graph: Graph, begin: str, group: _Group, arrays: Mapping[str, str]) -> CFunction:
    place, node = group.first
    name = f"node_{place.label}_{word(node.name) or node.operator.lower()}"
    comments = [f"/* {node_comment(graph, each, made)} */" for each, made in group.nodes]
    guards = [step.found for step in group.steps if isinstance(step, Guard)]
    listed = [step for step in group.steps if isinstance(step, KernelCall)]
    looks = [step for step in listed if guards and step.writes == (guards[0],)]
    calls = [_call(begin, step, arrays) for step in listed if step not in looks]
    body = "\n".join([f"static void {name}(void)", "{", *calls, "}"])
    guard = f"{name}_outside" if looks else ""
    body = "\n".join([*(_guard(begin, guard, step, arrays) for step in looks), body])
    written = {name for step in group.steps for name in step.writes}
    made = tuple(name for _, each in group.nodes for name in each.outputs if name in written)
    return CFunction(name, group.nodes, made, "\n".join([*comments, body]), guard)


def _guard(begin: str, name: str, step: KernelCall, arrays: Mapping[str, str]) -> str:
    """The function that answers 1 where an element is outside a domain, and else 0."""
    (found,) = step.writes
    values: dict[str, str | int] = {
        "name": name,
        "call": _call(begin, step, arrays),
        "tasks": step.tasks,
        "found": arrays[found],
    }
    return fill(own("guard.c"), values)


def _call(begin: str, step: KernelCall, arrays: Mapping[str, str]) -> str:
    values = [f"            {value}, /* {name} */" for name, value in step.parameters]
    operands = [f"(void *){arrays[name]}" for name in (*step.reads, *step.writes)]
    if step.after is not None:
        operands.append("(void *)&follow")
    return fill(
        own("call.c"),
        {
            "after": "" if step.after is None else _piece_symbol(begin, step.after),
            "values": "\n".join(values),
            "operands": ",\n            ".join(operands),
            "function": f"{begin}_all_{step.symbol}",
            "tasks": step.tasks,
        },
        {"FOLLOWED": step.after is not None},
    ).rstrip()


def _files(begin: str, calls: list[KernelCall], afters: Collection[str]) -> Iterator[tuple[str, str]]:
    """The files with kernels, and the header that declares their functions, `$about` in their heads."""
    # By the name of the file: one source with the macros of one variant, and calls of its functions.
    found: dict[str, list[KernelCall]] = {}
    for call in calls:
        stem = "_".join([*call.source.removesuffix(".c").split("/")[1:], call.variant.name])
        found.setdefault(f"{stem}.c", []).append(call)
    declared = [
        f"{_piece(begin, call) if call.symbol in afters else _prototype(begin, call)};" for call in calls
    ]
    guard = f"SONNX_{begin}_KERNELS_H"
    pieces = shared_text("shared/pieces.h").rstrip()
    yield (
        "kernels.h",
        fill(
            own("kernels.h"),
            {"about": "$about", "guard": guard, "declared": "\n".join(declared), "pieces": pieces},
            {"FOLLOWED": bool(afters)},
        ),
    )
    for name, together in sorted(found.items()):
        first = together[0]
        macros = dict(first.variant.macros)
        # Two projects in one program must not have functions of one name.
        macros["VARIANT"] = f"{macros['VARIANT']}_{begin}"
        entries = [_entry(begin, call, macros["VARIANT"]) for call in together if call.symbol not in afters]
        yield (
            name,
            "\n".join(
                [
                    "/* $about",
                    f"   {first.source} of sonnx, for {first.variant.name}. */",
                    "/* Vectors are passed to functions that are always inlined: no ABI is concerned. */",
                    '#pragma GCC diagnostic ignored "-Wpsabi"',
                    '#include "checks.h"',
                    '#include "kernels.h"',
                    "",
                    *(f"#define {key} {value}" for key, value in macros.items()),
                    "",
                    kernel_source(first).rstrip(),
                    "",
                    *entries,
                ]
            ),
        )


def _prototype(begin: str, call: KernelCall) -> str:
    return f"void {begin}_all_{call.symbol}(const int64_t *values, void *const *operands, int64_t tasks)"


def _piece_symbol(begin: str, call: KernelCall) -> str:
    return f"{call.symbol}_{begin}"


def _piece(begin: str, call: KernelCall) -> str:
    return f"void {_piece_symbol(begin, call)}(void *const *operands, void *piece, const struct piece *at)"


def _entry(begin: str, call: KernelCall, variant: str) -> str:
    """The function that does all tasks of a call, one after the other."""
    return fill(
        own("entry.c"), {"prototype": _prototype(begin, call), "kernel": f"{call.function}_{variant}"}
    )
