"""Every rule of Conv, broken by hand through the public function."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from tests.operators.support import Array, broken, message, plain

import sonnx
from sonnx.check.calls import check_call, check_node_call
from sonnx.model.location import Location
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.report.text import finding_text
from sonnx.vocabulary.call import call

NAN = float("nan")


def floats(*shape: int, dtype: Any = np.float32) -> Array:
    return np.ones(shape, dtype)


def rules_of(
    X: Any = (1, 3, 8, 8), W: Any = (4, 3, 3, 3), B: Any = (4,), dtype: Any = np.float32, **changes: Any
) -> list[str]:
    """What a call breaks that is right but for the shapes and attributes given."""
    X, W, B = (floats(*part, dtype=dtype) if isinstance(part, tuple) else part for part in (X, W, B))
    return broken(sonnx.conv, X, W, B, **plain((3, 3), **changes))


def test_conv_x_c1_demands_two_spatial_axes() -> None:
    for shape in [(), (3,), (1, 3, 8), (1, 3, 8, 8, 8)]:
        assert rules_of(X=shape) == ["conv.X.C1"]
    assert message(sonnx.conv, floats(1, 3, 8), floats(4, 3, 3, 3), **plain((3, 3))) == (
        "error[conv.X.C1]: `X` must have two spatial axes: its shape is (batch, channels, lines, columns)\n"
        "  --> call of Conv\n"
        "   X : float[1,3,8]   rank 3\n"
        "  help: give `X` rank 4: batch, channels, lines, columns\n"
        "  more: sonnx explain conv.X.C1"
    )


def test_a_convolution_over_another_number_of_axes_breaks_one_rule() -> None:
    for n in (1, 3):
        own = {"strides": [1] * n, "pads": [0] * 2 * n, "dilations": [1] * n, "kernel_shape": [3] * n}
        attributes: Any = {**own, "group": 1, "auto_pad": "NOTSET"}
        X, W = floats(1, 3, *[8] * n), floats(4, 3, *[3] * n)
        assert broken(sonnx.conv, X, W, **attributes) == ["conv.X.C1"]
        # In a model, X may be what nobody can infer.
        kind = f"float[4,3{',3' * n}]"
        unknown = call("Conv", {"X": "float", "W": kind}, {**attributes, "accumulate": "separate"})
        assert [finding.rule for finding in check_call(CONV, unknown)] == ["general.R2", "conv.W.D1"]
    assert rules_of(X=(1, 3, 8), W=(4, 3, 3, 3, 3)) == ["conv.X.C1", "conv.W.D1"]


def test_conv_x_c2_demands_the_channels_of_the_kernel_times_group() -> None:
    assert rules_of(X=(1, 5, 8, 8)) == ["conv.X.C2"]
    assert rules_of(W=(3, 3, 3, 3), B=(3,), group=3) == ["conv.X.C2"]
    assert rules_of(X=(1, 0, 8, 8)) == ["conv.X.C2"]
    assert message(sonnx.conv, floats(1, 5, 8, 8), floats(4, 3, 3, 3), **plain((3, 3))) == (
        "error[conv.X.C2]: `X` must have as many channels as the second axis of `W` times `group`\n"
        "  --> call of Conv\n"
        "   X     : float[1,5,8,8]   5 channels\n"
        "   W     : float[4,3,3,3]   3 channels per group\n"
        "   group = 1\n"
        "  help: give `W` 5 channels on its second axis\n"
        "  more: sonnx explain conv.X.C2"
    )


def test_conv_x_c3_demands_that_the_kernel_fits_into_the_padded_input() -> None:
    assert rules_of(X=(1, 3, 8, 2)) == ["conv.X.C3"]
    assert rules_of(X=(1, 3, 0, 8)) == ["conv.X.C3"]
    assert rules_of(dilations=(1, 4)) == ["conv.X.C3"]
    assert rules_of(dilations=(2**62, 1)) == ["conv.X.C3"]
    assert rules_of(X=(1, 3, 1, 8), pads=(0, 0, 1, 0)) == ["conv.X.C3"]
    text = message(sonnx.conv, floats(1, 1, 2, 2), floats(1, 1, 3, 3), **plain((3, 3), dilations=(2, 1)))
    assert "   padded X = [2, 2]   lines, columns\n" in text
    assert "   kernel   = [5, 3]   lines, columns, dilation included\n" in text
    assert "  help: enlarge `pads`, or reduce the kernel or `dilations`\n" in text


def test_conv_x_c3_lets_a_kernel_pass_that_fits_only_thanks_to_the_padding() -> None:
    assert sonnx.conv(floats(1, 1, 1, 1), floats(1, 1, 3, 3), **plain((3, 3), pads=(2, 0, 0, 2))).shape == (
        1,
        1,
        1,
        1,
    )


def test_conv_x_d1_refuses_types_that_have_no_arithmetic_here() -> None:
    for dtype in [np.int8, np.int64, np.uint8, np.bool_, np.complex64]:
        assert rules_of(dtype=dtype) == ["conv.X.D1"]
    texts = np.full((1, 3, 8, 8), "a"), np.full((4, 3, 3, 3), "a"), np.full(4, "a")
    assert broken(sonnx.conv, *texts, **plain((3, 3))) == ["conv.X.D1"]
    text = message(sonnx.conv, texts[0], texts[1], **plain((3, 3)))
    assert "   X : string[1,3,8,8]\n  help: give `X` one of the types real, float16, float, double\n" in text


def test_conv_w_d1_demands_rank_four() -> None:
    for shape in [(4, 3, 3), (), (4, 3, 3, 3, 1)]:
        assert rules_of(W=shape) == ["conv.W.D1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3), **plain((3, 3)))
    assert "   W : float[4,3,3]   rank 3\n" in text
    assert "  help: give `W` rank 4: output channels, channels per group, lines, columns\n" in text


def test_conv_w_d2_and_b_d2_refuse_operands_of_another_type() -> None:
    assert rules_of(W=floats(4, 3, 3, 3, dtype=np.float64)) == ["conv.W.D2"]
    assert rules_of(B=floats(4, dtype=np.float16)) == ["conv.B.D2"]
    assert rules_of(W=sonnx.real(floats(4, 3, 3, 3))) == ["conv.W.D2"]
    double = floats(4, 3, 3, 3, dtype=np.float64)
    text = message(sonnx.conv, floats(1, 3, 8, 8), double, **plain((3, 3)))
    assert "   W : double[4,3,3,3]\n   X : float[1,3,8,8]\n" in text
    assert "  help: give `W` the type float; no operand is converted\n" in text


def test_conv_b_c1_demands_one_value_per_output_channel() -> None:
    assert rules_of(B=(3,)) == ["conv.B.C1"]
    assert rules_of(B=(1,)) == ["conv.B.C1"]
    assert rules_of(B=(0,)) == ["conv.B.C1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), floats(3), **plain((3, 3)))
    assert "   B : float[3]         3 values\n   W : float[4,3,3,3]   4 output channels\n" in text
    assert "  help: give `B` 4 values, one per output channel\n" in text


def test_conv_b_d1_demands_rank_one() -> None:
    for shape in [(), (4, 1), (1, 4, 1, 1)]:
        assert rules_of(B=shape) == ["conv.B.D1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), floats(4, 1), **plain((3, 3)))
    assert "   B : float[4,1]   rank 2\n  help: give `B` rank 1: one value per output channel\n" in text


def test_conv_y_d2_refuses_results_that_cannot_be_addressed() -> None:
    # The last one is 3·8·(2^31/24 + 8) elements and more: the smallest padding of one side that is too large.
    for pads in [(2**60, 0, 0, 0), (0, 2**62, 0, 0), (0, 0, 2**30, 2**30), (2**31 // 24, 0, 0, 0)]:
        assert rules_of(pads=pads) == ["conv.Y.D2"]
    # No element would be made, yet the padded input would have a size no machine holds.
    assert rules_of(X=(0, 3, 8, 8), pads=(2**62, 0, 0, 0)) == ["conv.Y.D2"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), pads=(2**60, 0, 0, 0)))
    assert "   result = [1, 3, 1152921504606846984, 8]\n" in text
    assert "  help: stay below 2^31 elements\n" in text


def test_conv_strides_c1_demands_two_values() -> None:
    for strides in [
        (),
        (1,),
        (1, 1, 1),
        1,
        None,
        "11",
        np.array(1),
        np.ones((1, 2), int),
        range(1, 3),
        {1, 2},
    ]:
        assert rules_of(strides=strides) == ["conv.strides.C1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), strides=1))
    assert "   strides = 1                not a list\n" in text
    assert "  help: write strides = [down lines, along columns]\n" in text


def test_conv_strides_d1_demands_integers_from_one_up() -> None:
    for strides in [
        (0, 1),
        (1, -1),
        (NAN, 1),
        (1.0, 1),
        (True, 1),
        ("1", 1),
        (None, 1),
        np.array([1.0, NAN]),
    ]:
        assert rules_of(strides=strides) == ["conv.strides.D1"]
    assert rules_of(strides=np.array([1, 1], "m8[s]")) == ["conv.strides.D1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), strides=[0, NAN]))
    assert (
        "   strides = [0, nan]   not a positive integer of 64 bits: 0, nan\n  help: write positive integers\n"
        in text
    )


def test_conv_auto_pad_c1_demands_notset() -> None:
    for auto_pad in ["SAME_UPPER", "SAME_LOWER", "VALID", "notset", "", None, 0, b"NOTSET"]:
        assert rules_of(auto_pad=auto_pad) == ["conv.auto_pad.C1"]
    image, kernel = floats(1, 3, 8, 8), floats(4, 3, 3, 3)
    text = message(sonnx.conv, image, kernel, **plain((3, 3), auto_pad="VALID"))
    assert "   auto_pad = 'VALID'\n" in text
    assert '  help: write auto_pad = "NOTSET" and pads = [0, 0, 0, 0]\n' in text
    # By hand: 8 positions each need 8 - 1 + 3 - 8 = 2 zeros.
    text = message(sonnx.conv, image, kernel, **plain((3, 3), auto_pad="SAME_LOWER"))
    assert '  help: write auto_pad = "NOTSET" and pads = [1, 1, 1, 1]\n' in text
    for vague in ({"auto_pad": "SAME"}, {"auto_pad": 1}, {"auto_pad": "VALID", "strides": [1]}):
        text = message(sonnx.conv, image, kernel, **plain((3, 3), **vague))
        assert '  help: write auto_pad = "NOTSET" and the pads that are meant\n' in text


def test_conv_pads_c1_demands_integers_from_zero_up() -> None:
    for pads in [
        (0, 0, 0, -1),
        (NAN, 0, 0, 0),
        (0.0, 0, 0, 0),
        (False, 0, 0, 0),
        np.array([0, 0, -1, 0], np.int8),
    ]:
        assert rules_of(pads=pads) == ["conv.pads.C1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), pads=[0, 0, -1, NAN]))
    assert "   pads = [0, 0, -1, nan]   not a non-negative integer of 64 bits: -1, nan\n" in text
    assert "  help: write non-negative integers\n" in text


def test_conv_pads_c2_message_is_the_example_of_the_style_guide() -> None:
    inputs = {"X": "float[1,3,8,8]", "W": "float[4,3,3,3]"}
    wrong = {**plain((3, 3), pads=[1, 1]), "auto_pad": "NOTSET"}
    place = Location("node", "layer3/conv", 3, "Conv", "net.onnx")
    (finding,) = check_node_call(CONV, call("Conv", inputs, wrong), place)
    assert finding_text(finding) == (
        "error[conv.pads.C2]: `pads` needs two values per spatial axis of X\n"
        "  --> net.onnx: node 3 `layer3/conv` (Conv)\n"
        "   pads = [1, 1]           2 values\n"
        "   X    : float[1,3,8,8]   2 spatial axes, so 4 values\n"
        "  help: write pads = [begin0, begin1, end0, end1]\n"
        "  more: sonnx explain conv.pads.C2"
    )


def test_conv_pads_c2_demands_four_values() -> None:
    for pads in [(), (1, 1), (0,) * 5, 0, None, np.zeros((2, 2), int), b"\0\0\0\0"]:
        assert rules_of(pads=pads) == ["conv.pads.C2"]


def test_conv_dilations_c1_demands_integers_from_one_up() -> None:
    for dilations in [(0, 1), (1, -2), (NAN, 1), (1.5, 1), (True, True), [[1], [1]]]:
        assert rules_of(dilations=dilations) == ["conv.dilations.C1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), dilations=(1, 0)))
    assert "   dilations = [1, 0]   not a positive integer of 64 bits: 0\n" in text


def test_conv_dilations_c2_demands_two_values() -> None:
    for dilations in [(1,), (1, 1, 1), 1, "NOTSET", list]:
        assert rules_of(dilations=dilations) == ["conv.dilations.C2"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), dilations=(1,)))
    assert "   dilations = [1]              1 value\n" in text
    assert "  help: write dilations = [between lines, between columns]\n" in text


def test_conv_group_c1_demands_one_or_the_number_of_channels() -> None:
    for group in [0, -1, 2, 4, NAN, 1.0, True, "1", None, [1], np.array(1), 10**5000, np.float32(3)]:
        assert rules_of(group=group) == ["conv.group.C1"]
    assert rules_of(X=(1, 0, 8, 8), W=(4, 0, 3, 3), group=0) == ["conv.group.C1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), group=0))
    assert "   group = 0\n   X     : float[1,3,8,8]   3 channels\n" in text
    assert "  help: write group = 1 (standard) or group = 3 (depthwise)\n" in text


def test_conv_group_d1_refuses_several_kernels_a_channel() -> None:
    assert rules_of(W=(6, 1, 3, 3), B=(6,), group=3) == ["conv.group.D1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(6, 1, 3, 3), **plain((3, 3), group=3))
    assert "   group = 3   depthwise\n" in text
    assert "  help: give `W` 3 output channels, one per channel of `X`\n" in text


def test_conv_kernel_shape_c1_demands_integers_from_one_up() -> None:
    for kernel_shape in [(NAN, 3), (3.0, 3), (True, 3), ("3", 3)]:
        assert rules_of(kernel_shape=kernel_shape) == ["conv.kernel_shape.C1"]
    # A number below 1 also differs from the kernel, unless that is as empty.
    assert rules_of(kernel_shape=(0, 3)) == ["conv.kernel_shape.C1", "conv.kernel_shape.C2"]
    assert rules_of(W=(4, 3, 0, 3), kernel_shape=(0, 3)) == ["conv.kernel_shape.C1"]


def test_conv_kernel_shape_c2_demands_lines_and_columns_of_the_kernel() -> None:
    assert rules_of(W=(4, 3, 2, 3)) == ["conv.kernel_shape.C2"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 2, 3), **plain((3, 2)))
    assert "   kernel_shape = [3, 2]\n   W            : float[4,3,2,3]   [2, 3] lines, columns\n" in text
    assert "  help: write kernel_shape = [2, 3]\n" in text


def test_conv_kernel_shape_d1_demands_two_values() -> None:
    for kernel_shape in [(3,), (3, 3, 3), 3, None]:
        assert rules_of(kernel_shape=kernel_shape) == ["conv.kernel_shape.D1"]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3,)))  # type: ignore[arg-type]  # wrong on purpose
    assert "  help: write kernel_shape = [lines, columns]\n" in text


def test_conv_accumulate_d1_demands_one_of_the_two_modes() -> None:
    for accumulate in ["fast", "", None, True, "Fused"]:
        assert rules_of(accumulate=accumulate) == ["conv.accumulate.D1"]
    image, kernel = floats(1, 3, 8, 8), floats(4, 3, 3, 3)
    text = message(sonnx.conv, image, kernel, **plain((3, 3), accumulate="fast"))
    assert "   accumulate = 'fast'\n" in text
    assert '  help: write accumulate = "separate" or accumulate = "fused"\n' in text


DATA = "DATA_BATCH,DATA_CHANNEL,DATA_FEATURE,DATA_FEATURE"
FILTER = "FILTER_OUT_CHANNEL,FILTER_IN_CHANNEL,FILTER_SPATIAL,FILTER_SPATIAL"
# Only a model can say these things: by identifier, what is wrong in it.
OF_MODELS: list[tuple[list[str], Mapping[str, str], Mapping[str, str]]] = [
    ([], {"X": f"float[1,3,8,8] as {DATA}", "W": f"float[4,3,3,3] as {FILTER}"}, {"Y": "float[1,4,6,6]"}),
    (["conv.X.C4"], {"X": "float[1,3,8,8] as DATA_BATCH,DATA_FEATURE,DATA_FEATURE,DATA_CHANNEL"}, {}),
    (["conv.X.C4"], {"X": "float[1,3,8,8] as DATA_BATCH"}, {}),
    (["conv.X.C4"], {"X": f"float[1,3,8,8] as {FILTER}"}, {}),
    (["conv.W.C3"], {"W": f"float[4,3,3,3] as {DATA}"}, {}),
    (["conv.Y.C1"], {}, {"Y": "float[1,4,8,8]"}),
    (["conv.Y.C1"], {}, {"Y": "float[4,6,6]"}),
    (["conv.Y.D1"], {}, {"Y": "float16[1,4,6,6]"}),
    (["general.R2"], {}, {"Y": "float[n,4,6,6]"}),
    (["conv.Y.C1", "conv.Y.D1"], {}, {"Y": "double[1,4,5,5]"}),
]


@pytest.mark.parametrize(("expected", "changes", "outputs"), OF_MODELS)
def test_declared_outputs_and_denotations_of_conv_are_checked(
    expected: list[str], changes: Mapping[str, str], outputs: Mapping[str, str]
) -> None:
    inputs = {"X": "float[1,3,8,8]", "W": "float[4,3,3,3]", **changes}
    attributes = {**plain((3, 3)), "auto_pad": "NOTSET", "accumulate": "separate"}
    found = check_call(CONV, call("Conv", inputs, attributes, outputs))
    assert [finding.rule for finding in found] == expected


def test_the_declared_shape_of_conv_is_set_against_the_right_one() -> None:
    attributes = {**plain((3, 3)), "auto_pad": "NOTSET", "accumulate": "separate"}
    inputs = {"X": "float[1,3,8,8]", "W": "float[4,3,3,3]"}
    (finding,) = check_call(CONV, call("Conv", inputs, attributes, {"Y": "float[1,4,8,8]"}))
    assert "   Y : float[1,4,8,8]   declared; the shape is [1, 4, 6, 6]\n" in finding_text(finding)
    assert finding.help == "declare `Y` with shape [1, 4, 6, 6]"


def test_long_and_strange_attribute_values_are_shown_short_and_printable() -> None:
    image, kernel = floats(1, 3, 8, 8), floats(4, 3, 3, 3)
    text = message(sonnx.conv, image, kernel, **plain((3, 3), strides=[7] * 10**5))
    assert max(map(len, text.splitlines())) < 200
    assert "...]   100000 values\n" in text
    text = message(sonnx.conv, image, kernel, **plain((3, 3), group=10**5000))
    assert "   group = int that cannot be printed   not an integer" in text
    text = message(sonnx.conv, image, kernel, **plain((3, 3), strides=["1", 2]))
    assert "   strides = ['1', 2]   not a positive integer of 64 bits: '1'\n" in text
    text = message(sonnx.conv, image, kernel, **plain((3, 3), auto_pad="\x1b[31m", pads=["\x1b"] * 4))
    assert text.isascii()
    assert "\x1b" not in text


def test_integers_of_numpy_and_arrays_of_them_are_integers() -> None:
    image, kernel = floats(1, 3, 8, 8), floats(4, 3, 3, 3)
    numpy = plain(
        np.array([3, 3]),  # type: ignore[arg-type]  # any list of integers will do
        strides=np.array([1, 2], np.uint8),
        pads=[np.int64(0)] * 4,
        dilations=np.array([2, 1], object),
        group=np.int8(1),
    )
    assert sonnx.conv(image, kernel, **numpy).shape == (1, 4, 4, 3)


def test_attributes_of_any_length_are_refused_at_once() -> None:
    long = np.broadcast_to(np.int64(0), (2**40,))
    assert broken(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), pads=long)) == [
        "conv.pads.C2"
    ]
    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), pads=long))
    assert "1099511627776 values" in text


def test_what_the_rules_have_seen_is_what_is_computed() -> None:
    class Changing(list[int]):
        def __iter__(self) -> Iterator[int]:
            return iter([2, 2])

    result = sonnx.conv(floats(1, 1, 8, 8), floats(1, 1, 3, 3), **plain((3, 3), strides=Changing([1, 1])))
    assert result.shape == (1, 1, 6, 6)


def test_a_value_that_cannot_print_itself_is_named_by_its_type() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    text = message(sonnx.conv, floats(1, 3, 8, 8), floats(4, 3, 3, 3), **plain((3, 3), group=Silent()))
    assert "   group = Silent that cannot be printed   not an integer of 64 bits\n" in text


def test_the_document_s_example_of_six_channels_in_two_groups_is_outside_the_profile() -> None:
    # Its text on `group` describes 2 groups of 3 channels, which its own constraint C1 refuses (D-CONV-2).
    assert broken(sonnx.conv, floats(1, 6, 4, 4), floats(6, 3, 3, 3), **plain((3, 3), group=2)) == [
        "conv.group.C1"
    ]
