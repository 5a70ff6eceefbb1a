"""The whole way from a model as exporters write it to one that conforms."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from sonnx.check.models import Checked, checked
from sonnx.model.graph import Graph
from sonnx.normalize.changes import Change
from sonnx.normalize.operators import amend_and_infer
from sonnx.normalize.rewriting import raise_opset
from sonnx.normalize.sizes import fix_sizes
from sonnx.normalize.structure import (
    constants_to_initializers,
    drop_formal_inputs,
    free_initializers,
    inline_functions,
    remove_unused,
    sort_nodes,
    write_types_once,
)
from sonnx.operators.graph.content import types_agree, versions_known
from sonnx.operators.graph.older import is_to_be_raised
from sonnx.vocabulary.rule import Finding

# What follows once functions are replaced by their bodies.
_PASSES: tuple[Callable[[Graph], tuple[Graph, list[Change]]], ...] = (
    constants_to_initializers,
    drop_formal_inputs,
    sort_nodes,
    remove_unused,
    raise_opset,
    amend_and_infer,
    # Operands that no node takes any more, since another one stands in its place.
    remove_unused,
    write_types_once,
    free_initializers,
)


# Where one of these is broken the model is damaged, or may mean several things: nothing is changed then,
# because a change could hide the defect or choose one of the meanings.
NOT_TO_BE_TOUCHED: Set[str] = {
    "graph.D1",
    "graph.D2",
    "graph.D3",
    "graph.D8",
    "graph.D9",
    "graph.D12",
    "graph.D13",
    "graph.D14",
    "graph.D15",
    "graph.D19",
    "graph.D20",
}


def stopping(graph: Graph, broken: Set[str]) -> Set[str]:
    """Those of the rules that a model breaks for whose sake nothing of it is changed.

    An old operator set is no obstacle where every operator is known to mean the same in a newer one.
    """
    raised = is_to_be_raised(graph) and len(list(islice(versions_known(graph), 2))) == 1
    return (broken & NOT_TO_BE_TOUCHED) - ({"graph.D9"} if raised else set())


@dataclass(frozen=True)
class Normalized:
    """The changed graph and what was changed."""

    graph: Graph
    changes: tuple[Change, ...]
    # The verdict on it, where it is known already.
    known: Checked | None = None

    @cached_property
    def checked(self) -> Checked:
        """The verdict on what came of it."""
        return self.known or checked(self.graph)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Which rules it breaks even so."""
        return self.checked.findings


def normalize_graph(
    graph: Graph, dims: Mapping[str, int] | None = None, known: Checked | None = None
) -> Normalized:
    """Make a model conform as far as its meaning allows; `dims` gives numbers for open sizes.

    `known` is the verdict on the model as it is, where somebody has asked for it before. Raises ValueError
    where `dims` names no open size of the model.
    """
    graph, changes = fix_sizes(graph, dims or {})
    before = checked(graph) if known is None or changes else known
    if stopping(graph, before.broken):
        return Normalized(graph, tuple(changes), before)
    changed, made = inline_functions(graph)
    # Types that contradict one another; a function's own symbols contradict nothing once it is inlined.
    if any(types_agree(changed)):
        return Normalized(graph, tuple(changes), before)
    changes += made
    for change in _PASSES:
        changed, made = change(changed)
        changes += made
    return Normalized(changed, tuple(changes))
