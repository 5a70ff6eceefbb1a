"""Some rules leave out what the definition covers: groups that divide the channels (D-CONV-2)."""

import pytest

from sonnx.operators import OPERATORS
from sonnx.operators.onnx.conv import OPERATOR as CONV
from sonnx.vocabulary.call import call

pytestmark = pytest.mark.measured

REST = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
# X, W, group; whether each group has channels of its own, as many as W takes and as many as it makes.
CASES = [
    ("float[1,4,5,5]", "float[6,2,3,3]", 2, True),
    ("float[1,6,5,5]", "float[3,2,3,3]", 3, True),
    ("float[1,2,5,5]", "float[4,1,3,3]", 2, True),
    ("float[1,4,5,5]", "float[5,2,3,3]", 2, False),
    ("float[1,5,5,5]", "float[4,2,3,3]", 2, False),
    ("float[1,4,5,5]", "float[6,2,3,3]", 0, False),
    ("float[1,4,5,5]", "float[6,2,3,3]", -2, False),
    ("float[1,4,5,5]", "float[6,2,3,3]", 2.0, False),
    ("float[1,4,5,5]", "float[6,2,3,3]", True, False),
    ("float[1,c,5,5]", "float[6,2,3,3]", 2, False),
    ("float[1,4,5,5]", "float[6,2,3]", 2, False),
]


@pytest.mark.parametrize(("X", "W", "group", "fits"), CASES)
def test_groups_that_divide_the_channels_have_a_meaning(X: str, W: str, group: object, fits: bool) -> None:
    asked = call("Conv", {"X": X, "W": W}, {**REST, "group": group})
    covering = [rule.covered for rule in CONV.contract.rules if rule.covered is not None]
    assert [covered(asked) for covered in covering] == [fits, fits]


def test_no_other_rule_leaves_out_what_the_definition_covers() -> None:
    found = {rule.identifier for op in OPERATORS for rule in op.contract.rules if rule.covered is not None}
    assert found == {"conv.group.C1", "conv.group.D1"}
