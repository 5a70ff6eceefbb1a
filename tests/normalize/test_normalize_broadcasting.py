"""Tensors that are combined element by element are given one shape, by an Expand of each that has another."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, defs, helper
from tests.budgets import examples
from tests.check.files import graph_of
from tests.normalize.support import Array, expanding, normalize, proto, read, rules, with_arrays

import sonnx
from sonnx.cli import main
from sonnx.load.writer import save, to_proto
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import numpy_dtype
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.rules.shapes import element_names
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

Shape = tuple[int, ...]


def good_call(operator: Operator) -> Call:
    good = operator.contract.rules[0].passing
    assert isinstance(good, Call)
    return replace(good, outputs={})


def combined(operator: Operator) -> Sequence[str]:
    """The operands that have one shape, of a call with two or three of them."""
    return element_names(operator.contract.inputs)(good_call(operator))


COMBINING = [operator for operator in NODE_OPERATORS.values() if len(combined(operator)) > 1]
EACH = pytest.mark.parametrize("operator", COMBINING, ids=lambda op: op.name)
SHAPES: list[tuple[Shape, Shape]] = [
    ((), (2, 3)),
    ((2, 3), ()),
    ((), (1,)),
    ((3,), (2, 3)),
    ((2, 3), (1, 3)),
    ((2, 1), (1, 3)),
    ((4, 1, 3), (2, 1)),
    ((1, 1, 1, 1), (3,)),
    ((2, 3), (2, 3)),
    ((2, 0), (2, 0)),
    ((2, 1, 1, 1, 2), (3, 1, 1)),
]


def model(operator: Operator, shapes: Sequence[Shape]) -> Graph:
    """A model of one node; its combined operands have these shapes in turn."""
    asked = good_call(operator)
    names = combined(operator)
    inputs = dict(asked.inputs)
    for name, place in zip(names, range(len(names)), strict=True):
        inputs[name] = replace(inputs[name], shape=shapes[place % len(shapes)])
    given = graph_of(replace(asked, inputs=inputs))
    open_output = tuple(replace(value, type=TensorType(None, None)) for value in given.outputs)
    return read(to_proto(replace(given, outputs=_typed(operator, asked, open_output))))


def _typed(operator: Operator, asked: Call, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Outputs whose element type alone is written."""
    found = operator.contract.output_types(asked)
    kinds = [TensorType(kind.dtype, None) for kind in found.values()]
    return tuple(replace(value, type=kind) for value, kind in zip(outputs, kinds, strict=True))


def numbers(kind: TensorType, seed: int) -> Array:
    """Small numbers of a type, none of them 0; truths where it is bool."""
    assert kind.dtype is not None
    random = np.random.default_rng(seed)
    if kind.dtype is DType.BOOL:
        return random.integers(0, 2, kind.sizes).astype(np.bool_)
    return random.integers(1, 6, kind.sizes).astype(numpy_dtype(kind.dtype))


def fixed(operator: Operator) -> set[str]:
    """The operands to whose shape ONNX broadcasts the others, and never these to theirs."""
    return {operand.name for operand in operator.contract.inputs if operand.whole}


def fitting(operator: Operator, shapes: Sequence[Shape]) -> Sequence[Shape]:
    """The shapes in the order in which an operator takes them: the one that is kept first."""
    return (
        sorted(shapes, key=lambda shape: shape != np.broadcast_shapes(*shapes)) if fixed(operator) else shapes
    )


@EACH
def test_onnx_says_which_operators_broadcast_one_way(operator: Operator) -> None:
    one_way = "unidirectional" in (defs.get_schema(operator.name, 22, "").doc or "")
    assert fixed(operator) == ({combined(operator)[0]} if one_way else set())


@EACH
def test_the_shapes_of_operands_become_the_one_to_which_they_broadcast(operator: Operator) -> None:
    for either in SHAPES:
        shapes = fitting(operator, either)
        given = model(operator, shapes)
        before = {value.name: value.type.sizes for value in given.inputs}
        common = np.broadcast_shapes(*shapes)
        done = normalize(given)
        if fixed(operator) and shapes[0] != common:
            assert done.graph.nodes == given.nodes
            assert "one shape" in next(each.help for each in done.findings if each.rule.endswith(".D1"))
            continue
        assert rules(done) == [], shapes
        *expands, node = done.graph.nodes
        assert node.operator == operator.name
        types = done.graph.types
        held = {name: types[name].sizes for name in node.inputs if name}
        kept = {name for name in before if before[name] != common and name in combined(operator)}
        assert len(expands) == len(kept)
        assert {each.inputs[0] for each in expands} == kept
        assert all(each.operator == "Expand" for each in expands)
        assert all(done.graph.data[each.inputs[1]].tolist() == list(common) for each in expands)
        assert list(held.values()).count(common) >= len(combined(operator))
        assert types[node.outputs[0]].sizes == common


@EACH
def test_the_result_is_that_of_operands_repeated_beforehand(operator: Operator) -> None:
    for either in (((2, 1), (3,)), ((), (2, 3)), ((2, 3), (1, 3))):
        shapes = fitting(operator, either)
        if fixed(operator) and shapes[0] != np.broadcast_shapes(*shapes):
            continue
        given = model(operator, shapes)
        common = np.broadcast_shapes(*shapes)
        whole = model(operator, [common])
        arrays = {value.name: numbers(value.type, seed) for seed, value in enumerate(given.inputs)}
        repeated = {
            name: np.broadcast_to(array, common) if name in combined(operator) else array
            for name, array in arrays.items()
        }
        name = given.outputs[0].name
        found = sonnx.Graph.of(normalize(given).graph).run(arrays)[name]
        expected = sonnx.Graph.of(normalize(whole).graph).run(repeated)[name]
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), shapes


@EACH
@pytest.mark.parametrize(
    "shapes", [((2,), (3,)), ((2, 3), (3, 2)), ((0,), (1,)), ((4, 2, 3), (3, 3))], ids=str
)
def test_shapes_without_a_common_one_are_a_finding_and_nothing_is_changed(
    operator: Operator, shapes: tuple[Shape, Shape]
) -> None:
    given = model(operator, shapes)
    done = normalize(given)
    assert done.graph.nodes[-1].inputs == given.nodes[0].inputs
    assert len(done.graph.nodes) == 1
    rule = next(rule for rule in operator.contract.rules if rule.made_from == "one shape")
    (found,) = [finding for finding in done.findings if finding.rule == rule.identifier]
    assert "one shape" in found.help
    assert [value.value for value in found.values], "the shapes are shown"


@EACH
def test_operands_of_two_types_are_a_finding_and_are_not_converted(operator: Operator) -> None:
    asked = good_call(operator)
    *_, last = combined(operator)
    other = next(
        dtype
        for dtype in (DType.DOUBLE, DType.FLOAT, DType.INT32, DType.BOOL)
        if dtype not in {kind.dtype for kind in asked.inputs.values()}
    )
    inputs = {**asked.inputs, last: replace(asked.inputs[last], dtype=other, shape=())}
    given = graph_of(replace(asked, inputs=inputs))
    done = normalize(read(to_proto(given)))
    types = done.graph.types
    assert {types[name].dtype for name in done.graph.nodes[-1].inputs} >= {other}
    found = [finding for finding in done.findings if finding.rule.startswith(f"{operator.identifier}.")]
    assert any(other.value in value.value for finding in found for value in finding.values)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("g (float[2] x, float[3] z) => (float[3] y) { y = Add(x, z) }", "add.D1"),
        ("g (float[2] x, double[1] z) => (float[2] y) { y = Add(x, z) }", "add.B.D1"),
        ("g (float[2] x, float[1] z) => (float[2] y) <float e = {3.0}> { y = Pow(x, e) }", "graph.D6"),
    ],
)
def test_nothing_is_written_and_the_file_stays_where_a_finding_is_left(
    text: str, rule: str, tmp_path: Path
) -> None:
    path, target = tmp_path / "net.onnx", tmp_path / "conforming.onnx"
    save(read(proto(text)), path, stubs=True)
    before = path.read_bytes()
    result = CliRunner().invoke(main, ["normalize", str(path), "-o", str(target), "--all"])
    assert result.exit_code == 1
    assert f"error[{rule}]" in result.output
    assert "Traceback" not in result.output
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["net.onnx"]


VARIADIC = [operator for operator in COMBINING if any(o.variadic for o in operator.contract.inputs)]


@pytest.mark.parametrize("operator", VARIADIC, ids=lambda op: op.name)
def test_any_number_of_operands_are_expanded_each_by_itself(operator: Operator) -> None:
    shapes: list[Shape] = [(), (3,), (2, 1, 1), (2, 4, 3), (1, 1, 1, 1), (4, 1), ()]
    names = [f"a{place}" for place in range(len(shapes))]
    inputs = ", ".join(
        f"float[{','.join(map(str, shape))}] {name}" for name, shape in zip(names, shapes, strict=True)
    ).replace("[]", "")
    text = f"g ({inputs}) => (float[1,2,4,3] y) {{ y = {operator.name}({', '.join(names)}) }}"
    done = normalize(read(proto(text)))
    assert rules(done) == []
    assert [node.inputs[0] for node in done.graph.nodes[:-1]] == names
    assert expanding(done) == {name: [1, 2, 4, 3] for name in names}


def test_a_constant_is_kept_as_it_is_and_an_expand_reads_it() -> None:
    text = "g (float[64,64] x) => (float[64,64] y) { t = Mul(x, c)  y = Add(t, b) }"
    scale, bias = np.array(0.5, np.float32), np.arange(64, dtype=np.float32)
    done = normalize(read(with_arrays(proto(text), c=scale, b=bias)))
    assert rules(done) == []
    assert expanding(done) == {"c": [64, 64], "b": [64, 64]}
    data = done.graph.data
    assert data["c"].tobytes() == scale.tobytes()
    assert data["b"].tobytes() == bias.tobytes()
    # Nothing of the size of x was added: two shapes alone.
    assert sum(array.nbytes for array in data.values()) == scale.nbytes + bias.nbytes + 2 * 16


@st.composite
def shapes_that_broadcast(draw: st.DrawFn, count: int) -> list[Shape]:
    """Shapes of which each has sizes of a common one, or 1, on its last axes."""
    common = draw(st.lists(st.integers(1, 4), max_size=4))
    found = []
    for _ in range(count):
        rank = draw(st.integers(0, len(common)))
        sizes = common[len(common) - rank :]
        found.append(tuple(1 if draw(st.booleans()) else size for size in sizes))
    return found


def chain(operators: Sequence[str], shapes: Sequence[Shape], opset: int) -> ModelProto:
    """t0 = x0 ∘ x1, t1 = t0 ∘ x2, and so on; no type between nodes is written."""
    nodes, left = [], "x0"
    for place, operator in enumerate(operators):
        nodes.append(helper.make_node(operator, [left, f"x{place + 1}"], [f"t{place}"]))
        left = f"t{place}"
    inputs = [
        helper.make_tensor_value_info(f"x{place}", TensorProto.FLOAT, shape)
        for place, shape in enumerate(shapes)
    ]
    outputs = [helper.make_tensor_value_info(left, TensorProto.FLOAT, np.broadcast_shapes(*shapes))]
    held = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(held, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@settings(deadline=None, max_examples=examples(100))
@given(
    shapes_that_broadcast(3),
    st.tuples(*[st.sampled_from(["Add", "Sub", "Mul", "Max", "Min"])] * 2),
    st.sampled_from([8, 12, 13, 14, 22]),
    st.integers(0, 2**32 - 1),
)
def test_the_normalized_model_has_the_bits_that_onnxruntime_gives_the_original(
    shapes: list[Shape], operators: tuple[str, str], opset: int, seed: int
) -> None:
    original = chain(operators, shapes, opset)
    done = normalize(read(original))
    assert rules(done) == []
    random = np.random.default_rng(seed)
    arrays = {
        f"x{place}": np.asarray(random.standard_normal(shape), np.float32)
        for place, shape in enumerate(shapes)
    }
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        original.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (expected,) = session.run(None, arrays)
    (found,) = sonnx.Graph.of(done.graph).run(arrays).values()
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()
