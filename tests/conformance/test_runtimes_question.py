"""Questions are conforming models, and the same question is the same bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from tests.conformance.runtimes_support import ATTRIBUTES, F, clip_question, conv_question, trial
from tests.derive.moves_made_up import REGROUP
from tests.loops import for_each

from sonnx import RuleError, TensorType, real
from sonnx.api import Graph
from sonnx.conformance.runtimes import question as questions
from sonnx.conformance.runtimes.question import (
    NEWEST_OPSET,
    Question,
    graph,
    model_bytes,
    question,
    stablehlo_text,
)
from sonnx.load.reader import from_bytes
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.xla import ComputationBuilder

BOUNDS = {"min": np.array(-1, F), "max": np.array(1, F)}


def where_question() -> Question:
    operands = {"Y": np.array(["b"], object), "X": np.array(["a"], object), "condition": np.array([True])}
    return question("where", trial(operands))


def expand_question() -> Question:
    return question("expand", trial({"input": np.array([[1], [2]], F), "shape": np.array([2, 3])}))


def convert_question(operand: Array, to: str) -> Question:
    return question("xla.convert_element_type", trial({"operand": operand}, {"new_element_type": to}))


MODELS = {
    "clip": clip_question(),
    "conv": conv_question(),
    "conv with constants": conv_question("W", "B"),
    "where": where_question(),
    "expand": expand_question(),
}


def read(content: bytes) -> Graph:
    return Graph.of(from_bytes(content, "question", Path("/dev/null")))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_conforms_and_computes_what_is_asked(name: str) -> None:
    asked = MODELS[name]
    model = read(model_bytes(asked))
    assert model.check() == ()
    assert [value.name for value in model.inputs] == list(asked.inputs)
    results = model.run(asked.inputs)
    assert {key: TensorType(kind.dtype, kind.shape) for key, kind in asked.outputs.items()} == {
        value.name: value.type for value in model.outputs
    }
    assert [result.shape for result in results.values()] == [kind.sizes for kind in asked.outputs.values()]


@for_each("name", MODELS)
@for_each("opset", [13, 16, 22, NEWEST_OPSET])
def test_a_model_is_one_that_onnx_takes(name: str, opset: int) -> None:
    model = onnx.load_model_from_string(model_bytes(MODELS[name], opset))
    onnx.checker.check_model(model, full_check=True)
    assert [entry.version for entry in model.opset_import] == [opset]
    assert read(model.SerializeToString()).check() == ()


@pytest.mark.parametrize("opset", [12, 27, "22", True])
def test_other_operator_sets_are_refused(opset: Any) -> None:
    with pytest.raises(ValueError, match="`opset` must be a number from 13 to 26"):
        model_bytes(clip_question(), opset)


def test_the_inputs_are_in_the_order_of_the_operands() -> None:
    assert list(where_question().inputs) == ["condition", "X", "Y"]
    node = onnx.load_model_from_string(model_bytes(where_question())).graph.node[0]
    assert list(node.input) == ["condition", "X", "Y"]


def test_constants_lie_in_the_model_bit_for_bit() -> None:
    nan = np.array(0x7F800001, np.uint32).view(F)
    asked = question("clip", trial({"input": np.zeros(2, F), "min": nan, "max": np.array(1, F)}, {}, "min"))
    assert (list(asked.inputs), list(asked.constants)) == (["input", "max"], ["min"])
    model = read(model_bytes(asked))
    assert model.data["min"].tobytes() == nan.tobytes()
    assert model.nodes[0].inputs == ("input", "min", "max")


def test_an_absent_operand_is_left_out() -> None:
    X, W = np.zeros((1, 1, 3, 3), F), np.zeros((1, 1, 2, 2), F)
    model = read(model_bytes(question("conv", trial({"X": X, "W": W}, ATTRIBUTES))))
    assert model.nodes[0].inputs == ("X", "W")
    assert model.check() == ()


def test_what_decides_a_shape_is_a_constant_without_being_named() -> None:
    assert list(expand_question().constants) == ["shape"]


def test_models_differ_where_more_than_inputs_differs() -> None:
    assert model_bytes(clip_question(1, 2)) is model_bytes(clip_question(3, 4))
    assert model_bytes(clip_question(1, 2)) != model_bytes(clip_question(1, 2, 3))
    zero, minus = np.array(0.0, F), np.array(-0.0, F)
    first, second = (
        question("clip", trial({**BOUNDS, "input": np.zeros(1, F), "min": bound}, {}, "min"))
        for bound in (zero, minus)
    )
    assert model_bytes(first) != model_bytes(second)


def test_attributes_have_defaults_written_and_no_modes() -> None:
    told = conv_question().attributes
    assert told == {**ATTRIBUTES, "auto_pad": "NOTSET"}
    given: dict[str, Any] = {**ATTRIBUTES, "pads": np.array([1, 0, 1, 0]), "strides": [np.int64(1), 2]}
    operands = {"X": np.zeros((1, 1, 3, 3), F), "W": np.zeros((1, 1, 2, 2), F)}
    asked = question("conv", trial(operands, {**given, "accumulate": "fused"}))
    assert dict(asked.attributes) == dict(told)
    assert type(asked.attributes["pads"][0]) is int


@pytest.mark.parametrize(("to", "number"), [("f16", 10), ("bf16", 16), ("s8", 3), ("pred", 9)])
def test_conversions_are_asked_as_cast_outside_the_profile(to: str, number: int) -> None:
    asked = convert_question(np.array([1.5, -2], F), to)
    assert asked.has_model
    assert asked.outside_profile
    model = onnx.load_model_from_string(model_bytes(asked))
    onnx.checker.check_model(model, full_check=True)
    (node,) = model.graph.node
    assert (node.op_type, [(a.name, a.i) for a in node.attribute]) == ("Cast", [("to", number)])
    assert model.graph.output[0].type.tensor_type.elem_type == number
    assert not clip_question().outside_profile


@pytest.mark.parametrize(
    "asked",
    [
        convert_question(np.array([1j], np.complex64), "c128"),
        question("xla.clamp", trial({"operand": np.zeros(2, F), **BOUNDS})),
        question("broadcast", trial({"X0": np.zeros(2, F), "X1": np.zeros((3, 1), F)})),
    ],
)
def test_what_onnx_does_not_have_has_no_model(asked: Question) -> None:
    assert not asked.has_model
    with pytest.raises(ValueError, match="no operator of ONNX"):
        model_bytes(asked)


def test_outputs_of_variadic_operators_are_in_order() -> None:
    asked = question("broadcast", trial({"X1": np.zeros((3, 1), np.int8), "X0": np.zeros(2, F)}))
    assert list(asked.inputs) == ["X0", "X1"]
    assert {name: str(kind) for name, kind in asked.outputs.items()} == {
        "Z0": "float[3,2]",
        "Z1": "int8[3,2]",
    }


def test_xla_operations_are_stablehlo() -> None:
    asked = question("xla.clamp", trial({"operand": np.zeros(2, F), **BOUNDS}, {}, "max"))
    assert {name: str(kind) for name, kind in asked.outputs.items()} == {"output": "f32[2]"}
    text = stablehlo_text(asked)
    assert "(%arg0: tensor<2xf32>, %arg1: tensor<f32>) -> (tensor<2xf32>)" in text
    made = graph(asked)
    assert made.check() == ()
    assert made.dialect == "xla"


def test_onnx_operators_are_stablehlo_too() -> None:
    assert "stablehlo.convolution" in stablehlo_text(conv_question())
    with pytest.raises(ValueError, match="no node of a graph"):
        stablehlo_text(question("broadcast", trial({"X0": np.zeros(2, F)})))
    with pytest.raises(ValueError, match="XLA has no type string"):
        stablehlo_text(where_question())


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(RuleError, match=r"clip\.min\.C1"):
        question(CLIP, trial({"input": np.zeros(2, F), **BOUNDS, "min": np.array(0.0)}))
    with pytest.raises(RuleError, match="general"):
        question("clip", trial({"input": np.zeros(2, F), **BOUNDS, "top": np.array(0, F)}))
    with pytest.raises(ValueError, match=r"`input` is real\[1\]: no runtime"):
        question("clip", trial({"input": real(np.zeros(1, F)), **BOUNDS}))
    with pytest.raises(ValueError, match="`input` is NumPy"):
        question("clip", trial({"input": np.zeros(1, "M8[s]"), **BOUNDS}))
    builder = ComputationBuilder("one")
    builder.parameter(0, "f32[2]")
    told = {"computation": builder.build()}
    with pytest.raises(ValueError, match="a call cannot be asked"):
        question("xla.call", trial({"args0": np.zeros(2, F)}, told))
    with pytest.raises(ValueError, match="the attribute `group` is a bytes"):
        question("conv", trial({"X": np.zeros((1, 1, 3, 3), F)}, {**ATTRIBUTES, "group": b"1"}))


def test_the_types_of_a_question_are_those_of_operands_and_outputs() -> None:
    assert convert_question(np.zeros(2, F), "s8").dtypes == {DType.FLOAT, DType.INT8}
    assert expand_question().dtypes == {DType.FLOAT, DType.INT64}


# --- older operator sets -----------------------------------------------------------------------------------


def test_an_operator_that_a_set_does_not_have_has_no_model_there() -> None:
    asked = question("hard_swish", trial({"X": np.ones(2, F)}))
    assert [asked.has_model_in(opset) for opset in (13, 14, NEWEST_OPSET)] == [False, True, True]
    with pytest.raises(ValueError, match=r"operator set 13 has no HardSwish$"):
        model_bytes(asked, 13)
    assert not convert_question(np.ones(2, np.complex64), "c128").has_model_in(NEWEST_OPSET)
    assert convert_question(np.ones(2, F), "f64").has_model_in(13)


def test_an_attribute_that_a_set_does_not_have_is_left_out_where_it_says_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(questions, "operator_named", lambda _: REGROUP)
    monkeypatch.setattr(questions, "NODE_OPERATORS", {"Regroup": REGROUP})
    questions._output_types.cache_clear()
    questions._model_bytes.cache_clear()
    usual, other = (
        question(REGROUP, trial({"data": np.ones((2, 3), F), "shape": np.array([6])}, {"late": late}))
        for late in (0, 1)
    )
    assert [usual.has_model_in(opset) for opset in (13, 14)] == [True, True]
    assert [other.has_model_in(opset) for opset in (13, 14)] == [False, True]
    (node,) = onnx.load_model_from_string(model_bytes(usual, 13)).graph.node
    assert not node.attribute
    (node,) = onnx.load_model_from_string(model_bytes(usual, 14)).graph.node
    assert [(each.name, each.i) for each in node.attribute] == [("late", 0)]
    with pytest.raises(ValueError, match="operator set 13 has no Regroup with late = 1"):
        model_bytes(other, 13)
    questions._output_types.cache_clear()
    questions._model_bytes.cache_clear()
