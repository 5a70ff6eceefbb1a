"""Cases are read as they are written, and a case that contradicts itself is refused."""

import numpy as np
import pytest

from sonnx.model.tensor_type import tensor_type
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import Tensor, load_cases

pytestmark = pytest.mark.measured


def tensor(text: str, values: object) -> Tensor:
    return Tensor(tensor_type(text), values)


def test_elements_are_read_in_their_order_and_type() -> None:
    assert tensor("float[2,2]", [[1, "0x1p-149"], ["-0.0", "inf"]]).array().view(np.uint32).tolist() == [
        [0x3F800000, 1],
        [0x80000000, 0x7F800000],
    ]
    assert tensor("int8[]", "-0x80").array().item() == -128
    assert tensor("bool[2]", [True, False]).array().tolist() == [True, False]
    assert tensor("string[1]", ["nan"]).array().tolist() == ["nan"]
    assert tensor("real[0]", []).array().shape == (0,)


@pytest.mark.parametrize("text", ["float", "float[n]", "longdouble[1]", "?[1]"])
def test_a_case_needs_type_and_static_shape(text: str) -> None:
    with pytest.raises(ValueError, match="a case needs a type of the profile and a static shape, not "):
        tensor(text, [1]).array()


def test_a_case_writes_as_many_elements_as_its_shape_has() -> None:
    with pytest.raises(ValueError, match=r"float\[3\] has 3 elements, the case writes 2"):
        tensor("float[3]", [1, 2]).array()


@pytest.mark.parametrize("folder", [op.identifier for op in OPERATORS])
def test_every_case_says_where_its_values_come_from(folder: str) -> None:
    cases = load_cases(folder)
    assert len({case.name for case in cases}) == len(cases) > 0
    assert all(case.source and case.nan in ("bits", "any") for case in cases)
    assert any(case.page for case in cases)
