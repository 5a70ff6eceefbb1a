"""A computation as text, operation by operation."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from sonnx.model.graph import Constant, Function, Graph, Node
from sonnx.model.names import Names
from sonnx.model.tensor_type import TensorType
from sonnx.report.text import attribute_text, printable
from sonnx.xla.literals import format_literal

# Larger constants are shown by their shape alone.
_MOST_ELEMENTS = 16

Key = tuple[str, str, str]


def computation_text(graph: Graph) -> str:
    """Print the computations that are called, those first that others call, then the one itself."""
    names = function_names(graph)
    parts = [_function(function, names) for function in graph.functions]
    parameters = [(value.name, value.type) for value in graph.inputs]
    output = graph.outputs[0].name
    types = graph.types
    parts.append(
        _body(graph.name, parameters, (output, types[output]), graph.constants, graph.nodes, types, names)
    )
    return "\n\n".join("\n".join(map(printable, lines)) for lines in parts)


def function_names(graph: Graph) -> Mapping[Key, str]:
    """A name for each function; several that have one name are numbered."""
    names = Names({graph.name})
    return {function.key: names.fresh(function.name) for function in graph.functions}


def _function(function: Function, names: Mapping[Key, str]) -> list[str]:
    types = {value.name: value.type for value in function.values}
    parameters = [(name, types[name]) for name in function.inputs]
    (output,) = function.outputs
    return _body(
        names[function.key],
        parameters,
        (output, types[output]),
        function.constants,
        function.nodes,
        types,
        names,
    )


def _body(
    name: str,
    parameters: Sequence[tuple[str, TensorType]],
    result: tuple[str, TensorType],
    constants: Sequence[Constant],
    nodes: Sequence[Node],
    types: Mapping[str, TensorType],
    names: Mapping[Key, str],
) -> list[str]:
    listed = ", ".join(f"{parameter}: {kind}" for parameter, kind in parameters)
    lines = [f"{name}({listed}) -> {result[1]} {{"]
    lines += [f"  {constant.name} = {_elements(constant)}" for constant in constants]
    lines += [f"  {line}" for line in _operations(nodes, types, names)]
    return [*lines, f"  return {result[0]}", "}"]


def _elements(constant: Constant) -> str:
    # Without elements there may still be very many braces.
    if prod(size or 1 for size in constant.data.shape) > _MOST_ELEMENTS:
        return f"{constant.type} {{...}}"
    return " ".join(format_literal(constant.data).split())


def _operations(
    nodes: Sequence[Node], types: Mapping[str, TensorType], names: Mapping[Key, str]
) -> Iterator[str]:
    for node in nodes:
        arguments = [*node.inputs, *(f"{key}={_value(value)}" for key, value in node.attributes.items())]
        called = names.get(node.function)
        # A call is written as the operation that it is.
        listed = ", ".join(arguments if called is None else [called, *arguments])
        (made,) = node.outputs
        yield f"{made} = {node.operator if called is None else 'Call'}({listed}) : {types[made]}"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        inner = ", ".join(map(_value, value))
        return f"[{inner}]"
    return attribute_text(value)
