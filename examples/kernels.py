"""Write a small model with every plain kernel, in its kinds and element types, for proofs on small shapes.

    python examples/kernels.py OUT.onnx [--convolutions]

It conforms to the profile as it is. Complex numbers are left out: that copying one into the caller's array
keeps those before it is not proved. Nothing is meant by it: every node takes an input of its own. With
`--convolutions` it has Conv alone, in each type: that is what differs between the modes of accumulation.
"""

import argparse
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

OPSET = 18
FLOAT, DOUBLE, HALF = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16


@dataclass(frozen=True)
class Sliding:
    """A Conv: its shapes, how its kernel slides, and whether it has a bias."""

    name: str
    kind: int
    X: tuple[int, int, int, int]
    W: tuple[int, int, int, int]
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    group: int = 1
    bias: bool = True

    @property
    def Y(self) -> tuple[int, ...]:  # noqa: N802  the name that it has in ONNX
        """The shape of its result."""
        sizes = [
            (size + before + after - dilation * (taps - 1) - 1) // stride + 1
            for size, before, after, dilation, taps, stride in zip(
                self.X[2:],
                self.pads[:2],
                self.pads[2:],
                self.dilations,
                self.W[2:],
                self.strides,
                strict=True,
            )
        ]
        return (self.X[0], self.W[0], *sizes)


CONVOLUTIONS = (
    Sliding("padded", FLOAT, (1, 2, 5, 6), (3, 2, 3, 2), strides=(2, 1), pads=(1, 1, 1, 0), dilations=(1, 2)),
    Sliding("wide", DOUBLE, (1, 1, 3, 7), (2, 1, 1, 5), pads=(0, 2, 0, 2)),
    Sliding("half", HALF, (1, 2, 4, 4), (2, 2, 3, 3), pads=(1, 0, 1, 0)),
)
MORE_CONVOLUTIONS = (
    Sliding("batch", FLOAT, (2, 2, 4, 4), (3, 2, 3, 3), bias=False),
    Sliding("depthwise", FLOAT, (1, 3, 5, 5), (3, 1, 3, 3), strides=(2, 2), pads=(0, 0, 1, 1), group=3),
)
LIMITED = {"float": FLOAT, "double": DOUBLE, "half": HALF, "int64": TensorProto.INT64}
CHOSEN = {"float": FLOAT, "bfloat16": TensorProto.BFLOAT16, "uint32": TensorProto.UINT32}
# Repeated and kept axes, neighbours of the same sort, and a scalar.
EXPANDED = {
    "between": (FLOAT, (3, 1, 5), (2, 3, 4, 5)),
    "kept": (DOUBLE, (3, 5), (4, 3, 5)),
    "repeated": (TensorProto.BOOL, (2, 1, 1, 3), (2, 4, 5, 3)),
    "scalar": (TensorProto.UINT8, (), (3, 2)),
}


class _Author:
    """Collects nodes, inputs and outputs."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.nodes: list[NodeProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self.constants: list[TensorProto] = []

    def given(self, name: str, kind: int, shape: tuple[int, ...]) -> str:
        """Give an input of the model."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, name: str, kind: int, shape: tuple[int, ...]) -> str:
        """Give a constant; contracts do not look at its values, which count up."""
        values = np.arange(prod(shape)).astype(helper.tensor_dtype_to_np_dtype(kind)).reshape(shape)
        self.constants.append(helper.make_tensor(name, kind, shape, values.tobytes(), raw=True))
        return name

    def made(self, name: str, kind: int, shape: tuple[int, ...]) -> str:
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def conv(self, each: Sliding) -> None:
        name = f"conv_{each.name}"
        inputs = [self.given(f"{name}_X", each.kind, each.X), self.constant(f"{name}_W", each.kind, each.W)]
        inputs += [self.constant(f"{name}_B", each.kind, each.W[:1])] if each.bias else []
        self.nodes.append(
            helper.make_node(
                "Conv",
                inputs,
                [self.made(f"{name}_Y", each.kind, each.Y)],
                name=name,
                auto_pad="NOTSET",
                kernel_shape=each.W[2:],
                strides=each.strides,
                pads=each.pads,
                dilations=each.dilations,
                group=each.group,
            )
        )

    def clip(self, label: str, kind: int) -> None:
        name = f"clip_{label}"
        inputs = [self.given(f"{name}_input", kind, (2, 3))]
        inputs += [self.constant(f"{name}_{bound}", kind, ()) for bound in ("min", "max")]
        self.nodes.append(
            helper.make_node("Clip", inputs, [self.made(f"{name}_output", kind, (2, 3))], name=name)
        )

    def where(self, label: str, kind: int) -> None:
        name = f"where_{label}"
        inputs = [self.given(f"{name}_condition", TensorProto.BOOL, (4, 2))]
        inputs += [self.given(f"{name}_X", kind, (4, 2)), self.constant(f"{name}_Y", kind, (4, 2))]
        self.nodes.append(
            helper.make_node("Where", inputs, [self.made(f"{name}_output", kind, (4, 2))], name=name)
        )

    def expand(self, label: str, kind: int, shape: tuple[int, ...], target: tuple[int, ...]) -> None:
        name = f"expand_{label}"
        self.constants.append(helper.make_tensor(f"{name}_shape", TensorProto.INT64, (len(target),), target))
        inputs = [self.given(f"{name}_input", kind, shape), f"{name}_shape"]
        self.nodes.append(
            helper.make_node("Expand", inputs, [self.made(f"{name}_output", kind, target)], name=name)
        )


def build(*, convolutions: bool = False) -> ModelProto:
    """Make the model."""
    author = _Author()
    for each in CONVOLUTIONS if convolutions else CONVOLUTIONS + MORE_CONVOLUTIONS:
        author.conv(each)
    if not convolutions:
        for label, kind in LIMITED.items():
            author.clip(label, kind)
        for label, kind in CHOSEN.items():
            author.where(label, kind)
        for label, (kind, shape, target) in EXPANDED.items():
            author.expand(label, kind, shape, target)
    name = "convolutions" if convolutions else "kernels"
    graph = helper.make_graph(author.nodes, name, author.inputs, author.outputs, author.constants)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="sonnx-example")


def main() -> None:
    """Write the model."""
    parser = argparse.ArgumentParser(description="Write a small model with every plain kernel.")
    parser.add_argument("output", type=Path, metavar="OUT.onnx")
    parser.add_argument("--convolutions", action="store_true", help="only Conv")
    arguments = parser.parse_args()
    arguments.output.write_bytes(
        build(convolutions=arguments.convolutions).SerializeToString(deterministic=True)
    )


if __name__ == "__main__":
    main()
