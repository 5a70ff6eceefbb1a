"""What `onnx.checker` with its full check lets pass, ours names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from tests.check.support import broken

from sonnx.load.reader import load

Shape = tuple[int, ...]
ATTRIBUTES: Mapping[str, Any] = {
    "strides": [1, 1],
    "pads": [1, 1, 1, 1],
    "dilations": [1, 1],
    "group": 1,
    "kernel_shape": [3, 3],
    "auto_pad": "NOTSET",
}
IMAGE: Mapping[str, Shape] = {"X": (1, 2, 5, 5), "W": (3, 2, 3, 3), "B": (3,), "Y": (1, 3, 5, 5)}
BOUNDS: Mapping[str, Shape] = {"input": (2, 3), "min": (), "max": (), "output": (2, 3)}


def model(operator: str, shapes: Mapping[str, Shape], **attributes: Any) -> onnx.ModelProto:
    """A model of one node; the last of the tensors is its output."""
    *inputs, output = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    )
    node = helper.make_node(operator, [value.name for value in inputs], [output.name], **attributes)
    graph = helper.make_graph([node], "example", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def conv(shapes: Mapping[str, Shape] = {}, **attributes: Any) -> onnx.ModelProto:
    return model("Conv", {**IMAGE, **shapes}, **{**ATTRIBUTES, **attributes})


def clip(**shapes: Shape) -> onnx.ModelProto:
    return model("Clip", {**BOUNDS, **shapes})


# The model, the rules that it breaks, and whether the checker of onnx 1.23 lets it pass: it does with all of
# them. Declared output shapes are those that onnx infers, where it infers any, however wrong.
CASES: Mapping[str, tuple[onnx.ModelProto, set[str], bool]] = {
    "more channels than the kernel has": (conv({"X": (1, 4, 5, 5)}), {"conv.X.C2"}, True),
    "fewer channels than the kernel has": (conv({"X": (1, 1, 5, 5)}), {"conv.X.C2"}, True),
    "group 0": (conv(group=0), {"conv.group.C1"}, True),
    "a negative group": (conv(group=-1), {"conv.group.C1"}, True),
    "a group that does not divide the channels": (
        conv({"X": (1, 3, 5, 5), "W": (3, 1, 3, 3)}, group=2),
        {"conv.group.C1"},
        True,
    ),
    "a bias that is too short": (conv({"B": (2,)}), {"conv.B.C1"}, True),
    "a bias that is too long": (conv({"B": (4,)}), {"conv.B.C1"}, True),
    "another kernel_shape than that of W": (
        conv({"Y": (1, 3, 5, 7)}, kernel_shape=[3, 1]),
        {"conv.kernel_shape.C2", "conv.Y.C1"},
        True,
    ),
    "lines and columns of kernel_shape exchanged": (
        conv({"W": (3, 2, 3, 1), "Y": (1, 3, 7, 5)}, kernel_shape=[1, 3]),
        {"conv.kernel_shape.C2", "conv.Y.C1"},
        True,
    ),
    "an auto_pad that there is not": (conv(auto_pad="SAME"), {"conv.auto_pad.C1"}, True),
    "auto_pad beside pads": (conv(auto_pad="SAME_UPPER"), {"conv.auto_pad.C1"}, True),
    "auto_pad that contradicts pads": (
        conv({"Y": (1, 3, 5, 5)}, auto_pad="VALID"),
        {"conv.auto_pad.C1"},
        True,
    ),
    "a kernel larger than the padded input": (
        conv({"X": (1, 2, 1, 1), "Y": (1, 3, -1, -1)}, pads=[0, 0, 0, 0]),
        {"conv.X.C3", "general.R2"},
        True,
    ),
    "a lower bound of one element": (clip(min=(1,)), {"clip.min.D2"}, True),
    "an upper bound for each element": (clip(max=(2, 3)), {"clip.max.D2"}, True),
}


@pytest.mark.parametrize("case", CASES)
def test_what_the_checker_of_onnx_accepts_is_named_by_its_rules(case: str, tmp_path: Path) -> None:
    made, expected, accepted = CASES[case]
    try:
        onnx.checker.check_model(made, full_check=True)
        passed = True
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        passed = False
    assert passed is accepted
    path = tmp_path / "example.onnx"
    onnx.save(made, path)
    assert broken(load(path)) == expected


def test_the_models_from_which_these_are_made_conform(tmp_path: Path) -> None:
    for name, made in (("conv", conv()), ("clip", clip())):
        onnx.checker.check_model(made, full_check=True)
        onnx.save(made, tmp_path / name)
        assert broken(load(tmp_path / name)) == set()
