"""The whole way from a model as exporters write it to one that conforms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sonnx.check.graphs import check_graph
from sonnx.model.graph import Graph
from sonnx.model.rule import Finding
from sonnx.normalize.changes import Change
from sonnx.normalize.operators import amend_and_infer
from sonnx.normalize.sizes import fix_sizes
from sonnx.normalize.structure import (
    constants_to_initializers,
    drop_formal_inputs,
    inline_functions,
    remove_unused,
    sort_nodes,
)

_PASSES: tuple[Callable[[Graph], tuple[Graph, list[Change]]], ...] = (
    inline_functions,
    constants_to_initializers,
    drop_formal_inputs,
    sort_nodes,
    remove_unused,
    amend_and_infer,
)


@dataclass(frozen=True)
class Normalized:
    """The changed graph, what was changed, and which rules it breaks even so."""

    graph: Graph
    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]


def normalize_graph(graph: Graph, dims: Mapping[str, int] | None = None) -> Normalized:
    """Make a model conform as far as its meaning allows; `dims` gives numbers for open sizes.

    Raises ValueError where `dims` names no open size of the model.
    """
    graph, changes = fix_sizes(graph, dims or {})
    for change in _PASSES:
        graph, made = change(graph)
        changes += made
    return Normalized(graph, tuple(changes), check_graph(graph))
