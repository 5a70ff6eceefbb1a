"""A model made ready for the very arrays that it is to be run on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sonnx.model.graph import Constant, Graph
from sonnx.normalize.sizes import fix_sizes, ranked, sizes_apart, sizes_of
from sonnx.numeric.arrays import Array
from sonnx.operators import node_operator

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sized:
    """A model whose inputs have as many axes as the arrays, and the open sizes that the arrays have.

    `apart` are names that the model gives to several axes of which an array's differ, with each axis' size.
    """

    graph: Graph
    sizes: Mapping[str, int]
    apart: Mapping[str, Mapping[str, int]]

    @property
    def fixed(self) -> Graph:
        """The model with these sizes."""
        return fix_sizes(self.graph, self.sizes)[0]


def sized(graph: Graph, shapes: Mapping[str, Shape], given: Mapping[str, int] | None = None) -> Sized:
    """What arrays of these shapes, by input, leave open no longer; sizes that are `given` stay open here."""
    graph = ranked(graph, shapes)
    taken = sizes_of(graph, shapes, given)
    divided = sizes_apart(graph, shapes)
    return Sized(graph, taken, {name: axes for name, axes in divided.items() if name in taken})


def decided(graph: Graph, arrays: Mapping[str, Array]) -> Graph:
    """The model with inputs that decide a shape made constants: every input has its array."""
    deciding = {
        name
        for node in graph.nodes
        if (operator := node_operator(node, graph.dialect)) is not None
        for operand, name in zip(operator.contract.inputs, node.inputs, strict=False)
        if operand.constant
    }
    bound = [value for value in graph.inputs if value.name in deciding]
    constants = [Constant(value.name, value.type, arrays[value.name]) for value in bound]
    inputs = tuple(value for value in graph.inputs if value.name not in deciding)
    return replace(graph, inputs=inputs, constants=(*graph.constants, *constants))
