"""A model of 1,000 nodes and 100 MB for measuring the check, written with ONNX's own helpers."""

import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

CHANNELS = 75  # 75 * 75 * 3 * 3 floats are 0.2 MB
PAIRS = 500
SHAPE = (1, CHANNELS, 14, 14)


def large_model() -> Path:
    """Write a chain of Conv and Clip that conforms; answers its path in a new temporary folder."""
    rng = np.random.default_rng(3)
    constants = [
        numpy_helper.from_array(np.array(bound, np.float32), name) for name, bound in (("lo", 0), ("hi", 6))
    ]
    nodes, values = [], []
    for number in range(PAIRS):
        source = f"t{2 * number}"
        middle, target = f"t{2 * number + 1}", f"t{2 * number + 2}"
        weights = rng.standard_normal((CHANNELS, CHANNELS, 3, 3)).astype(np.float32)
        constants.append(numpy_helper.from_array(weights, f"w{number}"))
        nodes.append(
            helper.make_node(
                "Conv",
                [source, f"w{number}"],
                [middle],
                name=f"conv{number}",
                strides=[1, 1],
                pads=[1, 1, 1, 1],
                dilations=[1, 1],
                group=1,
                kernel_shape=[3, 3],
                auto_pad="NOTSET",
            )
        )
        nodes.append(helper.make_node("Clip", [middle, "lo", "hi"], [target], name=f"clip{number}"))
        values += [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in (middle, target)]
    ends = [helper.make_tensor_value_info("t0", TensorProto.FLOAT, SHAPE)], [values.pop()]
    graph = helper.make_graph(nodes, "large", *ends, constants, value_info=values)
    path = Path(tempfile.mkdtemp(prefix="sonnx-bench-")) / "large.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path
