"""One test or more for every ruling D-…: what the source documents leave open, with values by hand."""

import inspect
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.loops import for_each
from tests.operators.broadcast_definitions import alternate, recursive, relations
from tests.operators.support import (
    EVERY_TYPE,
    FLOATS,
    HELD,
    INTEGERS,
    array_of,
    bits,
    broken,
    plain,
    special_values,
)

import sonnx
from sonnx.check.calls import check_call
from sonnx.model.dtype import DType
from sonnx.operators import OPERATORS, operator
from sonnx.operators.onnx.broadcast import OPERATOR as BROADCAST
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.operators.onnx.conv.geometry import resolve
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.operators.shared.convolution import Axis
from sonnx.vocabulary.call import call

pytestmark = pytest.mark.measured

F32 = np.float32
MODES: list[Any] = ["separate", "fused"]
NAN, INF = float("nan"), float("inf")


def raw(array: Any) -> list[str]:
    """The bits of floats, in hexadecimal."""
    return [f"{word:08x}" for word in np.asarray(array, F32).reshape(-1).view(np.uint32)]


def test_d_all_1_operands_and_attributes_have_the_names_of_onnx() -> None:
    """D-ALL-1."""
    assert list(inspect.signature(sonnx.clip).parameters) == ["input", "min", "max"]
    assert list(inspect.signature(sonnx.where).parameters) == ["condition", "X", "Y"]
    assert list(inspect.signature(sonnx.expand).parameters) == ["input", "shape"]
    assert list(inspect.signature(sonnx.conv).parameters)[:3] == ["X", "W", "B"]
    keywords = [p.name for p in inspect.signature(sonnx.conv).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert keywords == ["strides", "pads", "dilations", "group", "kernel_shape", "auto_pad", "accumulate"]
    outputs = {op.name: [output.name for output in op.contract.outputs] for op in (CLIP, CONV, WHERE)}
    assert outputs == {"Clip": ["output"], "Conv": ["Y"], "Where": ["output"]}
    for op in (CLIP, CONV, WHERE):
        function = getattr(sonnx, op.folder)
        names = [part.name for part in (*op.contract.inputs,)] + [
            part.name for part in op.contract.attributes
        ]
        assert list(inspect.signature(function).parameters) == names


def test_d_all_2_types_are_spelled_as_in_onnx() -> None:
    """D-ALL-2."""
    spelled = (
        "real float16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string bfloat16"
    )
    assert [kind.value for kind in DType] == [*spelled.split(), "complex64", "complex128"]
    assert str(DType.FLOAT) == "float"
    with pytest.raises(sonnx.RuleError, match=r"min +: double\[\]\n +input : float16\[1\]"):
        sonnx.clip(np.ones(1, np.float16), 1.0, np.float16(1))


def test_d_all_3_nothing_is_defaulted_converted_broadcast_or_sparse() -> None:
    """D-ALL-3: each is a rule with an identifier, not a crash."""
    one = np.ones((1, 1, 1, 1), F32)
    assert broken(sonnx.conv, one, one) == ["general.R1"]
    assert broken(sonnx.clip, [1.0], F32(0), F32(1)) == ["general.R2"]
    assert broken(sonnx.clip, np.ones(1, np.longdouble), F32(0), F32(1)) == ["general.R3"]
    assert broken(sonnx.conv, one, one.astype(np.float64), **plain()) == ["conv.W.D2"]
    assert broken(sonnx.where, np.ones(2, np.bool_), np.ones(2, F32), np.ones(1, F32)) == ["where.R4"]
    sparse = call("Clip", {"input": "sparse float[2]", "min": "float[]", "max": "float[]"})
    assert [finding.rule for finding in check_call(CLIP, sparse)] == ["general.R4"]


def test_d_all_4_every_operation_rounds_to_nearest_even_and_keeps_subnormals() -> None:
    """D-ALL-4."""
    x = np.array([1.0], F32).reshape(1, 1, 1, 1)
    # Half a unit in the last place: to the even neighbour, down from 1 and up from 1 + 2^-23.
    assert sonnx.conv(x, x, np.array([2.0**-24], F32), **plain()).item() == 1.0
    odd = x + F32(2.0**-23)
    assert sonnx.conv(odd, x, np.array([2.0**-24], F32), **plain()).item() == 1 + 2.0**-22
    tiny = np.full((1, 1, 1, 1), 2.0**-149, F32)
    assert raw(sonnx.conv(tiny, x, **plain())) == ["00000001"]
    assert raw(sonnx.conv(tiny * F32(3), x * F32(0.5), **plain())) == ["00000002"]
    half = np.array([2.0**-24], np.float16).reshape(1, 1, 1, 1)
    assert sonnx.conv(half, np.ones_like(half), **plain()).item() == 2.0**-24


def test_d_all_4_moved_values_keep_every_bit() -> None:
    """D-ALL-4: Where, Broadcast and Clip's "otherwise"."""
    payload = np.array([0x7F812345], np.uint32).view(F32)
    assert raw(sonnx.where(np.ones(1, np.bool_), payload, payload)) == ["7f812345"]
    assert raw(sonnx.broadcast(payload)[0]) == ["7f812345"]
    assert raw(sonnx.clip(payload, F32(0), F32(1))) == ["7f812345"]
    assert raw(sonnx.expand(payload, [2])) == ["7f812345"] * 2


def test_d_clip_1_a_nan_bound_does_not_bound() -> None:
    """D-CLIP-1: examples 3 and 4 of the document."""
    x = np.array([-INF, 0.0, INF, NAN], F32)
    assert raw(sonnx.clip(x, F32(-1), F32(NAN))) == raw([-1.0, 0.0, INF, NAN])
    assert raw(sonnx.clip(x, F32(NAN), F32(NAN))) == raw(x)
    assert raw(sonnx.clip(x, F32(NAN), F32(-1))) == raw([-INF, -1.0, -1.0, NAN])


def test_d_clip_1_max_wins_over_min_and_nan_over_both() -> None:
    """D-CLIP-1: input NaN with min > max is NaN, every number is max."""
    x = np.array([-INF, 15, 25, INF, NAN], F32)
    assert raw(sonnx.clip(x, F32(20), F32(10))) == raw([10, 10, 10, 10, NAN])
    assert sonnx.clip(np.array([6, 9, 35], np.int8), np.int8(20), np.int8(10)).tolist() == [10, 10, 10]


def test_d_clip_2_a_negative_zero_is_not_below_a_positive_one() -> None:
    """D-CLIP-2."""
    zeros = np.array([-0.0, 0.0], F32)
    for low, high in [(0.0, 1.0), (-0.0, 0.0), (-1.0, -0.0), (-1.0, 0.0), (0.0, -0.0)]:
        assert raw(sonnx.clip(zeros, F32(low), F32(high))) == ["80000000", "00000000"]


@for_each("name", EVERY_TYPE)
def test_d_clip_3_types_are_real_integers_and_ieee_floats(name: str) -> None:
    """D-CLIP-3: bfloat16 is out, and so are types without order."""
    array = array_of(name, (1,), special_values(name)[:1])
    if name in ("real", *FLOATS, *INTEGERS):
        assert bits(sonnx.clip(array, array[0], array[0])) == bits(array)
    else:
        assert broken(sonnx.clip, array, array.reshape(()), array.reshape(())) == ["clip.input.D1"]


def test_d_clip_4_bounds_are_required_scalars_of_the_type_of_the_input() -> None:
    """D-CLIP-4: a constraint of its own on each bound."""
    x, one = np.ones(3, F32), F32(1)
    assert broken(sonnx.clip, x, None, one) == ["clip.min.D1"]
    assert broken(sonnx.clip, x, one, None) == ["clip.max.D1"]
    assert broken(sonnx.clip, x, x[:1], one) == ["clip.min.D2"]
    assert broken(sonnx.clip, x, one, x) == ["clip.max.D2"]
    assert broken(sonnx.clip, x, 1.0, one) == ["clip.min.C1"]
    assert broken(sonnx.clip, x, one, np.int8(1)) == ["clip.max.C1"]


def test_d_clip_5_every_output_is_the_input_or_a_bound() -> None:
    """D-CLIP-5: no error, and yet outputs may differ from inputs."""
    x = np.array([-6.3, 9.2, 35.5], F32)
    assert raw(sonnx.clip(x, F32(0.5), F32(10.1))) == raw([F32(0.5), x[1], F32(10.1)])
    assert sonnx.error_bound("Clip", x, F32(0.5), F32(10.1)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "pads", "expected"),
    [
        (5, 3, 1, 1, (0, 0), 3),
        (5, 3, 2, 1, (0, 0), 2),
        (6, 3, 2, 1, (0, 0), 2),  # the last line is never reached
        (5, 3, 1, 2, (0, 0), 1),
        (6, 3, 1, 2, (0, 0), 2),
        (7, 2, 3, 3, (0, 0), 2),
        (7, 3, 1, 3, (0, 0), 1),  # the draft's C3 gives 0 here, its C version 1 - 2 = -1
        (1, 3, 1, 1, (1, 1), 1),
        (4, 3, 2, 1, (0, 1), 2),
        (4, 1, 9, 9, (0, 0), 1),
    ],
)
def test_d_conv_1_the_output_size(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], expected: int
) -> None:
    """D-CONV-1, on lines and on columns."""
    for turned in (False, True):
        X, W = np.ones((1, 1, size, 2), F32), np.ones((1, 1, kernel, 1), F32)
        geometry = plain(
            (kernel, 1)[:: -1 if turned else 1],  # type: ignore[arg-type]  # a slice of a pair is a pair
            strides=(stride, 1)[:: -1 if turned else 1],
            dilations=(dilation, 1)[:: -1 if turned else 1],
            pads=(0, pads[0], 0, pads[1]) if turned else (pads[0], 0, pads[1], 0),
        )
        if turned:
            X, W = X.swapaxes(2, 3), W.swapaxes(2, 3)
        assert sonnx.conv(X, W, **geometry).shape == ((1, 1, 2, expected) if turned else (1, 1, expected, 2))


def test_d_conv_1_the_kernel_must_fit_into_the_padded_input() -> None:
    """D-CONV-1: padding counts; without it the same kernel is refused."""
    X, W = np.ones((1, 1, 2, 2), F32), np.ones((1, 1, 3, 3), F32)
    assert broken(sonnx.conv, X, W, **plain((3, 3))) == ["conv.X.C3"]
    assert broken(sonnx.conv, X, W, **plain((3, 3), pads=(1, 0, 0, 0))) == ["conv.X.C3"]
    assert sonnx.conv(X, W, **plain((3, 3), pads=(1, 0, 0, 1))).tolist() == [[[[4.0]]]]


def test_d_conv_2_channels_and_groups() -> None:
    """D-CONV-2: (out, in/group, lines, columns); group is 1, or in = out."""
    X = np.array([1, 10, 100], F32).reshape(1, 3, 1, 1)
    standard = np.array([[1, 1, 1], [1, 2, 3]], F32).reshape(2, 3, 1, 1)
    assert sonnx.conv(X, standard, **plain()).reshape(-1).tolist() == [111.0, 321.0]
    depthwise = np.array([2, 3, 4], F32).reshape(3, 1, 1, 1)
    assert sonnx.conv(X, depthwise, **plain(group=3)).reshape(-1).tolist() == [2.0, 30.0, 400.0]
    assert broken(sonnx.conv, X, np.ones((6, 1, 1, 1), F32), **plain(group=3)) == ["conv.group.D1"]
    assert broken(sonnx.conv, X, depthwise, **plain()) == ["conv.X.C2"]
    assert broken(sonnx.conv, np.ones((1, 4, 1, 1), F32), np.ones((4, 2, 1, 1), F32), **plain(group=2)) == [
        "conv.group.C1"
    ]


def test_d_conv_3_lines_come_before_columns() -> None:
    """D-CONV-3: in kernel_shape, strides, dilations and pads."""
    X = np.arange(12, dtype=F32).reshape(1, 1, 3, 4)
    W = np.ones((1, 1, 2, 1), F32)
    assert sonnx.conv(X, W, **plain((2, 1))).shape == (1, 1, 2, 4)
    assert broken(sonnx.conv, X, W, **plain((1, 2))) == ["conv.kernel_shape.C2"]
    one = np.ones((1, 1, 1, 1), F32)
    assert sonnx.conv(X, one, **plain(strides=(2, 1))).tolist() == [[[[0, 1, 2, 3], [8, 9, 10, 11]]]]
    assert sonnx.conv(X, one, **plain(strides=(1, 3))).tolist() == [[[[0, 3], [4, 7], [8, 11]]]]
    assert sonnx.conv(X, W, **plain((2, 1), dilations=(2, 1))).tolist() == [[[[8, 10, 12, 14]]]]
    assert sonnx.conv(one, one, **plain(pads=(1, 0, 0, 2))).tolist() == [[[[0, 0, 0], [1, 0, 0]]]]


def test_d_conv_4_the_bias_has_one_value_per_output_channel_and_may_be_absent() -> None:
    """D-CONV-4: it is not tied to the channels of X."""
    X, W = np.ones((1, 2, 1, 1), F32), np.zeros((3, 2, 1, 1), F32)
    assert sonnx.conv(X, W, np.array([1, 2, 3], F32), **plain()).reshape(-1).tolist() == [1, 2, 3]
    assert sonnx.conv(X, W, **plain()).reshape(-1).tolist() == [0, 0, 0]
    assert sonnx.conv(X, W, None, **plain()).reshape(-1).tolist() == [0, 0, 0]
    assert broken(sonnx.conv, X, W, np.ones(2, F32), **plain()) == ["conv.B.C1"]
    assert broken(sonnx.conv, X, W, np.ones((3, 1), F32), **plain()) == ["conv.B.D1"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_d_conv_5_padding_inserts_zeros_that_take_part(name: str, mode: Any) -> None:
    """D-CONV-5: 0·inf and 0·NaN under the padding are NaN, and the zero is the positive one."""
    held = FLOATS[name]
    X = np.ones((1, 1, 1, 1), held)
    for weight in (INF, -INF, NAN):
        W = np.array([[[[weight, 1]]]], held)
        result = sonnx.conv(X, W, **plain((1, 2), pads=(0, 1, 0, 1)), accumulate=mode)
        # 0·weight + 1·1, then 1·weight + 0·1
        assert np.array_equal(result.reshape(-1), [NAN, weight], equal_nan=True)
    negative = np.array([[[[-1]]]], held)
    corner = sonnx.conv(X, negative, np.array([-0.0], held), **plain(pads=(1, 0, 0, 0)), accumulate=mode)
    assert np.signbit(corner).reshape(-1).tolist() == [True, True]  # -0 + (+0 · -1) is -0


def test_d_conv_6_the_sum_starts_at_the_bias_and_runs_channel_line_column() -> None:
    """D-CONV-6: 2^25 swallows every 1 that comes after it; its place in the order decides the sum."""
    large = F32(2.0**25)
    W = np.ones((1, 2, 2, 2), F32)
    sums = []
    for place in range(8):
        X = np.ones(8, F32)
        X[place] = large
        sums.append(sonnx.conv(X.reshape(1, 2, 2, 2), W, **plain((2, 2))).item() - 2.0**25)
    # Floats from 2^25 on are 4 apart: the k ones before are rounded to 0, 4 or 8 (2 to 0 and 6 to 8: even).
    assert sums == [0, 0, 0, 4, 4, 4, 8, 8]
    first = sonnx.conv(np.ones((1, 2, 2, 2), F32), W, np.array([large], F32), **plain((2, 2))).item()
    assert first == 2.0**25


def test_d_conv_6_separate_rounds_twice_and_fused_once() -> None:
    """D-CONV-6: (1+2^-12)² = 1 + 2^-11 + 2^-24."""
    x = np.full((1, 1, 1, 1), 1 + 2.0**-12, F32)
    minus = np.array([-1 - 2.0**-11], F32)
    assert sonnx.conv(x, x, minus, **plain(), accumulate="separate").item() == 0.0
    assert sonnx.conv(x, x, minus, **plain(), accumulate="fused").item() == 2.0**-24
    assert sonnx.conv(x, x, minus, **plain()).item() == 0.0  # separate is the default


def test_d_conv_6_float16_accumulates_in_float_and_is_rounded_once() -> None:
    """D-CONV-6: 2048 + 1 + 1 is 2050 in float; float16 sums would stay at 2048."""
    X, W = np.array([2048, 1, 1], np.float16).reshape(1, 3, 1, 1), np.ones((1, 3, 1, 1), np.float16)
    assert sonnx.conv(X, W, **plain()).item() == 2050.0
    overflow = np.array([60000, 60000, -60000], np.float16).reshape(1, 3, 1, 1)
    assert sonnx.conv(overflow, W, **plain()).item() == 60000.0
    assert sonnx.conv(overflow[:, :2], W[:, :2], **plain()).item() == INF
    # Beside 2^15 a float holds nothing below 2^-8; a double would give back 2^-10 here.
    lost = np.array([2.0**15, 2.0**-10, -(2.0**15)], np.float16).reshape(1, 3, 1, 1)
    for mode in MODES:
        assert sonnx.conv(lost, W, **plain(), accumulate=mode).item() == 0.0


def test_d_conv_7_types_axes_and_explicit_padding() -> None:
    """D-CONV-7."""
    for dtype in (np.float16, np.float32, np.float64):
        assert (
            sonnx.conv(np.ones((1, 1, 1, 1), dtype), np.ones((1, 1, 1, 1), dtype), **plain()).dtype == dtype
        )
    third = sonnx.real("1/3").reshape(1, 1, 1, 1)
    assert sonnx.conv(third, third, **plain()).item() == Fraction(1, 9)
    for other in (np.int32, np.bool_, ml_dtypes.bfloat16):
        assert broken(sonnx.conv, np.ones((1, 1, 1, 1), other), np.ones((1, 1, 1, 1), other), **plain()) == [
            "conv.X.D1"
        ]
    one = np.ones((1, 1, 1, 1), F32)
    assert broken(sonnx.conv, one, one, **plain(auto_pad="SAME_UPPER")) == ["conv.auto_pad.C1"]
    assert broken(sonnx.conv, one, one, **plain(pads=(0, 0, 0, -1))) == ["conv.pads.C1"]
    assert broken(sonnx.conv, one, one, **plain(pads=(0, 0))) == ["conv.pads.C2"]
    assert broken(sonnx.conv, np.ones((1, 1, 1), F32), np.ones((1, 1, 1), F32), **plain()) == ["conv.X.C1"]


@pytest.mark.parametrize(
    ("sizes", "kernel", "strides", "dilations", "upper"),
    [
        # out = 5, total = 4 + 3 - 5 = 2 on both axes
        ((5, 5), (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
        # lines: total = 4 + 2 - 5 = 1, odd: all of it goes to one end; columns: kernel 1 needs none
        ((5, 5), (2, 1), (1, 1), (1, 1), (0, 0, 1, 0)),
        # lines: out = 3, total = 2·2 + 3 - 6 = 1; columns: out = 7, total = 6 + 5 - 7 = 4
        ((6, 7), (3, 5), (2, 1), (1, 1), (0, 2, 1, 2)),
        # dilation 2 stretches 3 taps to 5: 4 + 5 - 5 = 4; dilation 3 stretches 2 taps to 4: 4 + 4 - 5 = 3
        ((5, 5), (3, 2), (1, 1), (2, 3), (2, 1, 2, 2)),
        # a stride longer than the kernel: out = 2, max(4 + 1 - 8, 0) = 0; columns: out = 2, 3 + 2 - 5 = 0
        ((8, 5), (1, 2), (4, 3), (1, 1), (0, 0, 0, 0)),
        # everything at once: out = 4, 3·2 + 5 - 7 = 4; out = 3, 2·3 + 4 - 8 = 2
        ((7, 8), (3, 4), (2, 3), (2, 1), (2, 1, 2, 1)),
    ],
)
def test_d_conv_8_auto_pad_stands_for_these_pads(
    sizes: Any, kernel: Any, strides: Any, dilations: Any, upper: tuple[int, int, int, int]
) -> None:
    """D-CONV-8: begins before ends; the odd element goes to the end for SAME_UPPER."""
    axes = [Axis(*each, 0, 0) for each in zip(kernel, strides, dilations, strict=True)]
    assert resolve("SAME_UPPER", sizes, axes) == upper
    assert resolve("SAME_LOWER", sizes, axes) == (*upper[2:], *upper[:2])
    assert resolve("VALID", sizes, axes) == (0, 0, 0, 0)
    X, W = np.ones((1, 1, *sizes), F32), np.ones((1, 1, *kernel), F32)
    result = sonnx.conv(X, W, **plain(kernel, strides=strides, dilations=dilations, pads=upper))
    assert result.shape[2:] == (-(-sizes[0] // strides[0]), -(-sizes[1] // strides[1]))


@pytest.mark.parametrize("unknown", ["NOTSET", "same_upper", "", "SAME"])
def test_d_conv_8_nothing_else_stands_for_pads(unknown: str) -> None:
    """D-CONV-8."""
    with pytest.raises(ValueError, match=f"auto_pad = '{unknown}' stands for no pads; there are SAME_UPPER"):
        resolve(unknown, (5, 5), [Axis(3, 1, 1, 0, 0)] * 2)


def test_d_conv_9_an_element_is_the_sum_of_all_products() -> None:
    """D-CONV-9: not one of them, and channel counts need not be equal."""
    X = sonnx.real([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]])
    W = sonnx.real([[[[1, 10], [100, 1000]], [["0.1", "0.01"], ["0.001", "0.0001"]]]])
    expected = (
        Fraction(4321) + Fraction("0.5") + Fraction("0.06") + Fraction("0.007") + Fraction("0.0008") - 1
    )
    assert sonnx.conv(X, W, sonnx.real([-1]), **plain((2, 2))).item() == expected


SIXTEEN = [
    *("bfloat16", "bool", "complex64", "complex128", "double", "float", "float16"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "string"),
]


@for_each("name", SIXTEEN)
def test_d_where_1_every_type_is_chosen_from_by_any_non_zero_byte(name: str) -> None:
    """D-WHERE-1."""
    condition = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    values = special_values(name)
    X = array_of(name, (4,), [values[0]] * 4)
    Y = array_of(name, (4,), [values[1]] * 4)
    expected = array_of(name, (4,), [values[1], values[0], values[0], values[0]])
    assert bits(sonnx.where(condition, X, Y)) == bits(expected)


def test_d_where_1_one_shape_and_one_type() -> None:
    """D-WHERE-1."""
    assert len(SIXTEEN) == 16
    assert set(SIXTEEN) == {*HELD, "string"}
    yes, floats = np.ones(3, np.bool_), np.ones(3, F32)
    assert broken(sonnx.where, yes[:2], floats, floats) == ["where.R2"]
    assert broken(sonnx.where, yes[:1], floats, floats) == ["where.R4"]
    assert broken(sonnx.where, yes, floats, floats.astype(np.float64)) == ["where.R3"]
    assert broken(sonnx.where, yes.view(np.uint8), floats, floats) == ["where.condition.D1"]


def test_d_where_2_a_chosen_negative_zero_stays_negative() -> None:
    """D-WHERE-2."""
    zeros = np.array([-0.0, -0.0], F32)
    assert raw(sonnx.where(np.array([True, False]), zeros, zeros)) == ["80000000"] * 2


def test_d_bcast_1_any_number_of_tensors_of_these_types() -> None:
    """D-BCAST-1."""
    allowed = {"real", *FLOATS, *INTEGERS, "string", "bool"}
    for name in EVERY_TYPE:
        tensors = [array_of(name, (1,), special_values(name)[:1])] * 2
        if name in allowed:
            assert [bits(Z) for Z in sonnx.broadcast(*tensors)] == [bits(tensors[0])] * 2
        else:
            assert broken(sonnx.broadcast, *tensors) == ["broadcast.D2"]
    assert broken(sonnx.broadcast) == ["broadcast.D1"]
    assert len(sonnx.broadcast(*[np.ones(2, F32)] * 40)) == 40


def test_d_bcast_1_repeated_axes_read_index_zero() -> None:
    """D-BCAST-1: the first element, which has index 0, is the one repeated."""
    Z0, Z1 = sonnx.broadcast(np.array([[7], [8]]), np.array([1, 2, 3]))
    assert Z0.tolist() == [[7, 7, 7], [8, 8, 8]]
    assert Z1.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_d_bcast_2_sizes_0_and_1_together_are_refused_though_numpy_answers_0() -> None:
    """D-BCAST-2: the largest is 1, and 0 is neither the largest nor 1."""
    none, one = np.ones(0, F32), np.ones(1, F32)
    assert np.broadcast_shapes((0,), (1,)) == (0,)
    assert broken(sonnx.broadcast, none, one) == ["broadcast.C1"]
    assert broken(sonnx.broadcast, none, F32(1)) == ["broadcast.C1"]
    assert broken(sonnx.expand, none, [1]) == ["expand.shape.C1"]
    assert broken(sonnx.expand, one, [0]) == ["expand.shape.C1"]
    assert [Z.shape for Z in sonnx.broadcast(none, none.reshape(1, 0))] == [(1, 0), (1, 0)]


def test_d_bcast_3_the_three_descriptions_and_every_order_agree() -> None:
    """D-BCAST-3."""
    X = [np.array(9), np.array([[1], [2]]), np.array([3, 4, 5])]
    expected = [[[9] * 3] * 2, [[1] * 3, [2] * 3], [[3, 4, 5]] * 2]
    for define in (relations, alternate, recursive):
        assert [Z.tolist() for Z in define(X)] == expected
        assert [Z.tolist() for Z in define(X[::-1])] == expected[::-1]


def test_every_operator_is_found_by_its_name() -> None:
    assert [operator(op.name) for op in OPERATORS] == list(OPERATORS)
    assert operator("Broadcast") is BROADCAST
