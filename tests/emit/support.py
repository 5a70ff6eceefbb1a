"""Random models of every operator and type, and what is done with emitted projects."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.kernels import OPSET, calls
from tests.operators.support import FLOATS, HELD, INTEGERS, special_values

import sonnx
from sonnx.emit.project import project, write_folder
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.native.engine import Executable
from sonnx.operators import NODE_OPERATORS
from sonnx.plan.program import Program
from sonnx.vocabulary.kernel import KernelStyle

Array = Any

STRICT = "-Wall -Wextra -Wconversion -Wpedantic -Werror"
OPSETS = (("", OPSET),)

needs_clang = pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
needs_gcc = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("make") is None, reason="gcc or make is not installed"
)


@dataclass
class Author:
    """Writes one conforming model; every choice is drawn from `random`."""

    random: np.random.Generator
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    types: dict[str, TensorType] = field(default_factory=dict)

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) < percent

    def elements(self, dtype: str, shape: Sequence[int]) -> Array:
        """Any bits, special ones among them; floats are mostly ordinary, so that sums stay numbers."""
        held = HELD[dtype]
        count = int(np.prod(shape, dtype=np.int64))
        anything = self.random.integers(0, 256, count * held.itemsize, np.uint8).view(held)
        special = np.array(special_values(dtype), held)
        chosen = special[self.random.integers(0, len(special), count)]
        ordinary = self.random.uniform(-3, 3, count).astype(held) if dtype in FLOATS else anything
        # Bounds of a Clip are scalars: those are special more often than not.
        share = 70 if count == 1 else 40 if self.chance(20) else 2
        rare = self.random.integers(0, 100, count) < share
        return np.where(rare, chosen, ordinary).astype(held).reshape(tuple(shape))

    def given(self, dtype: str, shape: Sequence[int]) -> str:
        """A tensor that comes from outside, or that the model holds."""
        if self.chance(50):
            return self.constant(self.elements(dtype, shape), dtype)
        return self.given_input(dtype, shape)

    def given_input(self, dtype: str, shape: Sequence[int]) -> str:
        """A tensor that comes from outside."""
        name = f"x{len(self.types)}"
        self.types[name] = TensorType(sonnx.DType(dtype), tuple(shape))
        self.inputs.append(Value(name, self.types[name]))
        return name

    def constant(self, data: Array, dtype: str) -> str:
        name = f"c{len(self.types)}"
        self.types[name] = TensorType(sonnx.DType(dtype), data.shape)
        self.constants.append(Constant(name, self.types[name], data))
        return name

    def tensor(self, dtype: str, rank: int | None = None) -> str:
        """A tensor that is there, or a new one."""
        made = [name for node in self.nodes for name in node.outputs]
        fit = [
            name
            for name in (*made, *(value.name for value in self.inputs))
            if self.types[name].dtype == dtype and rank in (None, len(self.types[name].shape or ()))
        ]
        if fit and self.chance(60):
            return fit[self.integer(0, len(fit) - 1)]
        axes = self.integer(0, 4) if rank is None else rank
        return self.given(dtype, [(0 if self.chance(3) else self.integer(1, 6)) for _ in range(axes)])

    def shape(self, name: str) -> tuple[int, ...]:
        sizes = self.types[name].sizes
        assert sizes is not None
        return sizes

    def node(
        self, operator: str, inputs: Sequence[str], dtype: str, shape: Sequence[int], **more: Any
    ) -> str:
        name = f"t{len(self.types)}"
        self.types[name] = TensorType(sonnx.DType(dtype), tuple(shape))
        self.nodes.append(
            Node(
                operator,
                tuple(inputs),
                (name,),
                more,
                f"{operator} {name}",
                version=max(each for each in NODE_OPERATORS[operator].contract.versions if each <= OPSET),
            )
        )
        return name

    def clip(self) -> None:
        dtype = self.one_of([*FLOATS, *INTEGERS])
        x = self.tensor(dtype)
        self.node("Clip", [x, self.given(dtype, ()), self.given(dtype, ())], dtype, self.shape(x))

    def where(self) -> None:
        dtype = self.one_of(list(HELD))
        x = self.tensor(dtype)
        shape = self.shape(x)
        self.node("Where", [self.given("bool", shape), x, self.given(dtype, shape)], dtype, shape)

    def expand(self) -> None:
        dtype = self.one_of([name for name in HELD if name not in ("bfloat16", "complex64", "complex128")])
        x = self.tensor(dtype)
        old = self.shape(x)
        wanted = [self.integer(1, 4) if size == 1 else size for size in old]
        wanted = [self.integer(1, 3) for _ in range(self.integer(0, 2))] + wanted
        shape = self.constant(np.array(wanted, np.int64), "int64")
        self.node("Expand", [x, shape], dtype, wanted)

    def conv(self) -> None:
        dtype = self.one_of(list(FLOATS))
        x = self.tensor(dtype, rank=4)
        batch, channels, *image = self.shape(x)
        if min(channels, *image) == 0:
            return
        depthwise = self.chance(40)
        outputs = channels if depthwise else self.integer(1, 4)
        kernel = [self.integer(1, 3) for _ in image]
        strides = [self.integer(1, 3) for _ in image]
        dilations = [self.integer(1, 3) for _ in image]
        pads = [self.integer(0, 3) if self.chance(70) else 0 for _ in range(4)]
        extents = [d * (taps - 1) + 1 for d, taps in zip(dilations, kernel, strict=True)]
        spans = [size + pads[i] + pads[i + 2] - extents[i] for i, size in enumerate(image)]
        if min(spans) < 0:
            return
        positions = [span // stride + 1 for span, stride in zip(spans, strides, strict=True)]
        weights = self.given(dtype, (outputs, 1 if depthwise else channels, *kernel))
        bias = [self.given(dtype, (outputs,))] if self.chance(70) else []
        attributes = {
            "strides": tuple(strides),
            "dilations": tuple(dilations),
            "pads": tuple(pads),
            "group": channels if depthwise else 1,
            "kernel_shape": tuple(kernel),
            "auto_pad": "NOTSET",
        }
        self.node("Conv", [x, weights, *bias], dtype, (batch, outputs, *positions), **attributes)

    def one_of(self, names: Sequence[str]) -> str:
        return names[self.integer(0, len(names) - 1)]

    def finished(self, name: str = "random model") -> sonnx.Graph:
        """The model; it gives every tensor that no node takes, and some of the others."""
        taken = {name for node in self.nodes for name in node.inputs}
        made = [name for node in self.nodes for name in node.outputs]
        outputs = [name for name in made if name not in taken or self.chance(20)]
        values = tuple(Value(name, self.types[name]) for name in made if name not in outputs)
        graph = Graph(
            name,
            tuple(value for value in self.inputs if value.name in taken),
            tuple(Value(name, self.types[name]) for name in outputs),
            tuple(self.nodes),
            tuple(constant for constant in self.constants if constant.name in taken),
            values,
            opsets=OPSETS,
        )
        made_graph = sonnx.Graph.of(graph)
        assert made_graph.check() == ()
        return made_graph


def random_model(seed: int, nodes: int) -> sonnx.Graph:
    """A model of so many nodes, mostly in short chains beside one another."""
    author = Author(np.random.default_rng(seed))
    writers = [author.clip, author.where, author.expand, author.conv, author.conv, author.conv]
    while len(author.nodes) < nodes:
        writers[author.integer(0, len(writers) - 1)]()
    return author.finished()


def example_of(operator: str, dtype: str) -> sonnx.Graph:
    """A small model of one node, as its contract says that one may be: any number of operands is three.

    An operator without elements of that type has some of another.
    """
    author = Author(np.random.default_rng(1))
    found = NODE_OPERATORS[operator]
    kinds = (sonnx.DType(dtype), *(kind for kind in sonnx.DType if kind is not sonnx.DType.REAL))
    *_, call = next(tried for kind in kinds if (tried := [*calls(found, kind)]))
    inputs = [
        author.constant(np.array(call.constants[name], np.int64), "int64")
        if name in call.constants
        else author.given_input(str(given.dtype), given.sizes or ())
        for name, given in call.inputs.items()
    ]
    made, *_ = found.contract.output_types(call).values()
    author.node(operator, inputs, str(made.dtype), made.sizes or (), **call.attributes)
    return author.finished()


def one_conv() -> sonnx.Graph:
    """A Conv whose only output element is a sum of all inputs."""
    author = Author(np.random.default_rng(5))
    kind = tensor_type("float[1,2,3,3]")
    author.types["x"] = kind
    author.inputs.append(Value("x", kind))
    weights = author.constant(author.random.uniform(-1, 1, (1, 2, 3, 3)).astype(np.float32), "float")
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4, "group": 1}
    author.node(
        "Conv", ["x", weights], "float", (1, 1, 1, 1), **attributes, kernel_shape=(3, 3), auto_pad="NOTSET"
    )
    return author.finished("one conv")


def large(name: str = "large", seed: int = 1) -> sonnx.Graph:
    """A model with more constants than literals are written for, of several types."""
    author = Author(np.random.default_rng(seed))
    for dtype in ("float", "double", "float16", "int64", "bool", "complex64", "complex128", "int8"):
        x = author.constant(author.elements(dtype, (9000,)), dtype)
        author.types[f"x {dtype}"] = author.types[x]
        author.inputs.append(Value(f"x {dtype}", author.types[x]))
        author.types["condition"] = tensor_type("bool[9000]")
        author.node("Where", ["condition", x, f"x {dtype}"], dtype, (9000,))
    author.inputs.append(Value("condition", author.types["condition"]))
    return author.finished(name)


def files_of(
    graph: sonnx.Graph, accumulate: str = "separate", kernels: KernelStyle = "plain"
) -> dict[str, bytes]:
    """The project of a model, with vectors from the definitions."""

    def evaluate(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        # Without a check: names that the profile refuses must do no harm here either.
        return execute(graph, inputs, Settings(accumulate=accumulate))  # type: ignore[arg-type]  # one of two

    return project(graph, evaluate, version="test", accumulate=accumulate, kernels=kernels, fold=fold)


def fold(program: Program) -> Mapping[str, Array]:
    """The constants of a program, packed by its own kernels."""
    return dict(Executable(program).constants)


def written(
    folder: Path, graph: sonnx.Graph, accumulate: str = "separate", kernels: KernelStyle = "plain"
) -> Path:
    """The folder, with the project in it."""
    write_folder(folder, files_of(graph, accumulate, kernels))
    return folder


def make(
    folder: Path,
    target: str = "test",
    *,
    cc: str = "gcc",
    cflags: str = "-O1",
    variables: Sequence[str] = (),
    **more: Any,
) -> subprocess.CompletedProcess[str]:
    """Run make in a project; every warning of the compiler is an error."""
    command = ["make", "-j2", "-C", str(folder), target, f"CC={cc}", f"CFLAGS={STRICT} {cflags}"]
    command += variables
    environment = {
        key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "CFLAGS", "CC")
    }
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300, **more
    )


def assert_passes(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.stdout.count("all bits agree") == 1
    assert "warning" not in done.stderr
