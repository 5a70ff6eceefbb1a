"""Fast kernels of Clip, Where and Expand: the bits of the definitions, and nothing written beyond."""

import ctypes
import platform
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned
from tests.loops import for_each
from tests.operators.compiling import compiled, compiler
from tests.operators.support import FLOATS, HELD, INTEGERS, Array, array_of, bits, special_values

import sonnx
from sonnx.derive.fast_c import kernels
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.arrays import numpy_dtype
from sonnx.operators.onnx.clip import OPERATOR as CLIP
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.operators.onnx.where import OPERATOR as WHERE
from sonnx.plan.sources import kernel_source
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels
from sonnx.vocabulary.operator import Operator

CLIPPED = [*FLOATS, *INTEGERS]
# A type of every size, and those that are two parts, which lie in memory as such.
WHOLE = ("bool", "bfloat16", "float", "double")
MOVED = (*WHOLE, "complex64", "complex128")
# Elements before and behind an output, which no kernel may touch.
GUARD = 80
# Around lines, around the parts that kernels write at a time, and several parts.
LENGTHS = [*range(71), 127, 128, 129, 255, 256, 257, 511, 513, 1023, 1024, 1025, 2100]


def request(
    operator: Operator, *types: str, output: str, vector_bytes: int = 32, shape: tuple[int, ...] = ()
) -> KernelRequest:
    """A node whose tensors have the names of the operands; `shape` is the operand of that name."""
    names = [operand.name for operand in operator.contract.inputs]
    known = dict(zip(names, map(tensor_type, types), strict=True)) | {"output": tensor_type(output)}
    return KernelRequest(
        inputs={name: name for name in names},
        outputs={"output": "output"},
        types=known,
        attributes={},
        prefix="node.",
        vector_bytes=vector_bytes,
        constants={"shape": shape} if "shape" in names else {},
    )


def asked(operator: Operator, given: KernelRequest) -> NodeKernels:
    """The kernels of a node that has some."""
    answer = kernels(operator, given)
    assert answer is not None
    return answer


def written(dtype: str, shape: tuple[int, ...]) -> str:
    return str(TensorType(DType(dtype), shape))


def clip_request(name: str, shape: tuple[int, ...]) -> KernelRequest:
    return request(CLIP, written(name, shape), f"{name}[]", f"{name}[]", output=written(name, shape))


def where_request(name: str, shape: tuple[int, ...]) -> KernelRequest:
    types = (written("bool", shape), *[written(name, shape)] * 2)
    return request(WHERE, *types, output=written(name, shape))


def expand_request(name: str, given: tuple[int, ...], wanted: tuple[int, ...]) -> KernelRequest:
    shape = f"int64[{len(wanted)}]"
    return request(EXPAND, written(name, given), shape, output=written(name, wanted), shape=wanted)


# A call of every kernel, by function and variant.
CALLS: dict[tuple[str, str], KernelCall] = {
    (call.function, call.variant.name): call
    for call in (
        *(asked(CLIP, clip_request(name, (3,))).calls[0] for name in CLIPPED),
        *(asked(WHERE, where_request(name, (3,))).calls[0] for name in MOVED),
        *(asked(EXPAND, expand_request(name, (3,), (3,))).calls[0] for name in WHOLE),
    )
}


@dataclass(frozen=True)
class Build:
    """A way to compile, and whether its code runs on any machine that has it."""

    name: str
    flags: tuple[str, ...]
    vector_bytes: str
    runs_here: bool


BUILDS = [
    Build("native", ("-march=native",), "32", runs_here=True),
    # Without this macro nothing is streamed by instructions of x86.
    Build("portable", ("-U__SSE2__",), "16", runs_here=True),
    *(
        Build(f"{level}-{width}", (f"-march={level}",), width, runs_here=False)
        for level, width in [("x86-64-v2", "16"), ("x86-64-v3", "64")]
        if platform.machine() == "x86_64"
    ),
]


# By build, operator and variant.
Libraries = Mapping[tuple[str, str, str], Path]


# The same with what the compiler said.
Made = Mapping[tuple[str, str, str], tuple[Path, str]]


def built(folder: Path, builds: Sequence[Build]) -> Made:
    """All variants in some builds."""
    compiler()
    jobs = list(product(builds, CALLS.values()))

    def make(job: tuple[Build, KernelCall]) -> tuple[Path, str]:
        build, call = job
        source, target = (folder / f"{build.name}-{call.symbol}{ending}" for ending in (".c", ".so"))
        source.write_text(kernel_source(call), encoding="utf-8")
        macros = dict(call.variant.macros) | {"VECTOR_BYTES": build.vector_bytes}
        return target, compiled(source, target, macros, build.flags)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(make, jobs))
    return {
        (build.name, call.function, call.variant.name): one
        for (build, call), one in zip(jobs, made, strict=True)
    }


@pytest.fixture(scope="session")
def made_to_run(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return built(tmp_path_factory.mktemp("kernels"), [build for build in BUILDS if build.runs_here])


@pytest.fixture(scope="session")
def everything(made_to_run: Made, tmp_path_factory: pytest.TempPathFactory) -> Made:
    others = [build for build in BUILDS if not build.runs_here]
    return {**made_to_run, **built(tmp_path_factory.mktemp("other-kernels"), others)}


@pytest.fixture(scope="session")
def libraries(made_to_run: Made) -> Libraries:
    return {key: path for key, (path, said) in made_to_run.items() if not said}


@pytest.fixture(params=[build.name for build in BUILDS if build.runs_here])
def machine(request: pytest.FixtureRequest, libraries: Libraries) -> "Machine":
    return Machine(libraries, request.param)


def guarded(dtype: np.dtype[Any], elements: int, offset: int) -> tuple[Array, Array]:
    """Memory full of a pattern, and within it elements that begin `offset` elements behind a line."""
    raw = np.full((elements + 2 * GUARD + 64) * dtype.itemsize, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + (64 + offset * dtype.itemsize)
    return raw, raw[begin : begin + elements * dtype.itemsize].view(dtype)


@dataclass(frozen=True)
class Machine:
    """Executes kernels as an engine does, but the last task first."""

    libraries: Libraries
    build: str

    def run(
        self,
        found: NodeKernels,
        operands: Mapping[str, Array],
        output: TensorType,
        offset: int = 0,
        **changes: int,
    ) -> Array:
        """The output, of the type; `changes` replace parameters of every call."""
        buffers = {name: shifted(array, offset) for name, array in operands.items()}
        memory = {}
        wanted = [(made.name, made.dtype, made.elements) for made in found.scratch]
        assert output.dtype is not None
        assert output.sizes is not None
        elements = int(np.prod(output.sizes, dtype=np.int64))
        for name, dtype, count in [*wanted, ("output", output.dtype, elements)]:
            memory[name], buffers[name] = guarded(numpy_dtype(dtype), count, offset)
        before = {name: array.tobytes() for name, array in operands.items()}
        for call in found.calls:
            self.call(call, buffers, changes)
        for name, raw in memory.items():
            around = outside(raw, buffers[name])
            assert (around == 0xA5).all(), "written outside the output"
        assert {name: buffers[name].tobytes() for name in operands} == before
        return buffers["output"].reshape(output.sizes)

    def call(self, call: KernelCall, buffers: Mapping[str, Array], changes: Mapping[str, int]) -> None:
        path = self.libraries[self.build, call.function, call.variant.name]
        function = getattr(ctypes.CDLL(str(path)), call.symbol)
        function.restype = None
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        values = {**dict(call.parameters), **changes}
        tasks = -(-values["elements"] // values["task_elements"])
        assert changes or tasks == call.tasks
        parameters = (ctypes.c_int64 * len(values))(*values.values())
        names = [*call.reads, *call.writes]
        addresses = (ctypes.c_void_p * len(names))(*(buffers[name].ctypes.data for name in names))
        for task in reversed(range(tasks)):
            function(parameters, addresses, task, 0)


def shifted(array: Array, offset: int) -> Array:
    """The same elements, `offset` elements behind the beginning of a line."""
    _, copy = guarded(array.dtype, array.size, offset)
    copy.view(np.uint8)[...] = np.frombuffer(array.tobytes(), np.uint8)
    return copy


def outside(raw: Array, inside: Array) -> Array:
    begin = inside.ctypes.data - raw.ctypes.data if inside.size else 0
    return np.concatenate([raw[:begin], raw[begin + inside.nbytes :]])


def any_bits(name: str, count: int, seed: int = 1) -> Array:
    """Elements of arbitrary bits, special ones among them."""
    rng = np.random.default_rng(seed)
    array = rng.integers(0, 256, count * HELD[name].itemsize, np.uint8).view(HELD[name])
    special = special_values(name)
    for index in range(0, count, 3):
        array[index : index + 1] = np.array([special[rng.integers(len(special))]], HELD[name])
    return array


def ways(count: int) -> Iterator[dict[str, int]]:
    """Parameters that cut an output into one task or several, streamed or not."""
    for streamed in (0, 1):
        yield {"streamed": streamed}
        yield {"streamed": streamed, "task_elements": max(1, count // 3)}


@pytest.mark.long
def test_all_kernels_compile_without_a_warning_for_every_width_of_vectors(
    everything: Made,
) -> None:
    assert [(key, said) for key, (_, said) in everything.items() if said] == []
    assert len(everything) == len(BUILDS) * (11 + 6 + 4)


@pytest.mark.thinned
@for_each("name", CLIPPED)
def test_clip_of_every_length_is_its_definition(name: str, machine: Machine) -> None:
    everything = any_bits(name, max(LENGTHS))
    low, high = (array_of(name, (), [value]) for value in (1, 2))
    for count in thinned(LENGTHS, 20):
        given = asked(CLIP, clip_request(name, (count,)))
        operands = {"input": everything[:count], "min": low, "max": high}
        expected = bits(sonnx.clip(everything[:count], low, high))
        for way, offset in product(ways(count), (0, 1)):
            result = machine.run(given, operands, tensor_type(f"{name}[{count}]"), offset, **way)
            assert bits(result) == expected


@for_each("name", CLIPPED)
def test_clip_of_special_values_between_special_bounds_is_its_definition(name: str, machine: Machine) -> None:
    values = special_values(name)
    array = np.concatenate([array_of(name, (len(values),), values), any_bits(name, 100)])
    given = asked(CLIP, clip_request(name, array.shape))
    for low, high in product(values, values):
        bounds = {"min": array_of(name, (), [low]), "max": array_of(name, (), [high])}
        result = machine.run(given, {"input": array, **bounds}, tensor_type(f"{name}[{array.size}]"))
        assert bits(result) == bits(sonnx.clip(array, bounds["min"], bounds["max"]))


def test_clip_of_every_half_is_its_definition(machine: Machine) -> None:
    array = np.arange(65536, dtype=np.uint16).view(np.float16)
    given = asked(CLIP, clip_request("float16", array.shape))
    # Zeros, subnormals, the largest numbers, infinities, NaNs, in both orders.
    ends = np.array([0, 0x8000, 1, 0x8001, 0x3C00, 0x7BFF, 0xFC00, 0x7C01, 0xFE00], np.uint16).view(
        np.float16
    )
    for low, high in product(ends, ends):
        bounds = {"min": np.array(low), "max": np.array(high)}
        result = machine.run(given, {"input": array, **bounds}, tensor_type("float16[65536]"))
        assert bits(result) == bits(sonnx.clip(array, bounds["min"], bounds["max"]))


@pytest.mark.thinned
@pytest.mark.parametrize("name", MOVED)
def test_where_of_every_length_is_its_definition(name: str, machine: Machine) -> None:
    X, Y = (any_bits(name, max(LENGTHS), seed) for seed in (1, 2))
    # Any byte but zero is true.
    condition = np.random.default_rng(3).choice(np.array([0, 0, 0, 1, 2, 128, 255], np.uint8), X.size)
    for count in thinned(LENGTHS, 20):
        operands = {"condition": condition[:count].view(np.bool_), "X": X[:count], "Y": Y[:count]}
        given = asked(WHERE, where_request(name, (count,)))
        expected = bits(sonnx.where(*operands.values()))
        for way, offset in product(ways(count), (0, 1)):
            result = machine.run(given, operands, tensor_type(f"{name}[{count}]"), offset, **way)
            assert bits(result) == expected


def test_where_writes_an_output_of_16_bytes_an_element_that_no_line_begins_with(machine: Machine) -> None:
    X, Y = (any_bits("complex128", 301, seed).view(np.uint64) for seed in (1, 2))
    condition = np.arange(301) % 3 == 0
    raw, words = guarded(np.dtype(np.uint64), 602, 1)  # 8 bytes behind the beginning of a line
    call = asked(WHERE, where_request("complex128", (301,))).calls[0]
    machine.call(call, {"condition": condition, "X": X, "Y": Y, "output": words}, {"streamed": 1})
    pairs = np.where(condition[:, None], X.reshape(-1, 2), Y.reshape(-1, 2))
    assert words.tobytes() == pairs.tobytes()
    assert (outside(raw, words) == 0xA5).all()


# Fewer and more pairs of repeated and copied axes than a kernel has fields for, blocks of all lengths.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()),
    ((), (1,)),
    ((), (700,)),
    ((0,), (0,)),
    ((1, 0), (5, 0)),
    ((2, 0, 1), (2, 0, 3)),
    ((7,), (7,)),
    ((1,), (1, 1, 1)),
    ((5,), (3, 5)),
    ((5, 1), (5, 3)),
    ((300, 1), (300, 4)),
    ((1, 3), (400, 3)),
    ((1, 17), (100, 17)),
    ((1, 64), (40, 64)),
    ((1, 1000), (3, 1000)),
    ((2, 1, 1500), (2, 2, 1500)),
    ((3, 1), (3, 2100)),
    ((6, 1, 1), (2, 6, 10, 10)),
    ((1, 3, 1, 1), (4, 3, 5, 7)),
    ((4, 1, 5, 1), (4, 3, 5, 2)),
    ((1, 4, 1, 5, 1), (2, 4, 3, 5, 2)),
    ((2, 1, 3, 1, 2, 1, 3), (2, 3, 3, 2, 2, 4, 3)),
    ((1, 2, 1, 2, 1, 2, 1), (2, 2, 3, 2, 2, 2, 2)),
    ((2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2), (2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)),
    ((1, 2, 1, 2, 1, 2, 1, 2, 1, 0, 1), (2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 2)),
]


@pytest.mark.parametrize("name", [*MOVED, "int16"])
def test_expand_is_its_definition_whatever_the_axes(name: str, machine: Machine) -> None:
    # ONNX's Expand moves fewer types than there are sizes: elements are numbered, of any size.
    for given, wanted in SHAPES:
        array = any_bits(name, int(np.prod(given, dtype=np.int64))).reshape(given)
        numbers = sonnx.expand(
            np.arange(array.size, dtype=np.int64).reshape(given), np.array(wanted, np.int64)
        )
        expected = bits(array.reshape(-1)[numbers])
        found = asked(EXPAND, expand_request(name, given, wanted))
        for way, offset in product(ways(numbers.size), (0, 1)):
            result = machine.run(found, {"input": array}, tensor_type(written(name, wanted)), offset, **way)
            assert bits(result) == expected, (given, wanted, way, offset)


def test_neighbouring_axes_are_expanded_as_one() -> None:
    call = asked(EXPAND, expand_request("float", (1, 1, 4, 5, 1, 1, 6), (2, 3, 4, 5, 6, 7, 6))).calls[0]
    found = {name.removeprefix("box0_"): value for name, value in call.parameters}
    sizes = {name: value for name, value in found.items() if name.endswith("_size")}
    assert sizes == {"line_size": 6, "rows_size": 42, "axis0_size": 20, "axis1_size": 6}
    assert [found[f"{name}_from"] for name in ("line", "rows", "axis0", "axis1")] == [1, 0, 6, 0]


@pytest.mark.parametrize(
    ("operator", "given"),
    [
        (CLIP, request(CLIP, "real[2]", "real[]", "real[]", output="real[2]")),
        (WHERE, request(WHERE, "bool[2]", "string[2]", "string[2]", output="string[2]")),
        (WHERE, request(WHERE, "bool[2]", "real[2]", "real[2]", output="real[2]")),
        (EXPAND, request(EXPAND, "string[1]", "int64[1]", output="string[2]")),
        (EXPAND, request(EXPAND, "real[1]", "int64[1]", output="real[2]")),
    ],
)
def test_what_python_holds_has_no_kernels(operator: Operator, given: KernelRequest) -> None:
    assert kernels(operator, given) is None


def test_large_outputs_are_streamed_in_several_tasks_and_small_ones_are_not(machine: Machine) -> None:
    small, large = (asked(CLIP, clip_request("int16", (count,))) for count in (1000, 2**23 - 5))
    assert [dict(one.calls[0].parameters)["streamed"] for one in (small, large)] == [0, 1]
    assert small.calls[0].tasks == 1
    assert large.calls[0].tasks == 32
    array = np.arange(2**23 - 5, dtype=np.int64).astype(np.int16)
    operands = {"input": array, "min": np.array(-5, np.int16), "max": np.array(999, np.int16)}
    result = machine.run(large, operands, tensor_type(f"int16[{array.size}]"))
    assert bits(result) == bits(sonnx.clip(*operands.values()))


def test_no_elements_are_no_tasks() -> None:
    given = [
        asked(CLIP, clip_request("float", (2, 0))),
        asked(WHERE, where_request("float", (0,))),
        asked(EXPAND, expand_request("float", (1, 0), (3, 0))),
    ]
    assert [one.calls[0].tasks for one in given] == [0, 0, 0]


def test_a_variant_says_the_width_of_vectors() -> None:
    given = replace(clip_request("float", (3,)), vector_bytes=64)
    assert dict(asked(CLIP, given).calls[0].variant.macros)["VECTOR_BYTES"] == "64"
