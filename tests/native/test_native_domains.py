"""A run of compiled kernels that leaves a domain stops with the error of the definitions (D-ALL-11)."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.native.support import (
    Array,
    assert_defined,
    constant,
    executable,
    functions,
    model,
    node,
    planned,
    value,
)

import sonnx
from sonnx.plan.program import Defined, Guard

pytestmark = pytest.mark.measured
SIZE = 3 * 512 * 1024 + 77  # elements of four tasks


def divide(dtype: str, shape: tuple[int, ...]) -> sonnx.Graph:
    """A quotient, of which a Max is taken before and after."""
    nodes = [node("Max", ("b", "b"), "d"), node("Div", ("a", "d"), "q"), node("Max", ("q", "q"), "y")]
    ends = {name: value(name, dtype, shape) for name in "abdqy"}
    return model(nodes, [ends["a"], ends["b"]], [ends["y"]], between=[ends["d"], ends["q"]])


def message(run: Any, arrays: dict[str, Array]) -> str:
    with pytest.raises(sonnx.DomainError) as caught:
        run(arrays)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_the_first_divisor_0_is_found_wherever_it_is(dtype: str) -> None:
    graph = divide(dtype, (3, 50))
    run = graph.compile()
    for first, second in ((0, 1), (49, 149), (50, 60), (148, 149), (149, 149)):
        divisors = np.arange(1, 151).astype(dtype)
        divisors[divisors == 0] = 1
        divisors[[first, second]] = 0
        arrays = {"a": np.full((3, 50), 7, dtype), "b": divisors.reshape(3, 50)}
        said = message(run, arrays)
        place = ",".join(map(str, divmod(first, 50)))
        assert said.splitlines() == [
            "error[div.B.D8]: At every element, the divisor is not 0",
            "  --> node 1 `Div q` (Div)",
            f"   A[{place}] = 7",
            f"   B[{place}] = 0",
            "  help: the run stopped there and gives no output (D-ALL-11); give it other values, or put "
            "others in their place before this node, as Where does",
            "  more: sonnx explain div.B.D8",
        ]
        assert said == message(graph.run, arrays)


@pytest.mark.parametrize("threads", [1, 3])
def test_of_many_tasks_the_first_that_meets_one_is_named(threads: int) -> None:
    run = divide("int8", (SIZE,)).compile(threads=threads)
    arrays = {"a": np.ones(SIZE, np.int8), "b": np.ones(SIZE, np.int8)}
    assert (run(arrays)["y"] == 1).all()
    for first in (SIZE - 1, 2 * 512 * 1024, 512 * 1024 + 3, 512 * 1024 - 1):
        arrays["b"][first] = 0
        assert f" B[{first}] = 0" in message(run, arrays)
    arrays["b"][:] = 1
    assert (run(arrays)["y"] == 1).all()  # the same program runs again


@pytest.mark.parametrize("shape", [(), (0,), (5, 0), (1,), (2, 3)])
def test_inside_the_domain_results_are_those_of_the_definitions(shape: tuple[int, ...]) -> None:
    numbers = np.random.default_rng(1)
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        info = np.iinfo(dtype)
        given = [numbers.integers(info.min, info.max, shape, dtype, endpoint=True) for _ in "ab"]
        given[1] = np.where(given[1] == 0, np.array(1, dtype), given[1])
        assert_defined(divide(dtype, shape), dict(zip("ab", given, strict=True)))


def test_floats_are_looked_at_by_nobody() -> None:
    found = planned(divide("float", (4,)))
    assert not any(isinstance(step, Guard) for step in found.steps)
    assert "div_outside" in functions(planned(divide("int32", (4,))))


def test_constant_divisors_are_not_looked_at_again_and_calculated_ones_are() -> None:
    ends = {name: value(name, "int32", (2,)) for name in "aqy"}
    two = constant("b", np.array([2, 3], np.int32))
    graph = model([node("Div", ("a", "b"), "y")], [ends["a"]], [ends["y"]], [two])
    assert functions(planned(graph)) == {"div"}
    assert_defined(graph, {"a": np.array([-7, 7], np.int32)})
    nodes = [node("Div", ("b", "c"), "q"), node("Div", ("a", "q"), "y")]
    three = constant("c", np.array([3, 3], np.int32))
    graph = model(nodes, [ends["a"]], [ends["y"]], [two, three], [ends["q"]])
    assert "A[0] = 9" in message(graph.compile(), {"a": np.array([9, 9], np.int32)})
    nodes = [*nodes[:1], node("Div", ("b", "q"), "r"), node("Max", ("a", "r"), "y")]
    graph = model(nodes, [ends["a"]], [ends["y"]], [two, three], [ends["q"], replace(ends["q"], name="r")])
    with pytest.raises(sonnx.DomainError, match=r"node 1 `Div r` \(Div\)(.|\n)*A\[0\] = 2\n   B\[0\] = 0"):
        graph.compile()


def test_a_definition_in_the_place_of_kernels_ends_the_run_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = divide("int32", (2,))
    arrays = {"a": np.array([1, 2], np.int32), "b": np.array([1, 0], np.int32)}
    monkeypatch.setattr("sonnx.plan.program.kernels", lambda _operator, _request: None)
    monkeypatch.setattr("sonnx.plan.fusion.part", lambda _operator, _request: None)
    found = planned(graph)
    assert all(isinstance(step, Defined) for step in found.steps)
    assert message(executable(found).run, arrays) == message(graph.run, arrays)
