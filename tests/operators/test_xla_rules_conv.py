"""Every rule of the XLA convolutions, broken by hand through the plain functions and the builder."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from tests.loops import for_each
from tests.operators.support import broken
from tests.operators.xla_support import COMPLEX, EVERY_TYPE, HOSTILE, NESTED, Silent, ones, rules_of, said

from sonnx import xla

NAN = float("nan")
F32 = np.float32
GENERAL = "xla.conv_with_general_padding"

LHS, RHS = np.ones((1, 2, 5, 5), F32), np.ones((3, 2, 3, 3), F32)
RIGHT: Mapping[str, Any] = {
    "window_strides": (1, 1),
    "padding": ((0, 0), (0, 0)),
    "lhs_dilation": (1, 1),
    "rhs_dilation": (1, 1),
}


def both(label: str, lhs: Any = LHS, rhs: Any = RHS, *, by: Callable[..., list[str]] = rules_of) -> None:
    """Both convolutions refuse the operands by the rule of that label."""
    n = max(np.ndim(lhs) - 2, 0)
    ones, pairs = (1,) * n, ((0, 0),) * n
    assert by(xla.conv, lhs, rhs, window_strides=ones, padding="SAME") == [f"xla.conv.{label}"]
    general = {"window_strides": ones, "padding": pairs, "lhs_dilation": ones, "rhs_dilation": ones}
    assert by(xla.conv_with_general_padding, lhs, rhs, **general) == [f"{GENERAL}.{label}"]


def general(**changes: Any) -> list[str]:
    """What ConvWithGeneralPadding breaks with other attributes."""
    return rules_of(xla.conv_with_general_padding, LHS, RHS, **{**RIGHT, **changes})


def test_conv_lhs_d1_refuses_pred_complex_numbers_and_strings() -> None:
    """xla.conv.lhs.D1, xla.conv_with_general_padding.lhs.D1."""
    for name in ["pred", *COMPLEX]:
        both("lhs.D1", ones(name, 1, 2, 5, 5), ones(name, 3, 2, 3, 3))
    both("lhs.D1", np.full((1, 2, 5), "a"), np.full((3, 2, 3), "a"), by=broken)


def test_conv_lhs_d2_demands_batch_and_features() -> None:
    """xla.conv.lhs.D2, xla.conv_with_general_padding.lhs.D2."""
    for rank in (0, 1):
        both("lhs.D2", np.ones((3,) * rank, F32), np.ones((3,) * rank, F32))
        both("lhs.D2", np.ones((3,) * rank, F32))


def test_conv_rhs_d1_refuses_a_window_of_another_type() -> None:
    """xla.conv.rhs.D1, xla.conv_with_general_padding.rhs.D1."""
    for name in EVERY_TYPE:
        if name != "f32":
            both("rhs.D1", LHS, ones(name, 3, 2, 3, 3), by=broken if name == "real" else rules_of)
    both("rhs.D1", LHS.astype(ml_dtypes.bfloat16), RHS.astype(np.float16))


def test_conv_rhs_d2_demands_the_rank_of_the_base_area() -> None:
    """xla.conv.rhs.D2, xla.conv_with_general_padding.rhs.D2."""
    for shape in ((), (3,), (3, 2), (3, 2, 3), (3, 2, 3, 3, 3)):
        both("rhs.D2", LHS, np.ones(shape, F32))
    text = said(xla.conv, LHS, np.ones((3, 2, 3), F32), (1, 1), "VALID")
    assert " rhs : f32[3,2,3]\n lhs : f32[1,2,5,5]\n" in text


def test_conv_rhs_d3_demands_the_features_of_the_base_area() -> None:
    """xla.conv.rhs.D3, xla.conv_with_general_padding.rhs.D3."""
    for features in (0, 1, 3):
        both("rhs.D3", LHS, np.ones((3, features, 3, 3), F32))
    both("rhs.D3", np.ones((1, 0), F32), np.ones((1, 1), F32))
    text = said(xla.conv, LHS, np.ones((3, 1, 3, 3), F32), (1, 1), "SAME")
    assert " lhs : f32[1,2,5,5] 2 features\n rhs : f32[3,1,3,3] 1 input feature\n" in text


def test_conv_rhs_d4_refuses_a_window_without_extent() -> None:
    """xla.conv.rhs.D4, xla.conv_with_general_padding.rhs.D4."""
    for window in ((0, 3), (3, 0), (0, 0)):
        both("rhs.D4", LHS, np.ones((3, 2, *window), F32))


WRONG_LISTS = [*HOSTILE, (1,), (1, 1, 1), (), (1, 0), (-1, 1), (2**63, 1), [1] * 10**5, NESTED, ((1, 1), 1)]


@for_each("value", WRONG_LISTS, ids=lambda _: "")
def test_window_strides_d1_and_dilations_d1_demand_an_integer_from_one_up_for_each_dimension(
    value: Any,
) -> None:
    """The same rule for three attributes."""
    found = rules_of(xla.conv, LHS, RHS, window_strides=value, padding="VALID")
    assert found == ["xla.conv.window_strides.D1"]
    assert general(window_strides=value) == ["xla.conv_with_general_padding.window_strides.D1"]
    assert general(lhs_dilation=value) == ["xla.conv_with_general_padding.lhs_dilation.D1"]
    assert general(rhs_dilation=value) == ["xla.conv_with_general_padding.rhs_dilation.D1"]


def test_window_strides_d1_shows_how_many_there_are_and_must_be() -> None:
    text = said(xla.conv, LHS, RHS, (1,), "VALID")
    assert " window_strides = [1] 1 value\n" in text
    assert " lhs : f32[1,2,5,5] 2 spatial dimensions\n" in text
    assert " help: write 2 integers from 1 up\n" in text
    assert rules_of(xla.conv, np.ones((1, 1), F32), np.ones((1, 1), F32), (1,), "SAME") == [
        "xla.conv.window_strides.D1"
    ]


WRONG_PADDINGS = [
    *HOSTILE,
    *((), (1, 1), ((0, 0),), ((0, 0),) * 3, ((0,), (0, 0)), ((0, 0, 0), (0, 0)), ((0, 0), None)),
    *(((0, 0.0), (0, 0)), ((0, True), (0, 0)), ((0, NAN), (0, 0)), ((0, "1"), (0, 0)), ((0, 2**63), (0, 0))),
    *("SAME", ("SAME", "SAME"), ((0, 0), [[0], [0]]), [(0, 0)] * 10**4, NESTED),
    *(((0, 10**5000), (0, 0)), {(0, 0)}, ((0, 0), Silent())),
]


@for_each("value", WRONG_PADDINGS, ids=lambda _: "")
def test_general_padding_d1_demands_a_pair_for_each_dimension(value: Any) -> None:
    assert general(padding=value) == ["xla.conv_with_general_padding.padding.D1"]


def test_general_padding_d1_shows_how_many_there_are_and_must_be() -> None:
    text = said(xla.conv_with_general_padding, LHS, RHS, **{**RIGHT, "padding": ((0, 0),)})
    assert "1 pair\n" in text
    assert " lhs : f32[1,2,5,5] 2 spatial dimensions\n" in text
    assert " help: write 2 pairs (low, high) of integers\n" in text


@for_each("value", [*HOSTILE, "FULL", "same", "", "VALID ", ("SAME", "SAME")], ids=lambda _: "")
def test_conv_padding_d1_demands_same_or_valid(value: Any) -> None:
    found = rules_of(xla.conv, LHS, RHS, window_strides=(1, 1), padding=value)
    assert found == ["xla.conv.padding.D1"]


def test_conv_accumulate_d1_demands_one_of_the_two_modes() -> None:
    """xla.conv.accumulate.D1, xla.conv_with_general_padding.accumulate.D1."""
    for mode in ["fast", "", None, True, "Fused", b"fused", ["fused"], Silent()]:
        found = broken(xla.conv, LHS, RHS, (1, 1), "SAME", accumulate=mode)
        assert found == ["xla.conv.accumulate.D1"]
        found = broken(xla.conv_with_general_padding, LHS, RHS, **RIGHT, accumulate=mode)
        assert found == ["xla.conv_with_general_padding.accumulate.D1"]


def test_conv_output_d3_refuses_what_cannot_be_addressed() -> None:
    """xla.conv.output.D3, xla.conv_with_general_padding.output.D3."""
    for padding in [((2**60, 0), (0, 0)), ((0, 0), (0, 2**31)), ((2**62, -(2**61)), (0, 0))]:
        assert general(padding=padding) == ["xla.conv_with_general_padding.output.D3"]
    assert general(lhs_dilation=(2**60, 1)) == ["xla.conv_with_general_padding.output.D3"]
    # The area is too large though the result is not, and nothing is left of it in the end.
    wide = {"padding": ((2**40, 0), (0, 0)), "window_strides": (2**62, 1)}
    assert general(**wide) == ["xla.conv_with_general_padding.output.D3"]
    assert (
        xla.conv_with_general_padding(LHS, RHS, **{**RIGHT, "padding": ((2**62, -(2**63)), (0, 0))}).size == 0
    )
    huge = xla.conv_with_general_padding(LHS, RHS, **{**RIGHT, "rhs_dilation": (2**62, 1)})
    assert huge.shape == (1, 3, 0, 3)
    batch, outputs = np.broadcast_to(F32(1), (60000, 1)), np.broadcast_to(F32(1), (60000, 1))
    assert rules_of(xla.conv, batch, outputs, (), "VALID") == ["xla.conv.output.D3"]


def test_a_convolution_collects_everything_that_is_wrong() -> None:
    found = rules_of(xla.conv, LHS, RHS.astype(np.float64)[:, :1], window_strides=(0, 1), padding="FULL")
    assert found == [
        "xla.conv.rhs.D1",
        "xla.conv.rhs.D3",
        "xla.conv.window_strides.D1",
        "xla.conv.padding.D1",
    ]
    everything = {"window_strides": None, "padding": (1, 1), "lhs_dilation": 2, "rhs_dilation": (0, 0)}
    assert general(**everything) == [
        f"{GENERAL}.{name}.D1" for name in ("window_strides", "padding", "lhs_dilation", "rhs_dilation")
    ]


def test_what_the_rules_have_seen_is_what_is_computed() -> None:
    class Changing(list[Any]):
        """Gives itself when first asked, and twos from then on."""

        asked = False

        def __iter__(self) -> Iterator[Any]:
            given = [2, 2] if self.asked else list(self[:])
            self.asked = True
            return iter(given)

    pairs = Changing([Changing([0, 0]), Changing([0, 0])])
    given = {**RIGHT, "window_strides": Changing([1, 1]), "padding": pairs}
    assert xla.conv_with_general_padding(LHS, RHS, **given).shape == (1, 3, 3, 3)
