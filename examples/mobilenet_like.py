"""Write a small network in the manner of MobileNet to an ONNX file, as an exporter would.

    python examples/mobilenet_like.py OUT.onnx [--input IN.npy]

It is good ONNX and far from the profile: attributes are left to their defaults or to `auto_pad`, bounds of
Clip are absent, Where broadcasts, the batch has a name instead of a size, constants are nodes, ReLU6 is a
function, and no tensor between two nodes has a type. The weights are drawn from a fixed seed: the same
versions of ONNX and NumPy write the same bytes.
"""

import argparse
from math import prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper

OPSET = 18
SIZE = 32
CLASSES = 5
_LOCAL = "exporter.local"


class _Exporter:
    """Collects nodes and weights while the network is written down from input to output."""

    def __init__(self, seed: int) -> None:
        """Start with nothing; every weight comes from one generator."""
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self._random = np.random.Generator(np.random.PCG64(seed))

    def conv(self, name: str, source: str, channels: tuple[int, int], kernel: int, **attributes: Any) -> str:
        """Add a Conv with the attributes that are given, and no other; answers its output."""
        outputs, inputs = channels
        shape = (outputs, inputs // attributes.get("group", 1), kernel, kernel)
        # Weights of this size keep the activations of a layer about as large as those before it.
        bound = sqrt(6 / prod(shape[1:]))
        operands = [source, self._weight(f"{name}.weight", shape, bound)]
        operands.append(self._weight(f"{name}.bias", (outputs,), bound))
        return self.node("Conv", name, operands, **attributes)

    def _weight(self, name: str, shape: tuple[int, ...], bound: float) -> str:
        values = bound * (2 * self._random.random(shape) - 1)
        raw = values.astype("<f4").tobytes()
        self.weights.append(helper.make_tensor(name, TensorProto.FLOAT, shape, raw, raw=True))
        return name

    def constant(self, name: str, kind: int, shape: tuple[int, ...], values: Any) -> str:
        """Add a Constant node; answers its output."""
        tensor = helper.make_tensor(f"{name}.value", kind, shape, values)
        return self.node("Constant", name, [], value=tensor)

    def node(self, operator: str, name: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add a node; answers its output."""
        made = output or f"{name}_output"
        self.nodes.append(helper.make_node(operator, inputs, [made], name=f"/{name}", **attributes))
        return made

    def relu(self, name: str, source: str) -> str:
        """Add ReLU as some exporters write it: a Clip with one bound only."""
        zero = self.constant(f"{name}/zero", TensorProto.FLOAT, (), [0.0])
        return self.node("Clip", name, [source, zero])

    def relu6(self, name: str, source: str) -> str:
        """Add a call of the function that `_relu6` defines."""
        return self.node("ReLU6", name, [source], domain=_LOCAL)


def _relu6() -> FunctionProto:
    """ReLU6, with both bounds as constants of its body."""
    bounds = [
        helper.make_node("Constant", [], [name], name=f"make_{name}", value_float=value)
        for name, value in (("zero", 0.0), ("six", 6.0))
    ]
    clip = helper.make_node("Clip", ["x", "zero", "six"], ["y"], name="clip")
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_function(_LOCAL, "ReLU6", ["x"], ["y"], [*bounds, clip], opsets)


def _network(seed: int) -> _Exporter:
    """Write stem, three separable blocks, a mask, pooling by convolution, and the classifier."""
    add = _Exporter(seed)
    x = add.conv("stem/conv", "image", (16, 3), 3, strides=[2, 2], auto_pad="SAME_UPPER")
    x = add.relu6("stem/relu6", x)
    x = add.conv("block1/depthwise", x, (16, 16), 3, group=16, pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    x = add.relu("block1/relu", x)
    x = add.conv("block1/pointwise", x, (24, 16), 1)
    x = add.relu6("block1/relu6", x)
    # The lowest lines show the vehicle itself: they are replaced, in every channel at once.
    visible = [line < SIZE // 2 - 3 for line in range(SIZE // 2)]
    mask = add.constant("mask/visible", TensorProto.BOOL, (1, 1, SIZE // 2, 1), visible)
    nothing = add.constant("mask/nothing", TensorProto.FLOAT, (), [0.0])
    x = add.node("Where", "mask/where", [mask, x, nothing])
    x = add.conv("block2/depthwise", x, (24, 24), 3, group=24, strides=[2, 2], auto_pad="SAME_LOWER")
    x = add.relu("block2/relu", x)
    add.constant("block2/left_over", TensorProto.FLOAT, (1,), [1.0])
    x = add.conv("block2/pointwise", x, (32, 24), 1, auto_pad="VALID")
    x = add.relu6("block2/relu6", x)
    x = add.conv("block3/depthwise", x, (32, 32), 3, group=32, dilations=[2, 2], pads=[2, 2, 2, 2])
    x = add.relu("block3/relu", x)
    x = add.conv("block3/pointwise", x, (32, 32), 1)
    x = add.relu6("block3/relu6", x)
    x = add.conv("head/pool", x, (32, 32), SIZE // 4, group=32)
    add.conv("head/classes", x, (CLASSES, 32), 1, output="scores")
    return add


def build(seed: int = 3) -> ModelProto:
    """Make the model."""
    network = _network(seed)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", channels, size, size])
        for name, channels, size in (("image", 3, SIZE), ("scores", CLASSES, 1))
    ]
    graph = helper.make_graph(network.nodes, "mobilenet_like", ends[:1], ends[1:], network.weights)
    return helper.make_model(
        graph,
        functions=[_relu6()],
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(_LOCAL, 1)],
        ir_version=8,
        producer_name="exporter",
    )


def sample(seed: int = 4) -> Any:
    """Make a batch of one image whose values are spread around 0, as after normalizing a photograph."""
    random = np.random.Generator(np.random.PCG64(seed))
    return 4 * random.random((1, 3, SIZE, SIZE), np.float32) - 2


def main() -> None:
    """Write the files that the command line names."""
    parser = argparse.ArgumentParser(description="Write a small network in the manner of MobileNet.")
    parser.add_argument("model", type=Path, metavar="OUT.onnx", help="where the model goes")
    parser.add_argument("--input", type=Path, metavar="IN.npy", help="where a sample image goes, if anywhere")
    arguments = parser.parse_args()
    try:
        arguments.model.write_bytes(build().SerializeToString(deterministic=True))
        if arguments.input is not None:
            with arguments.input.open("wb") as file:
                np.save(file, sample(), allow_pickle=False)
    except OSError as error:
        parser.error(f"{error.filename!r} cannot be written: {error.strerror}")


if __name__ == "__main__":
    main()
