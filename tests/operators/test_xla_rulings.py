"""The rulings on the XLA operations, D-XLA-1 to D-XLA-6: one by one, by hand."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.operators.support import bits, broken
from tests.operators.xla_support import (
    COMPLEX,
    EVERY_TYPE,
    FLOATS,
    INTEGERS,
    ORDERED,
    SPELLED,
    SUMMED,
    array,
    held,
    ones,
    refused,
    specials,
)

import sonnx
from sonnx import xla
from sonnx.model.dtype import XLA_NAMES
from sonnx.operators.catalogue import XLA_OPERATORS

F32: Any = np.float32  # also of lists
INF, NAN = float("inf"), float("nan")


def raw(numbers: Any) -> list[str]:
    """The bits of floats, as hexadecimal numbers."""
    return [f"{word:08x}" for word in np.asarray(numbers, F32).reshape(-1).view(np.uint32).tolist()]


def test_d_xla_1_clamp_is_the_minimum_of_max_and_the_maximum_of_operand_and_min() -> None:
    """D-XLA-1: on the document's example its own formula gives 6, 6, 6."""
    operand = np.array([-1, 5, 9], np.int32)
    assert xla.clamp(operand, np.int32(0), np.int32(6)).tolist() == [0, 5, 6]
    # Where min > max, max wins.
    assert xla.clamp(operand, np.int32(6), np.int32(0)).tolist() == [0, 0, 0]
    literal = sonnx.xla.parse_literal("s32[3] {-1, 5, 9}")
    assert xla.clamp(literal, np.int32(0), np.int32(6)).tolist() == [0, 5, 6]


def test_d_xla_1_any_nan_gives_nan() -> None:
    """D-XLA-1: as operand, min or max; Clip ignores a NaN bound."""
    x, nan, zero, one = F32([0.5]), F32(NAN), F32(0), F32(1)
    for triple in [
        (F32([NAN]), zero, one),
        (x, nan, one),
        (x, zero, nan),
        (x, nan, nan),
        (F32([NAN]), one, zero),
    ]:
        assert np.isnan(xla.clamp(*triple)).all()
    assert sonnx.clip(x, nan, nan).tolist() == [0.5]


def test_d_xla_1_minus_zero_lies_below_plus_zero() -> None:
    """D-XLA-1: Clip leaves zeros alone."""
    zeros = F32([-0.0, 0.0])
    plus, minus = F32(0.0), F32(-0.0)
    assert raw(xla.clamp(zeros, plus, F32(1))) == ["00000000", "00000000"]
    assert raw(xla.clamp(zeros, F32(-1), minus)) == ["80000000", "80000000"]
    assert raw(xla.clamp(zeros, minus, plus)) == ["80000000", "00000000"]
    assert raw(xla.clamp(zeros, plus, minus)) == ["80000000", "80000000"]
    assert raw(sonnx.clip(zeros, plus, F32(1))) == ["80000000", "00000000"]
    assert raw(sonnx.clip(zeros, F32(-1), minus)) == ["80000000", "00000000"]


def test_d_xla_1_each_bound_has_the_operand_s_shape_or_is_a_scalar() -> None:
    """D-XLA-1."""
    X, L = np.array([[1, 5], [9, 2]], np.int8), np.array([[3, 3], [0, 4]], np.int8)
    assert xla.clamp(X, L, np.int8(6)).tolist() == [[3, 5], [6, 4]]
    assert xla.clamp(X, np.int8(2), L + np.int8(1)).tolist() == [[2, 4], [1, 2]]
    assert refused(xla.clamp, X, L[:1], np.int8(6)) == ["xla.clamp.min.D2"]
    assert refused(xla.clamp, X, np.int8(6), L[:, :1]) == ["xla.clamp.max.D2"]


def test_d_xla_2_the_dimension_is_one_of_the_rank_and_not_of_the_operands() -> None:
    """D-XLA-2."""
    a, b = np.ones((1, 2, 3), F32), np.zeros((1, 2, 0), F32)
    assert xla.concatenate([a], 2).shape == (1, 2, 3)  # 2 is no number below 1 operand
    assert xla.concatenate([a, b, a], 2).shape == (1, 2, 6)
    assert refused(xla.concatenate, [a] * 5, 3) == ["xla.concatenate.dimension.D1"]
    assert refused(xla.concatenate, [a] * 5, -1) == ["xla.concatenate.dimension.D1"]
    assert refused(xla.concatenate, [F32(1), F32(2)], 0) == ["xla.concatenate.operands.D4"]
    assert refused(xla.concatenate, [F32([1]), F32(2)], 0) == ["xla.concatenate.operands.D4"]
    assert refused(xla.concatenate, [F32(1), F32([2])], 0) == ["xla.concatenate.operands.D4"]


def test_d_xla_3_conversions() -> None:
    """D-XLA-3, one of each kind; all pairs are in test_xla_convert."""

    def converted(value: Any, source: str, target: str) -> Any:
        return xla.convert_element_type(held(source).type(value), target).item()

    assert converted(2**24 + 1, "s32", "f32") == 2**24
    assert converted(1 + 2.0**-11 + 2.0**-30, "f64", "f16") == 1.0009765625
    assert converted(65520, "f32", "f16") == INF
    assert [converted(v, "f32", "s8") for v in (-1.9, 300, -300, INF, NAN)] == [-1, 127, -128, 127, 0]
    assert converted(-129, "s16", "s8") == 127
    assert [converted(v, "f64", "pred") for v in (0.0, -0.0, 0.1, NAN)] == [False, False, True, True]
    assert converted(True, "pred", "bf16") == 1.0
    assert converted(1.5, "f32", "c64") == 1.5 + 0j
    assert converted(1e300 + 1j, "c128", "c64") == complex(INF, 1)
    assert refused(xla.convert_element_type, np.ones(1, np.complex64), "f32") == [
        "xla.convert_element_type.new_element_type.D2"
    ]
    assert refused(xla.convert_element_type, (), "f32") == ["xla.convert_element_type.operand.D1"]
    assert refused(xla.convert_element_type, F32([1]), "tuple") == [
        "xla.convert_element_type.new_element_type.D1"
    ]


def test_d_xla_4_same_has_ceil_of_size_by_stride_positions_and_the_odd_zero_high() -> None:
    """D-XLA-4."""
    X, W = np.arange(1, 6).reshape(1, 1, 5), np.array([[[1, 10]]])
    assert xla.conv(X, W, (1,), "SAME").tolist() == [[[21, 32, 43, 54, 5]]]
    assert xla.conv(X, W, (2,), "SAME").tolist() == [[[21, 43, 5]]]
    assert xla.conv(X, W, (1,), "VALID").tolist() == [[[21, 32, 43, 54]]]
    assert xla.conv(X, W, (2,), "VALID").tolist() == [[[21, 43]]]
    # Four zeros for five taps: two on each side; three for four taps: one low and two high.
    assert xla.conv(X, np.array([[[0, 0, 1, 0, 0]]]), (1,), "SAME").tolist() == X.tolist()
    assert xla.conv(X, np.array([[[0, 1, 0, 0]]]), (1,), "SAME").tolist() == X.tolist()


def general(X: Any, W: Any, padding: Any, lhs_dilation: Any = (1,), **more: Any) -> Any:
    """A convolution of one dimension that steps by 1, as a list of its positions."""
    result = xla.conv_with_general_padding(X, W, (1,), padding, lhs_dilation, (1,), **more)
    return result.reshape(-1).tolist()


def test_d_xla_5_dilate_then_pad_then_slide() -> None:
    """D-XLA-5: negative padding removes, an empty result is allowed."""
    X, W = np.array([[[1, 2, 3]]]), np.array([[[1]]])
    assert general(X, W, ((-1, 1),), (2,)) == [0, 2, 0, 3, 0]
    assert general(X, W, ((-3, -2),), (2,)) == []
    assert general(X, W, ((-9, 1),)) == []
    assert xla.conv_with_general_padding(np.ones((2, 3)), np.ones((1, 3)), (), (), (), ()).tolist() == [
        [3],
        [3],
    ]


def test_d_xla_5_zeros_are_really_inserted() -> None:
    """D-XLA-5: the document's pseudo-code skips them."""
    X, W = F32([[[1]]]), F32([[[INF]]])
    assert np.isnan(general(X, W, ((1, 1),))).tolist() == [True, False, True]
    two = general(np.concatenate([X, X], 2), W, ((0, 0),), (2,))
    assert np.isnan(two).tolist() == [False, True, False]


def test_d_xla_5_types_and_wrapping() -> None:
    """D-XLA-5: pred and complex are refused, integers wrap."""
    for name in EVERY_TYPE:
        X = ones(name, 1, 1, 1)
        if name in SUMMED:
            assert general(X, X, ((0, 0),)) == [1]
        else:
            found = refused(xla.conv_with_general_padding, X, X, (1,), ((0, 0),), (1,), (1,))
            assert found == ["xla.conv_with_general_padding.lhs.D1"]
            assert refused(xla.conv, X, X, (1,), "SAME") == ["xla.conv.lhs.D1"]
    for name in INTEGERS:
        info = np.iinfo(held(name))
        X = np.array([[[info.max, 1]]], held(name))
        assert general(X, np.ones((1, 1, 2), held(name)), ((0, 0),)) == [info.min]


@pytest.mark.parametrize("mode", ["separate", "fused"])
def test_d_xla_5_the_sum_runs_from_zero_by_feature_and_then_by_dimension(mode: Any) -> None:
    """D-XLA-5: 2^25 swallows every 1 that comes after it; its place in the order decides the sum."""
    W, sums = np.ones((1, 2, 2, 2), F32), []
    for place in range(8):
        X = np.ones(8, F32)
        X[place] = 2.0**25
        sums.append(xla.conv(X.reshape(1, 2, 2, 2), W, (1, 1), "VALID", accumulate=mode).item() - 2.0**25)
    # Floats from 2^25 on are 4 apart: the k ones before are rounded to 0, 4 or 8 (2 to 0 and 6 to 8: even).
    assert sums == [0, 0, 0, 4, 4, 4, 8, 8]


def test_d_xla_5_separate_rounds_twice_and_fused_once() -> None:
    """D-XLA-5, D-CONV-6: (1+2^-12)² = 1 + 2^-11 + 2^-24."""
    x = 1 + 2.0**-12
    X, W = F32([[[-1 - 2.0**-11, x]]]), F32([[[1, x]]])
    assert general(X, W, ((0, 0),)) == [0.0]  # separate is the default
    assert general(X, W, ((0, 0),), accumulate="separate") == [0.0]
    assert general(X, W, ((0, 0),), accumulate="fused") == [2.0**-24]


def test_d_xla_5_bfloat16_accumulates_in_float() -> None:
    """D-XLA-5: 256 + 1 + 1 in bfloat16 would stay at 256."""
    X, W = np.array([[[256, 1, 1]]], ml_dtypes.bfloat16), np.ones((1, 1, 3), ml_dtypes.bfloat16)
    assert [float(y) for y in general(X, W, ((0, 0),))] == [258.0]


def test_d_xla_6_broadcast_prepends_dimensions() -> None:
    """D-XLA-6."""
    assert xla.broadcast(np.array([1, 2]), (3,)).tolist() == [[1, 2]] * 3
    assert xla.broadcast(np.array([1, 2]), (2, 1)).tolist() == [[[1, 2]]] * 2


def test_d_xla_6_collapse_takes_a_run_in_order_and_nothing_else() -> None:
    """D-XLA-6."""
    X = np.zeros((4, 2, 3), F32)
    assert [xla.collapse(X, d).shape for d in [(0, 1, 2), (0, 1), (1, 2), (1,)]] == [
        *((24,), (8, 3)),
        *((4, 6), (4, 2, 3)),
    ]
    for dimensions in [(1, 0), (0, 2), (2, 1), (1, 1)]:
        assert refused(xla.collapse, X, dimensions) == ["xla.collapse.dimensions.D3"]


def test_d_xla_6_call_needs_exact_arity_and_exact_types() -> None:
    """D-XLA-6, D-GRAPH-3: executing a call is executing its body."""
    builder = xla.ComputationBuilder("twice")
    x = builder.parameter(0, "f32[2]", "x")
    twice = builder.build(builder.concatenate([x, x], 0))
    X = F32([1, 2])
    assert xla.call(twice, X).tolist() == [1, 2, 1, 2]
    for arguments, expected in [
        *(((), "args.D1"), ((X, X), "args.D1"), ((X[:1],), "args.D2")),
        *(((X.reshape(1, 2),), "args.D2"), ((X.astype(np.float64),), "args.D2")),
    ]:
        assert broken(xla.call, twice, *arguments) == [f"xla.call.{expected}"]
    outer = xla.ComputationBuilder("outer")
    y = outer.parameter(0, "f32[2]", "y")
    outer.clamp(outer.call(twice, y), outer.constant(F32(0)), outer.constant(F32(1.5)))
    assert outer.build().run(X).tolist() == [1, 1.5, 1, 1.5]
    nothing = xla.ComputationBuilder("one")
    nothing.constant(F32(1))
    assert xla.call(nothing.build()).item() == 1  # it is allowed to have no arguments


def test_d_xla_6_the_element_types() -> None:
    """D-XLA-6: pred, s8…s64, u8…u64, f16, bf16, f32, f64, c64, c128; and the reals, for the exact domain."""
    assert sorted(SPELLED) == sorted(["pred", *INTEGERS, *FLOATS, *COMPLEX])
    assert len(SPELLED) == 15
    for name in EVERY_TYPE:
        X = array(name, (2,), specials(name)[:2])
        assert bits(xla.broadcast(X, ())) == bits(X)
        assert bits(xla.collapse(X, (0,))) == bits(X)
        assert bits(xla.concatenate([X[:1], X[1:]], 0)) == bits(X)
        if name in ORDERED:
            assert bits(xla.clamp(X, X, X)) == bits(X)
    known = {*SPELLED, "real"}
    for op in XLA_OPERATORS:
        types = {dtype for operand in op.contract.inputs for dtype in operand.types}
        assert {XLA_NAMES.get(dtype, str(dtype)) for dtype in types} <= known, op.name
