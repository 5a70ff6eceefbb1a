"""What a graph comes to: which steps are done once and which at every run, and where tensors lie."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.emit.support import random_model
from tests.loops import for_each
from tests.native.support import Conv, constant, functions, model, node, planned, value
from tests.plan.test_slots import complaints

import sonnx
from sonnx.native.memory import offsets
from sonnx.plan.program import ALIGNMENT, Defined, Program
from sonnx.plan.slots import assign
from sonnx.vocabulary.kernel import KernelCall

BOUNDS = [constant("low", np.array(0, np.float32)), constant("high", np.array(6, np.float32))]
MAP = 3 * 20 * 20 * 4  # bytes of a map below, a multiple of 64


def clips(count: int) -> sonnx.Graph:
    """A chain of Clips on one map."""
    names = [f"t{n}" for n in range(count + 1)]
    shape = (1, 3, 20, 20)
    return model(
        [node("Clip", (before, "low", "high"), after) for before, after in pairwise(names)],
        [value(names[0], "float", shape)],
        [value(names[-1], "float", shape)],
        BOUNDS,
        [value(name, "float", shape) for name in names[1:-1]],
    )


def arena(found: Program) -> int:
    return offsets(assign(found.temporaries()))[1]


def wrong_order(found: Program) -> list[str]:
    """Buffers that are read before anybody has filled them, or filled twice."""
    there = {*found.constants, *(each.name for each in found.inputs)}
    bad = []
    for step in (*found.once, *found.steps):
        bad += [f"{name} is read too early" for name in step.reads if name not in there]
        bad += [f"{name} is filled twice" for name in step.writes if name in there]
        there |= set(step.writes)
    return bad + [f"{each.name} is missing" for each in found.outputs if each.name not in there]


@for_each("seed", range(60))
def test_any_model_is_planned_so_that_every_step_finds_what_it_reads(seed: int) -> None:
    found = planned(random_model(seed, 10), threads=1 + seed % 3)
    assert wrong_order(found) == []


@for_each("seed", range(60))
def test_any_model_has_its_living_tensors_apart_in_the_arena(seed: int) -> None:
    found = planned(random_model(seed, 10), threads=1 + seed % 3)
    lifetimes = found.temporaries()
    slots = assign(lifetimes)
    assert complaints(lifetimes, slots) == []
    places, size = offsets(slots)
    ends = [(places[each.name], places[each.name] + each.size) for each in lifetimes]
    assert all(begin % ALIGNMENT == 0 and end <= size for begin, end in ends)
    # Every buffer of a step that is neither given nor constant has a place that is large enough.
    outside = {*found.constants, *found.folded, *(v.name for v in (*found.inputs, *found.outputs))}
    used = {name for step in found.steps for name in (*step.reads, *step.writes)} - outside
    sizes = {each.name: each.size for each in lifetimes}
    for name in used:
        buffer = found.buffers[name]
        assert buffer.dtype == "string" or sizes[name] >= buffer.bytes


def test_a_buffer_lives_from_the_step_that_fills_it_to_the_last_that_reads_it() -> None:
    # t1 is needed again at the end, beside what is made in between.
    shape = (1, 3, 20, 20)
    graph = model(
        [
            node("Clip", ("t0", "low", "high"), "t1"),
            node("Clip", ("t1", "low", "high"), "t2"),
            node("Clip", ("t2", "low", "high"), "t3"),
            node("Where", ("c", "t1", "t3"), "t4"),
        ],
        [value("t0", "float", shape), value("c", "bool", shape)],
        [value("t4", "float", shape)],
        BOUNDS,
        [value(f"t{n}", "float", shape) for n in (1, 2, 3)],
    )
    found = planned(graph, fuse=False)
    spans = {each.name: (each.first, each.last) for each in found.temporaries()}
    assert spans == {"t1": (0, 3), "t2": (1, 2), "t3": (2, 3)}
    assert arena(found) == 3 * MAP


@pytest.mark.parametrize(("count", "maps"), [(1, 0), (2, 1), (3, 2), (4, 2), (30, 2)])
def test_a_chain_of_equal_maps_needs_two_of_them(count: int, maps: int) -> None:
    # The first is the caller's, the last is the result.
    assert arena(planned(clips(count), fuse=False)) == maps * MAP


def test_a_chain_in_one_loop_needs_no_memory() -> None:
    assert arena(planned(clips(30))) == clips(30).compile().arena_bytes == 0


def test_the_arena_is_smaller_than_all_tensors_together() -> None:
    found = planned(clips(10), fuse=False)
    assert arena(found) < sum(each.size for each in found.temporaries())


@pytest.mark.parametrize("threads", [1, 3])
def test_every_thread_has_sums_of_its_own(threads: int) -> None:
    graph, _ = Conv((1, 3, 20, 20), 8, (3, 3)).model("float")
    found = planned(graph, threads=threads)
    (sums,) = [name for name in found.buffers if name.endswith("sums")]
    (call,) = [step for step in found.steps if sums in step.writes]
    assert isinstance(call, KernelCall)
    assert found.buffers[sums].elements == threads * dict(call.parameters)["scratch"]


def once(found: Program) -> set[str]:
    return {step.function if isinstance(step, KernelCall) else step.operator.name for step in found.once}


def test_constant_weights_are_packed_once_and_given_ones_at_every_run() -> None:
    case: dict[str, Any] = {"X": (1, 3, 20, 20), "outputs": 8, "kernel": (3, 3), "pads": (1, 1, 1, 1)}
    packed = planned(Conv(**case).model("float")[0])
    assert once(packed) == {"sums_offsets", "sums_pack"}
    assert functions(packed) == {"sums_pad", "sums_dense"}
    given = planned(Conv(**case, constant=False).model("float")[0])
    assert once(given) == {"sums_offsets"}
    assert functions(given) == {"sums_pad", "sums_pack", "sums_dense"}


def test_an_input_that_needs_no_padding_is_read_where_it_lies() -> None:
    for case in (Conv((1, 3, 20, 20), 8, (3, 3)), Conv((1, 3, 20, 20), 8, (1, 1), (2, 1))):
        assert functions(planned(case.model("float")[0])) == {"sums_dense"}
        assert "sums_pad" in functions(planned(case.model("float16")[0]))


def test_what_needs_constants_alone_is_computed_once() -> None:
    graph = model(
        [
            node("Expand", ("k", "shape"), "wide"),
            node("Clip", ("wide", "low", "high"), "weights"),
            node("Where", ("c", "weights", "x"), "y"),
        ],
        [value("c", "bool", (2, 3)), value("x", "float", (2, 3))],
        [value("y", "float", (2, 3))],
        [*BOUNDS, constant("k", np.array([-1, 2, 9], np.float32)), constant("shape", np.array([2, 3]))],
        [value("wide", "float", (2, 3)), value("weights", "float", (2, 3))],
    )
    found = planned(graph)
    assert once(planned(graph, fuse=False)) == {"boxes", "clip"}
    assert once(found) == {"clip"}
    assert functions(found) == {"where"}
    assert found.folded == ("weights",)
    assert found.remaining == ("weights",)


def test_a_long_name_of_dots_costs_no_time() -> None:
    # Beyond the dots of any name, scratch memory has one more.
    graph = model([node("Clip", ("." * 3_000_000, "low", "high"), "y")],
                  [value("." * 3_000_000, "float", (2,))], [value("y", "float", (2,))], BOUNDS)  # fmt: skip
    assert {*planned(graph).buffers} == {"." * 3_000_000, "y", "low", "high"}


def test_names_of_tensors_never_meet_those_of_scratch_memory() -> None:
    # Scratch memory is named `.0.sums` and the like, unless tensors are.
    graph, arrays = Conv((1, 3, 6, 20), 8, (3, 3), pads=(1, 1, 1, 1)).model("float")
    taken = {name for name in planned(graph).buffers if name not in {*graph.types}}
    renamed = {"X": sorted(taken)[0], "Y": sorted(taken)[1], "W": sorted(taken)[2], "B": "..0.sums"}
    (conv,) = graph.nodes
    other = model(
        [node("Conv", [renamed[name] for name in conv.inputs], renamed["Y"], **conv.attributes)],
        [value(renamed["X"], "float", (1, 3, 6, 20))],
        [value(renamed["Y"], "float", (1, 8, 6, 20))],
        [constant(renamed[each.name], each.data) for each in graph.constants],
    )
    found = planned(other)
    assert wrong_order(found) == []
    made = {name for name in found.buffers if name not in {*renamed.values()}}
    assert len(made) == len(taken)
    expected = graph.run(arrays)["Y"]
    result = other.compile()({renamed["X"]: arrays["X"]})[renamed["Y"]]
    assert sonnx.same_bits(result, expected)


def test_text_takes_no_memory_of_ours_and_is_left_to_definitions() -> None:
    graph = model(
        [node("Where", ("c", "s", "t"), "u"), node("Expand", ("u", "shape"), "v")],
        [value("c", "bool", (3,)), value("s", "string", (3,)), value("t", "string", (3,))],
        [value("v", "string", (2, 3))],
        [constant("shape", np.array([2, 3]))],
        [value("u", "string", (3,))],
    )
    found = planned(graph)
    assert all(isinstance(step, Defined) for step in found.steps)
    assert found.temporaries() == []
    assert found.buffers["u"].bytes == 0
