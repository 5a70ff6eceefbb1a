"""The public functions: what they accept, and what `error_bound` makes of its arguments."""

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import sonnx
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.operators import ONNX_OPERATORS
from sonnx.operators.onnx.clip import OPERATOR as CLIP

F32 = np.float32
ARRAY = np.array([1, 2, 3], F32)
ONE = np.ones((1, 1, 1, 1), F32)
ATTRIBUTES: dict[str, Any] = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (1, 1),
}


def test_scalars_of_python_are_taken_for_the_one_type_each_has() -> None:
    assert sonnx.clip(np.array([1, 5]), 2, 3).tolist() == [2, 3]
    assert sonnx.clip(np.array([1.0, 5.0]), 2.0, 3.0).tolist() == [2.0, 3.0]
    assert sonnx.where(True, "a", "b").item() == "a"
    assert sonnx.clip(7, 0, 5).shape == ()


def test_results_are_arrays_by_the_names_of_the_outputs() -> None:
    results = apply(CLIP, {"input": ARRAY, "min": F32(2), "max": F32(2)}, {})
    assert list(results) == ["output"]
    assert results["output"].tolist() == [2, 2, 2]


def test_ieee_arithmetic_is_demanded_for_ieee_types_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise sonnx.NotIeeeError("flushed")

    monkeypatch.setattr("sonnx.evaluate.apply.require_ieee", refuse)
    with pytest.raises(sonnx.NotIeeeError, match="flushed"):
        sonnx.clip(ARRAY, F32(0), F32(1))
    assert sonnx.clip(np.array([7]), 0, 5).tolist() == [5]
    with pytest.raises(sonnx.RuleError):  # the rules are asked first
        sonnx.clip(ARRAY, None, F32(1))


def test_error_bound_takes_operands_by_position_or_by_name() -> None:
    by_position = sonnx.error_bound("Clip", ARRAY, F32(0), F32(1))
    by_name = sonnx.error_bound("Clip", max=F32(1), input=ARRAY, min=F32(0))
    assert by_position.tolist() == by_name.tolist() == [0, 0, 0]
    assert sonnx.error_bound("Expand", ARRAY, shape=[2, 3]).shape == (2, 3)
    bound = sonnx.error_bound("Conv", ONE, W=ONE, B=np.ones(1, F32), **ATTRIBUTES)
    assert bound.tolist() == sonnx.error_bound("Conv", ONE, ONE, np.ones(1, F32), **ATTRIBUTES).tolist()


def test_error_bound_checks_the_rules_of_the_operator() -> None:
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.error_bound("Clip", ARRAY, F32(0))
    assert [finding.rule for finding in caught.value.findings] == ["clip.max.D1"]
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.error_bound("Conv", ONE, ONE, order="any")
    assert [finding.rule for finding in caught.value.findings] == ["general.R1"]
    assert len(caught.value.findings[0].values) == 5  # auto_pad and accumulate have defaults, as in conv


def test_error_bound_has_none_for_what_has_no_result() -> None:
    with pytest.raises(sonnx.DomainError, match=r"div\.B\.D8"):
        sonnx.error_bound("Div", np.array([4, 4], np.int32), np.array([2, 0], np.int32))
    assert sonnx.error_bound("Div", np.array([4], np.int32), np.array([2], np.int32)).tolist() == [0]
    assert sonnx.error_bound("Div", np.array([4], np.float32), np.array([0], np.float32)).tolist() == [np.inf]


@pytest.mark.parametrize("order", ["sequential", "", None, 3])
def test_error_bound_knows_three_orders(order: Any) -> None:
    with pytest.raises(ValueError, match='write order="specified", order="any" or order="flushing"'):
        sonnx.error_bound("Clip", ARRAY, F32(0), F32(1), order=order)


def test_error_bound_names_the_operators_there_are() -> None:
    with pytest.raises(ValueError, match="no operator 'Unheard'; there are Clip, Conv, "):
        sonnx.error_bound("Unheard", ARRAY)


@pytest.mark.parametrize(
    ("name", "operands", "keywords", "text"),
    [
        ("Clip", 4, {}, "error_bound: Clip takes input, min, max, not 4 operands"),
        ("Clip", 3, {"low": 1}, "error_bound: Clip takes input, min, max, not low"),
        ("Clip", 3, {"min": 1}, "error_bound: Clip takes input, min, max, not min"),
        ("Broadcast", 2, {"X": 1}, "error_bound: Broadcast takes its tensors by position, not X"),
        ("Broadcast", 2, {"X0": 1}, "error_bound: Broadcast takes its tensors by position, not X0"),
        ("Where", 3, {"strides": 1}, "error_bound: Where takes condition, X, Y, not strides"),
    ],
)
def test_error_bound_refuses_arguments_that_the_operator_does_not_have(
    name: str, operands: int, keywords: dict[str, Any], text: str
) -> None:
    with pytest.raises(TypeError) as caught:
        sonnx.error_bound(name, *[ARRAY] * operands, **keywords)
    assert str(caught.value) == text


def test_the_bounds_of_broadcast_are_a_tuple_like_its_results() -> None:
    bounds = sonnx.error_bound("Broadcast", ARRAY, np.ones((2, 1), np.int8))
    assert [bound.shape for bound in bounds] == [(2, 3), (2, 3)]
    assert len(sonnx.error_bound("Broadcast", ARRAY)) == 1


def test_output_types_are_found_from_types_and_attributes_alone() -> None:
    # By hand: (8 + 1 + 0 - 3) // 2 + 1 = 4 lines, (9 + 0 + 1 - 3) // 1 + 1 = 8 columns.
    found = sonnx.output_types(
        "Conv",
        X="float[2,3,8,9]",
        W="float[5,3,3,3]",
        strides=[2, 1],
        pads=[1, 0, 0, 1],
        dilations=[1, 1],
        group=1,
        kernel_shape=[3, 3],
    )
    assert {name: str(kind) for name, kind in found.items()} == {"Y": "float[2,5,4,8]"}
    found = sonnx.output_types("Expand", input=sonnx.TensorType(DType.STRING, (3, 1)), shape=[2, 1, 6])
    assert str(found["output"]) == "string[2,3,6]"
    found = sonnx.output_types("broadcast", X0="bool[3]", X1="real[2,1]")
    assert {name: str(kind) for name, kind in found.items()} == {"Z0": "bool[2,3]", "Z1": "real[2,3]"}


def test_output_types_asks_the_same_rules_as_the_operator() -> None:
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.output_types("Where", condition="bool[1]", X="float[2]", Y="float[2]")
    assert [finding.rule for finding in caught.value.findings] == ["where.R4"]
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.output_types("Expand", input="float[3]", shape="int64[2]")
    assert [finding.rule for finding in caught.value.findings] == ["expand.shape.D3"]
    with pytest.raises(ValueError, match="not a tensor type: 'float\\(3\\)'"):
        sonnx.output_types("Clip", input="float(3)")


def test_a_rule_error_survives_copying_and_the_way_to_another_process() -> None:
    with pytest.raises(sonnx.RuleError) as caught:
        sonnx.clip(np.zeros(3, np.float32), np.float64(0), np.float32(1))
    for copied in (pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):
        assert type(copied) is sonnx.RuleError
        assert copied.findings == caught.value.findings
        assert str(copied) == str(caught.value)


def test_output_types_refuses_names_that_the_operator_does_not_have() -> None:
    clip = {"input": "float[3]", "min": "float[]", "max": "float[]"}
    for extra in ({"foo": "float[1]"}, {"shape": [1, 2]}, {"stride": [1, 1]}):
        with pytest.raises(sonnx.RuleError) as caught:
            sonnx.output_types("Clip", **clip, **extra)
        assert [finding.rule for finding in caught.value.findings] == ["general.R5"]
    with pytest.raises(sonnx.RuleError):
        sonnx.output_types("Broadcast", A="float[1]", B="float[2]")
    conv = {"X": "float[1,1,4,4]", "W": "float[1,1,1,1]", **ATTRIBUTES}
    assert str(sonnx.output_types("Conv", B=None, **conv)["Y"]) == "float[1,1,4,4]"
    assert str(sonnx.output_types("Expand", input="bool[3]", shape=np.array([2, 3]))["output"]) == "bool[2,3]"


def test_names_that_are_no_text_are_unknown_operators() -> None:
    for function in (sonnx.rules, sonnx.error_bound, sonnx.output_types):
        with pytest.raises(ValueError, match="no operator '3'; there are Clip, Conv"):
            function(3)  # type: ignore[arg-type]  # wrong on purpose


def test_every_operator_of_onnx_is_a_function_of_its_contract() -> None:
    for op in ONNX_OPERATORS:
        function = getattr(sonnx, op.folder)
        assert op.folder in sonnx.__all__
        assert op.folder in dir(sonnx)
        assert (function.__name__, function.__module__) == (op.folder, "sonnx")
        assert function.__doc__.startswith(op.contract.summary)
        named = [operand.name for operand in op.contract.inputs]
        named += [attribute.name for attribute in op.contract.attributes]
        assert list(inspect.signature(function).parameters) == named
    assert sonnx.relu(np.array([-1, 2], F32)).tolist() == [0, 2]
    assert sonnx.max(ARRAY, ARRAY[::-1].copy(), ARRAY).tolist() == [3, 2, 3]
    with pytest.raises(AttributeError, match="module 'sonnx' has no attribute 'unheard'"):
        _ = sonnx.unheard


def test_a_function_says_where_it_may_share_memory() -> None:
    shares = "A result may be read-only and share the memory of an operand."
    assert shares in sonnx.expand.__doc__
    assert shares not in sonnx.clip.__doc__


def test_attributes_that_are_floats_are_taken_as_a_file_keeps_them() -> None:
    # The float nearest to 0.2 is above 0.2, so in double 2.5 of it is above 0.5.
    x = np.array([2.5])
    alpha = float(np.float32(0.2))
    assert alpha > 0.2
    assert sonnx.hard_sigmoid(x, alpha=0.2, beta=0.0)[0] == 2.5 * alpha
    with pytest.raises(sonnx.RuleError, match=r"hard_sigmoid\.alpha\.D1"):
        sonnx.hard_sigmoid(x, alpha=1e39, beta=0.0)
    found = sonnx.output_types("HardSigmoid", X="double[1]", alpha=0.2, beta=0.5)
    assert str(found["Y"]) == "double[1]"
    with pytest.raises(sonnx.RuleError, match=r"general\.R1"):
        sonnx.hard_sigmoid(x, alpha=0.5)


def test_what_rules_have_said_of_a_call_serves_no_call_that_python_takes_for_equal() -> None:
    x, w = np.ones((1, 1, 2, 2), np.float32), np.ones((1, 1, 1, 1), np.float32)
    written = {"strides": [1, 1], "pads": [0] * 4, "dilations": [1, 1], "kernel_shape": [1, 1]}
    sonnx.conv(x, w, **written, group=1)
    for group in (True, 1.0):
        with pytest.raises(sonnx.RuleError, match=r"conv\.group"):
            sonnx.conv(x, w, **written, group=group)
    # The sum of zeros is -0 only where both are.
    zero, told = np.array([-0.0], np.float32), {"alpha": 1.0}
    for beta, sign in ((0.0, False), (-0.0, True), (0.0, False)):
        assert np.signbit(sonnx.hard_sigmoid(zero, **told, beta=beta)).tolist() == [sign]
    sonnx.expand(zero, np.array([3]))
    with pytest.raises(sonnx.RuleError, match=r"expand\.shape"):
        sonnx.expand(zero, np.array([-3]))
