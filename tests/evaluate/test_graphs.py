"""Graphs executed by their definitions: what is taken, what comes out, what it costs, what is refused."""

import ctypes
import platform
import sys
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.loops import for_each
from tests.normalize.support import float32, normalized, proto, read, rules
from tests.operators.seven_loops import STEPS, exactly, seven_loops
from tests.operators.support import Array, arrays, special_values

import sonnx
from sonnx.evaluate.execution import ExecutedNode, InputError, MemoryLimitError, Settings, execute
from sonnx.model.graph import Graph

CLIP = "g (float[3] x) => (float[3] y) <float lo = {0.0}, float hi = {6.0}> { y = Clip(x, lo, hi) }"


def ready(text: str, *functions: str) -> Graph:
    """A conforming graph, written briefly: what it leaves out is what ONNX documents."""
    done = normalized(text, *functions)
    assert rules(done) == []
    return done.graph


def run(text: str, watch: Any = None, /, **more: Any) -> dict[str, Array]:
    """Execute a graph; settings and inputs by name."""
    how = {
        name: more.pop(name) for name in ("domain", "accumulate", "order", "seed", "memory") if name in more
    }
    return execute(ready(text), more, Settings(**how), watch)


def refused(text: str, inputs: Any, **how: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        execute(ready(text), inputs, Settings(**how))
    return str(caught.value).splitlines()


# --- what is taken ---

WHERE = "g (bool[2] c, float[2] x, float[2] z) => (float[2] y) { y = Where(c, x, z) }"
TAKES = "inputs of the model: c: bool[2], x: float[2], z: float[2]"


def test_every_problem_with_the_inputs_is_told_at_once() -> None:
    given = {"c": np.ones(3, bool), "x": np.zeros(2), "w": 1, "v": 2}
    assert refused(WHERE, given) == [
        "`w` is no input of the model",
        "`v` is no input of the model",
        "`c` must be bool[2], not bool[3]; nothing is converted",
        "`x` must be float[2], not double[2]; nothing is converted",
        "`z` is missing; it must be float[2]",
        TAKES,
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], "must be float[2], not Python list"),
        (None, "must be float[2], not absent"),
        (np.float32(1), "must be float[2], not float[]"),
        (float32([[1, 2]]), "must be float[2], not float[1,2]"),
        (np.array([1, 2]), "must be float[2], not int64[2]"),
        (np.array([1, 2], np.float16), "must be float[2], not float16[2]"),
        (sonnx.real([1, 2]), "must be float[2], not real[2]"),
        (np.array(["a", "b"]), "must be float[2], not string[2]"),
        (np.ma.masked_array(float32([1, 2])), "must be float[2], not masked array[2]"),
    ],
)
def test_nothing_is_converted(given: Any, words: str) -> None:
    lines = refused(WHERE, {"c": np.ones(2, bool), "x": given, "z": float32([1, 2])})
    assert lines == [f"`x` {words}; nothing is converted", TAKES]


def test_inputs_have_names() -> None:
    assert refused(WHERE, [float32([1, 2])]) == ["give the inputs by name, as a dict of arrays", TAKES]
    none = "g () => (float[1] y) { y = Constant<value_floats = [1.0]>() }"
    assert refused(none, {"x": 1}) == ["`x` is no input of the model", "inputs of the model: none"]


def test_names_of_a_model_are_not_printed_raw() -> None:
    graph = ready(CLIP)
    odd = "x\x1b[2J\n"
    node = replace(graph.nodes[0], inputs=(odd, "lo", "hi"))
    graph = replace(graph, inputs=(replace(graph.inputs[0], name=odd),), nodes=(node,))
    with pytest.raises(InputError) as caught:
        execute(graph, {"\x07": 1}, Settings())
    assert str(caught.value).splitlines() == [
        r"`\x07` is no input of the model",
        r"`x\x1b[2J\n` is missing; it must be float[3]",
        r"inputs of the model: x\x1b[2J\n: float[3]",
    ]


def test_arrays_of_any_layout_are_taken() -> None:
    x = np.array([[9, 0], [3, 0], [-1, 0]], ">f4")[:, 0]
    assert run(CLIP, x=x)["y"].tolist() == [6, 3, 0]
    assert run(CLIP, x=x[::-1])["y"].tolist() == [0, 3, 6]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("domain", "complex", "domain must be 'ieee' or 'real', not 'complex'"),
        ("accumulate", "fast", "accumulate must be 'separate' or 'fused', not 'fast'"),
        ("order", ["given"], "order must be 'given' or 'random', not ['given']"),
    ],
)
def test_settings_that_there_are_not_are_refused(name: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole text is compared below
        Settings(**{name: value})
    assert str(caught.value) == words


# --- the real domain ---

LAYER = """g (float[1,1,2,2] x) => (float[1,1,1,1] y)
           <float[1,1,2,2] w = {0.1, 0.5, -3.0, 2.0}, float[1] b = {0.25}> { y = Conv(x, w, b) }"""


def test_real_results_are_exact_fractions() -> None:
    x = float32([[[[1.5, 3], [0.1, -0.0]]]])
    tenth = Fraction(13421773, 2**27)  # the float nearest to 0.1
    exact = Fraction(1, 4) + Fraction(3, 2) * tenth + Fraction(3, 2) - 3 * tenth
    (y,) = run(LAYER, x=x, domain="real").values()
    assert isinstance(y, sonnx.RealArray)
    assert y.tolist() == [[[[exact]]]]


def test_exact_numbers_are_taken_where_the_model_has_floats() -> None:
    x = sonnx.real([[[["1/3", "0"], ["1/7", "1/2"]]]])
    tenth = Fraction(13421773, 2**27)
    exact = Fraction(1, 4) + tenth / 3 - Fraction(3, 7) + 1
    assert run(LAYER, x=x, domain="real")["y"].item() == exact


@pytest.mark.parametrize(
    ("value", "words"), [(np.inf, "inf"), (-np.inf, "-inf"), (np.nan, "nan")], ids=["inf", "-inf", "nan"]
)
def test_what_is_no_real_number_is_refused_with_its_tensor(value: float, words: str) -> None:
    text = """g (float[2] x, float[2] z, float lo, float hi) => (float[2] y, float[2] v)
              { y = Clip(x, lo, hi)  v = Clip(z, lo, hi) }"""
    given = {"x": float32([1, value]), "z": float32([value, 1]), "lo": float32(0), "hi": float32(1)}
    reason = "which is no real number; the real domain has neither NaN nor infinity"
    assert refused(text, given, domain="real")[:-1] == [
        f"`x` cannot be taken into the reals: element 1 is {words}, {reason}",
        f"`z` cannot be taken into the reals: element 0 is {words}, {reason}",
    ]


def test_a_constant_that_is_no_real_number_is_refused_with_its_name() -> None:
    graph = ready(CLIP)
    endless = tuple(replace(held, data=float32(np.inf)) for held in graph.constants)
    with pytest.raises(InputError, match="`lo` cannot be taken into the reals: element 0 is inf"):
        execute(replace(graph, constants=endless), {"x": float32([1, 2, 3])}, Settings(domain="real"))


def test_integers_booleans_and_text_stay_what_they_are_in_the_real_domain_and_bfloat16_is_lifted() -> None:
    text = """g (int8[2] i, bool[2] c, string[2] s, string[2] t, bfloat16[2] h) =>
              (int8[2] j, string[2] u, bfloat16[2] k, bool[2] d)
              { j = Clip(i)  u = Where(c, s, t)  k = Where(c, h, h)  d = Where(c, c, c) }"""
    given = {
        "i": np.array([-128, 5], np.int8),
        "c": np.array([True, False]),
        "s": np.array(["a", "b"], object),
        "t": np.array(["c", "d"], object),
        "h": np.array([1.5, -2], ml_dtypes.bfloat16),
    }
    found = run(text, **given, domain="real")
    assert sonnx.same_bits(found["j"], given["i"])
    assert found["u"].tolist() == ["a", "d"]
    assert isinstance(found["k"], sonnx.RealArray)
    assert found["k"].tolist() == [Fraction(3, 2), -2]
    assert sonnx.same_bits(found["d"], given["c"])
    assert refused(text, given | {"i": sonnx.real([1, 2])}, domain="real")[0] == (
        "`i` must be int8[2], not real[2]; nothing is converted"
    )


def test_an_empty_tensor_of_reals_keeps_its_domain() -> None:
    text = "g (float[0] x, float lo, float hi) => (float[0] y) { y = Clip(x, lo, hi) }"
    y = run(text, x=np.zeros(0, np.float32), lo=float32(0), hi=float32(1), domain="real")["y"]
    assert isinstance(y, sonnx.RealArray)
    assert y.shape == (0,)


# --- bits ---

NET = """g (float[1,2,4,5] x) => (float[1,2,2,2] y)
         { h = Conv<auto_pad = "SAME_UPPER", dilations = [1, 2]>(x, w1, b1)  c = Clip(h, lo, hi)
           y = Conv<strides = [2, 2], group = 2, pads = [0, 0, 1, 0]>(c, w2) }"""
FIRST: dict[str, Any] = {"strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 2), "group": 1}
SECOND: dict[str, Any] = {"strides": (2, 2), "pads": (0, 0, 1, 0), "dilations": (1, 1), "group": 2}


def two_layers(random: np.random.Generator, kind: str) -> tuple[Graph, dict[str, Array]]:
    """Conv, Clip and a depthwise Conv, with data of many digits."""
    held = np.dtype({"float": "f4", "double": "f8", "float16": "f2"}[kind])
    data = {
        "w1": random.standard_normal((2, 2, 3, 2)).astype(held),
        "b1": random.standard_normal(2).astype(held),
        "w2": random.standard_normal((2, 1, 3, 3)).astype(held),
        "lo": np.array(-0.5, held),
        "hi": np.array(2, held),
    }
    shapes = ", ".join(
        f"{kind}{list(array.shape) if array.ndim else ''} {name}" for name, array in data.items()
    )
    text = NET.replace("float", kind).replace(" x)", f" x, {shapes})")
    return ready(text), data | {"x": random.standard_normal((1, 2, 4, 5)).astype(held)}


def by_seven_loops(data: Mapping[str, Array], step: Any) -> Array:
    hidden = seven_loops(data["x"], data["w1"], data["b1"], step, **FIRST)
    low, high = data["lo"][()], data["hi"][()]
    cut = [low if value < low else high if value > high else value for value in hidden.flat]
    clipped = np.array(cut, hidden.dtype).reshape(hidden.shape)
    return seven_loops(clipped, data["w2"], None, step, **SECOND)


@for_each("kind", ["float16", "float", "double"])
@for_each("accumulate", ["separate", "fused"])
@for_each("seed", range(3))
def test_a_network_of_two_layers_has_the_bits_of_seven_loops(kind: str, accumulate: Any, seed: int) -> None:
    graph, data = two_layers(np.random.default_rng(seed), kind)
    # The product of two float16 is exact in float: there the modes are one.
    step = STEPS["separate" if kind == "float16" else accumulate]
    y = execute(graph, data, Settings(accumulate=accumulate))["y"]
    assert sonnx.same_bits(y, by_seven_loops(data, step))


def test_the_modes_of_accumulation_differ_where_they_must() -> None:
    graph, data = two_layers(np.random.default_rng(0), "float")
    modes: list[Any] = ["separate", "fused"]
    results = [execute(graph, data, Settings(accumulate=mode))["y"] for mode in modes]
    assert not sonnx.same_bits(*results)
    # x·w + b with x·w = (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, which a float rounds to 1 + 2^-11
    text = "g (float[1,1,1,1] x, float[1] b) => (y) { y = Conv(x, x, b) }"
    x, b = np.full((1, 1, 1, 1), 1 + 2**-12, np.float32), float32([-1 - 2**-11])
    assert run(text, x=x, b=b)["y"].item() == 0
    assert run(text, x=x, b=b, accumulate="fused")["y"].item() == 2**-24
    assert run(text, x=x, b=b, domain="real")["y"].item() == Fraction(1, 2**24)


def test_a_network_in_the_reals_is_that_of_seven_loops_on_fractions() -> None:
    graph, data = two_layers(np.random.default_rng(1), "float")
    lifted = {name: np.asarray(sonnx.real(array)) for name, array in data.items()}
    y = execute(graph, data, Settings(domain="real"))["y"]
    assert y.tolist() == by_seven_loops(lifted, exactly).tolist()


@hypothesis_settings(deadline=None, max_examples=examples(60))
@given(
    data=st.data(),
    name=st.sampled_from(["float16", "float", "double", "int8", "uint64", "bfloat16", "complex64"]),
)
def test_elements_that_are_only_moved_keep_every_bit(data: st.DataObject, name: str) -> None:
    text = f"""g (bool[2,3] c, {name}[2,3] x, {name}[3] z) => ({name}[2,2,3] y)
               <int64[3] s = {{2, 2, 3}}> {{ t = Where(c, x, z)  y = Expand(t, s) }}"""
    c = data.draw(arrays("bool", (2, 3)))
    x, z = data.draw(arrays(name, (2, 3))), data.draw(arrays(name, (3,)))
    chosen = np.empty((2, 3), x.dtype.newbyteorder("="))
    for place in np.ndindex(2, 3):
        truth = np.ascontiguousarray(c).view(np.uint8)[place] != 0
        chosen[place] = x[place] if truth else z[place[1]]
    y = run(text, c=c, x=x, z=z)["y"]
    assert all(sonnx.same_bits(part, chosen) for part in y)


def test_a_condition_is_true_for_any_byte_that_is_not_zero() -> None:
    c = np.array([0, 1, 2, 255], np.uint8).view(bool)
    text = """g (bool[4] c, int8[4] x, int8[4] z) => (int8[4] y, bool[4] d)
              { y = Where(c, x, z)  d = Where(c, c, c) }"""
    found = run(text, c=c, x=np.full(4, 7, np.int8), z=np.zeros(4, np.int8))
    assert found["y"].tolist() == [0, 7, 7, 7]
    assert found["d"].view(np.uint8).tolist() == [0, 1, 2, 255]


@pytest.mark.parametrize("name", ["float16", "double", "int8", "int64", "uint8", "uint64"])
def test_bounds_work_on_every_type(name: str) -> None:
    held = np.dtype({"double": "f8"}.get(name, name))
    x = np.array([special for special in special_values(name) if special == special], held)  # noqa: PLR0124  no NaN
    text = f"g ({name}[{len(x)}] x, {name} lo, {name} hi) => ({name}[{len(x)}] y) {{ y = Clip(x, lo, hi) }}"
    lo, hi = np.array(1, held), np.array(2, held)
    y = run(text, x=x, lo=lo, hi=hi)["y"]
    expected = [lo if value < lo else hi if value > hi else value for value in x]
    assert sonnx.same_bits(y, np.array(expected, held))


def test_text_is_chosen_and_repeated() -> None:
    text = """g (bool[2] c, string[2] x, string z) => (string[2,2] y)
              <int64[2] s = {2, 2}> { t = Where(c, x, z)  y = Expand(t, s) }"""
    y = run(text, c=np.array([True, False]), x=np.array(["ä\x00", "b"], object), z="")["y"]
    assert y.tolist() == [["ä\x00", ""], ["ä\x00", ""]]


@pytest.mark.parametrize(
    ("text", "given", "shape"),
    [
        ("g (float[0,3] x) => (float[0,3] y) { y = Clip(x) }", {"x": np.zeros((0, 3), np.float32)}, (0, 3)),
        (
            "g (float[0,1,3,3] x, float[2,1,2,2] w) => (y) { y = Conv(x, w) }",
            {"x": np.zeros((0, 1, 3, 3), np.float32), "w": np.ones((2, 1, 2, 2), np.float32)},
            (0, 2, 2, 2),
        ),
        (
            "g (bool[2,0] c, float[2,0] x) => (y) { y = Where(c, x, x) }",
            {"c": np.zeros((2, 0), bool), "x": np.zeros((2, 0), np.float32)},
            (2, 0),
        ),
        (
            "g (string[0] x) => (y) <int64[2] s = {3, 0}> { y = Expand(x, s) }",
            {"x": np.zeros(0, object)},
            (3, 0),
        ),
    ],
)
def test_tensors_without_elements_are_tensors(
    text: str, given: dict[str, Array], shape: tuple[int, ...]
) -> None:
    y = run(text, **given)["y"]
    assert (y.shape, y.dtype) == (shape, given["x"].dtype)


# --- steps ---


def test_every_step_is_watched() -> None:
    text = """g (float[2] x, float lo, float hi) => (float[2] y)
              { [first] t = Clip(x, lo, hi)  [second] u = Clip(t, lo, hi)  [third] y = Clip(u, lo, hi) }"""
    steps: list[ExecutedNode] = []
    run(text, steps.append, x=float32([1, 9]), lo=float32(0), hi=float32(5))
    assert [(step.number, step.total, step.node.name, list(step.results)) for step in steps] == [
        (1, 3, "first", ["t"]),
        (2, 3, "second", ["u"]),
        (3, 3, "third", ["y"]),
    ]
    assert [step.location.index for step in steps] == [0, 1, 2]
    assert steps[0].results["t"].tolist() == [1, 5]


def test_a_function_is_executed_by_its_body_without_being_inlined_before() -> None:
    body = "Limit (a, l, h) => (b) <float[2] m> { m = Clip(a, l, h)  b = Clip(m, l, h) }"
    text = "g (float[2] x, float l, float h) => (float[2] y) { [call] y = own.Limit(x, l, h) }"
    given = read(proto(text, body, ir=10))
    assert sonnx.Graph.of(given).check() == ()
    steps: list[ExecutedNode] = []
    found = execute(given, {"x": float32([1, 9]), "l": float32(0), "h": float32(5)}, Settings(), steps.append)
    assert found["y"].tolist() == [1, 5]
    assert [(step.node.operator, step.location.inside and step.location.inside.name) for step in steps] == [
        ("Clip", "call"),
        ("Clip", "call"),
    ]


# --- memory ---


@pytest.mark.parametrize(
    ("text", "given", "needed"),
    [
        # one input element, 2^30 results of 4 bytes, copied once
        (
            f"g (float[1] x) => (float[{2**30}] y) <int64[1] s = {{{2**30}}}> {{ y = Expand(x, s) }}",
            {"x": float32([1])},
            2 * 4 * 2**30,
        ),
        # an image of one element, padded to (2^15 + 1)^2
        (
            f"""g (float[1,1,1,1] x, float[1,1,1,1] w) => (float[1,1,2,2] y)
                {{ y = Conv<pads = [0, 0, {2**15}, {2**15}], strides = [{2**15}, {2**15}]>(x, w) }}""",
            {"x": np.ones((1, 1, 1, 1), np.float32), "w": np.ones((1, 1, 1, 1), np.float32)},
            4 * (2**15 + 1) ** 2,
        ),
    ],
    ids=["Expand", "pads"],
)
def test_what_takes_too_much_is_refused_before_anything_is_allocated(
    text: str, given: Any, needed: int
) -> None:
    graph = ready(text)
    tracemalloc.start()
    try:
        with pytest.raises(MemoryLimitError) as caught:
            execute(graph, given, Settings(memory=2**30))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    words = str(caught.value)
    named = int(words.removeprefix("running the model takes up to ").split(" bytes")[0].replace(",", ""))
    assert needed <= named <= needed + 1000
    assert words.endswith("bytes for tensors, allowed are 1,073,741,824; allow more if the machine has it")


def least_memory(graph: Graph, given: dict[str, Array], **how: Any) -> int:
    """The smallest limit under which a graph runs, read off the refusal."""
    with pytest.raises(MemoryLimitError) as caught:
        execute(graph, given, Settings(**how, memory=0))
    return int(str(caught.value).split()[6].replace(",", ""))


def chain(length: int, size: int) -> str:
    nodes = " ".join(f"t{i + 1} = Clip(t{i}, lo, hi)" for i in range(length))
    return f"g (float[{size}] t0, float lo, float hi) => (float[{size}] t{length}) {{ {nodes} }}"


def test_a_limit_is_exactly_what_it_says() -> None:
    graph = ready(chain(3, 1000))
    given = {"t0": np.zeros(1000, np.float32), "lo": float32(0), "hi": float32(1)}
    least = least_memory(graph, given)
    # bounds; input and result; a copy of all of them
    assert least == 2 * (8 + 2 * 4000)
    execute(graph, given, Settings(memory=least))
    with pytest.raises(MemoryLimitError):
        execute(graph, given, Settings(memory=least - 1))


def test_tensors_that_nobody_needs_any_more_give_their_memory_back() -> None:
    size = 250_000
    given = {"t0": np.zeros(size, np.float32), "lo": float32(0), "hi": float32(1)}
    peaks = []
    for length in (3, 30):
        graph = ready(chain(length, size))
        execute(graph, given, Settings())  # what is made once and kept is not counted below
        tracemalloc.start()
        execute(graph, given, Settings())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 4 * size // 2  # less than half a tensor more, for 27 more nodes
    assert least_memory(ready(chain(3, size)), given) == least_memory(ready(chain(30, size)), given)


def test_a_tensor_that_one_node_takes_twice_gives_its_memory_back_as_well() -> None:
    given = {"t0": np.zeros(1000, np.float32), "c": np.ones(1000, bool)}
    needed = []
    for length in (3, 30):
        nodes = " ".join(f"t{i + 1} = Where(c, t{i}, t{i})" for i in range(length))
        graph = ready(f"g (bool[1000] c, float[1000] t0) => (float[1000] t{length}) {{ {nodes} }}")
        needed.append(least_memory(graph, given))
    assert needed == [2 * (1000 + 2 * 4000)] * 2


IMAGE = np.linspace(-1, 1, 16 * 128 * 128, dtype=np.float32).reshape(1, 16, 128, 128)
KERNEL = np.linspace(-1, 1, 16 * 16 * 9, dtype=np.float32).reshape(16, 16, 3, 3)


CONV = "K[1,16,128,128] x, K[16,16,3,3] w) => (y) { y = Conv"
BUSY: dict[str, tuple[str, dict[str, Array], dict[str, Any]]] = {
    "Clip": ("K[1,16,128,128] x) => (y) { y = Clip(x) }", {"x": IMAGE}, {}),
    "Where": (
        "K[1,16,128,128] x, bool[1,16,128,128] c) => (y) { y = Where(c, x, x) }",
        {"x": IMAGE, "c": IMAGE > 0},
        {},
    ),
    "Conv": (f'{CONV}<auto_pad = "SAME_UPPER">(x, w) }}', {"x": IMAGE, "w": KERNEL}, {}),
    "wide Conv": (
        "K[1,1,128,128] x, K[16,1,3,3] w) => (y) { y = Conv(x, w) }",
        {"x": IMAGE[:, :1], "w": KERNEL[:, :1]},
        {},
    ),
    "fused Conv": (
        "K[1,1,128,128] x, K[4,1,2,1] w) => (y) { y = Conv(x, w) }",
        {"x": IMAGE[:, :1], "w": KERNEL[:4, :1, :2, :1]},
        {"accumulate": "fused"},
    ),
    "real Conv": (
        "K[1,1,16,16] x, K[2,1,3,3] w) => (y) { y = Conv(x, w) }",
        {"x": IMAGE[:, :1, :16, :16], "w": KERNEL[:2, :1]},
        {"domain": "real"},
    ),
    "Convs": (
        "K[1,1,128,128] x, K[16,1,3,3] w) => (y, v) { y = Conv(x, w)  v = Conv(x, w) }",
        {"x": IMAGE[:, :1], "w": KERNEL[:, :1]},
        {},
    ),
    "Input as output": (
        "K[1,16,128,128] x, K[2] z) => (K[1,16,128,128] x, y) { y = Clip(z) }",
        {"x": IMAGE, "z": KERNEL[0, 0, 0, :2]},
        {},
    ),
    "Expands": (
        "K[1,1,128,1] x) => (y, v) <int64[4] s = {1, 1, 1, 900}> { y = Expand(x, s)  v = Expand(x, s) }",
        {"x": IMAGE[:, :1, :, :1]},
        {},
    ),
}


@for_each("name", list(BUSY))
@for_each("kind", ["float16", "float", "double"])
def test_a_run_takes_no_more_than_it_says(kind: str, name: str) -> None:
    text, given, how = BUSY[name]
    element = np.dtype({"float16": "f2", "float": "f4", "double": "f8"}[kind])
    held = {key: array if array.dtype == bool else array.astype(element) for key, array in given.items()}
    graph = ready(f"g ({text}".replace("K", kind))
    least = least_memory(graph, held, **how)
    execute(graph, held, Settings(**how))  # what is made once and kept is not counted below
    tracemalloc.start()
    try:
        execute(graph, held, Settings(**how))
        peak = tracemalloc.get_traced_memory()[1] + sum(array.nbytes for array in held.values())
    finally:
        tracemalloc.stop()
    # There are objects besides tensors; a block of a fused sum has many temporaries.
    assert peak <= least + (2**20 if "fused" in name else 2**17)


def test_results_are_the_caller_s_own() -> None:
    text = """g (float[2] x) => (float[2] same, float[2] x, float[3,2] more, float[2] held)
              <float lo = {0.0}, float hi = {6.0}, float[2] held = {1.0, 2.0}, int64[2] s = {3, 2}>
              { same = Clip(x, lo, hi)  more = Expand(x, s) }"""
    graph = ready(text)
    x = float32([3, 4])
    first = execute(graph, {"x": x}, Settings())
    for array in first.values():
        assert array.flags.writeable
        assert array.flags.c_contiguous
        array[...] = 9
    assert x.tolist() == [3, 4]
    second = execute(graph, {"x": x}, Settings())
    assert {name: array.tolist() for name, array in second.items()} == {
        "same": [3, 4],
        "x": [3, 4],
        "more": [[3, 4]] * 3,
        "held": [1, 2],
    }
    arrays = [*first.values(), *second.values(), x]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@pytest.mark.parametrize("node", ["Clip(x, l, h)", "Where(c, x, x)", "Expand(x, s)"])
def test_results_lie_in_memory_line_by_line_wherever_inputs_lie(node: str) -> None:
    text = f"""g (float[2,3] x, bool[2,3] c, float l, float h) => (float[2,3] y)
               <int64[2] s = {{2, 3}}> {{ y = {node} }}"""
    x = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = run(text, x=x, c=x > 0, l=float32(0), h=float32(9))["y"]
    assert y.flags.c_contiguous
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_inputs_that_may_not_be_written_to_are_only_read() -> None:
    x = float32([-1, 3, 9])
    x.flags.writeable = False
    y = run(CLIP, x=x)["y"]
    y[...] = 1
    assert x.tolist() == [-1, 3, 9]


# --- the state of the process ---

ON_X86_LINUX = sys.platform == "linux" and platform.machine() == "x86_64"
FLUSH_TO_ZERO = 0x8000  # a bit of the register MXCSR


@pytest.mark.skipif(
    not ON_X86_LINUX, reason="the layout of the floating-point environment is known there only"
)
@pytest.mark.parametrize("when", ["before", "during"])
def test_nothing_comes_out_of_a_process_that_does_not_compute_as_ieee_754_says(when: str) -> None:
    graph, inputs = ready(CLIP), {"x": float32([1, 2, 3])}
    library = ctypes.CDLL("libm.so.6")
    saved, changed = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    library.fegetenv(saved)
    library.fegetenv(changed)
    changed[7] |= FLUSH_TO_ZERO

    steps = []

    def flush(step: object = None) -> None:
        steps.append(step)
        library.fesetenv(changed)

    message = None
    try:
        if when == "before":
            flush()
        execute(graph, inputs, Settings(), flush)
    except sonnx.NotIeeeError as error:
        message = str(error)
    finally:
        library.fesetenv(saved)
    assert message is not None
    assert "flushes subnormal numbers to zero" in message
    assert len(steps) == 1  # seen before the first node, or at the end
