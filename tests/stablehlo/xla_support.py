"""What the tests of StableHLO and XLA share: graphs of one node, and arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from sonnx.derive.evaluate import evaluate
from sonnx.evaluate import execution
from sonnx.model.dtype import XLA_NAMES, DType
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.numeric.bits import same_bits
from sonnx.operators import OPERATORS
from sonnx.stablehlo import engine

Array = NDArray[Any]

HELD: dict[str, np.dtype[Any]] = {
    "pred": np.dtype(np.bool_),
    **{f"s{width}": np.dtype(f"i{width // 8}") for width in (8, 16, 32, 64)},
    **{f"u{width}": np.dtype(f"u{width // 8}") for width in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = tuple(name for name in HELD if name[0] in "su")
_DTYPE = {name: dtype for dtype, name in XLA_NAMES.items()}
# Bits of a float type below the exponent: those of the fraction.
_FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
_NAMES = {held: name for name, held in HELD.items()}


def dtype_name(array: Array) -> str:
    """The type as XLA spells it."""
    return _NAMES[array.dtype]


def type_of(array: Array, dialect: Dialect = "xla") -> TensorType:
    """The type of an array."""
    return TensorType(_DTYPE[dtype_name(array)], array.shape, dialect=dialect)


def node_graph(
    operator: str,
    inputs: Mapping[str, Array],
    attributes: Mapping[str, Any] | None = None,
    constants: Sequence[str] = (),
) -> Graph:
    """A graph of one node, such as `xla.Clamp`, that takes these arrays; those named are constants."""
    found = next(op for op in OPERATORS if op.name == operator)
    dialect: Dialect = "xla" if found.contract.domain else "onnx"
    output = found.contract.outputs[0].name
    # Only the reference looks at the output's type, to hold reals; the shape follows from the inputs.
    held = inputs[next(name for name in inputs if name != "condition")]
    dtype = _DTYPE[(attributes or {}).get("new_element_type", dtype_name(held))]
    modes = {"accumulate": "separate", "domain": "ieee"}
    with np.errstate(all="ignore"):
        shape = evaluate(found, inputs, {**(attributes or {}), **modes})[output].shape
    return Graph(
        name="one node",
        inputs=tuple(Value(n, type_of(a, dialect)) for n, a in inputs.items() if n not in constants),
        outputs=(Value(output, TensorType(dtype, shape, dialect=dialect)),),
        nodes=(
            Node(
                found.contract.name, tuple(inputs), (output,), attributes or {}, domain=found.contract.domain
            ),
        ),
        constants=tuple(Constant(n, type_of(inputs[n], dialect), inputs[n]) for n in constants),
        dialect=dialect,
    )


Case = tuple[Graph, Mapping[str, Array]]


def case(
    operator: str,
    inputs: Mapping[str, Array],
    attributes: Mapping[str, Any] | None = None,
    constants: Sequence[str] = (),
) -> Case:
    """A graph of one node, and the arrays that it is to be run on."""
    given = {name: array for name, array in inputs.items() if name not in constants}
    return node_graph(operator, inputs, attributes, constants), given


def merged(cases: Sequence[Case]) -> Case:
    """Graphs side by side in one, so that XLA compiles once; all of one dialect."""
    made = [_prefixed(graph, f"{number}/") for number, (graph, _) in enumerate(cases)]
    whole = replace(
        made[0],
        inputs=tuple(value for graph in made for value in graph.inputs),
        outputs=tuple(value for graph in made for value in graph.outputs),
        nodes=tuple(node for graph in made for node in graph.nodes),
        constants=tuple(constant for graph in made for constant in graph.constants),
        values=tuple(value for graph in made for value in graph.values),
    )
    inputs = [(f"{number}/{name}", a) for number, (_, given) in enumerate(cases) for name, a in given.items()]
    return whole, dict(inputs)


def _prefixed(graph: Graph, prefix: str) -> Graph:
    return replace(
        graph,
        inputs=tuple(replace(value, name=prefix + value.name) for value in graph.inputs),
        outputs=tuple(replace(value, name=prefix + value.name) for value in graph.outputs),
        constants=tuple(replace(value, name=prefix + value.name) for value in graph.constants),
        values=tuple(replace(value, name=prefix + value.name) for value in graph.values),
        nodes=tuple(
            replace(
                node,
                inputs=tuple(prefix + name if name else "" for name in node.inputs),
                outputs=tuple(prefix + name for name in node.outputs),
            )
            for node in graph.nodes
        ),
    )


def defined(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    """The results that the definitions give."""
    return list(execution.execute(graph, inputs, execution.Settings()).values())


def exact(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    """The results in the domain of the reals."""
    return list(execution.execute(graph, inputs, execution.Settings(domain="real")).values())


def on_xla(graph: Graph, inputs: Mapping[str, Array]) -> list[Array]:
    """The results that XLA gives."""
    return list(engine.execute(graph, inputs).values())


def assert_equal_on_xla(cases: Sequence[Case], nan: Literal["bits", "any"] = "bits") -> None:
    """XLA gives the bits that the definitions give, in every case."""
    graph, inputs = merged(cases)
    for number, (right, found) in enumerate(zip(defined(graph, inputs), on_xla(graph, inputs), strict=True)):
        with np.errstate(all="ignore"):  # to compare signalling NaNs is no accident
            assert same_bits(right, found, nan=nan), (cases[number], right, found)


def parts(array: Array) -> Array:
    """Elements along a last axis of one, or two for complex ones."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind != "c":
        return flat.reshape(*array.shape, 1)
    return flat.view(f"f{array.dtype.itemsize // 2}").reshape(*array.shape, 2)


def random_bits(name: str, shape: Sequence[int], seed: int) -> Array:
    """Elements of any bits; every fourth float is NaN, infinite, subnormal or 0. Of pred, 0 and 1."""
    random = np.random.default_rng(seed)
    count = int(np.prod(shape, dtype=np.int64))
    if name == "pred":
        return np.asarray(random.integers(0, 2, count) != 0).reshape(tuple(shape))
    raw = random.integers(0, 256, count * HELD[name].itemsize, dtype=np.uint8)
    each = parts(raw.view(HELD[name])).reshape(-1)
    fraction = _FRACTION.get(_NAMES[each.dtype])
    if fraction is not None:
        words = each.view(f"u{each.dtype.itemsize}")
        exponent = words.dtype.type(2 ** (8 * each.dtype.itemsize - 1) - 2**fraction)
        chosen = random.integers(0, 8, words.size)
        words[chosen == 0] |= exponent
        words[chosen == 1] &= ~exponent
    bits: Array = each.view(HELD[name])
    return bits.reshape(tuple(shape))


def dtype_of(name: str) -> DType:
    """The element type that XLA spells so."""
    return _DTYPE[name]
