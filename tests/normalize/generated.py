"""Models as exporters write them, drawn with a seed: right for ONNX, outside the profile in many ways."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import (
    AttributeProto,
    FunctionProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

Array = NDArray[Any]

OPSETS = (13, 16, 18, 22)
# Integers up to this one keep every sum of the generated convolutions below 2^24: all are exact.
_LARGEST = 2000


@dataclass
class Made:
    """A model, arrays for its inputs, numbers for its open sizes, and in which ways it does not conform."""

    model: ModelProto
    feeds: dict[str, Array]
    dims: dict[str, int]
    kinds: set[str]


@dataclass
class Author:
    """Writes one model; every choice is drawn from `random`."""

    random: np.random.Generator
    dtype: np.dtype[Any]
    nodes: list[NodeProto] = field(default_factory=list)
    inputs: list[ValueInfoProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)
    functions: list[FunctionProto] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    feeds: dict[str, Array] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    # How large the integers of a tensor may be, where larger than 9.
    largest: dict[str, int] = field(default_factory=dict)
    digits: bool = False
    count: int = 0

    def chance(self, percent: int) -> bool:
        return int(self.random.integers(100)) < percent

    def one_of(self, *values: Any) -> Any:
        return values[int(self.random.integers(len(values)))]

    def integers(self, shape: tuple[int, ...], low: int, high: int) -> Array:
        drawn = (
            self.random.uniform(low, high, shape)
            if self.digits
            else self.random.integers(low, high + 1, shape)
        )
        return drawn.astype(self.dtype)

    def within(self, x: str) -> str:
        """The tensor, or one cut to small numbers where sums of its elements might no longer be exact."""
        if self.largest.get(x, 9) <= _LARGEST:
            return x
        bounds = [self.constant(np.array(bound, self.dtype)) for bound in (-9, 9)]
        return self.node("Clip", [x, *bounds], self.shapes[x])

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def node(self, operator: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        """Add a node with one output; half of the nodes have no name."""
        output = self.fresh("t")
        self.largest[output] = max((self.largest.get(name, 9) for name in inputs), default=9)
        label = self.fresh(operator.lower()) if self.chance(50) else ""
        self.nodes.append(helper.make_node(operator, inputs, [output], name=label, **attributes))
        self.shapes[output] = shape
        return output

    def input(self, name: str, array: Array, open_batch: bool) -> str:
        """Add an input; its first size may be open, with a name or without one."""
        shape: list[Any] = list(array.shape)
        if open_batch and shape:
            if self.chance(70):
                shape[0] = "batch"
                self.dims["batch"] = array.shape[0]
                self.kinds.add("symbolic size")
            else:
                shape[0] = None
                self.dims[f"{name}[0]"] = array.shape[0]
                self.kinds.add("unnamed size")
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        self.feeds[name], self.shapes[name] = array, array.shape
        return name

    def constant(self, array: Array) -> str:
        """Data of the model: an initializer or a Constant node in one of its forms."""
        name = self.fresh("c")
        self.shapes[name] = array.shape
        if self.chance(50):
            self.initializers.append(numpy_helper.from_array(array, name))
            return name
        self.kinds.add("Constant node")
        short = {np.dtype(np.float32): "value_float", np.dtype(np.int64): "value_int"}.get(array.dtype)
        attributes: dict[str, Any] = {"value": numpy_helper.from_array(array)}
        if short and array.ndim == 0:
            attributes = {short: array.item()}
        elif short and array.ndim == 1:
            attributes = {f"{short}s": array.tolist()}
        self.nodes.append(helper.make_node("Constant", [], [name], **attributes))
        return name

    def clip(self, x: str, low: Array, high: Array) -> str:
        """Both bounds, one, or none."""
        bounds = [self.constant(np.asarray(bound)) if self.chance(55) else "" for bound in (low, high)]
        if "" in bounds:
            self.kinds.add("absent bound")
        while bounds and bounds[-1] == "":
            bounds.pop()
        return self.node("Clip", [x, *bounds], self.shapes[x])

    def where(self, x: str, other: Array) -> str:
        """Choose between `x` and a constant; the condition, the constant or both broadcast."""
        shape = self.shapes[x]
        wanted = self.part_of(shape)
        condition = self.input(self.fresh("mask"), self.random.integers(0, 2, wanted).astype(bool), False)
        y = self.constant(np.resize(other, self.part_of(shape)).astype(self.dtype))
        if len({wanted, self.shapes[y], shape}) > 1:
            self.kinds.add("broadcasting")
        operands = [condition, x, y] if self.chance(50) else [condition, y, x]
        return self.node("Where", operands, shape)

    def part_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to the given one: some axes 1, some leading ones gone."""
        part = tuple(size if self.chance(60) else 1 for size in shape)
        return part[int(self.random.integers(len(shape) + 1)) :]

    def expand(self, x: str) -> str:
        """Repeat a tensor along a new first axis and along axes of size 1; the shape is a constant."""
        old = self.shapes[x]
        shape = tuple(size if size != 1 or self.chance(50) else 2 for size in old)
        if self.chance(30):
            shape = (2, *shape)
        asked = tuple(1 if self.chance(30) else size for size in shape)
        target = tuple(max(a, b) for a, b in zip(asked, (1,) * (len(shape) - len(old)) + old, strict=True))
        return self.node("Expand", [x, self.constant(np.array(asked, np.int64))], target)

    def conv(self, x: str) -> str:
        """A convolution that leaves out what it can, or pads automatically."""
        batch, channels, *image = self.shapes[x]
        depthwise = channels > 1 and self.chance(40)
        outputs = channels if depthwise else int(self.random.integers(1, 4))
        kernel = [int(self.random.integers(1, min(3, size) + 1)) for size in image]
        strides = [self.one_of(1, 1, 2, 3) for _ in image]
        mode = self.one_of("", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "SAME_UPPER", "SAME_LOWER")
        dilations = [1, 1]
        if not mode.startswith("SAME"):  # onnxruntime has no dilation there
            fits = [(taps - 1) * 2 < size for taps, size in zip(kernel, image, strict=True)]
            dilations = [self.one_of(1, 1, 2) if fit else 1 for fit in fits]
        W = self.integers((outputs, 1 if depthwise else channels, *kernel), -2, 2)
        operands = [x, self.constant(W)]
        if self.chance(50):
            operands.append(self.constant(self.integers((outputs,), -3, 3)))
        attributes: dict[str, Any] = {"group": channels} if depthwise else {}
        defaults = {
            "strides": (strides, [1, 1]),
            "dilations": (dilations, [1, 1]),
            "kernel_shape": (kernel, kernel),
        }
        attributes |= {
            name: value for name, (value, default) in defaults.items() if value != default or self.chance(30)
        }
        extents = [d * (taps - 1) + 1 for d, taps in zip(dilations, kernel, strict=True)]
        pads = self.padding(mode, attributes)
        if pads is None:
            positions = [-(-size // stride) for size, stride in zip(image, strides, strict=True)]
        else:
            sides = zip(image, pads[:2], pads[2:], extents, strides, strict=True)
            positions = [(size + a + b - extent) // stride + 1 for size, a, b, extent, stride in sides]
        self.kinds.add("absent attributes")
        made = self.node("Conv", operands, (batch, outputs, *positions), **attributes)
        self.largest[made] = 2 * W[0].size * self.largest.get(x, 9) + 3
        return made

    def padding(self, mode: str, attributes: dict[str, Any]) -> list[int] | None:
        """Write how a convolution pads; None where the size of its output follows from its input's alone."""
        if mode:
            attributes["auto_pad"] = mode
            self.kinds.update({mode} - {"NOTSET"})
        if mode.startswith("SAME"):
            return None
        if mode == "VALID" or self.chance(30):
            return [0, 0, 0, 0]
        attributes["pads"] = [int(pad) for pad in self.random.integers(0, 3, 4)]
        return list(attributes["pads"])

    def call(self, x: str) -> str:
        """Call a function whose body refers to an attribute of the call; perhaps through another function."""
        least = AttributeProto(name="value_float", ref_attr_name="least", type=AttributeProto.FLOAT)
        held = helper.make_node("Constant", [], ["k"])
        held.attribute.append(least)
        name = self.function([held, helper.make_node("Clip", ["a", "k"], ["b"])])
        self.kinds.add("function")
        if self.chance(50):
            inner = helper.make_node(name, ["a"], ["m"], domain="own")
            inner.attribute.append(least)
            inner.attribute[0].name = "least"
            name = self.function([inner, helper.make_node("Clip", ["m"], ["b"])])
            self.kinds.add("nested function")
        return self.node(name, [x], self.shapes[x], domain="own", least=-4.0)

    def function(self, body: list[NodeProto]) -> str:
        name = self.fresh("F")
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
        self.functions.append(helper.make_function("own", name, ["a"], ["b"], body, opsets, ["least"]))
        return name

    def finished(self, outputs: list[str], opset: int, ir: int) -> Made:
        """Put the model together: nodes in any order, some that nobody needs, outputs of unknown shape."""
        if self.chance(40):
            self.kinds.add("dead node")
            self.node("Expand", ["x", self.constant(np.array([1], np.int64))], ())
        if self.chance(40):
            self.kinds.add("unused initializer")
            self.initializers.append(numpy_helper.from_array(np.arange(3), self.fresh("idle")))
        nodes = list(self.nodes)
        if self.chance(50) and len(nodes) > 1:
            self.kinds.add("unsorted")
            nodes = [nodes[index] for index in self.random.permutation(len(nodes))]
        if ir < 4:
            self.kinds.add("formal inputs")
            for held in self.initializers:
                self.inputs.append(helper.make_tensor_value_info(held.name, held.data_type, list(held.dims)))
        element = helper.np_dtype_to_tensor_dtype(self.dtype)
        values = [helper.make_tensor_value_info(name, element, None) for name in outputs]
        graph = helper.make_graph(nodes, "made", self.inputs, values, self.initializers)
        sets = [helper.make_opsetid("", opset)]
        if self.functions:
            sets.append(helper.make_opsetid("own", 1))
        model = helper.make_model(graph, opset_imports=sets, functions=self.functions, ir_version=ir)
        return Made(model, self.feeds, self.dims, self.kinds | {"untyped tensors"})


def network(seed: int) -> Made:
    """Convolutions, bounds, choices and functions on integers held as floats: every sum is exact."""
    author = Author(np.random.default_rng(seed), np.dtype(np.float32))
    size = (int(author.random.integers(1, 3)), int(author.random.integers(1, 4)), 7, 6)
    tensors = [author.input("x", author.integers(size, -9, 9), author.chance(60))]
    for _ in range(int(author.random.integers(3, 8))):
        x = tensors[-1] if author.chance(70) else author.one_of(*tensors)
        match author.one_of("conv", "conv", "clip", "where", "call"):
            case "conv":
                made = author.conv(author.within(x))
            case "clip":
                made = author.clip(x, author.integers((), -5, -1), author.integers((), 0, 6))
            case "where":
                made = author.where(x, author.integers((7,), -9, 9))
            case _:
                made = author.call(x)
        tensors.append(made)
    outputs = tensors[-1:] + [name for name in tensors[1:-1] if author.chance(25)]
    ir = 3 if not author.functions and author.chance(60) else author.one_of(8, 10)
    return author.finished(list(dict.fromkeys(outputs)), int(author.one_of(*OPSETS)), ir)


def moving(seed: int, dtype: np.dtype[Any], operators: Sequence[str], special: Array) -> Made:
    """Bounds, choices and repetitions of any bits: nothing is added, so nothing is rounded."""
    author = Author(np.random.default_rng(seed), dtype)

    def values(*shape: int) -> Array:
        return np.asarray(special[author.random.integers(0, len(special), shape)])

    tensors = [author.input("x", values(2, 3, 1), author.chance(60))]
    for _ in range(int(author.random.integers(2, 7))):
        x = tensors[-1] if author.chance(70) else author.one_of(*tensors)
        match author.one_of(*operators):
            case "Clip":
                made = author.clip(x, values(), values())
            case "Where":
                made = author.where(x, values(5))
            case _:
                made = author.expand(x)
        tensors.append(made)
    return author.finished([tensors[-1]], int(author.one_of(*OPSETS)), 8)


def convolution(seed: int) -> Made:
    """One convolution of numbers with many digits, so that the order of its sum shows."""
    author = Author(np.random.default_rng(seed), np.dtype(np.float32), digits=True)
    x = author.input("x", author.integers((1, 3, 9, 8), -9, 9), author.chance(50))
    return author.finished([author.conv(x)], int(author.one_of(*OPSETS)), 8)
