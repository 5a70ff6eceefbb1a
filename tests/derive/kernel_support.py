"""What tests of derived kernels share: operators of nobody, and memory in which strays are seen."""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.operators.support import HELD

from sonnx.derive.fast_c import kernels
from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.native.cache import library
from sonnx.plan.sources import kernel_source
from sonnx.terms.tracing import Definition
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, NodeKernels
from sonnx.vocabulary.operator import Contract, Operand, Operator

Array = NDArray[Any]
Source = Callable[[KernelCall], str]
# Elements before and behind an output, which no kernel may touch.
GUARD = 80
NAMES = {held: DType(name) for name, held in HELD.items()}


def stand_in(
    definition: Definition | None, *names: str, truths: Sequence[str] = (), constants: Sequence[str] = ()
) -> Operator:
    """An operator that ONNX will never have, with operands of these names."""
    inputs = tuple(
        Operand(name, name, "", (DType.BOOL,) if name in truths else ALL, constant=name in constants)
        for name in names
    )
    outputs = (Operand("Z", "Z", "", ALL),)
    return Operator(Contract("OfNobody", (1,), "", inputs, outputs, (), (), lambda _call: {}), definition)


def requested(
    operands: Mapping[str, Array],
    made: str,
    shape: Sequence[int],
    constants: Mapping[str, tuple[int, ...]] | None = None,
    **attributes: Any,
) -> KernelRequest:
    """A node whose tensors are named t.X for an operand X, and Z."""
    types = {f"t.{name}": TensorType(NAMES[array.dtype], array.shape) for name, array in operands.items()}
    types |= {f"t.{name}": TensorType(DType.INT64, (len(each),)) for name, each in (constants or {}).items()}
    return KernelRequest(
        inputs={name: f"t.{name}" for name in (*operands, *(constants or {}))},
        outputs={"Z": "Z"},
        types=types | {"Z": TensorType(DType(made), tuple(shape))},
        attributes=attributes,
        prefix="node.",
        constants=constants or {},
    )


def ways(count: int) -> Iterator[dict[str, int]]:
    """Parameters that cut an output into one task or several, streamed or not."""
    for streamed in (0, 1):
        yield {"streamed": streamed}
        yield {"streamed": streamed, "task_elements": max(1, count // 3)}
        yield {"streamed": streamed, "task_elements": max(1, count // 11)}


def guarded(dtype: np.dtype[Any], elements: int, offset: int) -> tuple[Array, Array]:
    """Memory full of a pattern, and within it elements that begin `offset` elements behind a line."""
    raw = np.full((elements + 2 * GUARD + 64) * dtype.itemsize, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64 + (64 + offset * dtype.itemsize)
    return raw, raw[begin : begin + elements * dtype.itemsize].view(dtype)


def executed(
    found: NodeKernels | None,
    operands: Mapping[str, Array],
    made: str,
    shape: Sequence[int],
    changes: Mapping[str, int] | None = None,
    *,
    offset: int = 0,
    source: Source = kernel_source,
) -> Array:
    """The output of the only call, the last task first; `changes` replace parameters."""
    assert found is not None
    (call,) = found.calls
    raw, output = guarded(HELD[made], int(np.prod(shape, dtype=np.int64)), offset)
    held = {f"t.{name}": np.ascontiguousarray(array) for name, array in operands.items()} | {"Z": output}
    before = {name: array.tobytes() for name, array in held.items() if name != "Z"}
    compiled = library(source(call), call.variant.macros, [call.symbol])
    function = getattr(compiled, call.symbol)
    function.restype = None
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    values = {**dict(call.parameters), **(changes or {})}
    names = (*call.reads, *call.writes)
    addresses = (ctypes.c_void_p * len(names))(*(held[name].ctypes.data for name in names))
    parameters = (ctypes.c_int64 * len(values))(*values.values())
    tasks = -(-values["elements"] // values["task_elements"])
    assert changes or tasks == call.tasks
    for task in reversed(range(tasks)):
        function(parameters, addresses, task, 0)
    begin = output.ctypes.data - raw.ctypes.data if output.size else 0
    around = np.concatenate([raw[:begin], raw[begin + output.nbytes :]])
    assert (around == 0xA5).all(), "written outside the output"
    assert {name: held[name].tobytes() for name in before} == before
    return output.reshape(tuple(shape))


def asked(operator: Operator, operands: Mapping[str, Array], made: str, shape: Sequence[int]) -> Any:
    """The kernels of a node without constants."""
    return kernels(operator, requested(operands, made, shape))


def any_bits(name: str, count: int, seed: int = 1) -> Array:
    """Elements of arbitrary bits."""
    random = np.random.default_rng(seed)
    return random.integers(0, 256, count * HELD[name].itemsize, np.uint8).view(HELD[name])
