"""Which node of the model each node of a project is, or is a part of: bodies have taken the place of some."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from sonnx.emit.names import shown
from sonnx.model.graph import Graph, Node
from sonnx.model.inline import flatten
from sonnx.model.location import Location
from sonnx.operators import node_operator
from sonnx.operators.composing import executable


@dataclass(frozen=True)
class Place:
    """A node by the number that the model's node has; `part` counts those that stand for one, from 1.

    One that normalizing has added has a number among these alone.
    """

    number: int
    part: int
    parts: int
    # The model's node: its name as it stands in comments, and which operator or function it is.
    name: str
    whole: str
    # The calls and compositions between the model's node and this one, and what this one is.
    inner: str
    is_new: bool

    @property
    def label(self) -> str:
        """What tells it apart in names of C: `4`, `4_1` where it is a part, `new_1`."""
        first = f"new_{self.number}" if self.is_new else str(self.number)
        return f"{first}_{self.part}" if self.inner else first

    @property
    def status(self) -> int:
        """What the entry point returns where it stops at this node: the number, counted from 1.

        That of a node which normalizing has added is below -1, as no file has it.
        """
        return -1 - self.number if self.is_new else 1 + self.number

    @property
    def title(self) -> str:
        """What comments call it."""
        node = "New node" if self.is_new else f"Node {self.number}"
        part = f", part {self.part} of {self.parts}: {self.inner}" if self.inner else ""
        return f"{node}{self.name}: {self.whole}{part}"

    @property
    def cells(self) -> tuple[str, str]:
        """What stands for it in the columns of a table: the node, and its operator."""
        node = f"{'new' if self.is_new else self.number}{self.name}"
        if not self.inner:
            return node, self.whole
        return f"{node}, part {self.part} of {self.parts}", f"{self.whole}: {self.inner}"


def places(graph: Graph) -> tuple[Place, ...]:
    """The places of the nodes that engines execute for a conforming graph, in the order of these."""
    before, after = flatten(graph), executable(graph)
    pairs = zip(before.locations, before.graph.nodes, strict=True)
    written = {location: _written(graph, node) for location, node in pairs}
    added = _added(graph)
    tops = [location.path[0] for location in after.locations]
    keys = [(top in added, added.get(top, top.index or 0)) for top in tops]
    times, done = Counter(keys), Counter[tuple[bool, int]]()
    found = []
    for key, top, location, node in zip(keys, tops, after.locations, after.graph.nodes, strict=True):
        done[key] += 1
        is_whole = times[key] == 1 and top is location
        inner = "" if is_whole else _inner(written, location, _written(graph, node))
        whole = _written(graph, node) if is_whole else written.get(top, shown(top.operator))
        found.append(Place(key[1], done[key], times[key], _named(top.name), whole, inner, key[0]))
    return tuple(found)


def _added(graph: Graph) -> Mapping[Location, int]:
    """The nodes that normalizing has added, numbered from 1; of all others it says where they were."""
    new = [number for number, node in enumerate(graph.nodes) if node.origin is None]
    if len(new) == len(graph.nodes):
        return {}
    return {graph.scope.node_location(number): place for place, number in enumerate(new, start=1)}


def _written(graph: Graph, node: Node) -> str:
    """An operator as comments name it: a composition with the ruling that defines it."""
    operator = node_operator(node, graph.dialect)
    assert operator is not None  # the graph conforms
    return f"{operator.name} ({operator.contract.ruling})" if operator.body else operator.name


def _inner(written: Mapping[Location, str], location: Location, own: str) -> str:
    """What a node is inside of within the model's node, and it; parts of a composition have no names."""
    told, is_part = [], False
    for outer, inner in pairwise(location.path):
        is_part = is_part or outer in written
        what = own if inner is location else written.get(inner, shown(inner.operator))
        told.append(what if is_part else f"{_named(inner.name)} {what}".strip())
    return ": ".join(told) or own


def _named(name: str) -> str:
    return f" `{shown(name)}`" if name else ""
