"""Every rule of Clip, Where, Broadcast and Expand, broken by hand through the public functions."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.support import Array, broken, message

import sonnx
from sonnx.check.calls import check_call
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators import operator
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.vocabulary.call import Call, call

NAN = float("nan")
ONE, TWO = np.float32(1), np.float32(2)
FLOATS = np.array([0.5, 1.5, 2.5], np.float32)
YES = np.array([True, False, True])


class Sparse:
    """Looks like a sparse matrix of SciPy."""

    dtype = np.dtype(np.float32)
    shape = (3,)
    nnz = 1
    toarray = None


def test_clip_input_d1_refuses_types_without_order_or_ieee_rules() -> None:
    bfloat16 = ml_dtypes.bfloat16
    assert broken(sonnx.clip, np.ones(3, bfloat16), bfloat16(0), bfloat16(1)) == ["clip.input.D1"]
    assert broken(sonnx.clip, YES, np.False_, np.True_) == ["clip.input.D1"]
    assert broken(sonnx.clip, np.array(["b"]), "a", "c") == ["clip.input.D1"]
    assert broken(sonnx.clip, np.ones(3, np.complex64), np.complex64(0), np.complex64(1)) == ["clip.input.D1"]
    assert broken(sonnx.clip, 1j, 0j, 2j) == ["clip.input.D1"]
    assert message(sonnx.clip, YES, np.False_, np.True_) == (
        "error[clip.input.D1]: `input` must be real, a signed or unsigned integer of 8 to 64 bits, float16, "
        "float or double\n"
        "  --> call of Clip\n"
        "   input : bool[3]\n"
        "  help: give `input` one of the types real, float16, float, double, int8, int16, int32, int64, "
        "uint8, uint16, uint32, uint64\n"
        "  more: sonnx explain clip.input.D1"
    )


@pytest.mark.parametrize(
    "other", [np.float64(1), np.float16(1), np.int32(1), 1, 1.0, np.False_, "a", np.uint8(1)], ids=repr
)
def test_clip_min_c1_and_max_c1_refuse_bounds_of_another_type(other: Any) -> None:
    assert broken(sonnx.clip, FLOATS, other, TWO) == ["clip.min.C1"]
    assert broken(sonnx.clip, FLOATS, ONE, other) == ["clip.max.C1"]
    assert broken(sonnx.clip, FLOATS, other, other) == ["clip.min.C1", "clip.max.C1"]


def test_clip_min_c1_and_max_c1_refuse_a_nan_as_bound_of_integers() -> None:
    for dtype in (np.int8, np.int64, np.uint8):
        integers = np.ones(3, dtype)
        assert broken(sonnx.clip, integers, NAN, dtype(1)) == ["clip.min.C1"]
        assert broken(sonnx.clip, integers, dtype(1), np.float32(NAN)) == ["clip.max.C1"]
    assert message(sonnx.clip, np.ones(3, np.int64), NAN, 5) == (
        "error[clip.min.C1]: `min` must have the element type of `input`\n"
        "  --> call of Clip\n"
        "   min   : double[]\n"
        "   input : int64[3]\n"
        "  help: give `min` the type int64; no operand is converted\n"
        "  more: sonnx explain clip.min.C1"
    )


def test_clip_min_d1_and_max_d1_refuse_an_absent_bound() -> None:
    assert broken(sonnx.clip, FLOATS, None, TWO) == ["clip.min.D1"]
    assert broken(sonnx.clip, FLOATS, ONE, None) == ["clip.max.D1"]
    assert broken(sonnx.clip, FLOATS, None, None) == ["clip.min.D1", "clip.max.D1"]
    assert message(sonnx.clip, FLOATS, ONE, None) == (
        "error[clip.max.D1]: `max` must be given\n"
        "  --> call of Clip\n"
        "   max = absent\n"
        "  help: write `max`, if need be the end of the type's range\n"
        "  more: sonnx explain clip.max.D1"
    )


def test_clip_min_d2_and_max_d2_refuse_bounds_that_are_no_scalars() -> None:
    for bound in (np.ones(1, np.float32), np.ones((1, 1), np.float32), FLOATS, np.ones(0, np.float32)):
        assert broken(sonnx.clip, FLOATS, bound, TWO) == ["clip.min.D2"]
        assert broken(sonnx.clip, FLOATS, ONE, bound) == ["clip.max.D2"]
    text = message(sonnx.clip, FLOATS, ONE, FLOATS)
    assert (
        "   max : float[3]\n  help: give `max` the empty shape: a single value, not a list of one\n" in text
    )


def test_clip_collects_what_is_wrong_with_both_bounds_and_the_input() -> None:
    found = broken(sonnx.clip, YES, np.ones(1, np.float32), None)
    assert found == ["clip.input.D1", "clip.min.C1", "clip.min.D2", "clip.max.D1"]


def test_where_r1_refuses_sparse_tensors_by_a_rule_of_its_own() -> None:
    assert broken(sonnx.where, YES, Sparse(), FLOATS) == ["where.R1"]
    assert broken(sonnx.where, Sparse(), Sparse(), Sparse()) == ["where.R1"]
    assert "   X : sparse float[3]\n  help: make the tensor dense\n" in message(
        sonnx.where, YES, Sparse(), FLOATS
    )


def test_where_r2_refuses_shapes_that_no_broadcasting_brings_together() -> None:
    assert broken(sonnx.where, YES, FLOATS, FLOATS[:2]) == ["where.R2"]
    assert broken(sonnx.where, YES[:0], FLOATS[:1], FLOATS[:0]) == ["where.R2"]
    assert message(sonnx.where, YES, FLOATS, FLOATS[:2]) == (
        "error[where.R2]: `condition`, `X` and `Y` must have one shape\n"
        "  --> call of Where\n"
        "   condition : bool[3]\n"
        "   X         : float[3]\n"
        "   Y         : float[2]\n"
        "  help: give all three inputs one shape\n"
        "  more: sonnx explain where.R2"
    )


def test_where_r3_refuses_two_types_to_choose_from() -> None:
    for other in (
        FLOATS.astype(np.float64),
        FLOATS.astype(np.int32),
        sonnx.real(FLOATS),
        np.array(["a"] * 3),
    ):
        assert broken(sonnx.where, YES, FLOATS, other) == ["where.R3"]
    text = message(sonnx.where, YES, FLOATS, FLOATS.astype(np.float64))
    assert (
        "   Y : double[3]\n   X : float[3]\n  help: give `Y` the type float; no operand is converted\n"
        in text
    )


def test_where_r4_refuses_shapes_that_broadcasting_would_bring_together() -> None:
    assert broken(sonnx.where, YES, FLOATS, FLOATS[:1]) == ["where.R4"]
    assert broken(sonnx.where, np.True_, FLOATS, FLOATS) == ["where.R4"]
    assert broken(sonnx.where, YES, FLOATS, TWO) == ["where.R4"]
    assert broken(sonnx.where, YES.reshape(1, 3), FLOATS, FLOATS) == ["where.R4"]
    text = message(sonnx.where, YES.reshape(3, 1), FLOATS, FLOATS)
    assert "  help: expand every input to [3, 3] first, with Expand\n" in text


def test_where_condition_d1_refuses_a_condition_that_is_no_bool() -> None:
    for dtype in (np.uint8, np.int64, np.float32):
        assert broken(sonnx.where, YES.astype(dtype), FLOATS, FLOATS) == ["where.condition.D1"]
    assert broken(sonnx.where, np.array([NAN, 0, 1]), FLOATS, FLOATS) == ["where.condition.D1"]
    text = message(sonnx.where, YES.astype(np.uint8), FLOATS, FLOATS)
    assert "   condition : uint8[3]\n" in text
    assert "  help: give a bool tensor, for example the result of a comparison\n" in text


def test_where_collects_shape_and_types() -> None:
    found = broken(sonnx.where, YES.astype(np.int8), FLOATS, np.ones(2, np.float64))
    assert found == ["where.R2", "where.R3", "where.condition.D1"]


def zeros(*shapes: tuple[int, ...]) -> list[Array]:
    return [np.zeros(shape, np.float32) for shape in shapes]


def test_broadcast_c1_refuses_sizes_that_are_neither_the_largest_nor_one() -> None:
    for shapes in [((2,), (3,)), ((1,), (0,)), ((2, 3), (3, 3)), ((4, 1), (2, 1), (4, 1)), ((0,), (2,))]:
        assert broken(sonnx.broadcast, *zeros(*shapes)) == ["broadcast.C1"]
    assert message(sonnx.broadcast, *zeros((2, 4), (3,), (1,))) == (
        "error[broadcast.C1]: After ranks are equalised, each size must be the largest on its axis, or 1\n"
        "  --> call of Broadcast\n"
        "   X0 : float[2,4]\n"
        "   X1 : float[3]   size 3 on axis -1, where the largest is 4\n"
        "   X2 : float[1]\n"
        "  help: give each axis one size, or size 1 (counted from the last axis)\n"
        "  more: sonnx explain broadcast.C1"
    )


def test_broadcast_d1_refuses_no_tensor_at_all() -> None:
    assert message(sonnx.broadcast) == (
        "error[broadcast.D1]: There must be at least one tensor\n"
        "  --> call of Broadcast\n"
        "   tensors = 0\n"
        "  help: give at least one tensor\n"
        "  more: sonnx explain broadcast.D1"
    )


def test_broadcast_d2_refuses_bfloat16_and_complex_numbers() -> None:
    for dtype in (ml_dtypes.bfloat16, np.complex64, np.complex128):
        assert broken(sonnx.broadcast, FLOATS, np.ones(1, dtype)) == ["broadcast.D2"]
    text = message(sonnx.broadcast, FLOATS, np.ones(1, np.complex64))
    assert "   X1 : complex64[1]\n  help: give tensors of the types real, float16, " in text


def test_broadcast_d3_refuses_results_that_cannot_be_addressed() -> None:
    large = np.broadcast_to(np.zeros(1, np.int8), (2**30, 1)), np.broadcast_to(np.zeros(1, np.int8), (2**30,))
    assert broken(sonnx.broadcast, *large) == ["broadcast.D3"]
    assert "   result = [1073741824, 1073741824]\n" in message(sonnx.broadcast, *large)
    # No element would be made, yet the sizes are beyond what a machine addresses.
    empty = Call(
        "Broadcast", {"X0": TensorType(DType.BOOL, (0, 2**60)), "X1": TensorType(DType.BOOL, (0, 1))}
    )
    assert [finding.rule for finding in check_call(BROADCAST, empty)] == ["broadcast.D3"]


def test_expand_shape_c1_refuses_shapes_that_do_not_broadcast() -> None:
    for shape in [[2], [3, 2], [0], np.array([4])]:
        assert broken(sonnx.expand, FLOATS, shape) == ["expand.shape.C1"]
    assert broken(sonnx.expand, FLOATS[:0], [1]) == ["expand.shape.C1"]
    assert message(sonnx.expand, FLOATS, [2, 4]) == (
        "error[expand.shape.C1]: The shape of `input` and `shape` must broadcast: on each axis a size is the "
        "larger of both, or 1\n"
        "  --> call of Expand\n"
        "   input : float[3]   size 3 on axis -1, where the largest is 4\n"
        "   shape = [2, 4]\n"
        "  help: give each axis one size, or size 1 (counted from the last axis)\n"
        "  more: sonnx explain expand.shape.C1"
    )


def test_expand_shape_d1_demands_an_int64_vector() -> None:
    for shape in [
        np.array([2, 3], np.int32),
        np.array(3),
        np.array([[2, 3]]),
        3,
        np.array([2, 3], np.uint64),
    ]:
        assert broken(sonnx.expand, FLOATS, shape) == ["expand.shape.D1"]
    text = message(sonnx.expand, FLOATS, 3)
    assert "   shape : int64[]\n  help: give `shape` as an int64 tensor of rank 1\n" in text


def test_expand_shape_d2_refuses_negative_sizes_and_what_is_no_integer() -> None:
    assert broken(sonnx.expand, FLOATS, [-1, 3]) == ["expand.shape.D2"]
    assert broken(sonnx.expand, FLOATS, [-(2**63)]) == ["expand.shape.D2"]
    assert "   shape = [-1, 3]\n  help: write sizes as integers from 0 up\n" in message(
        sonnx.expand, FLOATS, [-1, 3]
    )
    # A list of anything but integers of 64 bits is no int64 vector either.
    for shape in [[2**63], [2, NAN], [2.0, 3.0], [True, True], ["2", "3"], np.array([NAN])]:
        assert broken(sonnx.expand, FLOATS, shape) == ["expand.shape.D1", "expand.shape.D2"]


def test_expand_shape_that_is_no_array_breaks_a_general_rule() -> None:
    assert broken(sonnx.expand, FLOATS, [[1], [2, 3]]) == ["general.R2"]
    assert broken(sonnx.expand, FLOATS, None) == ["general.R2"]
    assert broken(sonnx.expand, FLOATS, [None, 3]) == ["general.R3"]
    assert broken(sonnx.expand, FLOATS, [2**64]) == ["general.R3"]
    assert broken(sonnx.expand, FLOATS, [10**5000]) == ["general.R3"]


def test_expand_shape_d4_refuses_results_that_cannot_be_addressed() -> None:
    assert broken(sonnx.expand, FLOATS, [2**60, 3]) == ["expand.shape.D4"]
    assert broken(sonnx.expand, FLOATS, [1] * 64 + [3]) == ["expand.shape.D4"]
    assert broken(sonnx.expand, FLOATS[:0], [2**62, 0]) == ["expand.shape.D4"]
    assert sonnx.expand(FLOATS, [1] * 63 + [3]).ndim == 64
    assert broken(sonnx.expand, FLOATS[:1], [2**31]) == ["expand.shape.D4"]
    assert sonnx.expand(FLOATS[:1], [2**31 - 1]).shape == (2**31 - 1,)


# Only a model can say these things: operator, identifiers, inputs, declared outputs, constants.
_CLIP = {"input": "float[2,3]", "min": "float[]", "max": "float[]"}
_WHERE = {"condition": "bool[2,3]", "X": "float[2,3]", "Y": "float[2,3]"}
_EXPAND = {"input": "float[3,1]", "shape": "int64[2]"}
Row = tuple[str, list[str], Mapping[str, str], Mapping[str, str], Mapping[str, tuple[Any, ...]]]
OF_MODELS: list[Row] = [
    ("Clip", [], _CLIP, {"output": "float[2,3]"}, {}),
    ("Clip", ["clip.output.C1"], _CLIP, {"output": "float[6]"}, {}),
    ("Clip", ["clip.output.C1"], _CLIP, {"output": "float[]"}, {}),
    ("Clip", ["clip.output.C2"], _CLIP, {"output": "double[2,3]"}, {}),
    ("Clip", ["clip.output.C1", "clip.output.C2"], _CLIP, {"output": "int8[3,2]"}, {}),
    ("Clip", ["general.R4"], _CLIP, {"output": "sparse float[2,3]"}, {}),
    ("Where", [], _WHERE, {"output": "float[2,3]"}, {}),
    ("Where", ["where.output.C1"], _WHERE, {"output": "float[2,3,1]"}, {}),
    ("Where", ["where.output.D1"], _WHERE, {"output": "string[2,3]"}, {}),
    ("Expand", [], _EXPAND, {"output": "float[3,4]"}, {"shape": (3, 4)}),
    ("Expand", ["expand.output.D1"], _EXPAND, {"output": "float[3,1]"}, {"shape": (3, 4)}),
    ("Expand", ["expand.output.D2"], _EXPAND, {"output": "bool[3,4]"}, {"shape": (3, 4)}),
    ("Expand", ["expand.shape.D3"], _EXPAND, {"output": "float[3,4]"}, {}),
    ("Expand", ["expand.shape.D2"], _EXPAND, {}, {"shape": (3, NAN)}),
    ("Expand", ["expand.shape.D2"], _EXPAND, {}, {"shape": (3, True)}),
    ("Expand", ["expand.shape.D2"], _EXPAND, {}, {"shape": (3, 10**5000)}),
    ("Expand", ["expand.shape.D4"], _EXPAND, {}, {"shape": (3, 2**62)}),
]


@for_each(("name", "expected", "inputs", "outputs", "constants"), OF_MODELS)
def test_what_a_model_declares_is_checked(
    name: str,
    expected: list[str],
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    constants: Mapping[str, tuple[Any, ...]],
) -> None:
    found = check_call(operator(name), call(name, inputs, {}, outputs, constants))
    assert [finding.rule for finding in found] == expected


def test_an_unknown_operand_keeps_the_other_rules_silent_about_it() -> None:
    vague = {
        "input": TensorType(None, None),
        "min": TensorType(DType.FLOAT, ()),
        "max": TensorType(DType.FLOAT, ()),
    }
    assert [finding.rule for finding in check_call(CLIP, Call("Clip", vague))] == ["general.R2"]
    shapeless = dict.fromkeys(("condition", "X", "Y"), TensorType(DType.BOOL, None))
    assert [finding.rule for finding in check_call(WHERE, Call("Where", shapeless))] == ["general.R2"]
    assert [f.rule for f in check_call(EXPAND, Call("Expand", {"input": TensorType(DType.BOOL, (3,))}))] == [
        "general.R2"
    ]


def test_expand_reads_no_more_of_a_shape_than_it_needs() -> None:
    # Read to the end, these would take minutes and gigabytes.
    huge = np.broadcast_to(np.int64(1), (2**40,))
    assert broken(sonnx.expand, FLOATS, huge) == ["expand.shape.D4"]
    assert broken(sonnx.expand, FLOATS, np.broadcast_to(np.float32(1), (2**20, 2**20))) == ["expand.shape.D1"]
    assert broken(sonnx.expand, FLOATS, [True, 3]) == ["general.R3"]
    assert sonnx.expand(FLOATS, [np.int32(2), 3]).shape == (2, 3)
