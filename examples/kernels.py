"""Write a small model with every plain kernel, one after the other, for proofs on small shapes.

    python examples/kernels.py OUT.onnx [--convolutions | --elements TYPE]

It conforms to the profile as it is: a Conv with padding, strides and dilation, whose result is limited,
chosen from and repeated. With `--convolutions` it has the Conv alone: that is what differs between the
modes of accumulation. With `--elements float16` it has operators on elements of that type instead.
"""

import argparse
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

OPSET = 18
IMAGE, KERNEL, RESULT, REPEATED = (1, 2, 5, 6), (3, 2, 3, 2), (1, 3, 3, 5), (2, 3, 3, 5)
SLIDING: dict[str, Any] = {"strides": (2, 1), "pads": (1, 1, 1, 0), "dilations": (1, 2), "group": 1}


def _constant(name: str, kind: int, shape: tuple[int, ...]) -> TensorProto:
    """Make a tensor; contracts do not look at its values, which count up."""
    values = np.arange(prod(shape)).astype(helper.tensor_dtype_to_np_dtype(kind))
    return helper.make_tensor(name, kind, shape, values.tobytes(), raw=True)


def build(*, convolutions: bool = False) -> ModelProto:
    """Make the model."""
    real = TensorProto.FLOAT
    conv = helper.make_node(
        "Conv", ["X", "W", "B"], ["sums"], name="conv", auto_pad="NOTSET", kernel_shape=KERNEL[2:], **SLIDING
    )
    nodes, output, shape = [conv], "sums", RESULT
    constants = [_constant("W", real, KERNEL), _constant("B", real, KERNEL[:1])]
    if not convolutions:
        nodes += [
            helper.make_node("Clip", ["sums", "low", "high"], ["limited"], name="clip"),
            helper.make_node("Where", ["mask", "limited", "other"], ["chosen"], name="where"),
            helper.make_node("Expand", ["chosen", "shape"], ["repeated"], name="expand"),
        ]
        constants += [
            _constant("low", real, ()),
            _constant("high", real, ()),
            _constant("other", real, RESULT),
        ]
        constants.append(_constant("mask", TensorProto.BOOL, RESULT))
        constants.append(helper.make_tensor("shape", TensorProto.INT64, (4,), REPEATED))
        output, shape = "repeated", REPEATED
    inner = [helper.make_tensor_value_info(node.output[0], real, RESULT) for node in nodes[:-1]]
    graph = helper.make_graph(
        nodes,
        "convolutions" if convolutions else "kernels",
        [helper.make_tensor_value_info("X", real, IMAGE)],
        [helper.make_tensor_value_info(output, real, shape)],
        constants,
        value_info=inner,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="sonnx-example")


# The types on which contracts of elements are proved.
ELEMENTS = {
    "float": TensorProto.FLOAT,
    "double": TensorProto.DOUBLE,
    "float16": TensorProto.FLOAT16,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
}


def build_elements(name: str) -> ModelProto:
    """Make a chain of operators on elements of a type."""
    kind, shape, wide = ELEMENTS[name], (5,), (2, 5)
    nodes = [
        helper.make_node("Add", ["X", "Y"], ["sums"], name="add"),
        helper.make_node("Relu", ["sums"], ["positive"], name="relu"),
        helper.make_node("Max", ["positive", "X", "Y"], ["largest"], name="max"),
        helper.make_node("Clip", ["largest", "low", "high"], ["limited"], name="clip"),
        helper.make_node("Where", ["mask", "limited", "Y"], ["chosen"], name="where"),
        helper.make_node("Expand", ["chosen", "shape"], ["repeated"], name="expand"),
    ]
    constants = [
        _constant("low", kind, ()),
        _constant("high", kind, ()),
        helper.make_tensor("shape", TensorProto.INT64, (2,), wide),
    ]
    inputs = [helper.make_tensor_value_info(each, kind, shape) for each in ("X", "Y")]
    inputs.append(helper.make_tensor_value_info("mask", TensorProto.BOOL, shape))
    graph = helper.make_graph(
        nodes,
        f"elements_{name}",
        inputs,
        [helper.make_tensor_value_info("repeated", kind, wide)],
        constants,
        value_info=[helper.make_tensor_value_info(node.output[0], kind, shape) for node in nodes[:-1]],
    )
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="sonnx-example")


def main() -> None:
    """Write the model."""
    parser = argparse.ArgumentParser(description="Write a small model with every plain kernel.")
    parser.add_argument("output", type=Path, metavar="OUT.onnx")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--convolutions", action="store_true", help="only Conv")
    choice.add_argument("--elements", choices=ELEMENTS, help="operators on elements of this type")
    arguments = parser.parse_args()
    elements = arguments.elements
    model = build_elements(elements) if elements else build(convolutions=arguments.convolutions)
    arguments.output.write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
