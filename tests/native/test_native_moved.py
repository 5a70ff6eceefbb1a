"""Clip, Where and Expand compiled: the bits of the definitions on every type, moved bits untouched."""

import re
from typing import Any

import numpy as np
import pytest
from tests.native.support import (
    Array,
    assert_defined,
    constant,
    functions,
    model,
    node,
    planned,
    value,
)
from tests.operators.support import FLOATS, HELD, INTEGERS, special_values

import sonnx
from sonnx.vocabulary.kernel import KernelCall

CLIPPED = [*FLOATS, *INTEGERS]
EXPANDED = [*FLOATS, *INTEGERS, "bool"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (1,), (3, 0, 2), (7,), (2, 3, 5), (1, 1), (4, 1, 33), (1025,)]
MANY = 300_000  # elements of any type that are several tasks
THREADS = (1, 2, 3, 50)


def any_bits(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Elements of any bits, every fifth a special one; a bool may be any byte."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape, dtype=np.int64))
    array = random.integers(0, 256, count * HELD[dtype].itemsize, np.uint8).view(HELD[dtype])
    special = special_values(dtype)
    for place in range(0, min(count, 1000), 5):
        array[place : place + 1] = np.array([special[random.integers(len(special))]], HELD[dtype])
    return array.reshape(shape)


def clip(dtype: str, shape: tuple[int, ...]) -> sonnx.Graph:
    ends = [value("low", dtype, ()), value("high", dtype, ())]
    nodes = [node("Clip", ("x", "low", "high"), "y")]
    return model(nodes, [value("x", dtype, shape), *ends], [value("y", dtype, shape)])


def where(dtype: str, shape: tuple[int, ...]) -> sonnx.Graph:
    inputs = [value("c", "bool", shape), value("x", dtype, shape), value("y", dtype, shape)]
    return model([node("Where", ("c", "x", "y"), "z")], inputs, [value("z", dtype, shape)])


def expand(dtype: str, given: tuple[int, ...], wanted: tuple[int, ...]) -> sonnx.Graph:
    shape = constant("shape", np.array(wanted, np.int64))
    nodes = [node("Expand", ("x", "shape"), "y")]
    return model(nodes, [value("x", dtype, given)], [value("y", dtype, wanted)], [shape])


@pytest.mark.parametrize("threads", THREADS)
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    x, y = any_bits("double", (MANY,)), any_bits("double", (MANY,), 1)
    bounds = {"low": np.array(-1.0), "high": np.array(2.5)}
    assert_defined(clip("double", (MANY,)), {"x": x, **bounds}, threads=(threads,), nan="bits")
    c = any_bits("bool", (MANY,))
    assert_defined(where("double", (MANY,)), {"c": c, "x": x, "y": y}, threads=(threads,), nan="bits")
    graph = expand("double", (3, 1, 1000), (3, 101, 1000))
    assert_defined(graph, {"x": x[:3000].reshape(3, 1, 1000)}, threads=(threads,), nan="bits")


def streamed(graph: sonnx.Graph) -> bool:
    (call,) = planned(graph).steps
    assert isinstance(call, KernelCall)
    return bool(dict(call.parameters)["streamed"])


def test_what_is_written_past_the_caches_has_the_same_bits() -> None:
    count = 4_000_003
    x, c = any_bits("float", (count,)), any_bits("bool", (count,))
    limited, chosen = clip("float", (count,)), where("float", (count,))
    grown = expand("float", (3, 1, 2001), (3, 1100, 2001))
    assert all(map(streamed, (limited, chosen, grown)))
    bounds = {"low": np.array(-1, np.float32), "high": np.array(9, np.float32)}
    assert_defined(limited, {"x": x, **bounds}, threads=(1, 2), nan="bits")
    assert_defined(chosen, {"c": c, "x": x, "y": x[::-1].copy()}, threads=(1, 2), nan="bits")
    assert_defined(grown, {"x": x[:6003].reshape(3, 1, 2001)}, threads=(1, 2), nan="bits")


@pytest.mark.parametrize("threads", [1, 3])
def test_text_is_moved_by_the_definitions(threads: int) -> None:
    words = np.array(["", "a", "ä\n", "\x00", "NaN", "long" * 50], object)
    c = np.array([True, False, True, True, False, False])
    assert functions(planned(where("string", (6,)))) == {"Where"}
    assert_defined(where("string", (6,)), {"c": c, "x": words, "y": words[::-1]}, threads=(threads,))
    assert_defined(expand("string", (6, 1), (2, 6, 3)), {"x": words.reshape(6, 1)}, threads=(threads,))


def test_text_and_numbers_may_follow_one_another() -> None:
    # Where of text, with a condition that a kernel expands, between kernels on numbers.
    graph = model(
        [
            node("Clip", ("x", "low", "high"), "y"),
            node("Expand", ("c", "shape"), "wide"),
            node("Where", ("wide", "s", "t"), "u"),
            node("Expand", ("u", "more"), "v"),
            node("Where", ("wide", "y", "x"), "z"),
        ],
        [
            value("x", "float", (2, 3)),
            value("c", "bool", (3,)),
            value("s", "string", (2, 3)),
            value("t", "string", (2, 3)),
        ],
        [value("v", "string", (2, 2, 3)), value("z", "float", (2, 3)), value("u", "string", (2, 3))],
        [
            constant("low", np.array(0, np.float32)),
            constant("high", np.array(1, np.float32)),
            constant("shape", np.array([2, 3])),
            constant("more", np.array([2, 2, 3])),
        ],
        [value("y", "float", (2, 3)), value("wide", "bool", (2, 3))],
    )
    arrays: dict[str, Any] = {
        "x": np.array([[-1, 0.5, 7], [0, np.nan, 2]], np.float32),
        "c": np.array([True, False, True]),
        "s": np.array([["a", "b", "c"], ["d", "e", "f"]], object),
        "t": np.array([["A", "B", "C"], ["D", "E", "F"]], object),
    }
    found = graph.compile(threads=2)(arrays)
    assert found["u"].tolist() == [["a", "B", "c"], ["d", "E", "f"]]
    assert found["v"].tolist() == [[["a", "B", "c"], ["d", "E", "f"]]] * 2
    expected = np.array([[0, 0.5, 1], [0, np.nan, 1]], np.float32)
    assert sonnx.same_bits(found["z"], expected)
    found["u"][0, 0] = "changed"
    assert graph.compile()(arrays)["u"][0, 0] == "a"


def test_clip_compares_as_worked_out_by_hand() -> None:
    x = np.array([-3, -0.0, 0.0, 1, 2, np.inf, -np.inf, np.nan], np.float32)
    nan = np.float32(np.nan)
    table = [
        ((-1, 1), [-1, -0.0, 0.0, 1, 1, 1, -1, nan]),
        ((0.0, 1), [0.0, -0.0, 0.0, 1, 1, 1, 0.0, nan]),  # -0 is not below +0 (D-CLIP-2)
        ((2, -2), [-2, -2, -2, -2, -2, -2, -2, nan]),  # min > max gives max (D-CLIP-1)
        ((nan, 1), [-3, -0.0, 0.0, 1, 1, 1, -np.inf, nan]),  # a NaN bound does not bound
        ((-1, nan), [-1, -0.0, 0.0, 1, 2, np.inf, -1, nan]),
        ((nan, nan), x.tolist()),
    ]
    run = clip("float", (8,)).compile()
    for (low, high), expected in table:
        found = run({"x": x, "low": np.array(low, np.float32), "high": np.array(high, np.float32)})
        assert sonnx.same_bits(found["y"], np.array(expected, np.float32))


@pytest.mark.parametrize("dtype", ["uint8", "int64", "uint64"])
def test_integers_are_compared_with_their_sign(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, 1, 100, info.max], dtype)
    run = clip(dtype, (4,)).compile()
    found = run({"x": x, "low": np.array(2, dtype), "high": np.array(info.max - 1, dtype)})
    assert found["y"].tolist() == [2, 2, 100, info.max - 1]


def test_where_and_expand_move_as_worked_out_by_hand() -> None:
    c = np.array([0, 1, 255, 0], np.uint8).view(bool)
    # A signalling NaN and a NaN with a payload keep every bit.
    x = np.array([1, 0x7F800001, 3, 4], np.uint32).view(np.float32)
    y = np.array([5, 6, 7, 0xFFC12345], np.uint32).view(np.float32)
    found = where("float", (4,)).compile()({"c": c, "x": x, "y": y})["z"]
    assert found.view(np.uint32).tolist() == [5, 0x7F800001, 3, 0xFFC12345]
    grown = expand("int8", (2, 1), (2, 2, 3)).compile()({"x": np.array([[1], [2]], np.int8)})["y"]
    assert grown.tolist() == [[[1, 1, 1], [2, 2, 2]], [[1, 1, 1], [2, 2, 2]]]


@pytest.mark.parametrize("second", ["float", "uint32"])
@pytest.mark.parametrize("first", ["float", "int32"])
def test_nodes_of_several_types_share_one_program(first: str, second: str) -> None:
    graph = model(
        [node("Clip", ("a", "a0", "a1"), "b"), node("Clip", ("c", "c0", "c1"), "d")],
        [value("a", first, (5,)), value("c", second, (5,))],
        [value("b", first, (5,)), value("d", second, (5,))],
        [
            *(constant(name, np.array(n, HELD[first])) for name, n in (("a0", 1), ("a1", 3))),
            *(constant(name, np.array(n, HELD[second])) for name, n in (("c0", 2), ("c1", 4))),
        ],
    )
    found = graph.compile()({"a": np.arange(5, dtype=HELD[first]), "c": np.arange(5, dtype=HELD[second])})
    assert found["b"].tolist() == [1, 1, 2, 3, 3]
    assert found["d"].tolist() == [2, 2, 2, 3, 4]


@pytest.mark.parametrize("dtype", list(HELD))
def test_no_type_is_read_as_more_than_its_alignment_promises(dtype: str) -> None:
    # A complex64 may lie at any multiple of 4, so its kernel must not read 8 bytes as one.
    moved = [where(dtype, (3, 5)), *([expand(dtype, (3, 1), (3, 5))] if dtype in EXPANDED else [])]
    for graph in moved:
        for call in planned(graph).steps:
            assert isinstance(call, KernelCall)
            kind = dict(call.variant.macros).get("TYPE", "")
            words = re.findall(r"uint(\d+)_t", kind) if kind else re.findall(r"word(\d+) \*", call.text or "")
            # A condition is a byte.
            assert {int(word) // 8 for word in words} - {1} <= {HELD[dtype].alignment}
            assert str(8 * HELD[dtype].alignment) in words
