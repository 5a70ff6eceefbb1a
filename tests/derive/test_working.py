"""What executing a definition holds in between, by hand from shapes and attributes."""

from collections.abc import Mapping

import pytest
from tests.operators.support import plain

from sonnx.derive.working import working_types
from sonnx.operators import operator
from sonnx.vocabulary.call import call

pytestmark = pytest.mark.measured


def held(name: str, inputs: Mapping[str, str], attributes: Mapping[str, object]) -> list[str]:
    return list(map(str, working_types(operator(name), call(name, inputs, attributes))))


def test_a_convolution_holds_its_padded_image() -> None:
    inputs = {"X": "float16[2,3,5,6]", "W": "float16[4,3,3,3]"}
    padded = dict(plain((3, 3), pads=(1, 0, 2, 1)))
    assert held("Conv", inputs, padded) == ["float16[2,3,8,7]"]
    # Lines that no position meets are not there: of eight the kernel meets 0 to 5 by steps of three.
    assert held("Conv", inputs, {**padded, "strides": (3, 1)}) == ["float16[2,3,6,7]"]


def test_a_base_area_is_held_dilated_then_padded() -> None:
    attributes = {"window_strides": (1,), "padding": ((1, -2),), "lhs_dilation": (3,), "rhs_dilation": (1,)}
    inputs = {"lhs": "bf16[3,2,4]", "rhs": "bf16[1,2,2]"}
    assert held("xla.ConvWithGeneralPadding", inputs, attributes) == ["bf16[3,2,9]"]


def test_nothing_is_held_by_what_only_moves_has_no_result_or_calls() -> None:
    assert held("Where", {"condition": "bool[2]", "X": "float[2]", "Y": "float[2]"}, {}) == []
    none = {"lhs": "f32[1,2,1]", "rhs": "f32[1,2,2]"}
    assert held("xla.Conv", none, {"window_strides": (1,), "padding": "VALID"}) == []
    assert held("xla.Call", {}, {}) == []
