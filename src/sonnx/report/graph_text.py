"""A graph as text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sonnx.model.graph import Constant, Function, Graph, Node, Reference, Value
from sonnx.report.text import attribute_text, cut, printable

_MOST_LINES = 24
_MOST_FUNCTIONS = 3
_MOST_NAMES = 16
_MOST_ELEMENTS = 8
_LONGEST_LINE = 400

T = TypeVar("T")


def graph_text(graph: Graph) -> str:
    """List a graph for people: header, operator sets, tensors, nodes, functions; long lists are cut."""
    return "\n".join(printable(cut(line, _LONGEST_LINE)) for line in _graph(graph))


def _graph(graph: Graph) -> Iterator[str]:
    yield f"graph {graph.name}({_listed(_typed, graph.inputs)}) -> ({_listed(_typed, graph.outputs)})"
    yield f"  ir_version {graph.ir_version}, {_opsets(graph.opsets)}"
    if graph.extras:
        yield f"  with {_listed(str, graph.extras)}"
    yield from _lines(_constant, graph.constants, "initializers")
    yield from _lines(_typed, graph.values, "tensors")
    yield from _lines(_node, graph.nodes, "nodes")
    for function in graph.functions[:_MOST_FUNCTIONS]:
        yield from _function(function, graph.opsets)
    yield from _left_out(len(graph.functions) - _MOST_FUNCTIONS, "functions")


def _function(function: Function, known: Sequence[tuple[str, int]]) -> Iterator[str]:
    defaults = [f"{name}={_attribute(value)}" for name, value in function.defaults.items()]
    attributes = _listed(str, [*function.attributes, *defaults])
    inputs = _listed(_operand, function.inputs) + (f"; {attributes}" if attributes else "")
    outputs = _listed(_operand, function.outputs)
    yield f"  function {_called(function.domain, function.name, function.overload)}({inputs}) -> ({outputs})"
    if function.opsets != known:
        yield f"    {_opsets(function.opsets)}"
    yield from (f"  {line}" for line in _lines(_typed, function.values, "tensors"))
    yield from (f"  {line}" for line in _lines(_node, function.nodes, "nodes"))


def _lines(written: Callable[[T], str], entries: Sequence[T], what: str) -> Iterator[str]:
    for entry in entries[:_MOST_LINES]:
        yield f"  {written(entry)}"
    yield from _left_out(len(entries) - _MOST_LINES, what)


def _left_out(number: int, what: str) -> Iterator[str]:
    if number > 0:
        yield f"  ... {number} more {what}"


def _listed(written: Callable[[T], str], entries: Sequence[T]) -> str:
    shown = [written(entry) for entry in entries[:_MOST_NAMES]]
    return ", ".join(shown + [line.strip() for line in _left_out(len(entries) - _MOST_NAMES, "")])


def _opsets(opsets: Sequence[tuple[str, int]]) -> str:
    imported = _listed(lambda entry: f"{entry[0] or 'ai.onnx'} {entry[1]}", opsets)
    return f"operator sets {imported or 'none'}"


def _typed(value: Value | Constant) -> str:
    return f"{_operand(value.name)}: {value.type}"


def _constant(constant: Constant) -> str:
    if constant.data is None:
        return f"{_typed(constant)}   ({constant.problem or 'no elements'})"
    return _typed(constant) + _elements(constant.data)


def _elements(data: Any) -> str:
    """Give the elements of a small array, in the order of its last axis."""
    if data.size > _MOST_ELEMENTS:
        return ""
    elements = [attribute_text(element) for element in data.reshape(-1)]
    return f" = {elements[0] if data.ndim == 0 else '[' + ', '.join(elements) + ']'}"


def _node(node: Node) -> str:
    attributes = _listed(lambda entry: f"{entry[0]}={_attribute(entry[1])}", list(node.attributes.items()))
    inputs = _listed(_operand, node.inputs) + (f"; {attributes}" if attributes else "")
    call = f"{_called(node.domain, node.operator, node.overload)}({inputs})"
    outputs = _listed(_operand, node.outputs)
    notes = [f"`{node.name}`"] if node.name else []
    notes += [] if node.version is None else [f"version {node.version}"]
    notes += [f"{name} written more than once" for name in node.repeated[:_MOST_NAMES]]
    line = f"{outputs} = {call}" if outputs else call
    return f"{line}   {', '.join(notes)}".rstrip()


def _called(domain: str, name: str, overload: str) -> str:
    return (f"{domain}." if domain else "") + name + (f":{overload}" if overload else "")


def _operand(name: str) -> str:
    """Show an operand that is absent, which is the empty name."""
    return name or '""'


def _attribute(value: Any) -> str:
    match value:
        case Reference():
            return f"@{value.attribute}"
        case Constant():
            return str(value.type) + ("" if value.data is None else _elements(value.data))
        case list() | tuple():
            return f"[{_listed(attribute_text, value)}]"
    return attribute_text(value)
