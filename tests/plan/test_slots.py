"""Tensors share memory where they never live together, and nowhere else."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from tests.loops import for_each

from sonnx.plan.slots import Lifetime, Slots, assign


def chain(count: int, size: int = 100) -> list[Lifetime]:
    """Each tensor is made at one step and taken by the next."""
    return [Lifetime(f"t{n}", "bytes", size, n, n + 1) for n in range(count)]


def total(slots: Slots) -> int:
    return sum(size for _, size in slots.sizes)


def complaints(lifetimes: Sequence[Lifetime], slots: Slots) -> list[str]:
    """Tensors that are alive at one step and share a slot, or that do not fit into theirs."""
    found = [
        f"{a.name} and {b.name} share a slot"
        for a, b in combinations(lifetimes, 2)
        if slots.places[a.name] == slots.places[b.name]
        and set(range(a.first, a.last + 1)) & set(range(b.first, b.last + 1))
    ]
    for each in lifetimes:
        kind, size = slots.sizes[slots.places[each.name]]
        found += [f"{each.name} is too large"] if size < each.size else []
        found += [f"{each.name} is of another kind"] if kind != each.kind else []
    return found


def at_once(lifetimes: Sequence[Lifetime]) -> int:
    """What is alive at one step, at most: no placement needs less."""
    steps = {each.first for each in lifetimes}
    return max((sum(e.size for e in lifetimes if e.first <= step <= e.last) for step in steps), default=0)


def drawn(seed: int) -> list[Lifetime]:
    random = np.random.default_rng(seed)
    steps = int(random.integers(1, 40))
    made = []
    for number in range(int(random.integers(0, 60))):
        first = int(random.integers(0, steps))
        last = first + int(random.geometric(0.4)) - 1
        kind = "bytes" if seed % 3 else str(random.choice(["float", "double"]))
        made.append(Lifetime(f"t{number}", kind, int(random.integers(0, 9)) * 64, first, last))
    return made


@for_each("seed", range(200))
def test_no_two_tensors_that_live_at_one_time_share_memory(seed: int) -> None:
    lifetimes = drawn(seed)
    slots = assign(lifetimes)
    assert complaints(lifetimes, slots) == []
    assert slots.places.keys() == {each.name for each in lifetimes}
    assert at_once(lifetimes) <= total(slots) <= sum(each.size for each in lifetimes)


def test_memory_is_shared_more_often_than_not() -> None:
    programs = [drawn(seed) for seed in range(200)]
    needed = sum(total(assign(lifetimes)) for lifetimes in programs)
    assert needed < 0.6 * sum(each.size for lifetimes in programs for each in lifetimes)


def test_a_chain_of_equal_tensors_needs_two_of_them() -> None:
    assert total(assign(chain(50))) == 200
    assert total(assign(chain(1))) == 100
    assert assign([]) == Slots((), {})


def test_a_tensor_that_is_read_where_another_is_written_keeps_its_memory() -> None:
    slots = assign(
        [Lifetime("a", "bytes", 8, 0, 3), Lifetime("b", "bytes", 8, 3, 4), Lifetime("c", "bytes", 8, 4, 5)]
    )
    assert slots.places["a"] != slots.places["b"]
    assert slots.places["a"] == slots.places["c"]


def test_the_free_slot_that_wastes_least_is_taken() -> None:
    lifetimes = [
        Lifetime("large", "bytes", 100, 0, 0),
        Lifetime("small", "bytes", 10, 0, 0),
        Lifetime("new", "bytes", 9, 1, 1),
    ]
    slots = assign(lifetimes)
    assert slots.places["new"] == slots.places["small"]
    assert total(slots) == 110


def test_a_slot_grows_where_none_is_large_enough() -> None:
    slots = assign([Lifetime("a", "bytes", 10, 0, 0), Lifetime("b", "bytes", 30, 1, 1)])
    assert slots.sizes == (("bytes", 30),)


def test_tensors_of_two_kinds_never_share() -> None:
    slots = assign([Lifetime("a", "float", 10, 0, 0), Lifetime("b", "double", 10, 1, 1)])
    assert slots.sizes == (("float", 10), ("double", 10))


def test_the_order_in_which_tensors_are_listed_does_not_matter_to_their_safety() -> None:
    for seed in range(50):
        lifetimes = drawn(seed)[::-1]
        assert complaints(lifetimes, assign(lifetimes)) == []


def test_a_wrong_placement_is_noticed() -> None:
    a, b = Lifetime("a", "bytes", 8, 0, 3), Lifetime("b", "bytes", 16, 3, 4)
    assert complaints([a, b], Slots((("bytes", 16),), {"a": 0, "b": 0})) == ["a and b share a slot"]
    assert complaints([a, b], Slots((("bytes", 8), ("bytes", 8)), {"a": 0, "b": 1})) == ["b is too large"]
    assert complaints([a], Slots((("float", 8),), {"a": 0})) == ["a is of another kind"]
