"""What is executed: conforming ONNX files of one node, and a whole network, with their inputs."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from math import prod, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper, save

import sonnx

Array = NDArray[Any]
Group = Literal["dense", "depthwise", "memory", "network", "chain", "small", "small chain", "residual"]
TEN_MILLION = (10_000, 1_000)


@dataclass(frozen=True)
class Built:
    """A model and one array for each of its inputs."""

    model: ModelProto
    inputs: dict[str, Array]


@dataclass(frozen=True)
class Subject:
    """One thing to execute. `group` decides the bar; `products` are the multiply-adds of one run."""

    key: str
    title: str
    group: Group
    build: Callable[[np.random.Generator], Built]
    products: int = 0


@dataclass(frozen=True)
class Case:
    """A subject on disk: `path` conforms to the profile, and every engine gets this very file."""

    subject: Subject
    folder: Path
    path: Path
    inputs: dict[str, Array]


@dataclass(frozen=True)
class Convolution:
    """The sizes of a square convolution of one image."""

    kernel: int
    inputs: int
    outputs: int
    size: int
    stride: int = 1
    pad: int = 0
    dilation: int = 1
    group: int = 1

    @property
    def result(self) -> int:
        span = self.dilation * (self.kernel - 1) + 1
        return (self.size + 2 * self.pad - span) // self.stride + 1

    @property
    def products(self) -> int:
        """Multiply-adds by the formula, the zeros of the padding included."""
        return self.outputs * self.inputs // self.group * self.kernel**2 * self.result**2

    def build(self, rng: np.random.Generator) -> Built:
        weights = (self.outputs, self.inputs // self.group, self.kernel, self.kernel)
        W = (rng.standard_normal(weights) / sqrt(prod(weights[1:]))).astype(np.float32)
        B = rng.standard_normal(self.outputs).astype(np.float32)
        X = rng.standard_normal((1, self.inputs, self.size, self.size)).astype(np.float32)
        node = helper.make_node(
            "Conv",
            ["X", "W", "B"],
            ["Y"],
            name="conv",
            strides=[self.stride] * 2,
            pads=[self.pad] * 4,
            dilations=[self.dilation] * 2,
            group=self.group,
            kernel_shape=[self.kernel] * 2,
            auto_pad="NOTSET",
        )
        shape = (1, self.outputs, self.result, self.result)
        return one_node(node, {"X": X}, {"W": W, "B": B}, shape)


def prepare(subject: Subject, folder: Path) -> Case:
    """Write the model; the data come from the subject's name, so that they are the same in every run."""
    built = subject.build(np.random.default_rng(zlib.crc32(subject.key.encode())))
    path = folder / f"{subject.key}.onnx"
    save(built.model, path)
    if subject.group == "network":
        sonnx.load(path).normalize({"batch": 1}).save(path)
    if findings := sonnx.load(path).check():
        raise AssertionError(f"{subject.key} must conform, and breaks {findings[0].rule}")
    return Case(subject, folder, path, built.inputs)


def one_node(
    node: Any, inputs: dict[str, Array], constants: dict[str, Array], shape: tuple[int, ...]
) -> Built:
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    result = helper.make_tensor_value_info(node.output[0], TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph([node], "bench", ends, [result], weights)
    opsets = [helper.make_opsetid("", 21)]
    return Built(helper.make_model(graph, opset_imports=opsets, ir_version=10), inputs)


def clip(rng: np.random.Generator, shape: tuple[int, ...] = TEN_MILLION) -> Built:
    node = helper.make_node("Clip", ["input", "min", "max"], ["output"], name="clip")
    bounds = {"min": np.array(-1, np.float32), "max": np.array(1, np.float32)}
    return one_node(node, {"input": rng.standard_normal(shape, np.float32)}, bounds, shape)


def where(rng: np.random.Generator, shape: tuple[int, ...] = TEN_MILLION) -> Built:
    node = helper.make_node("Where", ["condition", "X", "Y"], ["output"], name="where")
    X, Y = (rng.standard_normal(shape, np.float32) for _ in range(2))
    return one_node(node, {"condition": rng.random(shape, np.float32) < 0.5, "X": X, "Y": Y}, {}, shape)


def expand(rng: np.random.Generator, shape: tuple[int, ...] = TEN_MILLION) -> Built:
    """One line, repeated."""
    node = helper.make_node("Expand", ["input", "shape"], ["output"], name="expand")
    line = rng.standard_normal((1, shape[-1]), np.float32)
    return one_node(node, {"input": line}, {"shape": np.array(shape, np.int64)}, shape)


def network(size: int) -> Callable[[np.random.Generator], Built]:
    """The example in the manner of MobileNet, for images of this size."""

    def build(_: np.random.Generator) -> Built:
        from examples import mobilenet_like  # noqa: PLC0415  its size is set here for the time of building

        usual = mobilenet_like.SIZE
        try:
            mobilenet_like.SIZE = size
            return Built(mobilenet_like.build(), {"image": mobilenet_like.sample()})
        finally:
            mobilenet_like.SIZE = usual

    return build


def convolution(key: str, title: str, sizes: Convolution) -> Subject:
    group: Group = "dense" if sizes.group == 1 else "depthwise"
    return Subject(key, title, group, sizes.build, sizes.products)


PEAK_SUBJECT = "conv-3x3-64-56"
SUBJECTS = (
    convolution(PEAK_SUBJECT, "Conv 3x3 64→64 56²", Convolution(3, 64, 64, 56, pad=1)),
    convolution("conv-1x1-256-64-56", "Conv 1x1 256→64 56²", Convolution(1, 256, 64, 56)),
    convolution("conv-7x7-s2-224", "Conv 7x7 stride 2 3→64 224²", Convolution(7, 3, 64, 224, 2, 3)),
    convolution("conv-3x3-512-7", "Conv 3x3 512→512 7²", Convolution(3, 512, 512, 7, pad=1)),
    convolution("conv-3x3-d2-64-56", "Conv 3x3 dilation 2 64→64 56²", Convolution(3, 64, 64, 56, 1, 2, 2)),
    convolution("conv-3x3-128-28", "Conv 3x3 128→128 28²", Convolution(3, 128, 128, 28, pad=1)),
    convolution("depthwise-s1", "depthwise 3x3 32 ch 112²", Convolution(3, 32, 32, 112, 1, 1, 1, 32)),
    convolution(
        "depthwise-s2", "depthwise 3x3 stride 2 32 ch 112²", Convolution(3, 32, 32, 112, 2, 1, 1, 32)
    ),
    Subject("clip", "Clip 10 M floats", "memory", clip),
    Subject("where", "Where 10 M floats", "memory", where),
    Subject("expand", "Expand to 10 M floats", "memory", expand),
    Subject("network", "MobileNet-like network 224²", "network", network(224)),
)
