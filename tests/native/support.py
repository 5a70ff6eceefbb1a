"""Models of one node or two, arrays that ask questions, and the two engines side by side."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.operators.support import FLOATS, HELD, special_values

import sonnx
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import TensorType
from sonnx.native import engine
from sonnx.native.engine import Executable
from sonnx.native.machine import vector_bytes
from sonnx.native.memory import offsets
from sonnx.operators import NODE_OPERATORS
from sonnx.plan.program import Program, program
from sonnx.plan.slots import Lifetime, Slots
from sonnx.vocabulary.kernel import KernelCall

Array = Any
WIDTHS = (16, 32, 64)
# The exponents of small numbers whose products are subnormal.
TINY = {"float16": -12, "float": -76, "double": -540}
GUARD = 256  # bytes around every buffer
_KNOWN: dict[Hashable, dict[str, Array]] = {}


def value(name: str, dtype: str, shape: Sequence[int]) -> Value:
    return Value(name, TensorType(sonnx.DType(dtype), tuple(shape)))


def named(array: Array) -> str:
    """The element type of an array as ONNX spells it."""
    found = {held: name for name, held in HELD.items()}.get(array.dtype)
    return found or "string"


def constant(name: str, array: Array) -> Constant:
    return Constant(name, value(name, named(array), array.shape).type, array)


def node(operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> Node:
    return Node(
        operator,
        tuple(inputs),
        (output,),
        attributes,
        f"{operator} {output}",
        version=NODE_OPERATORS[operator].contract.versions[-1],
    )


def model(
    nodes: Sequence[Node],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Sequence[Constant] = (),
    between: Sequence[Value] = (),
) -> sonnx.Graph:
    """A model that conforms."""
    graph = sonnx.Graph.of(
        Graph(
            "example",
            tuple(inputs),
            tuple(outputs),
            tuple(nodes),
            tuple(constants),
            tuple(between),
            opsets=(("", 22),),
        )
    )
    assert graph.check() == ()
    return graph


def defined(graph: Graph, inputs: Mapping[str, Array], accumulate: str = "separate") -> dict[str, Array]:
    """What the definitions say."""
    return execute(graph, inputs, Settings(accumulate=accumulate))  # type: ignore[arg-type]  # one of two


def planned(
    graph: Graph,
    accumulate: str = "separate",
    threads: int = 1,
    width: int | None = None,
    *,
    fuse: bool = True,
) -> Program:
    return program(graph, accumulate, threads=threads, vector_bytes=width or vector_bytes(), fuse=fuse)


def functions(found: Program) -> set[str]:
    """The kernels that every run calls; a definition counts by the name of its operator."""
    return {step.function if isinstance(step, KernelCall) else step.operator.name for step in found.steps}


class Memory:
    """Memory for a program, full of NaNs and with more around: what is not written, or beyond, is seen.

    What an earlier run has left in memory could be right by chance; here every buffer has its own.
    """

    def __init__(self) -> None:
        self.pieces: list[tuple[Array, int, int]] = []
        self.slots = Slots((), {})
        self.arena = -1

    def aligned(self, size: int) -> Array:
        raw = np.full(size + 3 * GUARD, 255, np.uint8)
        begin = GUARD + -raw.ctypes.data % GUARD
        self.pieces.append((raw, begin, size))
        return raw[begin : begin + size]

    def assign(self, lifetimes: Sequence[Lifetime]) -> Slots:
        sizes = tuple((each.kind, each.size + GUARD) for each in lifetimes)
        self.slots = Slots(sizes, {each.name: slot for slot, each in enumerate(lifetimes)})
        self.arena = len(self.pieces)  # which is made next
        return self.slots

    def results(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """What stands in for memory of results."""
        array = self.aligned(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize).view(dtype).reshape(shape)
        return SimpleNamespace(take=lambda: (array, array.ctypes.data))

    def require_untouched(self, found: Program) -> None:
        places, _ = offsets(self.slots)
        within = {place: found.buffers[name].bytes for name, place in places.items()}
        for number, (raw, begin, size) in enumerate(self.pieces):
            free = np.ones(len(raw), np.bool_)
            for place, count in (within if number == self.arena else {0: size}).items():
                free[begin + place : begin + place + count] = False
            assert (raw[free] == 255).all(), "written beyond a buffer"


@dataclass(frozen=True)
class Watched:
    """A program in memory that is watched."""

    executable: Executable
    memory: Memory

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        results = self.executable.run(inputs)
        self.memory.require_untouched(self.executable.program)
        return results


def executable(found: Program) -> Watched:
    memory = Memory()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "aligned", memory.aligned)
        patch.setattr(engine, "assign", memory.assign)
        patch.setattr(engine, "Results", memory.results)
        return Watched(Executable(found), memory)


def assert_same(found: Mapping[str, Array], expected: Mapping[str, Array], nan: Any = "any") -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert sonnx.same_bits(found[name], array, nan=nan), name
        assert found[name].flags.writeable


def assert_defined(
    graph: Graph,
    inputs: Mapping[str, Array],
    accumulate: str = "separate",
    *,
    threads: Sequence[int] = (1,),
    width: int | None = None,
    nan: Any = "any",
    known: Hashable = None,
) -> None:
    """Compiled kernels give the bits of the definitions; a computed NaN is any NaN (D-ALL-4).

    What is asked again under the name `known` is kept: definitions take long.
    """
    expected = _KNOWN.get(known) or defined(graph, inputs, accumulate)
    if known is not None:
        _KNOWN[known] = expected
    before = {name: array.tobytes() for name, array in inputs.items()}
    for many in threads:
        assert_same(executable(planned(graph, accumulate, many, width)).run(inputs), expected, nan)
    assert {name: array.tobytes() for name, array in inputs.items()} == before


@dataclass(frozen=True)
class Conv:
    """A Conv, its data and what follows it; `X` is its shape, a depthwise one has as many outputs."""

    X: tuple[int, int, int, int]
    outputs: int
    kernel: tuple[int, int]
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    depthwise: bool = False
    biased: bool = True
    constant: bool = True
    clipped: str = ""  # the bounds are "constant" or given as an "input"
    limits: tuple[float, float] | None = None  # the bounds, where they are not to be drawn
    data: str = "ordinary"
    seed: int = 0

    @property
    def positions(self) -> tuple[int, int]:
        """The size of Y (D-CONV-1)."""
        down, along = (
            (self.X[2 + i] + self.pads[i] + self.pads[2 + i] - self.dilations[i] * (self.kernel[i] - 1) - 1)
            // self.strides[i]
            + 1
            for i in range(2)
        )
        return down, along

    @property
    def weights(self) -> tuple[int, int, int, int]:
        return (self.outputs, 1 if self.depthwise else self.X[1], *self.kernel)

    @property
    def products(self) -> int:
        return int(np.prod([self.X[0], *self.positions, *self.weights]))

    def model(self, dtype: str) -> tuple[sonnx.Graph, dict[str, Array]]:
        """The model and arrays for its inputs."""
        random = np.random.default_rng(self.seed)
        arrays = {"X": elements(random, dtype, self.X, self.data)}
        arrays["W"] = elements(random, dtype, self.weights, self.data)
        if self.biased:
            arrays["B"] = elements(random, dtype, (self.outputs,), self.data)
            if self.data == "subnormal":  # as small as products, which it would hide
                with np.errstate(under="ignore"):
                    arrays["B"] *= FLOATS[dtype].type(2.0 ** (TINY[dtype] + 12))
        group = self.X[1] if self.depthwise else 1
        attributes = {"strides": self.strides, "dilations": self.dilations, "pads": self.pads, "group": group}
        attributes |= {"kernel_shape": self.kernel, "auto_pad": "NOTSET"}
        nodes = [node("Conv", list(arrays), "Y", **attributes)]
        Y = value("Y", dtype, (self.X[0], self.outputs, *self.positions))
        given = {"X"} if self.constant else set(arrays)
        if self.clipped:
            low, high = bounds(random) if self.limits is None else self.limits
            arrays["low"], arrays["high"] = np.array(low, FLOATS[dtype]), np.array(high, FLOATS[dtype])
            given |= {"low", "high"} if self.clipped == "input" else set()
            nodes.append(node("Clip", ("Y", "low", "high"), "Z"))
        ends = [Value("Z", Y.type)] if self.clipped else [Y]
        graph = model(
            nodes,
            [value(name, dtype, array.shape) for name, array in arrays.items() if name in given],
            ends,
            [constant(name, array) for name, array in arrays.items() if name not in given],
            [Y] if self.clipped else [],
        )
        return graph, {name: array for name, array in arrays.items() if name in given}


def elements(random: np.random.Generator, dtype: str, shape: Sequence[int], data: str) -> Array:
    """Floats of all sizes: ordinary ones, some special ones among them, or subnormal ones."""
    held, count = FLOATS[dtype], int(np.prod(shape, dtype=np.int64))
    array = random.normal(0, 1, count) * 2.0 ** random.integers(-3, 4, count)
    with np.errstate(over="ignore", under="ignore"):
        if data == "subnormal":  # products are, too
            array *= 2.0 ** (TINY[dtype] + random.integers(0, 12, count))
        array = array.astype(held)
    if data == "special":
        special = special_values(dtype)
        for place in random.integers(0, count, max(1, count // 40)):
            array[place : place + 1] = np.array([special[random.integers(len(special))]], held)
    return array.reshape(tuple(shape))


def bounds(random: np.random.Generator) -> tuple[float, float]:
    """Two bounds, mostly in their order, sometimes NaN, infinite or zeros of either sign."""
    wide, strange = [(-3, 5), (-9, np.nan), (np.nan, 9), (0.0, 60)], [(-0.0, 0.0), (0.0, -0.0), (2, -2)]
    pairs = [*wide, *wide, *strange, (-np.inf, np.inf)]
    low, high = pairs[random.integers(len(pairs))]
    return low, high


def quick_compiler(folder: Path, flags: str = "-O0") -> str:
    """A compiler that optimizes nothing: for what a test compiles once and runs once."""
    path = folder / "quick-cc"
    path.write_text(f'#!/bin/sh\nexec cc "$@" {flags}\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)
