"""The text of a module: what stands in it, what does not, and that XLA's own parser takes it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.loops import for_each
from tests.stablehlo.xla_support import (
    HELD,
    Array,
    assert_equal_on_xla,
    defined,
    on_xla,
    random_bits,
    type_of,
)

from sonnx.model.graph import Constant, Function, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.numeric.bits import same_bits
from sonnx.operators import OPERATORS
from sonnx.stablehlo import engine
from sonnx.stablehlo.module import ExportError, stablehlo

CALL = "xla.computation"


def value(name: str, text: str) -> Value:
    return Value(name, tensor_type(text))


def constant(name: str, array: Array) -> Constant:
    return Constant(name, type_of(array), array)


TWICE = Function(
    "twice",
    CALL,
    ("x",),
    ("y",),
    (
        Node("Concatenate", ("x", "one"), ("longer",), {"dimension": 0}, "join", "xla"),
        Node("Broadcast", ("longer",), ("y",), {"broadcast_sizes": (2,)}, domain="xla"),
    ),
    values=(value("longer", "s32[3]"), value("y", "s32[2,3]")),
    constants=(constant("one", np.array([1], np.int32)),),
)
SMALL = Graph(
    "small",
    (value("a", "s32[2]"), value("unused", "pred[]")),
    (value("b", "s32[2,3]"), value("c", "s32[6]")),
    (
        Node("Collapse", ("b",), ("c",), {"dimensions": (0, 1)}, "flat", "xla"),
        Node("twice", ("a",), ("b",), name="first", domain=CALL),
    ),
    functions=(TWICE,),
    dialect="xla",
)
GOLDEN = """\
// model "small"
module @model {
  func.func public @main(%arg0: tensor<2xi32>, %arg1: tensor<i1>) -> (tensor<2x3xi32>, tensor<6xi32>) {
    // %arg0 is input "a"
    // %arg1 is input "unused"
    // node 1 "first" (twice)
    %0 = call @f_0(%arg0) : (tensor<2xi32>) -> (tensor<2x3xi32>)
    // node 0 "flat" (Collapse)
    %1 = stablehlo.reshape %0 : (tensor<2x3xi32>) -> tensor<6xi32>
    // %0 is output "b"
    // %1 is output "c"
    return %0, %1 : tensor<2x3xi32>, tensor<6xi32>
  }
  // function "twice"
  func.func private @f_0(%arg0: tensor<2xi32>) -> (tensor<2x3xi32>) {
    // %arg0 is input "x"
    // constant "one"
    %0 = stablehlo.constant dense<1> : tensor<1xi32>
    // node 0 "join" (Concatenate)
    %1 = stablehlo.concatenate %arg0, %0, dim = 0 : (tensor<2xi32>, tensor<1xi32>) -> tensor<3xi32>
    // node 1 (Broadcast)
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
    // %2 is output "y"
    return %2 : tensor<2x3xi32>
  }
}
"""


def test_a_small_computation_reads_as_written() -> None:
    assert stablehlo(SMALL) == GOLDEN


def test_the_same_graph_gives_the_same_text() -> None:
    assert stablehlo(SMALL) == stablehlo(replace(SMALL))


def test_the_small_computation_runs() -> None:
    found = engine.execute(SMALL, {"a": np.array([7, 8], np.int32), "unused": np.array(True)})
    right = np.array([[7, 8, 1], [7, 8, 1]], np.int32)
    assert list(found) == ["b", "c"]
    assert same_bits(found["b"], right)
    assert same_bits(found["c"], right.reshape(6))


def test_every_operator_of_a_graph_has_a_lowering() -> None:
    # A call is written by the walk through the graph, and models hold Broadcast as Expand.
    meant = [op.definition or op.body for op in OPERATORS]
    without = {
        op.name for op, said in zip(OPERATORS, meant, strict=True) if op.stablehlo is None and said is None
    }
    assert without <= {"Broadcast", "xla.Call"}


def nested(depth: int) -> Graph:
    """A function that calls another twice, and so on; each holds constants under the same names."""
    functions = [TWICE]
    for level in range(depth):
        below = functions[-1].name
        functions.append(
            Function(
                f"level{level}",
                CALL,
                ("x",),
                ("z",),
                (
                    Node(below, ("x",), ("u",), domain=CALL),
                    Node(below, ("x",), ("v",), domain=CALL),
                    Node("Concatenate", ("u", "v"), ("w",), {"dimension": 0}, domain="xla"),
                    Node("Clamp", ("w", "low", "high"), ("z",), domain="xla"),
                ),
                values=tuple(
                    value(name, f"s32[{2 ** (level + (name not in 'uv')) * 2},3]")
                    for name in ("u", "v", "w", "z")
                ),
                constants=(
                    constant("low", np.array(level - 3, np.int32)),
                    constant("high", np.array(7 - level, np.int32)),
                ),
            )
        )
    outputs = (value("y", f"s32[{2 ** (depth + 1)},3]"),)
    return Graph(
        "nested",
        (value("x", "s32[2]"),),
        outputs,
        (Node(functions[-1].name, ("x",), ("y",), domain=CALL),),
        functions=tuple(functions),
        dialect="xla",
    )


def test_calls_in_calls_agree_with_their_bodies_in_place() -> None:
    graph, inputs = nested(4), {"x": np.array([-9, 9], np.int32)}
    (right,), (found,) = defined(graph, inputs), on_xla(graph, inputs)
    assert same_bits(right, found)


def test_a_function_is_written_once_however_often_it_is_called() -> None:
    text = stablehlo(nested(10))
    assert len(re.findall("func.func", text)) == 12
    assert len(text) < 30_000


def test_a_function_with_several_results_is_called() -> None:
    both = Function(
        "both",
        CALL,
        ("x", "k"),
        ("wide", "x"),
        (Node("Broadcast", ("x",), ("wide",), {"broadcast_sizes": (2,)}, domain="xla"),),
        values=(value("wide", "f32[2,3]"),),
    )
    graph = Graph(
        "several",
        (value("p", "f32[3]"),),
        (value("q", "f32[2,3]"), value("r", "f32[6]")),
        (
            Node("both", ("p", "p"), ("q", ""), domain=CALL),
            Node("Collapse", ("q",), ("r",), {"dimensions": (0, 1)}, domain="xla"),
        ),
        functions=(both,),
        dialect="xla",
    )
    p = np.array([1, 2, 3], np.float32)
    found = engine.execute(graph, {"p": p})
    assert same_bits(found["q"], np.stack([p, p]))
    assert same_bits(found["r"], np.concatenate([p, p]))


def test_functions_of_an_onnx_model_are_replaced_by_their_bodies() -> None:
    inner = Function("pick", "own", ("c", "x"), ("y",), (Node("Where", ("c", "x", "x"), ("y",)),))
    graph = Graph(
        "model",
        (value("c", "bool[2]"), value("x", "float[2]")),
        (value("z", "float[2]"),),
        (Node("pick", ("c", "x"), ("z",), domain="own"),),
        functions=(inner,),
    )
    text = stablehlo(graph)
    assert "call" not in text
    assert "stablehlo.select" in text


def test_an_output_may_be_an_input_or_a_constant() -> None:
    k = random_bits("f32", (2, 20), 5)
    graph = Graph(
        "through",
        (value("x", "u8[3]"),),
        (value("x", "u8[3]"), value("k", "f32[2,20]")),
        (),
        constants=(constant("k", k),),
        dialect="xla",
    )
    x = np.array([1, 2, 255], np.uint8)
    found = engine.execute(graph, {"x": x})
    assert same_bits(found["x"], x)
    assert same_bits(found["k"], k)
    assert not np.shares_memory(found["x"], x)
    assert not np.shares_memory(found["k"], k)


def test_a_constant_that_only_decides_a_shape_is_not_written() -> None:
    graph = Graph(
        "expand",
        (value("x", "float[3]"),),
        (value("y", "float[2,3]"),),
        (Node("Expand", ("x", "shape"), ("y",)),),
        constants=(Constant("shape", tensor_type("int64[2]"), np.array([2, 3])),),
    )
    assert "stablehlo.constant" not in stablehlo(graph)


HOSTILE = [
    "a\nb }",
    '"\n  func.func public @main() { return }\n//',
    "\r",
    "\x0b\x0c\x85\u2028\u2029",
    "\x00\x1b[31m",
    "\x7f",
    "naïve \ud800",
    "\\n",
    "%arg0",
    "x" * 100_000,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_its_comment(name: str) -> None:
    function = replace(TWICE, name=name, nodes=(replace(TWICE.nodes[0], name=name), TWICE.nodes[1]))
    graph = Graph(
        name,
        (value(name, "s32[2]"),),
        (value(f"{name}2", "s32[2,3]"),),
        (Node(name, (name,), (f"{name}2",), name=name, domain=CALL),),
        functions=(function,),
        dialect="xla",
    )
    text = stablehlo(graph)
    assert all(" " <= character <= "~" or character == "\n" for character in text)
    code = [line for line in text.splitlines() if not line.strip().startswith("//")]
    assert code == [line for line in stablehlo(_plain()).splitlines() if not line.strip().startswith("//")]
    assert len(text) < 5000
    (found,) = engine.execute(graph, {name: np.array([1, 2], np.int32)}).values()
    assert same_bits(found, np.array([[1, 2, 1], [1, 2, 1]], np.int32))


def _plain() -> Graph:
    return Graph(
        "g",
        (value("x", "s32[2]"),),
        (value("y", "s32[2,3]"),),
        (Node("twice", ("x",), ("y",), domain=CALL),),
        functions=(TWICE,),
        dialect="xla",
    )


@pytest.mark.parametrize("text", ["string[2]", "real[2]"])
def test_types_that_xla_has_not_are_refused(text: str) -> None:
    graph = Graph("g", (value("x", text),), (value("x", text),), ())
    with pytest.raises(ExportError, match=f"XLA has no type {text[:4]}"):
        stablehlo(graph)


def test_a_constant_of_strings_is_refused() -> None:
    words = Constant("words", tensor_type("string[1]"), np.array(["a"], object))
    graph = Graph("g", (), (Value("words", words.type),), (), constants=(words,))
    with pytest.raises(ExportError, match="XLA has no type string"):
        stablehlo(graph)


def identity(array: Array) -> Graph:
    return Graph("k", (), (Value("k", type_of(array)),), (), constants=(constant("k", array),), dialect="xla")


@for_each("name", HELD)
@for_each("shape", [(), (1,), (3,), (0,), (2, 0, 3), (2, 3), (2, 2, 2, 2), (17,), (5, 1, 40)])
def test_constants_arrive_bit_for_bit(name: str, shape: tuple[int, ...]) -> None:
    assert_equal_on_xla([(identity(random_bits(name, shape, seed)), {}) for seed in (1, 2)])


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64", "c64", "c128"])
def test_single_floats_of_any_bits_arrive(name: str) -> None:
    # Short constants are written element by element: zeros of both signs, NaNs with payloads, subnormals.
    width = HELD[name].itemsize
    part = width // 2 if name[0] == "c" else width
    words = [0, 1, 3, 1 << (8 * part - 1), (1 << (8 * part - 1)) + 1, (1 << 8 * part) - 1]
    top = np.array([1.0, -1.5, np.inf, -np.inf]).astype(HELD[name])
    raw = np.array([words[i] for i in range(6)] * 2, f"u{part}").view(HELD[name])
    each = [*raw, *top]
    scalars = [np.array(element, HELD[name]) for element in each]
    assert_equal_on_xla([(identity(array), {}) for array in (*scalars, np.array(each, HELD[name]))])


@for_each("name", ["f16", "bf16", "f32", "f64", "c64", "c128"])
@for_each("size", [1, 2, 3, 20])
def test_a_constant_that_counts_from_minus_zero_keeps_the_sign(name: str, size: int) -> None:
    # XLA makes an iota of 0, 1, 2, ... and overlooks the signs of zeros.
    counted = np.arange(size).astype(HELD[name])
    arrays = [-counted, counted.copy(), counted.reshape(1, -1).copy()]
    for array in arrays:
        array.reshape(-1)[0] = -array.reshape(-1)[0]
    if name[0] == "c":
        arrays += [counted.conj(), counted * 1j]
    assert_equal_on_xla([(identity(array), {}) for array in arrays])


@pytest.mark.parametrize("name", ["s32", "f32", "bf16", "c64", "pred"])
def test_the_layout_of_a_constant_in_memory_means_nothing(name: str) -> None:
    array = random_bits(name, (5, 7), 3)
    flip = (slice(None, None, -1),) * 2
    layouts = [array.copy(order="F"), array[flip].copy()[flip], np.repeat(array, 2, axis=1)[:, ::2]]
    if name in ("s32", "f32", "c64"):
        layouts.append(array.astype(array.dtype.newbyteorder(">")))
    kind = type_of(array)
    for layout in layouts:
        graph = replace(identity(array), constants=(Constant("k", kind, layout),))
        assert stablehlo(graph) == stablehlo(identity(array))


def test_bytes_of_a_bool_other_than_0_are_true() -> None:
    array = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert "dense<[false, true, true, true]>" in stablehlo(identity(array))


def test_large_constants_cost_two_digits_a_byte_and_equal_ones_nothing() -> None:
    large = random_bits("f32", (1000, 1000), 9)
    assert len(stablehlo(identity(large))) < 2 * large.nbytes + 1000
    assert len(stablehlo(identity(np.full((1000, 1000), -0.0, np.float32)))) < 1000
    assert len(stablehlo(identity(np.ones((1000, 1000), bool)))) < 1000
