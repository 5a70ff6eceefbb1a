"""The orders in which nodes can be executed (D-GRAPH-1)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from random import Random

from sonnx.model.graph import Node


def needs(nodes: Sequence[Node]) -> list[set[int]]:
    """For every node, the nodes whose outputs it takes; a name made twice counts as its first maker's."""
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.outputs:
            if name:
                makers.setdefault(name, index)
    return [{makers[name] for name in node.inputs if name in makers} for node in nodes]


def _waiting(needed: Sequence[set[int]]) -> tuple[list[int], list[list[int]]]:
    """How many nodes each one waits for, and which ones wait for it."""
    followers: list[list[int]] = [[] for _ in needed]
    for index, before in enumerate(needed):
        for other in before:
            followers[other].append(index)
    return [len(before) for before in needed], followers


def given_order(nodes: Sequence[Node]) -> list[int]:
    """An order in which every node comes after those it needs, as near to the given one as can be.

    Nodes on a cycle, and those that need them, are left out.
    """
    missing, followers = _waiting(needs(nodes))
    # Listed from small to large, they are a heap.
    ready = [index for index, number in enumerate(missing) if number == 0]
    return list(_pop_all(ready, heappop, heappush, missing, followers))


def random_order(nodes: Sequence[Node], seed: int) -> list[int]:
    """Another such order, drawn with a seed; every order can be drawn."""
    random = Random(seed)
    missing, followers = _waiting(needs(nodes))
    ready = [index for index, number in enumerate(missing) if number == 0]

    def draw(heap: list[int]) -> int:
        chosen = random.randrange(len(heap))
        heap[chosen], heap[-1] = heap[-1], heap[chosen]
        return heap.pop()

    return list(_pop_all(ready, draw, list.append, missing, followers))


def _pop_all(
    ready: list[int],
    pop: Callable[[list[int]], int],
    push: Callable[[list[int], int], None],
    missing: list[int],
    followers: Sequence[Sequence[int]],
) -> Iterator[int]:
    while ready:
        index = pop(ready)
        yield index
        for follower in followers[index]:
            missing[follower] -= 1
            if missing[follower] == 0:
                push(ready, follower)


def cycles(nodes: Sequence[Node]) -> list[list[int]]:
    """Cycles that share no node, one at least where there is any; in each, a node is needed by the next.

    The last one is needed by the first. Of cycles that need or cross one another, some may be left out.
    """
    needed = needs(nodes)
    left = set(range(len(nodes))) - set(given_order(nodes))
    # What is left over needs something that is left over, so every walk ends in a circle.
    before = {index: min(needed[index] & left) for index in left}
    visitors: dict[int, int] = {}
    found = []
    for start in sorted(left):
        index = start
        while index not in visitors:
            visitors[index] = start
            index = before[index]
        if visitors[index] == start:
            found.append(_circle(index, before)[::-1])
    return found


def _circle(start: int, following: Mapping[int, int]) -> list[int]:
    circle = [start]
    while following[circle[-1]] != start:
        circle.append(following[circle[-1]])
    return circle


def a_cycle(nodes: Sequence[Node]) -> list[int]:
    """The nodes of one cycle, each needed by the next and the last by the first; empty without a cycle."""
    return next(iter(cycles(nodes)), [])


def contributing(nodes: Sequence[Node], outputs: Sequence[str]) -> set[int]:
    """The nodes that some output depends on."""
    needed = needs(nodes)
    wanted = set(outputs) - {""}
    todo = [index for index, node in enumerate(nodes) if wanted.intersection(node.outputs)]
    found = set(todo)
    while todo:
        for other in needed[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found
