"""Which nodes become one loop: trees of element-wise nodes, and what they read without its being made.

A tensor that only one loop reads is never in memory; one that is a result, or that two loops read, ends a
tree: nothing is calculated twice. A tree may begin with sums whose kernels do what follows at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sonnx.derive.loops import Part, Tree, follows, part
from sonnx.derive.views import View, view
from sonnx.model.graph import Graph
from sonnx.vocabulary.kernel import KernelRequest
from sonnx.vocabulary.operator import Operator

# Nodes of one loop, and tensors that it reads: more would not stay in registers, and compile long.
_MOST_NODES, _MOST_READ = 64, 16


@dataclass(frozen=True)
class Work:
    """Nodes that are done together, by number and in order; views that they read are among them.

    `parts` make the tree, if it is one; `sums` is the node with whose result it begins.
    """

    numbers: tuple[int, ...]
    parts: tuple[Part, ...] = ()
    sums: int | None = None


@dataclass(frozen=True)
class Fused:
    """All work in order, and the tensors that are read in place."""

    works: tuple[Work, ...]
    views: Mapping[str, View]


@dataclass(frozen=True)
class Asked:
    """A node as kernels are asked for it."""

    operator: Operator
    request: KernelRequest

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tensors that it makes."""
        return tuple(self.request.outputs.values())

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tensors that it reads, without those that only decide a shape."""
        settled = self.operator.contract.settled
        return tuple(name for operand, name in self.request.inputs.items() if operand not in settled)


def one_by_one(order: Sequence[int], asked: Mapping[int, Asked]) -> Fused:
    """Every node alone, and every tensor in memory: what whoever looks for a mistake compares with."""
    parts = {number: part(asked[number].operator, asked[number].request) for number in order}
    return Fused(tuple(Work((number,), (each,) if each else ()) for number, each in parts.items()), {})


def fused(graph: Graph, order: Sequence[int], asked: Mapping[int, Asked]) -> Fused:
    """Find what is done together in a graph that conforms, whose nodes are executed in this order."""
    results = frozenset(value.name for value in graph.outputs)
    places = {number: place for place, number in enumerate(order)}
    return _Finder(graph, order, asked, results, places).found()


@dataclass(frozen=True)
class _Finder:
    graph: Graph
    order: Sequence[int]
    asked: Mapping[int, Asked]
    results: frozenset[str]
    places: Mapping[int, int]
    parts: dict[int, Part] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    # By tensor: the nodes that read it, and whether it follows from constants alone.
    readers: dict[str, list[int]] = field(default_factory=dict)
    constant: dict[str, bool] = field(default_factory=dict)
    # The last node of the work to which each node belongs, and what else belongs to that.
    lasts: dict[int, int] = field(default_factory=dict)
    members: dict[int, list[int]] = field(default_factory=dict)
    sums: dict[int, int] = field(default_factory=dict)

    def found(self) -> Fused:
        """Look at every node: forwards at what it is, backwards at who reads it."""
        self.constant.update((each.name, True) for each in self.graph.constants)
        for number in self.order:
            self._describe(number)
        for number in self.order:
            self._see_through(number)
        for number in reversed(self.order):
            self._place(number)
        made = {name: number for number in self.order for name in self.asked[number].outputs}
        lasts = [number for number in self.order if self.lasts.get(number) == number]
        return Fused(tuple(self._work(last, made) for last in lasts), self.views)

    def _work(self, last: int, made: Mapping[str, int]) -> Work:
        inside = self._inside(last)
        seen = {made[name] for each in inside for name in self.asked[each].inputs if name in self.views}
        numbers = sorted({*inside, *seen}, key=self.places.__getitem__)
        return Work(tuple(numbers), self._parts(last), self.sums.get(last))

    def _inside(self, last: int) -> list[int]:
        """The nodes of the work that ends with one, in order."""
        return sorted(self.members[last], key=self.places.__getitem__)

    def _parts(self, last: int) -> tuple[Part, ...]:
        return tuple(self.parts[each] for each in self._inside(last) if each in self.parts)

    def _describe(self, number: int) -> None:
        asked = self.asked[number]
        for name in asked.inputs:
            self.readers.setdefault(name, []).append(number)
        held = all(self.constant.get(name, False) for name in asked.inputs)
        self.constant.update(dict.fromkeys(asked.outputs, held))
        found = part(asked.operator, asked.request)
        if found is not None:
            self.parts[number] = found

    def _see_through(self, number: int) -> None:
        """A move need not be made where element-wise nodes alone read it."""
        if number in self.parts or len(self.asked[number].outputs) != 1:
            return
        (name,) = self.asked[number].outputs
        readers = self.readers.get(name, [])
        if name in self.results or not readers or not all(each in self.parts for each in readers):
            return
        found = view(self.asked[number].operator, self.asked[number].request)
        # What is read in place of something that is read in place is made.
        if found is not None and found.tensor not in self.views:
            self.views[name] = found

    def _place(self, number: int) -> None:
        """Let a node join the loop that alone reads what it makes, or begin work of its own."""
        outputs = self.asked[number].outputs
        if any(name in self.views for name in outputs):
            return
        last = self._only_reader(outputs)
        if last is not None and number in self.parts and self._joins(number, last):
            self.lasts[number] = last
            self.members[last].append(number)
        elif last is not None and number not in self.parts and self._is_followed(number, last):
            self.lasts[number] = last
            self.members[last].append(number)
            self.sums[last] = number
        else:
            self.lasts[number] = number
            self.members[number] = [number]

    def _only_reader(self, outputs: tuple[str, ...]) -> int | None:
        """The last node of the only loop that reads a node's first output, where nobody reads another."""
        if not outputs or outputs[0] in self.results:
            return None
        if any(name in self.readers for name in outputs[1:]):
            return None
        readers = self.readers.get(outputs[0], [])
        lasts = {self.lasts.get(each) for each in readers}
        # A sum belongs to the loop that follows it, and reads elements of other places.
        if len(lasts) != 1 or not all(each in self.parts for each in readers):
            return None
        (last,) = lasts
        return last if last in self.parts else None

    def _joins(self, number: int, last: int) -> bool:
        (made,), (result,) = self.asked[number].outputs, self.asked[last].outputs
        types = self.graph.types
        return (
            types[made].sizes == types[result].sizes
            and self.constant[made] == self.constant[result]
            and self._is_small([number, *self.members[last]])
        )

    def _is_small(self, members: Sequence[int]) -> bool:
        made = {name for each in members for name in self.asked[each].outputs}
        read = {name for each in members for name in self.asked[each].inputs} - made
        return len(members) <= _MOST_NODES and len(read) <= _MOST_READ

    def _is_followed(self, number: int, last: int) -> bool:
        """Whether a node's own kernels can do with its elements what the loop does."""
        asked = self.asked[number]
        if not asked.operator.is_followed or last in self.sums:
            return False
        sums, (result,) = asked.outputs[0], self.asked[last].outputs
        tree = Tree(self._parts(last), self.graph.types, self.views, sums)
        return self.constant[sums] == self.constant[result] and follows(tree)
